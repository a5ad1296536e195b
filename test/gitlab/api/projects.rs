//! Projects and their pages.

use super::{Answer, Call, Outcome, shape};
use crate::gitlab::world::{Level, Project, World};
use serde_json::json;

impl Call {
    pub(super) fn show_project(&self, world: &World, name: &str) -> Outcome {
        let project = self.project(world, name)?;
        Ok(Answer::ok(shape::project(world, project, self.user(world))))
    }

    /// Only maintainers see where pages are published.
    pub(super) fn pages(&self, world: &World, name: &str) -> Outcome {
        let project = self.project(world, name)?;
        self.role(world, project, Level::Maintainer)?;
        let pages = project.pages.as_ref().ok_or_else(|| Answer::missing(""))?;
        let domains: Vec<_> = pages
            .domains
            .iter()
            .map(|domain| json!({ "domain": domain, "url": format!("https://{domain}") }))
            .collect();
        Ok(Answer::ok(json!({
            "url": pages.url, "is_unique_domain_enabled": false, "force_https": true, "deployments": [],
            "primary_domain": pages.domains.first(), "domains": domains,
        })))
    }

    /// The project, if the caller may read its code.
    pub(super) fn readable<'w>(&self, world: &'w World, name: &str) -> Result<&'w Project, Answer> {
        let project = self.project(world, name)?;
        match world.reads_code(project, self.user(world)) {
            true => Ok(project),
            false => Err(Answer::forbidden()),
        }
    }

    /// The project, if the caller may read its merge requests.
    pub(super) fn with_merge_requests<'w>(
        &self,
        world: &'w World,
        name: &str,
    ) -> Result<&'w Project, Answer> {
        let project = self.project(world, name)?;
        match world.reads_merge_requests(project, self.user(world)) {
            true => Ok(project),
            false => Err(Answer::forbidden()),
        }
    }
}
