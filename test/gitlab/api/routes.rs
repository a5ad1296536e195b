//! Which call goes where.

use super::{Answer, Call, Outcome};
use crate::gitlab::world::World;

impl Call {
    /// Finds the endpoint; the second value is false when there is none.
    pub(super) fn route(&self, world: &mut World) -> (Outcome, bool) {
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        let found = match path.as_slice() {
            ["projects", rest @ ..] => self.project_routes(world, rest),
            ["groups", rest @ ..] => self.group_routes(world, rest),
            _ => self.own_routes(world, &path),
        };
        match found {
            Some(outcome) => (outcome, true),
            None => (Err(Answer::no_route()), false),
        }
    }

    fn own_routes(&self, world: &mut World, path: &[&str]) -> Option<Outcome> {
        Some(match (self.method.as_str(), path) {
            ("GET", ["user"]) => self.who_am_i(world),
            ("GET", ["users"]) => self.users(world),
            ("GET", ["users", id]) => self.user_by_id(world, id),
            ("GET", ["personal_access_tokens", "self"]) => self.own_token(world),
            ("GET", ["version"]) => self.version(world),
            ("GET", ["metadata"]) => self.metadata(world),
            _ => return None,
        })
    }

    fn group_routes(&self, world: &mut World, path: &[&str]) -> Option<Outcome> {
        Some(match (self.method.as_str(), path) {
            ("GET", [id]) => self.group(world, id),
            ("GET", [id, "subgroups"]) => self.subgroups(world, id, false),
            ("GET", [id, "descendant_groups"]) => self.subgroups(world, id, true),
            ("GET", [id, "projects"]) => self.group_projects(world, id),
            ("GET", [id, "issues"]) => self.group_issues(world, id),
            ("GET", [id, "issues_statistics"]) => self.group_statistics(world, id),
            ("GET", [id, "labels"]) => self.group_labels(world, id),
            ("POST", [id, "labels"]) => self.create_group_label(world, id),
            ("GET", [id, "members", "all", user]) => self.group_member(world, id, user),
            (_, [id, "hooks", rest @ ..]) => return self.hook_routes(world, ("groups", id), rest),
            _ => return None,
        })
    }

    fn project_routes(&self, world: &mut World, path: &[&str]) -> Option<Outcome> {
        Some(match (self.method.as_str(), path) {
            ("GET", [id]) => self.show_project(world, id),
            ("GET", [id, "pages"]) => self.pages(world, id),
            ("GET", [id, "labels"]) => self.project_labels(world, id),
            ("POST", [id, "labels"]) => self.create_project_label(world, id),
            ("GET", [id, "members", "all", user]) => self.project_member(world, id, user),
            (_, [id, "hooks", rest @ ..]) => return self.hook_routes(world, ("projects", id), rest),
            (_, [id, "repository", rest @ ..]) => return self.repository_routes(world, id, rest),
            (_, [id, "merge_requests", rest @ ..]) => return self.merge_routes(world, id, rest),
            ("GET", [id, "issues"]) => self.project_issues(world, id),
            ("GET", [id, "issues_statistics"]) => self.project_statistics(world, id),
            ("POST", [id, "issues"]) => self.create_issue(world, id),
            (_, [id, "issues", iid, rest @ ..]) => return self.issue_routes(world, (id, iid), rest),
            _ => return None,
        })
    }

    fn issue_routes(&self, world: &mut World, (id, iid): (&str, &str), path: &[&str]) -> Option<Outcome> {
        let issue = match self.issue(world, id, iid) {
            Ok(issue) => issue,
            Err(refusal) => return Some(Err(refusal)),
        };
        Some(match (self.method.as_str(), path) {
            ("GET", []) => self.show_issue(world, issue),
            ("PUT", []) => self.update_issue(world, issue),
            ("GET", ["discussions"]) => self.discussions(world, issue),
            ("POST", ["discussions"]) => self.create_discussion(world, issue),
            ("GET", ["discussions", d]) => self.discussion(world, issue, d),
            ("POST", ["discussions", d, "notes"]) => self.reply(world, issue, d),
            ("PUT", ["discussions", d, "notes", note]) => self.update_note(world, issue, note, Some(d)),
            ("DELETE", ["discussions", d, "notes", note]) => self.delete_note(world, issue, note, Some(d)),
            ("GET", ["notes"]) => self.notes(world, issue),
            ("POST", ["notes"]) => self.create_note(world, issue),
            ("GET", ["notes", note]) => self.note(world, issue, note),
            ("PUT", ["notes", note]) => self.update_note(world, issue, note, None),
            ("DELETE", ["notes", note]) => self.delete_note(world, issue, note, None),
            ("GET", ["award_emoji"]) => self.awards(world, issue, None),
            ("POST", ["award_emoji"]) => self.give_award(world, issue, None),
            ("DELETE", ["award_emoji", award]) => self.take_award(world, award),
            ("GET", ["notes", note, "award_emoji"]) => self.awards(world, issue, Some(note)),
            ("POST", ["notes", note, "award_emoji"]) => self.give_award(world, issue, Some(note)),
            ("DELETE", ["notes", _, "award_emoji", award]) => self.take_award(world, award),
            _ => return None,
        })
    }

    fn repository_routes(&self, world: &mut World, id: &str, path: &[&str]) -> Option<Outcome> {
        if let ("GET", ["archive.tar.gz"] | ["archive"]) = (self.method.as_str(), path) {
            return Some(self.archive(world, id));
        }
        let project = match self.readable(world, id) {
            Ok(project) => project,
            Err(refusal) => return Some(Err(refusal)),
        };
        Some(match (self.method.as_str(), path) {
            ("GET", ["tree"]) => self.tree(world, project),
            ("GET" | "HEAD", ["files", file, "raw"]) => self.raw_file(world, project, file),
            ("GET" | "HEAD", ["files", file]) => self.file(world, project, file),
            ("GET", ["blobs", sha, "raw"]) => self.raw_blob(project, sha),
            ("GET", ["blobs", sha]) => self.blob(project, sha),
            ("GET", ["branches"]) => self.branches(world, project),
            ("GET", ["branches", name]) => self.branch(world, project, name),
            ("GET", ["tags"]) => self.tags(world, project),
            ("GET", ["tags", name]) => self.tag(world, project, name),
            ("GET", ["commits"]) => self.commits(world, project),
            ("GET", ["commits", sha]) => self.commit(world, project, sha),
            ("GET", ["commits", sha, "diff"]) => self.commit_diff(world, project, sha),
            ("GET", ["commits", sha, "refs"]) => self.commit_refs(world, project, sha),
            ("GET", ["commits", sha, "merge_requests"]) => self.commit_merge_requests(world, project, sha),
            ("GET", ["merge_base"]) => self.merge_base(world, project),
            ("GET", ["compare"]) => self.compare(world, project),
            _ => return None,
        })
    }

    fn merge_routes(&self, world: &mut World, id: &str, path: &[&str]) -> Option<Outcome> {
        let project = match self.with_merge_requests(world, id) {
            Ok(project) => project,
            Err(refusal) => return Some(Err(refusal)),
        };
        Some(match (self.method.as_str(), path) {
            ("GET", []) => self.merge_requests(world, project),
            ("GET", [iid]) => self.merge_request(world, project, iid),
            ("GET", [iid, "diffs"]) => self.merge_request_diffs(world, project, iid),
            ("GET", [iid, "commits"]) => self.merge_request_commits(world, project, iid),
            _ => return None,
        })
    }
}
