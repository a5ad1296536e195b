//! Groups and projects: where they are, who may see them, and how they move.

use super::World;
use super::people::{Level, Members};
use crate::gitlab::git::{Change, Repository};
use crate::gitlab::hook::payload;
use crate::gitlab::time::Millis;

/// Who may see a group or project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    Private = 0,
    Internal = 10,
    Public = 20,
}

impl Visibility {
    /// The name the REST interface uses.
    pub fn name(self) -> &'static str {
        match self {
            Visibility::Private => "private",
            Visibility::Internal => "internal",
            Visibility::Public => "public",
        }
    }
}

/// An access level of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    Disabled,
    /// Members only.
    Private,
    Enabled,
}

impl Switch {
    /// The name the REST interface uses.
    pub fn name(self) -> &'static str {
        match self {
            Switch::Disabled => "disabled",
            Switch::Private => "private",
            Switch::Enabled => "enabled",
        }
    }
}

/// A group or subgroup.
#[derive(Clone, Debug)]
pub struct Group {
    pub id: u64,
    pub path: String,
    pub name: String,
    pub parent: Option<u64>,
    pub visibility: Visibility,
    pub members: Members,
    pub marked_for_deletion_on: Option<String>,
    pub created_at: Millis,
}

/// Where a project's pages are published.
#[derive(Clone, Debug)]
pub struct Pages {
    pub url: String,
    pub domains: Vec<String>,
}

/// A project with its repository.
#[derive(Clone)]
pub struct Project {
    pub id: u64,
    pub path: String,
    pub name: String,
    pub description: Option<String>,
    pub namespace: u64,
    pub visibility: Visibility,
    pub archived: bool,
    pub marked_for_deletion_on: Option<String>,
    pub repository_access: Switch,
    pub issues_access: Switch,
    pub merge_requests_access: Switch,
    /// Groups it is shared with, and the highest role it gives them.
    pub shared_with: Vec<(u64, Level)>,
    pub forked_from: Option<u64>,
    pub default_branch: Option<String>,
    pub repository: Repository,
    pub merge_method: &'static str,
    pub pages: Option<Pages>,
    pub members: Members,
    pub created_at: Millis,
    pub(crate) last_issue: u64,
    pub(crate) last_merge_request: u64,
}

impl World {
    /// A group, by full path; missing parents come with it. Public unless changed.
    pub fn add_group(&mut self, full_path: &str) -> &mut Group {
        let id = match self.find_group(full_path) {
            Some(group) => group.id,
            None => self.create_group(full_path),
        };
        self.groups.get_mut(&id).expect("made above")
    }

    fn create_group(&mut self, full_path: &str) -> u64 {
        let (parent, path) = match full_path.rsplit_once('/') {
            Some((parent, path)) => (Some(self.add_group(parent).id), path),
            None => (None, full_path),
        };
        let (id, created_at) = (self.next_id("group"), self.time.now());
        let (path, name) = (path.to_owned(), capital(path));
        let (visibility, members) = (Visibility::Public, Members::new());
        let group =
            Group { id, path, name, parent, visibility, members, marked_for_deletion_on: None, created_at };
        self.groups.insert(id, group);
        self.emit_group("subgroup_create", id);
        id
    }

    /// A public project with a repository that has no commit yet; missing groups come with it.
    pub fn add_project(&mut self, full_path: &str) -> ProjectBuilder<'_> {
        let (namespace, path) = full_path.rsplit_once('/').expect("a project lies in a group");
        let namespace = self.add_group(namespace).id;
        let (id, created_at) = (self.next_id("project"), self.time.now());
        let project = Project {
            id,
            path: path.to_owned(),
            name: capital(path),
            description: None,
            namespace,
            visibility: Visibility::Public,
            archived: false,
            marked_for_deletion_on: None,
            repository_access: Switch::Enabled,
            issues_access: Switch::Enabled,
            merge_requests_access: Switch::Enabled,
            shared_with: Vec::new(),
            forked_from: None,
            default_branch: None,
            repository: Repository::default(),
            merge_method: "merge",
            pages: None,
            members: Members::new(),
            created_at,
            last_issue: 0,
            last_merge_request: 0,
        };
        self.redirects.remove(&full_path.to_ascii_lowercase());
        self.projects.insert(id, project);
        self.emit_project("project_create", id);
        ProjectBuilder { world: self, id }
    }

    /// The group of a full path, whatever its case.
    pub fn find_group(&self, full_path: &str) -> Option<&Group> {
        self.groups.values().find(|group| self.group_path(group.id).eq_ignore_ascii_case(full_path))
    }

    /// The group of a full path; a test that names none fails here.
    pub fn group(&self, full_path: &str) -> &Group {
        self.find_group(full_path).unwrap_or_else(|| panic!("no group {full_path}"))
    }

    pub(crate) fn group_mut(&mut self, full_path: &str) -> &mut Group {
        let id = self.group(full_path).id;
        self.groups.get_mut(&id).expect("just found")
    }

    /// The project of a full path, whatever its case; old paths are not followed.
    pub fn find_project(&self, full_path: &str) -> Option<&Project> {
        self.projects.values().find(|project| self.project_path(project).eq_ignore_ascii_case(full_path))
    }

    /// The project of a full path; a test that names none fails here.
    pub fn project(&self, full_path: &str) -> &Project {
        self.find_project(full_path).unwrap_or_else(|| panic!("no project {full_path}"))
    }

    /// The same, to be changed by hand (no event is sent).
    pub fn project_mut(&mut self, full_path: &str) -> &mut Project {
        let id = self.project(full_path).id;
        self.projects.get_mut(&id).expect("just found")
    }

    /// A group and its parents, from the inside out.
    pub fn group_chain(&self, group: u64) -> Vec<u64> {
        std::iter::successors(Some(group), |id| self.groups[id].parent).collect()
    }

    /// `acme/platform`.
    pub fn group_path(&self, group: u64) -> String {
        let mut parts: Vec<&str> =
            self.group_chain(group).iter().map(|id| self.groups[id].path.as_str()).collect();
        parts.reverse();
        parts.join("/")
    }

    /// `acme/platform/gateway`.
    pub fn project_path(&self, project: &Project) -> String {
        format!("{}/{}", self.group_path(project.namespace), project.path)
    }

    /// The address of a project's page.
    pub fn web_url(&self, project: &Project) -> String {
        format!("{}/{}", self.instance, self.project_path(project))
    }

    /// Renames a project; the old path leads to it until somebody takes that path. Groups hear nothing of it.
    pub fn rename_project(&mut self, full_path: &str, path: &str) {
        self.moved(full_path);
        let project = self.project_mut(full_path);
        (project.path, project.name) = (path.to_owned(), capital(path));
    }

    /// Moves a project into another group. Groups hear nothing of it.
    pub fn transfer_project(&mut self, full_path: &str, group: &str) {
        self.moved(full_path);
        let namespace = self.add_group(group).id;
        self.project_mut(full_path).namespace = namespace;
    }

    fn moved(&mut self, full_path: &str) {
        let project = self.project(full_path);
        let (old, id) = (self.project_path(project).to_ascii_lowercase(), project.id);
        self.redirects.insert(old, id);
    }

    /// Archives or unarchives a project. Groups hear nothing of it.
    pub fn archive_project(&mut self, full_path: &str, archived: bool) {
        self.project_mut(full_path).archived = archived;
    }

    /// Schedules a project for deletion: it is renamed, marked, and its old path is free at once.
    pub fn delete_project(&mut self, full_path: &str) {
        let today = crate::gitlab::time::day(self.time.now());
        let project = self.project_mut(full_path);
        let doomed = format!("{}-deletion_scheduled-{}", project.path, project.id);
        (project.path, project.name) = (doomed.clone(), doomed);
        project.marked_for_deletion_on = Some(today);
        let id = project.id;
        self.emit_project("project_destroy", id);
    }

    /// Copies a project into another group as a fork, default branch and objects included.
    pub fn fork_project(&mut self, full_path: &str, into: &str) -> u64 {
        let upstream = self.project(full_path);
        let (id, path, visibility) = (upstream.id, upstream.path.clone(), upstream.visibility);
        let (branch, mut repository) = (upstream.default_branch.clone(), upstream.repository.clone());
        repository.refs.clear();
        let fork = self.add_project(&format!("{into}/{path}")).id;
        let project = self.projects.get_mut(&fork).expect("made above");
        project.forked_from = Some(id);
        (project.visibility, project.default_branch, project.repository) = (visibility, branch, repository);
        fork
    }

    fn emit_project(&mut self, event: &'static str, id: u64) {
        let body = payload::project_event(self, event, &self.projects[&id]);
        self.emit(super::hooks::Happening::project_lifecycle(id, body));
    }

    pub(crate) fn emit_group(&mut self, event: &'static str, id: u64) {
        if let Some(parent) = self.groups[&id].parent {
            let body = payload::group_event(self, event, &self.groups[&id]);
            self.emit(super::hooks::Happening::subgroup(parent, body));
        }
    }
}

fn capital(path: &str) -> String {
    let mut letters = path.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Shapes a project right after it was added.
pub struct ProjectBuilder<'w> {
    world: &'w mut World,
    /// The project's id.
    pub id: u64,
}

impl ProjectBuilder<'_> {
    fn project(&mut self) -> &mut Project {
        self.world.projects.get_mut(&self.id).expect("the builder's own project")
    }

    /// Changes any of its fields.
    pub fn with(mut self, change: impl FnOnce(&mut Project)) -> Self {
        change(self.project());
        self
    }

    /// Everybody may see it (the default).
    pub fn public(self) -> Self {
        self.with(|project| project.visibility = Visibility::Public)
    }

    /// Every signed-in user may see it.
    pub fn internal(self) -> Self {
        self.with(|project| project.visibility = Visibility::Internal)
    }

    /// Members may see it.
    pub fn private(self) -> Self {
        self.with(|project| project.visibility = Visibility::Private)
    }

    /// What it is for.
    pub fn describe(self, description: &str) -> Self {
        self.with(|project| project.description = Some(description.to_owned()))
    }

    /// Commits one file to the default branch.
    pub fn file(self, path: &str, content: &str) -> Self {
        let changes = vec![Change::Write(path.to_owned(), content.as_bytes().to_vec())];
        self.world.commit_in(self.id, None, None, "Add a file", changes);
        self
    }

    /// Commits many files at once.
    pub fn files<'a>(self, files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let write =
            |(path, content): (&str, &str)| Change::Write(path.to_owned(), content.as_bytes().to_vec());
        let changes = files.into_iter().map(write).collect();
        self.world.commit_in(self.id, None, None, "Add files", changes);
        self
    }

    /// Commits any changes.
    pub fn commit(self, message: &str, changes: Vec<Change>) -> Self {
        self.world.commit_in(self.id, None, None, message, changes);
        self
    }

    /// Gives somebody a role in it.
    pub fn member(mut self, username: &str, level: Level) -> Self {
        let user = self.world.user(username).id;
        self.project().members.insert(user, level);
        self
    }

    /// Shares it with a group.
    pub fn shared_with(mut self, group: &str, level: Level) -> Self {
        let group = self.world.add_group(group).id;
        self.project().shared_with.push((group, level));
        self
    }
}
