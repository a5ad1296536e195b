//! Hooks of single projects, for tiers without group hooks: a project that joins the group gets its hook.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use crate::config::{Config, Secrets};
use crate::gitlab::{Error, GitLab, HookOwner, HookSettings};
use crate::target::{Project, ProjectId};

/// Keeps a hook on each project that is served. Cheap to clone.
#[derive(Clone)]
pub struct ProjectHooks {
    gitlab: GitLab,
    settings: HookSettings,
    /// Looked at in this process: a hook that a person removes meanwhile is not put back before the next start.
    seen: Arc<Mutex<HashSet<ProjectId>>>,
}

impl ProjectHooks {
    /// What `hook.projects` asks for; `None` when it is off. `gitlab` must be allowed to manage hooks: a token of a
    /// Maintainer or Owner.
    pub fn of(config: &Config, secrets: &Secrets, gitlab: GitLab) -> Option<ProjectHooks> {
        let url = config.hook.public_url.clone().filter(|_| config.hook.projects)?;
        let (signing, plain) = (secrets.signing.first().cloned(), secrets.plain.first().cloned());
        let settings = HookSettings { url, signing_token: signing, secret_token: plain, verify_tls: true };
        Some(ProjectHooks { gitlab, settings, seen: Arc::default() })
    }

    /// Creates the hook where a project has none that leads here. What cannot be done is logged, and tried again after
    /// a restart; `signpost check` names the projects without a hook.
    pub async fn keep<'p>(&self, served: impl Iterator<Item = &'p Project>) {
        for project in served {
            if !self.lock().insert(project.id) {
                continue;
            }
            match self.create_missing(project.id).await {
                Ok(Some(hook)) => tracing::info!(project.id = project.id, hook, "a project got its hook"),
                Ok(None) => {}
                Err(error) if error.is_transient() => {
                    self.lock().remove(&project.id);
                    tracing::warn!(project.id = project.id, %error, "a project's hook could not be looked at; trying again");
                }
                Err(error) => tracing::warn!(
                    project.id = project.id, %error,
                    "a project has no hook, and this token may not create it: set SIGNPOST_INSTALL_TOKEN, or run `signpost install --projects`"
                ),
            }
        }
    }

    /// The id of the hook that was created; `None` when there was one.
    async fn create_missing(&self, project: ProjectId) -> Result<Option<u64>, Error> {
        let owner = HookOwner::Project(project);
        let hooks = self.gitlab.hooks(&owner).await?.unwrap_or_default();
        if hooks.iter().any(|hook| hook.url == self.settings.url.as_str()) {
            return Ok(None);
        }
        Ok(Some(self.gitlab.create_hook(&owner, &self.settings).await?.id))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<ProjectId>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
