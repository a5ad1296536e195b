//! Gaps close by being asked again: when documentation changes, the open questions it may touch are wanted.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError};

use crate::answer::{WalkError, World};
use crate::clock::Millis;
use crate::search::{Fingerprint, similarity};
use crate::store::question::{Near, Record, State};
use crate::store::queue::Place;
use crate::target::{Project, ProjectId};

/// Likeness of a gap's question and a changed section from which the gap is asked again. Low: asking costs
/// little, and what it decides is whether, not what.
const LIKENESS: f32 = 0.05;
/// What it adds when the nearest page of a gap is among the changed files.
const NEAREST: f32 = 0.1;
/// Up to this many open gaps are all asked again, whatever changed.
const ASK_ALL: usize = 50;

/// Wants the threads that quote what must not be quoted there any more: a project that left the corpus, or that not
/// everybody who reads the thread can read now.
///
/// # Errors
/// The database.
pub async fn withdrawn(world: &World) -> Result<(), WalkError> {
    let projects: HashMap<ProjectId, Arc<Project>> = world
        .store
        .projects()
        .await?
        .into_iter()
        .map(|row| (row.project.id, Arc::new(row.project)))
        .collect();
    let quotable = |thread: ProjectId, target: ProjectId| {
        let (Some(thread), Some(target)) = (projects.get(&thread), projects.get(&target)) else {
            return false;
        };
        let audience = world.corpus.admit_thread(thread);
        audience.is_ok_and(|audience| world.corpus.admit_project(target, &audience).is_ok())
    };
    let answered = world.store.questions_in(State::Answered, 5000).await?;
    let unquotable =
        |r: &&Record| r.target.as_ref().is_some_and(|target| !quotable(r.place.project, target.project));
    let places: HashSet<Place> = answered.iter().filter(unquotable).map(|r| r.place).collect();
    // Each is wanted once: on a closed issue the note stays, and there is nothing more to see.
    let known = world.withdrawn.lock().unwrap_or_else(PoisonError::into_inner).clone();
    for place in places.difference(&known) {
        world.store.want(*place, None, world.clock.now()).await?;
    }
    *world.withdrawn.lock().unwrap_or_else(PoisonError::into_inner) = places;
    Ok(())
}

/// Wants the threads whose open or answered questions the changed files of a project may touch: answers that quote
/// them first, then the open questions, the most alike first, so that what was documented is answered before what
/// shares a word with it.
///
/// # Errors
/// The database.
pub async fn touched(world: &World, project: ProjectId, changed: &[String]) -> Result<(), WalkError> {
    let paths: HashSet<&str> = changed.iter().map(String::as_str).collect();
    let answered = world.store.questions_in(State::Answered, 5000).await?;
    let quotes = |r: &&Record| {
        r.target.as_ref().is_some_and(|t| t.project == project && paths.contains(t.path.as_str()))
    };
    let mut wanted: Vec<Place> = answered.iter().filter(quotes).map(|r| r.place).collect();
    let mut open = world.store.questions_in(State::Gap, 5000).await?;
    let silent = world.store.questions_in(State::Silent, 1000).await?;
    open.extend(silent.into_iter().filter(|r| r.fingerprint.is_some() && !world.stays_silent(r)));
    let sections = match open.is_empty() {
        true => Vec::new(),
        false => changed_sections(world, project, changed).await?,
    };
    let mut ranked: Vec<(f32, Place)> =
        open.iter().map(|r| (likeness(r, project, &paths, &sections), r.place)).collect();
    if ranked.len() > ASK_ALL {
        ranked.retain(|(likeness, _)| *likeness >= LIKENESS);
    }
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    wanted.extend(ranked.into_iter().map(|(_, place)| place));
    let (now, mut seen) = (world.clock.now(), HashSet::new());
    wanted.retain(|place| seen.insert(*place));
    for (rank, place) in wanted.into_iter().enumerate() {
        // The queue hands out what was wanted last.
        world.store.want_in_turn(place, None, now - rank as Millis, now).await?;
    }
    Ok(())
}

async fn changed_sections(
    world: &World,
    project: ProjectId,
    changed: &[String],
) -> Result<Vec<Fingerprint>, WalkError> {
    let mut fingerprints = Vec::new();
    for path in changed {
        for row in world.store.sections_of_file(project, path).await? {
            fingerprints.push(Fingerprint::of_text(&format!("{}\n{}", row.headings.join("\n"), row.body)));
        }
    }
    Ok(fingerprints)
}

/// How alike an open question and the changed sections are; more for one whose nearest page is among them.
fn likeness(record: &Record, project: ProjectId, paths: &HashSet<&str>, changed: &[Fingerprint]) -> f32 {
    let near = |near: &Near| near.project == project && paths.contains(near.path.as_str());
    let near = if record.near.as_ref().is_some_and(near) { NEAREST } else { 0.0 };
    // Of what has no fingerprint nothing is known: it is asked.
    let Some(own) = record.fingerprint.as_deref().and_then(Fingerprint::from_bytes) else { return LIKENESS };
    near + changed.iter().map(|section| similarity(&own, section)).fold(0.0, f32::max)
}
