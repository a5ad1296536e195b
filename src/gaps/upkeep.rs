//! The report issue is kept current. One replica at a time does it, for the work is a row of the queue.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use crate::answer::{Outcome, WalkError, World};
use crate::config::Mode;
use crate::gaps::report::Audience;
use crate::gaps::{Gap, State, load};
use crate::gitlab::Reported;
use crate::reference::ProjectPath;
use crate::reply::Report;
use crate::store::queue::Place;
use crate::store::setting::REPORT;
use crate::target::Project;

/// Writes the report issue, if it is wanted and does not say already what is to be said. It is opened with the first
/// gap, known again afterwards, and left alone once somebody closed it.
///
/// # Errors
/// GitLab, the database.
pub async fn keep(world: &World) -> Result<Outcome, WalkError> {
    if world.config.answer.mode == Mode::Observe {
        return Ok("report_observed");
    }
    let Some(home) = home(world).await? else { return Ok("report_without_home") };
    let (gaps, projects) = (shown(world, &home).await?, world.store.projects().await?);
    let report = Audience::of(&home, &projects).report(&gaps);
    match known(world, &home, &report).await? {
        Some(known) if !known.open => Ok("report_closed"),
        Some(known) if known.current => Ok("report_current"),
        Some(known) => {
            world.gitlab.edit_report(home.id, known.iid, &report).await?;
            tracing::info!(project.id = home.id, issue.iid = known.iid, "the report issue was edited");
            Ok("report_edited")
        }
        None if !report.waits() => Ok("report_empty"),
        None => {
            let iid = world.gitlab.open_report(home.id, &report).await?;
            tracing::info!(project.id = home.id, issue.iid = iid, "the report issue was opened");
            remember(world, &home, iid).await?;
            Ok("report_opened")
        }
    }
}

/// The project that the report lies in, as long as it is one that is served.
async fn home(world: &World) -> Result<Option<Arc<Project>>, WalkError> {
    let path = world.config.gap.report_project.as_deref().and_then(ProjectPath::parse);
    let Some(path) = path else { return Ok(None) };
    let project = world.gitlab.project(path).await?;
    Ok(project.filter(|project| world.corpus.admit_thread(project).is_ok()))
}

/// The open entries, with the issues that GitLab shows and that are not confidential, as of now.
async fn shown(world: &World, home: &Project) -> Result<Vec<Gap>, WalkError> {
    let mut gaps = load::current(&world.store, &world.config, world.clock.now()).await?;
    gaps.retain(|gap| gap.state == State::Open);
    let projects = world.store.projects().await?;
    let audience = Audience::of(home, &projects);
    let mut wanted: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for issue in gaps.iter().flat_map(|gap| &gap.issues).filter(|issue| audience.reads_issue(issue)) {
        wanted.entry(issue.project_id).or_default().insert(issue.iid);
    }
    let mut open_to_all: HashSet<Place> = HashSet::new();
    for (project, iids) in wanted {
        let faces = world.gitlab.faces(project, &iids.into_iter().collect::<Vec<_>>()).await?;
        let shown = faces.into_iter().filter(|face| !face.confidential);
        open_to_all.extend(shown.map(|face| Place::thread(project, face.iid)));
    }
    gaps.iter_mut().for_each(|gap| gap.issues.retain(|issue| open_to_all.contains(&issue.place())));
    Ok(gaps)
}

/// The report issue: the one that was written down, else the one in the project that is ours.
async fn known(world: &World, home: &Project, report: &Report) -> Result<Option<Reported>, WalkError> {
    let written = world.store.setting(REPORT).await?;
    let iid = written.as_deref().and_then(|at| at.split_once(' ')).and_then(|(project, iid)| {
        (project.parse() == Ok(home.id)).then(|| iid.parse::<u64>().ok()).flatten()
    });
    if let Some(iid) = iid
        && let Some(known) = world.gitlab.report_at(home.id, iid, report).await?
    {
        return Ok(Some(known));
    }
    let found = world.gitlab.find_report(home.id, report).await?;
    if let Some(found) = &found {
        remember(world, home, found.iid).await?;
    }
    Ok(found)
}

async fn remember(world: &World, home: &Project, iid: u64) -> Result<(), WalkError> {
    Ok(world.store.set(REPORT, &format!("{} {iid}", home.id)).await?)
}
