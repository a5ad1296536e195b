//! Who can read a thread.

use crate::target::{Access, Project, ProjectId, Visibility};

/// A set of readers, from the widest to the narrowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readers {
    /// Anybody, signed in or not.
    Everybody,
    /// Every signed-in user except external ones.
    SignedIn,
    /// The members of one project.
    Members,
}

/// The readers of the threads of one project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Audience {
    project: ProjectId,
    readers: Readers,
}

impl Audience {
    /// Who can read the issues of `project`. What GitLab did not say counts as open to everybody: the wider the
    /// audience, the less may be cited to it.
    pub fn of_thread(project: &Project) -> Audience {
        let readers = match (project.issues, project.visibility) {
            (Some(Access::Private), _) | (_, Some(Visibility::Private)) => Readers::Members,
            (_, Some(Visibility::Internal)) => Readers::SignedIn,
            (_, Some(Visibility::Public) | None) => Readers::Everybody,
        };
        Audience { project: project.id, readers }
    }

    /// Everybody, in no project's thread: to whom the least may be cited.
    pub fn everybody() -> Audience {
        Audience { project: 0, readers: Readers::Everybody }
    }

    /// The audience with which `project` is indexed: the most favourable one that a thread of the instance can
    /// have towards it. What is refused to it can be cited to nobody; what is found through the index is asked
    /// about again for the thread at hand.
    pub fn of_index(project: &Project) -> Audience {
        let members_only = project.repository == Some(Access::Private);
        match project.visibility {
            Some(Visibility::Internal) if !members_only => {
                Audience { project: project.id, readers: Readers::SignedIn }
            }
            _ => Audience::of_thread(project),
        }
    }

    /// The project whose threads are read.
    pub(super) fn project(&self) -> ProjectId {
        self.project
    }

    /// Who reads them.
    pub(super) fn readers(&self) -> Readers {
        self.readers
    }
}
