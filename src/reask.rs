//! Gaps close by being asked again: when documentation changes, the open questions it may touch are wanted.

use std::collections::HashSet;

use crate::answer::{WalkError, World};
use crate::prose::{Prose, Question};
use crate::search::{Fingerprint, similarity};
use crate::store::question::{Record, State};
use crate::store::queue::Place;
use crate::target::ProjectId;

/// Likeness of a gap's question and a changed section from which the gap is asked again. Low: asking costs
/// little, and what it decides is whether, not what.
const LIKENESS: f32 = 0.05;
/// Up to this many open gaps are all asked again, whatever changed.
const ASK_ALL: usize = 50;

/// Wants the threads that quote a project that must not be quoted any more.
///
/// # Errors
/// The database.
pub async fn withdrawn(world: &World, quotable: impl Fn(ProjectId) -> bool) -> Result<(), WalkError> {
    for record in world.store.questions_in(State::Answered, 5000).await? {
        if record.target.is_some_and(|target| !quotable(target.project)) {
            world.store.want(record.place, None, world.clock.now()).await?;
        }
    }
    Ok(())
}

/// Wants the threads whose open or answered questions the changed files of a project may touch.
///
/// # Errors
/// The database.
pub async fn touched(world: &World, project: ProjectId, changed: &[String]) -> Result<(), WalkError> {
    let paths: HashSet<&str> = changed.iter().map(String::as_str).collect();
    let gaps = world.store.questions_in(State::Gap, 5000).await?;
    let silent = world.store.questions_in(State::Silent, 1000).await?;
    let answered = world.store.questions_in(State::Answered, 5000).await?;
    let mut wanted: Vec<Place> = answered
        .iter()
        .filter(|r| {
            r.target.as_ref().is_some_and(|t| t.project == project && paths.contains(t.path.as_str()))
        })
        .map(|r| r.place)
        .collect();
    let open: Vec<&Record> = gaps.iter().chain(silent.iter().filter(|r| r.fingerprint.is_some())).collect();
    if open.len() <= ASK_ALL {
        wanted.extend(open.iter().map(|r| r.place));
    } else {
        let fingerprints = changed_fingerprints(world, project, changed).await?;
        wanted.extend(open.iter().filter(|r| is_touched(r, project, &paths, &fingerprints)).map(|r| r.place));
    }
    wanted.sort_unstable_by_key(|place| (place.project, place.iid));
    wanted.dedup();
    for place in wanted {
        world.store.want(place, None, world.clock.now()).await?;
    }
    Ok(())
}

async fn changed_fingerprints(
    world: &World,
    project: ProjectId,
    changed: &[String],
) -> Result<Vec<Fingerprint>, WalkError> {
    let mut fingerprints = Vec::new();
    for path in changed {
        for row in world.store.sections_of_file(project, path).await? {
            // The same measure as for questions, on the section's own text.
            let text = Question::new(&Prose::from(row.headings.join(" ")), &Prose::from(row.body));
            fingerprints.push(Fingerprint::of(&text));
        }
    }
    Ok(fingerprints)
}

fn is_touched(record: &Record, project: ProjectId, paths: &HashSet<&str>, changed: &[Fingerprint]) -> bool {
    if record.near.as_ref().is_some_and(|near| near.project == project && paths.contains(near.path.as_str()))
    {
        return true;
    }
    let Some(own) = record.fingerprint.as_deref().and_then(Fingerprint::from_bytes) else { return true };
    changed.iter().any(|section| similarity(&own, section) >= LIKENESS)
}
