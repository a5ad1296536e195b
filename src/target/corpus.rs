//! The corpus predicate (R-KB-1): the one function that decides what may be cited, to whom. The indexer and
//! every reference ask it, with what GitLab says about the project now.
//!
//! It refuses what it does not know: an unknown visibility or access level is a refusal, never a default.

mod audience;
mod globs;
#[cfg(test)]
mod matrix;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use audience::Audience;
pub use globs::BadPattern;

use crate::reference::{ProjectPath, RepoPath};
use crate::target::{Access, Admitted, Project, Resolved, Visibility};
use audience::Readers;
use globs::{FileGlobs, ProjectGlobs};

/// What the administrator declared; see `[gitlab] group` and `[corpus]` of the configuration.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The full path of the group; every project of the corpus lies under it.
    pub group: String,
    /// Projects and subgroups that do not exist for the bot: exact paths, paths of subgroups, globs.
    pub exclude: Vec<String>,
    /// Globs of documentation files.
    pub docs: Vec<String>,
    /// Globs of source files.
    pub code: Vec<String>,
    /// Globs of files that are left out although `docs` or `code` name them.
    pub ignore: Vec<String>,
    /// Whether a members-only project may be cited in its own members-only threads. Guests of a private project
    /// read its issues but not its code: switching this on shows them the passages that are quoted.
    pub members: bool,
}

/// Why something is not in the corpus, or not for this audience. The name of each is stable: trails keep it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Refusal {
    /// The project does not lie under the configured group.
    OutsideGroup,
    /// The administrator excluded the project or a group above it.
    Excluded,
    /// The project is archived.
    Archived,
    /// The project, or a group above it, waits for its deletion.
    DeletionScheduled,
    /// GitLab did not say who can see the project.
    UnknownVisibility,
    /// GitLab did not say who may read the repository.
    UnknownAccess,
    /// The project has no repository that anybody may read.
    NoRepository,
    /// Somebody who can read the thread could not read the target.
    Audience,
    /// The path is a symbolic link.
    Symlink,
    /// The path is a submodule.
    Submodule,
    /// The path is no regular file.
    NotAFile,
    /// The administrator, or the default list, leaves the path out.
    Ignored,
    /// The path is neither documentation nor code by the configured globs.
    NotListed,
}

impl Refusal {
    /// Every refusal, in the order in which the predicate asks.
    pub const ALL: [Refusal; 13] = [
        Refusal::OutsideGroup,
        Refusal::Excluded,
        Refusal::Archived,
        Refusal::DeletionScheduled,
        Refusal::UnknownVisibility,
        Refusal::UnknownAccess,
        Refusal::NoRepository,
        Refusal::Audience,
        Refusal::Symlink,
        Refusal::Submodule,
        Refusal::NotAFile,
        Refusal::Ignored,
        Refusal::NotListed,
    ];

    /// The stable name, in snake case.
    pub fn name(self) -> &'static str {
        match self {
            Refusal::OutsideGroup => "outside_group",
            Refusal::Excluded => "excluded",
            Refusal::Archived => "archived",
            Refusal::DeletionScheduled => "deletion_scheduled",
            Refusal::UnknownVisibility => "unknown_visibility",
            Refusal::UnknownAccess => "unknown_access",
            Refusal::NoRepository => "no_repository",
            Refusal::Audience => "audience",
            Refusal::Symlink => "symlink",
            Refusal::Submodule => "submodule",
            Refusal::NotAFile => "not_a_file",
            Refusal::Ignored => "ignored",
            Refusal::NotListed => "not_listed",
        }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A project whose repository passed the predicate for one audience: what reading more than one file of it
/// (an archive, a diff) asks for. Its one constructor is [`Corpus::admit_project`].
#[derive(Clone, Debug)]
pub struct OpenProject(Arc<Project>);

impl OpenProject {
    /// The project.
    pub fn project(&self) -> &Arc<Project> {
        &self.0
    }
}

/// A generator's configuration file that passed the predicate. Its one constructor is
/// [`Corpus::admit_manifest`].
#[derive(Clone, Debug)]
pub struct Manifest(Resolved);

impl Manifest {
    /// The place.
    pub fn place(&self) -> &Resolved {
        &self.0
    }
}

/// The predicate, compiled from the configuration once.
#[derive(Clone, Debug)]
pub struct Corpus {
    group: String,
    exclude: ProjectGlobs,
    docs: FileGlobs,
    code: FileGlobs,
    ignore: FileGlobs,
    members: bool,
}

impl Corpus {
    /// Compiles the globs. Fails on a pattern that is none, naming it, and on a group that is no path.
    pub fn new(scope: &Scope) -> Result<Corpus, BadPattern> {
        let group = scope.group.trim_matches('/').to_owned();
        if group.is_empty() || !group.split('/').all(ProjectPath::is_segment) {
            return Err(BadPattern::new(&scope.group));
        }
        Ok(Corpus {
            group,
            exclude: ProjectGlobs::compile(&scope.exclude)?,
            docs: FileGlobs::compile(&scope.docs, false)?,
            code: FileGlobs::compile(&scope.code, false)?,
            // Leaving out more than was meant costs an answer, less than was meant a wrong one.
            ignore: FileGlobs::compile(&scope.ignore, true)?,
            members: scope.members,
        })
    }

    /// The path of the group.
    pub fn group(&self) -> &str {
        &self.group
    }

    /// Whether threads of `project` are served at all, and by whom they can be read.
    pub fn admit_thread(&self, project: &Project) -> Result<Audience, Refusal> {
        self.standing(project)?;
        Ok(Audience::of_thread(project))
    }

    /// Whether the repository of `project` may be read and quoted to `audience`.
    pub fn admit_project(&self, project: &Arc<Project>, audience: &Audience) -> Result<OpenProject, Refusal> {
        self.standing(project)?;
        self.audible(project, audience)?;
        Ok(OpenProject(Arc::clone(project)))
    }

    /// Whether the place may be read and quoted to `audience`: the whole predicate, and the one constructor of
    /// [`Admitted`].
    pub fn admit(&self, place: Resolved, audience: &Audience) -> Result<Admitted, Refusal> {
        self.admit_project(place.project(), audience)?;
        regular(place.mode())?;
        self.admit_path(place.path())?;
        Ok(Admitted(place))
    }

    /// Whether the place may be read to learn where the project's documentation site is: the same predicate, with
    /// the generators' own file names (`is_manifest` tells them) in place of the configured globs. What is read
    /// with it is never quoted.
    pub fn admit_manifest(
        &self,
        place: Resolved,
        audience: &Audience,
        is_manifest: impl FnOnce(&RepoPath) -> bool,
    ) -> Result<Manifest, Refusal> {
        self.admit_project(place.project(), audience)?;
        regular(place.mode())?;
        if self.ignore.matches(place.path().as_str()) {
            return Err(Refusal::Ignored);
        }
        is_manifest(place.path()).then_some(Manifest(place)).ok_or(Refusal::NotListed)
    }

    /// Whether the path is documentation or code by the configured globs, and not left out.
    pub fn admit_path(&self, path: &RepoPath) -> Result<(), Refusal> {
        if self.ignore.matches(path.as_str()) {
            return Err(Refusal::Ignored);
        }
        let listed = self.docs.matches(path.as_str()) || self.code.matches(path.as_str());
        listed.then_some(()).ok_or(Refusal::NotListed)
    }

    /// Whether the path is documentation (rather than code) by the configured globs.
    pub fn is_documentation(&self, path: &RepoPath) -> bool {
        self.docs.matches(path.as_str())
    }

    /// What holds for the project whoever asks: its place, the exclusions, and that it is alive.
    fn standing(&self, project: &Project) -> Result<(), Refusal> {
        let path = project.path.as_str();
        if !lies_under(path, &self.group) {
            return Err(Refusal::OutsideGroup);
        }
        if self.exclude.matches(path) {
            return Err(Refusal::Excluded);
        }
        if project.deletion_scheduled || path.split('/').any(is_doomed) {
            return Err(Refusal::DeletionScheduled);
        }
        if project.archived {
            return Err(Refusal::Archived);
        }
        Ok(())
    }

    /// The audience rule: everyone who can read the thread can read the target.
    fn audible(&self, project: &Project, audience: &Audience) -> Result<(), Refusal> {
        let readers = readers_of_repository(project)?;
        let own = audience.project() == project.id;
        let allowed = match readers {
            Readers::Everybody => true,
            Readers::SignedIn => audience.readers() == Readers::SignedIn,
            Readers::Members => self.members && own && audience.readers() == Readers::Members,
        };
        allowed.then_some(()).ok_or(Refusal::Audience)
    }
}

/// Who can read the repository, as far as GitLab said.
fn readers_of_repository(project: &Project) -> Result<Readers, Refusal> {
    let visibility = project.visibility.ok_or(Refusal::UnknownVisibility)?;
    match (project.repository.ok_or(Refusal::UnknownAccess)?, visibility) {
        (Access::Disabled, _) => Err(Refusal::NoRepository),
        (Access::Private, _) | (Access::Enabled, Visibility::Private) => Ok(Readers::Members),
        (Access::Enabled, Visibility::Internal) => Ok(Readers::SignedIn),
        (Access::Enabled, Visibility::Public) => Ok(Readers::Everybody),
    }
}

/// Only regular files have content of their own: a symbolic link's content is a path, a submodule has none.
fn regular(mode: &str) -> Result<(), Refusal> {
    match mode {
        "100644" | "100755" | "100664" => Ok(()),
        "120000" => Err(Refusal::Symlink),
        "160000" => Err(Refusal::Submodule),
        _ => Err(Refusal::NotAFile),
    }
}

/// Whether the whole segments of `path` begin with those of `group`, and go on.
fn lies_under(path: &str, group: &str) -> bool {
    path.len() > group.len()
        && path.is_char_boundary(group.len())
        && path[..group.len()].eq_ignore_ascii_case(group)
        && path.as_bytes()[group.len()] == b'/'
}

/// Whether GitLab renamed the segment because its project or group waits for deletion:
/// `<path>-deletion_scheduled-<id>`.
pub fn is_doomed(segment: &str) -> bool {
    segment.rsplit_once("-deletion_scheduled-").is_some_and(|(name, id)| {
        !name.is_empty() && !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit())
    })
}
