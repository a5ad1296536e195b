//! Whether a thread is served at all, and what is kept of one that is not.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::answer::{Outcome, WalkError, World, judgement};
use crate::gitlab::{Note, Thread};
use crate::prose::Question;
use crate::search::Fingerprint;
use crate::target::Project;

/// Why a thread gets nothing, if it does.
pub(super) async fn unserved(world: &World, thread: &Thread) -> Result<Option<Outcome>, WalkError> {
    let issue = &thread.issue;
    let known_type = matches!(issue.issue_type.as_str(), "" | "issue" | "task" | "incident");
    Ok(if issue.confidential {
        Some("confidential")
    } else if issue.moved {
        Some("moved")
    } else if !known_type {
        Some("other_type")
    } else if issue.labels.has(&world.config.answer.off_label) {
        Some("opted_out")
    } else if world.own.contains(issue.author_id) || world.gitlab.is_bot(issue.author_id).await? {
        Some("bot")
    } else if issue.locked {
        Some("locked")
    } else if !issue.open {
        Some("closed")
    } else {
        None
    })
}

/// The thread without what other bots wrote into it: where they point, nobody pointed. Only of who points or calls is
/// GitLab asked.
pub(super) async fn without_bots(
    world: &World,
    project: &Project,
    mut thread: Thread,
) -> Result<Thread, WalkError> {
    let me = &world.gitlab.user().await?.username;
    let context = world.context(project);
    let heard = |note: &&Note| {
        let points = context.as_ref().is_some_and(|c| {
            !note.body.references_up_to(c, 1).is_empty() || note.body.thread_only_signposts(c)
        });
        note.is_public_speech() && (points || note.body.mentions(me))
    };
    let authors: BTreeSet<u64> = thread.notes.iter().filter(heard).map(|note| note.author_id).collect();
    for author in authors {
        if world.gitlab.is_bot(author).await? {
            thread.notes.retain(|note| note.ours || note.author_id != author);
        }
    }
    Ok(thread)
}

/// What is kept of a thread that gets nothing: of a closed one where it pointed, of all others nothing.
pub(super) async fn leave(
    world: &World,
    project: &Arc<Project>,
    thread: &Thread,
    why: Outcome,
) -> Result<Outcome, WalkError> {
    let place = crate::store::queue::Place::thread(thread.issue.project, thread.issue.iid);
    match why {
        "closed" => {
            remember(world, project, thread).await?;
            Ok(why)
        }
        _ => world.forget(place, why).await,
    }
}

/// A closed issue's references become signposts for other, similar questions.
pub(super) async fn remember(
    world: &World,
    project: &Arc<Project>,
    thread: &Thread,
) -> Result<bool, WalkError> {
    let place = crate::store::queue::Place::thread(thread.issue.project, thread.issue.iid);
    let Ok(audience) = world.corpus.admit_thread(project) else { return Ok(false) };
    let references = judgement::references_of(world, project, thread);
    let resolved = judgement::resolve_all(world, &references, &audience).await?;
    let now = world.clock.now();
    world.store.save_signposts(place, &judgement::signposts(&resolved), now).await?;
    let question = Question::new(&thread.issue.title, &thread.issue.description);
    let fingerprint = Fingerprint::of(&question);
    let points = resolved.iter().any(|r| !r.admitted.is_empty()) && !fingerprint.is_empty();
    if points {
        world.store.remember(place, thread.issue.updated_at, &fingerprint.to_bytes()).await?;
    }
    Ok(points)
}
