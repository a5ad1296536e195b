//! Projects and groups, as GitLab describes them now.

use std::sync::Arc;

use gitlab::api::common::{NameOrId, SortOrder};
use gitlab::api::groups::Group as GroupByName;
use gitlab::api::groups::projects::{GroupProjects, GroupProjectsOrderBy};
use gitlab::api::projects::Project as ProjectByName;

use crate::gitlab::GitLab;
use crate::gitlab::error::{Error, absent};
use crate::gitlab::pages::Pages;
use crate::gitlab::wire::{GroupRow, ProjectRow};
use crate::reference::ProjectPath;
use crate::target::{Project, ProjectId};

/// How a project is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProjectRef {
    /// By its id, which survives everything.
    Id(ProjectId),
    /// By a path, which may be an old one: GitLab redirects until somebody takes the path.
    Path(ProjectPath),
}

impl From<ProjectId> for ProjectRef {
    fn from(id: ProjectId) -> ProjectRef {
        ProjectRef::Id(id)
    }
}

impl From<ProjectPath> for ProjectRef {
    fn from(path: ProjectPath) -> ProjectRef {
        ProjectRef::Path(path)
    }
}

/// A group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The numeric id.
    pub id: u64,
    /// The canonical full path.
    pub path: String,
    /// Waits for its deletion.
    pub deletion_scheduled: bool,
}

/// The projects below a group, page by page.
pub struct Projects<'a> {
    pages: Pages<'a, ProjectRow>,
    prefix: String,
}

impl Projects<'_> {
    /// The next page; `None` after the last. Rows whose namespace is not the group or below it are left out:
    /// projects of others that are shared into the group.
    pub async fn next(&mut self) -> Result<Option<Vec<Arc<Project>>>, Error> {
        let Some(rows) = self.pages.next().await? else { return Ok(None) };
        let under = |project: &Project| {
            let path = project.path.as_str().as_bytes();
            path.len() > self.prefix.len()
                && path[..self.prefix.len()].eq_ignore_ascii_case(self.prefix.as_bytes())
        };
        Ok(Some(rows.into_iter().filter_map(ProjectRow::project).filter(under).map(Arc::new).collect()))
    }
}

impl GitLab {
    /// A project under its canonical path; `None` when there is none, or none that the token may see.
    pub async fn project(&self, project: impl Into<ProjectRef>) -> Result<Option<Arc<Project>>, Error> {
        let row = self.project_row(project.into()).await?;
        Ok(row.and_then(ProjectRow::project).map(Arc::new))
    }

    pub(super) async fn project_row(&self, project: ProjectRef) -> Result<Option<ProjectRow>, Error> {
        let name = match &project {
            ProjectRef::Id(id) => NameOrId::Id(*id),
            ProjectRef::Path(path) => NameOrId::Name(path.as_str().into()),
        };
        let endpoint = ProjectByName::builder().project(name).build().expect("every required field is given");
        absent(self.http.json(&endpoint).await)
    }

    /// The projects of a group and its subgroups.
    pub fn group_projects(&self, group: &str) -> Result<Projects<'_>, Error> {
        let endpoint = GroupProjects::builder()
            .group(group)
            .include_subgroups(true)
            .with_shared(false)
            .order_by(GroupProjectsOrderBy::Id)
            .sort(SortOrder::Ascending)
            .build()
            .expect("every required field is given");
        Ok(Projects { pages: self.http.pages(&endpoint)?, prefix: format!("{}/", group.trim_matches('/')) })
    }

    /// Whether a group has this very path now: a renamed one may still be found under its old path.
    pub async fn has_group(&self, group: &str) -> Result<bool, Error> {
        Ok(self.group(group).await?.is_some_and(|found| found.path.eq_ignore_ascii_case(group)))
    }

    /// A group; `None` when there is none, or none that the token may see.
    pub async fn group(&self, group: &str) -> Result<Option<Group>, Error> {
        let endpoint = GroupByName::builder().group(group).build().expect("every required field is given");
        let row: Option<GroupRow> = absent(self.http.json(&endpoint).await)?;
        let doomed = |row: &GroupRow| {
            row.marked_for_deletion_on.is_some()
                || row.full_path.split('/').any(crate::target::corpus::is_doomed)
        };
        Ok(row.map(|row| Group { id: row.id, deletion_scheduled: doomed(&row), path: row.full_path }))
    }
}
