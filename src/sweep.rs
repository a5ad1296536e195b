//! The sweep: what hooks never tell, or told while the hook was off. At start and every few minutes it lists the
//! issues updated since the last settled moment, re-reads the group's projects and tidies up.

use crate::answer::{WalkError, World};
use crate::clock::Millis;
use crate::gitlab::IssuesOf;
use crate::store::question::{ISSUE, State};
use crate::store::queue::Place;
use crate::store::setting::{BIRTH, SETTLED};

/// GitLab's clock and ours may differ by this much, and lists may lag.
const SLACK: Millis = 120_000;
/// Notes younger than this have their 👎 looked at.
const RECENT_NOTES: Millis = 14 * 24 * 3_600_000;
/// Delivery ids are kept so long.
const DELIVERIES: Millis = 7 * 24 * 3_600_000;
/// Trails, resting queue rows and what is known of threads that got nothing are kept so long; history three times so long.
const TRAILS: Millis = 180 * 24 * 3_600_000;
/// An open gap is asked again at least this often.
const GAP_DAILY: Millis = 24 * 3_600_000;

/// One sweep. The settled moment moves only when all of it went well.
///
/// # Errors
/// GitLab, the database.
pub async fn sweep(world: &World) -> Result<(), WalkError> {
    let began = world.clock.now();
    let birth: Millis = world.store.set_once(BIRTH, &began.to_string()).await?.parse().unwrap_or(began);
    let settled: Millis = world.store.set_once(SETTLED, &began.to_string()).await?.parse().unwrap_or(began);
    world.store.want(Place::GROUP, None, began).await?;
    missed_issues(world, birth, settled).await?;
    recheck(world, began).await?;
    if world.config.gap.report_project.is_some() {
        world.store.want(Place::REPORT, None, world.clock.now()).await?;
    }
    prune(world, began).await?;
    world.store.set(SETTLED, &began.to_string()).await?;
    Ok(())
}

/// Looks at every issue that changed since the settled moment. One that was opened since then and is unknown is new: its hook
/// was lost.
async fn missed_issues(world: &World, birth: Millis, settled: Millis) -> Result<(), WalkError> {
    let since = settled - SLACK;
    let mut updated =
        world.gitlab.issues_updated_since(IssuesOf::Group(world.config.group().to_owned()), since);
    while let Some(issues) = updated.next().await? {
        for issue in issues {
            let place = Place::thread(issue.project, issue.iid);
            if issue.confidential {
                // It may have turned so unheard; what is not known leaves no trace.
                world.store.want_known(place, world.clock.now()).await?;
                continue;
            }
            // A mention may have come in before: it is another question.
            let known = world.store.questions(place).await?.iter().any(|record| record.key == ISSUE);
            let new = !known && issue.created_at >= birth.max(since);
            // Also what is neither: somebody may have mentioned the bot there.
            let now = world.clock.now();
            if new {
                world.store.want(place, Some(issue.created_at), now).await?;
            } else {
                world.store.want_aside(place, now).await?;
            }
        }
    }
    Ok(())
}

/// Recent notes, for 👎 whose event was lost; and gaps that were not asked for a day.
async fn recheck(world: &World, now: Millis) -> Result<(), WalkError> {
    for record in world.store.questions_in(State::Answered, 200).await? {
        if record.posted_at.is_some_and(|at| now - at < RECENT_NOTES) {
            world.store.want_aside(record.place, now).await?;
        }
    }
    for record in world.store.questions_in(State::Gap, 5000).await? {
        if now - record.judged_at > GAP_DAILY {
            world.store.want_aside(record.place, now).await?;
        }
    }
    Ok(())
}

async fn prune(world: &World, now: Millis) -> Result<(), WalkError> {
    world.store.prune_deliveries(now - DELIVERIES).await?;
    world.store.prune_trail(now - TRAILS).await?;
    world.store.prune_silent(now - TRAILS).await?;
    world.store.prune_queue(now - TRAILS).await?;
    world.store.prune_history(now - 3 * TRAILS).await?;
    world.store.prune_changes(now - DELIVERIES).await?;
    Ok(())
}
