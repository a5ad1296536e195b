//! The group's own past as labels: a closed question whose thread got a member's link to documentation is a
//! question with a known answer.

use std::sync::Arc;

use crate::answer::{WalkError, World, judgement};
use crate::gitlab::{IssuesOf, Role};
use crate::judge::Judged;
use crate::prose::Question;
use crate::target::ProjectId;

/// A closed question with a known answer, judged as of today.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The issue.
    pub project: ProjectId,
    /// Its number.
    pub iid: u64,
    /// The best that search offers.
    pub judged: Judged,
    /// Whether the best place is a file that a member linked.
    pub right: bool,
}

/// Judges up to `limit` closed issues, the last changed first, calling `progress` for each one that was looked
/// at.
///
/// # Errors
/// GitLab, the database, the search index.
pub async fn replay(world: &World, limit: u64, progress: impl Fn(u64)) -> Result<Vec<Replayed>, WalkError> {
    let mut listed = world.gitlab.closed_issues(&IssuesOf::Group(world.config.group().to_owned()))?;
    let (mut replayed, mut looked) = (Vec::new(), 0);
    while let Some(issues) = listed.next().await? {
        for issue in issues.into_iter().filter(|issue| !issue.confidential) {
            looked += 1;
            progress(looked);
            replayed.extend(one(world, issue.project, issue.iid).await?);
            if looked >= limit {
                return Ok(replayed);
            }
        }
    }
    Ok(replayed)
}

async fn one(world: &World, project: ProjectId, iid: u64) -> Result<Option<Replayed>, WalkError> {
    let Some(project) = world.gitlab.project(project).await? else { return Ok(None) };
    let Ok(audience) = world.corpus.admit_thread(&project) else { return Ok(None) };
    let Some(mut thread) = world.gitlab.thread(project.id, iid).await? else { return Ok(None) };
    if thread.issue.confidential {
        return Ok(None);
    }
    let question = Arc::new(Question::new(&thread.issue.title, &thread.issue.description));
    if judgement::gate(world, &thread, &question) < world.policy().question {
        return Ok(None);
    }
    // Only what members pointed at counts as an answer; the asker's own links are part of the question.
    let mut members = Vec::new();
    for note in thread.notes.iter().filter(|n| n.is_public_speech()) {
        if world.gitlab.role(project.id, note.author_id).await? >= Role::Reporter {
            members.push(note.id);
        }
    }
    thread.notes.retain(|note| members.contains(&note.id));
    let pointed = judgement::references_of_notes(world, &project, &thread);
    let resolved = judgement::resolve_all(world, &pointed, &audience).await?;
    let expected: Vec<(ProjectId, String)> = resolved
        .iter()
        .flat_map(|r| &r.admitted)
        .map(|a| (a.place().project().id, a.place().path().as_str().to_owned()))
        .collect();
    if expected.is_empty() {
        return Ok(None);
    }
    let best = judgement::best_by_search(world, &audience, &question).await?;
    Ok(best.map(|(judged, target, path)| Replayed {
        project: project.id,
        iid,
        judged,
        right: expected.contains(&(target, path)),
    }))
}
