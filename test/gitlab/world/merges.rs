//! Merge requests: opened from branches and forks, closed, and merged in three ways.

use super::World;
use super::hooks::Happening;
use crate::gitlab::git::{Change, Repository, Sha, Tree};
use crate::gitlab::hook::payload;
use crate::gitlab::time::Millis;

/// How a merge request reaches its target branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    /// A merge commit.
    Commit,
    /// One new commit, then a merge commit.
    Squash,
    /// The branch is moved forward; no new commit.
    FastForward,
    /// One new commit on top of the target branch, no merge commit.
    SquashFastForward,
}

/// A merge request.
#[derive(Clone, Debug)]
pub struct MergeRequest {
    pub id: u64,
    pub iid: u64,
    /// The target project.
    pub project: u64,
    pub source_project: u64,
    pub source_branch: String,
    pub target_branch: String,
    pub title: String,
    pub description: String,
    pub author: u64,
    /// `opened`, `closed`, `merged` or `locked`.
    pub state: &'static str,
    /// Head of the source branch.
    pub sha: Sha,
    /// Where the source branch left the target.
    pub base: Sha,
    pub merge_commit: Option<Sha>,
    pub squash_commit: Option<Sha>,
    pub merged_by: Option<u64>,
    pub merged_at: Option<Millis>,
    pub created_at: Millis,
    pub updated_at: Millis,
    /// Who caused it, and what GitLab wrote.
    pub system_notes: Vec<(u64, String)>,
}

impl World {
    /// The merge request of a project; a test that names none fails here.
    pub fn merge_request(&self, project: &str, iid: u64) -> &MergeRequest {
        let id = self.project(project).id;
        self.find_merge_request(id, iid).unwrap_or_else(|| panic!("no merge request {project}!{iid}"))
    }

    /// The merge request of a project, by the project's id.
    pub fn find_merge_request(&self, project: u64, iid: u64) -> Option<&MergeRequest> {
        self.merge_requests.values().find(|mr| mr.project == project && mr.iid == iid)
    }

    /// Commits changes to a new branch of `source` and asks `target` to merge it into its default branch.
    /// `source` is the same project, or a fork of it. Returns the iid.
    pub fn propose(
        &mut self,
        (source, target): (&str, &str),
        by: &str,
        branch: &str,
        title: &str,
        changes: Vec<Change>,
    ) -> u64 {
        self.commit(source, Some(branch), by, title, changes);
        self.open_merge_request((source, target), by, branch, title, "")
    }

    /// Opens a merge request of a branch that exists. The target project gets the commits under
    /// `refs/merge-requests/N/head`, wherever they came from.
    pub fn open_merge_request(
        &mut self,
        (source, target): (&str, &str),
        by: &str,
        branch: &str,
        title: &str,
        description: &str,
    ) -> u64 {
        self.typed(title);
        self.typed(description);
        let (id, author, now) = (self.next_id("merge request"), self.user(by).id, self.time.now());
        let from = self.project(source);
        let (source_project, objects) = (from.id, from.repository.clone());
        let sha = objects.branches.get(branch).expect("the source branch exists").clone();
        let project = self.project_mut(target);
        project.last_merge_request += 1;
        let (iid, project_id) = (project.last_merge_request, project.id);
        project.repository.borrow_objects(&objects);
        project.repository.refs.insert(format!("refs/merge-requests/{iid}/head"), sha.clone());
        let target_branch = project.default_branch.clone().expect("the target has a default branch");
        let head = project.repository.branches[&target_branch].clone();
        let base = project.repository.merge_base(&[&head, &sha]).map_or(head, |commit| commit.id.clone());
        self.merge_requests.insert(
            id,
            MergeRequest {
                id,
                iid,
                project: project_id,
                source_project,
                source_branch: branch.to_owned(),
                target_branch,
                title: title.to_owned(),
                description: description.to_owned(),
                author,
                state: "opened",
                sha,
                base,
                merge_commit: None,
                squash_commit: None,
                merged_by: None,
                merged_at: None,
                created_at: now,
                updated_at: now,
                system_notes: Vec::new(),
            },
        );
        self.emit_merge_request(id, author, "open");
        iid
    }

    /// Closes a merge request without merging. Its commits stay readable in the target project.
    pub fn close_merge_request(&mut self, project: &str, iid: u64, by: &str) {
        let (id, by, now) = (self.merge_request(project, iid).id, self.user(by).id, self.time.now());
        let found = self.merge_requests.get_mut(&id).expect("just found");
        (found.state, found.updated_at) = ("closed", now);
        self.emit_merge_request(id, by, "close");
    }

    /// Merges a merge request. Returns the commit it became on the target branch.
    pub fn merge(&mut self, project: &str, iid: u64, by: &str, how: Merge) -> Sha {
        let mr = self.merge_request(project, iid).clone();
        let user = self.user(by).id;
        let head = self.projects[&mr.project].repository.branches[&mr.target_branch].clone();
        let (mut squash, mut merge) = (None, None);
        let tip = match how {
            Merge::FastForward => mr.sha.clone(),
            _ => {
                let tree = merged_tree(&self.projects[&mr.project].repository, &mr, &head);
                let mut top = mr.sha.clone();
                if how != Merge::Commit {
                    top = self.merge_commit(&mr, by, &mr.title, std::slice::from_ref(&head), &tree);
                    squash = Some(top.clone());
                }
                if how != Merge::SquashFastForward {
                    let message = format!(
                        "Merge branch '{}' into '{}'\n\n{}",
                        mr.source_branch, mr.target_branch, mr.title
                    );
                    top = self.merge_commit(&mr, by, &message, &[head, top], &tree);
                    merge = Some(top.clone());
                }
                top
            }
        };
        let now = self.time.now();
        let stored = self.merge_requests.get_mut(&mr.id).expect("just found");
        (stored.state, stored.merged_at, stored.merged_by) = ("merged", Some(now), Some(user));
        (stored.merge_commit, stored.squash_commit, stored.updated_at) = (merge, squash, now);
        self.move_branch(mr.project, &mr.target_branch, Some(&tip), Some(by));
        self.emit_merge_request(mr.id, user, "merge");
        tip
    }

    fn merge_commit(
        &mut self,
        mr: &MergeRequest,
        by: &str,
        message: &str,
        parents: &[Sha],
        tree: &Tree,
    ) -> Sha {
        let signature = self.signature(Some(by), message);
        let project = self.projects.get_mut(&mr.project).expect("the target exists");
        project.repository.record_tree(parents, tree.clone(), signature)
    }

    /// A pushed branch carries its open merge requests along.
    pub(crate) fn refresh_merge_requests(&mut self, project: u64, branch: &str) {
        let follows = |mr: &MergeRequest| {
            mr.source_project == project && mr.source_branch == branch && mr.state == "opened"
        };
        if !self.merge_requests.values().any(follows) {
            return;
        }
        let objects = self.projects[&project].repository.clone();
        let Some(sha) = objects.branches.get(branch).cloned() else { return };
        for mr in self.merge_requests.values_mut().filter(|mr| follows(mr)) {
            mr.sha = sha.clone();
            let target = self.projects.get_mut(&mr.project).expect("the target exists");
            target.repository.borrow_objects(&objects);
            target.repository.refs.insert(format!("refs/merge-requests/{}/head", mr.iid), sha.clone());
        }
    }

    fn emit_merge_request(&mut self, id: u64, by: u64, action: &'static str) {
        let body = payload::merge_request(self, &self.merge_requests[&id], by, action);
        self.emit(Happening::merge_request(self.merge_requests[&id].project, body));
    }
}

/// The target's tree with every path that the source branch changed taken from the source branch.
fn merged_tree(repository: &Repository, mr: &MergeRequest, head: &str) -> Tree {
    let tree = |id: &str| &repository.commits[id].tree;
    let (base, source) = (tree(&mr.base), tree(&mr.sha));
    let mut merged = (**tree(head)).clone();
    for path in base.keys().chain(source.keys()).filter(|path| base.get(*path) != source.get(*path)) {
        match source.get(path) {
            Some(entry) => drop(merged.insert(path.clone(), entry.clone())),
            None => drop(merged.remove(path)),
        }
    }
    merged
}
