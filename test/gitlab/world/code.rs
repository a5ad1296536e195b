//! What happens in repositories: commits, branches, tags, pushes.

use super::World;
use super::hooks::Happening;
use crate::gitlab::git::{Change, Commit, Sha, Signature, ZERO};
use crate::gitlab::hook::payload::{self, Push};

impl World {
    /// Commits changes to a branch (the default branch when none is named; created when missing, from the
    /// default branch's head) and pushes it. Returns the commit's id.
    pub fn commit(
        &mut self,
        project: &str,
        branch: Option<&str>,
        by: &str,
        message: &str,
        changes: Vec<Change>,
    ) -> Sha {
        let id = self.project(project).id;
        self.commit_in(id, branch, Some(by), message, changes)
    }

    pub(crate) fn commit_in(
        &mut self,
        id: u64,
        branch: Option<&str>,
        by: Option<&str>,
        message: &str,
        changes: Vec<Change>,
    ) -> Sha {
        let signature = self.signature(by, message);
        let project = self.projects.get_mut(&id).expect("callers looked it up");
        let default = project.default_branch.get_or_insert_with(|| "main".to_owned()).clone();
        let branch = branch.unwrap_or(&default).to_owned();
        let heads = &project.repository.branches;
        let parents: Vec<Sha> =
            heads.get(&branch).or_else(|| heads.get(&default)).cloned().into_iter().collect();
        let commit = project.repository.record(&parents, changes, signature);
        if branch != default {
            self.typed(&branch);
        }
        self.move_branch(id, &branch, Some(&commit), by);
        commit
    }

    /// A commit's author, now; the message is what somebody typed.
    pub(crate) fn signature(&mut self, by: Option<&str>, message: &str) -> Signature {
        let (name, email) = match by {
            Some(username) => (self.user(username).name.clone(), format!("{username}@example.com")),
            None => ("Ines Haddad".to_owned(), "ines@example.com".to_owned()),
        };
        self.typed(message);
        Signature { name, email, at: self.time.now(), message: format!("{}\n", message.trim_end()) }
    }

    /// Points a branch somewhere (none: deletes it) and sends the push.
    pub(crate) fn move_branch(&mut self, id: u64, branch: &str, to: Option<&str>, by: Option<&str>) {
        let repository = &mut self.projects.get_mut(&id).expect("callers looked it up").repository;
        let before = match to {
            Some(commit) => repository.branches.insert(branch.to_owned(), commit.to_owned()),
            None => repository.branches.remove(branch),
        };
        self.refresh_merge_requests(id, branch);
        let user = by.map(|name| self.user(name).id);
        let (before, after) = (before.unwrap_or_else(|| ZERO.into()), to.unwrap_or(ZERO).to_owned());
        let push = Push { project: id, reference: format!("refs/heads/{branch}"), before, after, user };
        let body = payload::push(self, &push);
        self.emit(Happening::push(id, branch, body));
    }

    /// Points a branch at any commit, as `git push --force` does. What it pointed at stays readable by id.
    pub fn force_push(&mut self, project: &str, branch: &str, to: &str, by: &str) {
        let id = self.project(project).id;
        let repository = &mut self.projects.get_mut(&id).expect("just found").repository;
        if let Some(old) = repository.branches.get(branch).cloned() {
            repository.refs.insert(format!("refs/keep-around/{old}"), old);
        }
        self.move_branch(id, branch, Some(to), Some(by));
    }

    /// Replaces a branch's last commit by another one with these changes; the old one stays readable by id.
    pub fn amend(
        &mut self,
        project: &str,
        branch: &str,
        by: &str,
        message: &str,
        changes: Vec<Change>,
    ) -> Sha {
        let id = self.project(project).id;
        let signature = self.signature(Some(by), message);
        let repository = &mut self.projects.get_mut(&id).expect("just found").repository;
        let parents = repository.commits[&repository.branches[branch]].parents.clone();
        let commit = repository.record(&parents, changes, signature);
        self.force_push(project, branch, &commit, by);
        commit
    }

    /// Deletes a branch.
    pub fn delete_branch(&mut self, project: &str, branch: &str, by: &str) {
        let id = self.project(project).id;
        self.move_branch(id, branch, None, Some(by));
    }

    /// Tags a commit.
    pub fn tag(&mut self, project: &str, name: &str, commit: &str) {
        self.typed(name);
        self.project_mut(project).repository.tags.insert(name.to_owned(), commit.to_owned());
    }

    /// Changes which branch is the default one. No event tells.
    pub fn set_default_branch(&mut self, project: &str, branch: &str) {
        self.project_mut(project).default_branch = Some(branch.to_owned());
    }

    /// The head of the default branch; a test that asks of an empty repository fails here.
    pub fn head(&self, project: &str) -> &Commit {
        let project = self.project(project);
        let default = project.default_branch.as_deref();
        project.repository.revision("HEAD", default).expect("the default branch has a commit")
    }

    /// A file at the head of the default branch, as text.
    pub fn read_file(&self, project: &str, path: &str) -> Option<String> {
        let entry = self.head(project).tree.get(path)?;
        let bytes = self.project(project).repository.read(&entry.id)?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }
}
