//! The chain of proofs: what GitLab says exists ([`Resolved`]), what may be cited ([`Admitted`]), its content
//! ([`Blob`]), and what covers the question ([`Validated`]).

pub mod corpus;
pub mod relevance;

use std::ops::Range;
use std::sync::Arc;

use crate::reference::{Lines, ProjectPath, RepoPath};
use crate::section::Section;

/// GitLab's numeric project id: the only key that survives renames, transfers and reused paths.
pub type ProjectId = u64;

/// Who can see a project at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Visibility {
    /// Members only.
    Private,
    /// Every signed-in user except external ones.
    Internal,
    /// Everybody.
    Public,
}

/// Who may use one feature (repository, issues) of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nobody.
    Disabled,
    /// Members only, whatever the project's visibility.
    Private,
    /// Everybody who can see the project.
    Enabled,
}

/// A project as GitLab describes it now. `None` in a field means that GitLab did not say, or said something
/// unknown; the predicate refuses what it does not know.
#[derive(Clone, Debug, PartialEq)]
pub struct Project {
    /// The numeric id.
    pub id: ProjectId,
    /// The canonical path with namespace, after redirects.
    pub path: ProjectPath,
    /// Who can see it.
    pub visibility: Option<Visibility>,
    /// Read-only, frozen.
    pub archived: bool,
    /// Marked for deletion, or lying under a group that is.
    pub deletion_scheduled: bool,
    /// Who may read the repository.
    pub repository: Option<Access>,
    /// Who may read the issues.
    pub issues: Option<Access>,
    /// The default branch; `None` for an empty or unreadable repository.
    pub default_branch: Option<String>,
    /// The project this one was forked from, where the token can see it.
    pub forked_from: Option<ProjectId>,
}

#[cfg(test)]
impl Project {
    /// A public project that everything can be read of.
    pub(crate) fn sample(id: ProjectId, path: &str) -> Project {
        Project {
            id,
            path: ProjectPath::parse(path).expect("a path"),
            visibility: Some(Visibility::Public),
            archived: false,
            deletion_scheduled: false,
            repository: Some(Access::Enabled),
            issues: Some(Access::Enabled),
            default_branch: Some("main".into()),
            forked_from: None,
        }
    }
}

/// A place that exists at the head of a project's default branch, in GitLab's own words.
#[derive(Clone, Debug)]
pub struct Resolved {
    project: Arc<Project>,
    commit: String,
    path: RepoPath,
    blob: String,
    mode: String,
    lines: Option<Lines>,
    anchor: Option<String>,
}

impl Resolved {
    /// Records what GitLab answered: `commit` is the full id of the default branch's head, `blob` the id of
    /// the file there, `mode` its Git file mode (`100644`, `120000` for a symlink, …), `lines` and `anchor`
    /// where in today's file to look. Only `gitlab` and the indexer call it, with GitLab's own answers.
    pub fn observed(
        project: Arc<Project>,
        commit: String,
        path: RepoPath,
        blob: String,
        mode: String,
        lines: Option<Lines>,
        anchor: Option<String>,
    ) -> Resolved {
        Resolved { project, commit, path, blob, mode, lines, anchor }
    }

    /// The project that holds the file.
    pub fn project(&self) -> &Arc<Project> {
        &self.project
    }
    /// The full commit id of the default branch's head.
    pub fn commit(&self) -> &str {
        &self.commit
    }
    /// The path at that commit.
    pub fn path(&self) -> &RepoPath {
        &self.path
    }
    /// The blob's object id.
    pub fn blob(&self) -> &str {
        &self.blob
    }
    /// The Git file mode.
    pub fn mode(&self) -> &str {
        &self.mode
    }
    /// The lines the reference meant, in today's file.
    pub fn lines(&self) -> Option<Lines> {
        self.lines
    }
    /// The heading anchor the reference meant; not yet known to exist.
    pub fn anchor(&self) -> Option<&str> {
        self.anchor.as_deref()
    }
}

/// A resolved place that passed the corpus predicate for one audience. Its one constructor is
/// [`corpus::Corpus::admit`]; content is read only with it in hand.
#[derive(Clone, Debug)]
pub struct Admitted(Resolved);

impl Admitted {
    /// The place.
    pub fn place(&self) -> &Resolved {
        &self.0
    }
}

/// The content of an admitted file: its exact bytes as text.
#[derive(Clone, Debug)]
pub struct Blob {
    place: Admitted,
    text: Arc<str>,
}

impl Blob {
    /// Joins content to the admission it was read with.
    pub fn read(place: Admitted, text: Arc<str>) -> Blob {
        Blob { place, text }
    }
    /// Where it lies.
    pub fn place(&self) -> &Resolved {
        &self.place.0
    }
    /// The text, byte for byte.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }
}

/// One section of an admitted file, with the byte range of it that is worth quoting.
#[derive(Clone, Debug)]
pub struct Citation {
    /// The file.
    pub blob: Blob,
    /// The section within it.
    pub section: Section,
    /// The lines of the quoted passage, within the file.
    pub lines: Lines,
    /// The bytes of the quoted passage, within the file.
    pub bytes: Range<usize>,
    /// The documentation site's address of the section, where there is one; rebuilt from what was resolved.
    pub page: Option<String>,
    /// The judge's probability that the section covers the question.
    pub score: f32,
}

/// An answer: all three checks passed. Its one constructor is [`relevance::cover`].
#[derive(Clone, Debug)]
pub struct Validated {
    best: Citation,
    further: Vec<Citation>,
}

impl Validated {
    /// The passage to quote.
    pub fn best(&self) -> &Citation {
        &self.best
    }
    /// Up to two more places that cover the question too; linked, not quoted.
    pub fn further(&self) -> &[Citation] {
        &self.further
    }
}
