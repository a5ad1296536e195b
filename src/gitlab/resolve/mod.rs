//! The first check: what a reference points at, as it is at the head of the default branch now.
//!
//! What comes out is made of GitLab's answers and of the target's own text; nothing that a stranger wrote
//! survives. "Not there", "not allowed" and "could not find out" are three results; the last is an error, to be
//! tried again, and never a gap.

mod commit;
mod diff;
mod file;
mod page;
mod walk;

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;

pub use walk::{Budget, Walk};

use crate::docsite::Sites;
use crate::gitlab::GitLab;
use crate::gitlab::error::Error;
use crate::gitlab::repository::TreeRow;
use crate::reference::{Lines, Reference};
use crate::target::Resolved;
use crate::target::corpus::{Audience, Corpus, OpenProject, Refusal};

/// References that are looked up at the same time.
const CONCURRENCY: usize = 4;
/// Places that one reference can lead to: a commit may touch many.
const PLACES: usize = 24;

/// What became of a reference.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It leads to these places, at least one. The predicate has admitted each for the walk's audience; the
    /// caller asks it again for the proof.
    Found(Vec<Resolved>),
    /// There is nothing where it points, or not any more.
    NotThere(Why),
    /// There may be something, and it is not for this audience.
    NotAllowed(Refusal),
    /// The token may not look there.
    Forbidden,
    /// The walk's budget was spent before it was found out.
    TooCostly,
}

impl Outcome {
    /// The check at which the reference fell, in snake case; `None` when it leads somewhere. Stable: trails
    /// keep it.
    pub fn fell(&self) -> Option<&'static str> {
        match self {
            Outcome::Found(_) => None,
            Outcome::NotThere(why) => Some(why.name()),
            Outcome::NotAllowed(refusal) => Some(refusal.name()),
            Outcome::Forbidden => Some("forbidden"),
            Outcome::TooCostly => Some("too_costly"),
        }
    }
}

/// Why nothing is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// No project of this path, or none that the token may see.
    NoProject,
    /// The repository is empty, or its default branch gone.
    NoBranch,
    /// No file at this path, and none that it was renamed to.
    NoFile,
    /// The file was deleted.
    Deleted,
    /// The file is no text.
    NotText,
    /// The file does not have these lines, or not any more.
    NoLines,
    /// It cannot be told where these lines are today.
    LinesLost,
    /// It cannot be told which of several files is meant.
    Ambiguous,
    /// No commit of this hash.
    NoCommit,
    /// The commit is not in the history of the default branch: a fork's, a deleted branch's, not yet merged.
    NotInHistory,
    /// What the commit did is nowhere to be seen today, or is neither documentation nor code.
    NothingLeft,
    /// No merge request of this number.
    NoMergeRequest,
    /// The merge request is not merged.
    NotMerged,
    /// The page belongs to no known documentation site.
    NoSite,
    /// No source file becomes this page.
    NoPage,
    /// GitLab refuses the question itself.
    Refused,
}

impl Why {
    /// The stable name, in snake case.
    pub fn name(self) -> &'static str {
        match self {
            Why::NoProject => "no_project",
            Why::NoBranch => "no_branch",
            Why::NoFile => "no_file",
            Why::Deleted => "deleted",
            Why::NotText => "not_text",
            Why::NoLines => "no_lines",
            Why::LinesLost => "lines_lost",
            Why::Ambiguous => "ambiguous",
            Why::NoCommit => "no_commit",
            Why::NotInHistory => "not_in_history",
            Why::NothingLeft => "nothing_left",
            Why::NoMergeRequest => "no_merge_request",
            Why::NotMerged => "not_merged",
            Why::NoSite => "no_site",
            Why::NoPage => "no_page",
            Why::Refused => "refused",
        }
    }
}

/// Why a look-up ended early.
enum Stop {
    Dead(Why),
    Barred(Refusal),
    Forbidden,
    Spent,
    Failed(Error),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Stop {
        Stop::Barred(refusal)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        match &error {
            // A token that is no good at all is no property of the target.
            Error::Denied(call) if call.status == Some(403) => Stop::Forbidden,
            Error::Gone(_) => Stop::Dead(Why::NoFile),
            Error::Broken(call) if call.status.is_some_and(|status| (400..500).contains(&status)) => {
                Stop::Dead(Why::Refused)
            }
            _ => Stop::Failed(error),
        }
    }
}

impl GitLab {
    /// Begins a walk on behalf of a thread whose readers are `audience`.
    pub fn walk<'a>(
        &'a self,
        corpus: &'a Corpus,
        sites: &'a Sites,
        audience: Audience,
        budget: Budget,
    ) -> Walk<'a> {
        Walk::new(self, corpus, sites, audience, budget)
    }
}

impl Walk<'_> {
    /// What the reference points at now.
    ///
    /// # Errors
    /// It could not be found out: GitLab is away, or answers in another shape, or the token is no good.
    pub async fn resolve(&self, reference: &Reference) -> Result<Outcome, Error> {
        let found = match reference {
            Reference::File { project, git_ref, path, lines } => {
                self.file(project, git_ref.as_deref(), path, *lines).await
            }
            Reference::Commit { project, sha } => self.commit_reference(project, sha).await,
            Reference::MergeRequest { project, iid } => self.merge_request(project, *iid).await,
            Reference::Page { url, anchor } => self.page(url, anchor.as_deref()).await,
        };
        match found {
            Ok(mut places) => {
                places.truncate(PLACES);
                Ok(if places.is_empty() {
                    Outcome::NotThere(Why::NothingLeft)
                } else {
                    Outcome::Found(places)
                })
            }
            Err(Stop::Dead(why)) => Ok(Outcome::NotThere(why)),
            Err(Stop::Barred(refusal)) => Ok(Outcome::NotAllowed(refusal)),
            Err(Stop::Forbidden) => Ok(Outcome::Forbidden),
            Err(Stop::Spent) => Ok(Outcome::TooCostly),
            Err(Stop::Failed(error)) => Err(error),
        }
    }

    /// What the references point at now, in their order, some of them looked up at the same time.
    pub async fn resolve_all(&self, references: &[Reference]) -> Vec<Result<Outcome, Error>> {
        let looked_up =
            |reference| -> BoxFuture<'_, Result<Outcome, Error>> { Box::pin(self.resolve(reference)) };
        let futures: Vec<_> = references.iter().map(looked_up).collect();
        futures_util::stream::iter(futures).buffered(CONCURRENCY).collect().await
    }

    /// The place of a row at the head, admitted.
    fn place(
        &self,
        open: &OpenProject,
        head: &str,
        row: &TreeRow,
        lines: Option<Lines>,
        anchor: Option<String>,
    ) -> Result<Resolved, Stop> {
        let place = Resolved::observed(
            Arc::clone(open.project()),
            head.to_owned(),
            row.path.clone(),
            row.id.clone(),
            row.mode.clone(),
            lines,
            anchor,
        );
        self.corpus.admit(place.clone(), &self.audience)?;
        Ok(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_send<T: Send>(_: impl Fn(&'static Walk<'static>, &'static [Reference]) -> T) {}

    #[test]
    fn a_walk_can_run_on_any_thread() {
        is_send(|walk, references| walk.resolve_all(references));
    }
}
