//! The bodies of deliveries, field for field as GitLab writes them.

use crate::gitlab::git::{Commit, Repository, ZERO};
use crate::gitlab::time;
use crate::gitlab::world::{
    Award, Awardable, Group, Issue, IssueType, Label, MergeRequest, Note, Project, Token, World,
};
use serde_json::{Map, Value, json};

/// `changes` of an issue: key to previous and current.
pub type Changes = Map<String, Value>;

/// One entry of `changes`.
pub fn change(previous: Value, current: Value) -> Value {
    json!({ "previous": previous, "current": current })
}

/// What `changes` says of an issue that has just been opened.
pub fn opening_changes(issue: &Issue) -> Changes {
    let created = json!(time::hook(issue.created_at));
    let fields = [
        ("author_id", json!(issue.author)),
        ("created_at", created.clone()),
        ("description", json!(issue.description)),
        ("id", json!(issue.id)),
        ("iid", json!(issue.iid)),
        ("project_id", json!(issue.project)),
        ("title", json!(issue.title)),
        ("updated_at", created),
    ];
    fields.into_iter().map(|(key, value)| (key.to_owned(), change(Value::Null, value))).collect()
}

fn avatar(username: &str) -> String {
    format!(
        "https://www.gravatar.com/avatar/{}?s=80&d=identicon",
        &crate::gitlab::git::object_id("avatar", username.as_bytes())[..16]
    )
}

/// Who acted.
pub fn user(world: &World, id: u64) -> Value {
    let user = &world.users[&id];
    json!({
        "id": id, "name": user.name, "username": user.username, "avatar_url": avatar(&user.username), "email": "[REDACTED]",
    })
}

/// The project an event happened in.
pub fn project(world: &World, project: &Project) -> Value {
    let (path, web) = (world.project_path(project), world.web_url(project));
    let host = world.instance.split_once("://").map_or("gitlab.invalid", |(_, host)| host);
    let ssh = format!("git@{host}:{path}.git");
    let http = format!("{web}.git");
    json!({
        "id": project.id, "name": project.name, "description": project.description, "web_url": web, "avatar_url": null,
        "git_ssh_url": ssh, "git_http_url": http, "namespace": world.groups[&project.namespace].name,
        "visibility_level": project.visibility as u8, "path_with_namespace": path,
        "default_branch": project.default_branch, "ci_config_path": null, "homepage": web, "url": ssh,
        "ssh_url": ssh, "http_url": http,
    })
}

fn repository(world: &World, of: &Project) -> Value {
    let project = project(world, of);
    json!({
        "name": of.name, "url": project["git_ssh_url"], "description": of.description, "homepage": project["web_url"],
    })
}

fn label(label: &Label) -> Value {
    let created = time::hook(label.created_at);
    json!({
        "id": label.id, "title": label.name, "color": label.color, "project_id": label.project, "created_at": created,
        "updated_at": created, "template": false, "description": label.description,
        "type": if label.group.is_some() { "GroupLabel" } else { "ProjectLabel" }, "group_id": label.group,
    })
}

/// Labels by id, as deliveries list them.
pub fn labels(world: &World, ids: &[u64]) -> Value {
    ids.iter().map(|id| label(&world.labels[id])).collect()
}

/// The issue itself, as every event about it carries it.
pub fn issue_attributes(world: &World, issue: &Issue) -> Value {
    let web = world.web_url(&world.projects[&issue.project]);
    json!({
        "author_id": issue.author, "closed_at": issue.closed_at.map(time::hook), "confidential": issue.confidential,
        "created_at": time::hook(issue.created_at), "description": issue.description,
        "discussion_locked": issue.discussion_locked, "due_date": null, "id": issue.id, "iid": issue.iid,
        "last_edited_at": issue.last_edited_at.map(time::hook), "last_edited_by_id": issue.last_edited_by,
        "milestone_id": null, "moved_to_id": issue.moved_to, "duplicated_to_id": issue.duplicated_to,
        "project_id": issue.project, "relative_position": 513 * issue.iid, "state_id": if issue.closed_at.is_some() { 2 } else { 1 },
        "time_estimate": 0, "title": issue.title, "updated_at": time::hook(issue.updated_at), "updated_by_id": issue.updated_by,
        "weight": null, "health_status": null, "type": issue.issue_type.title(),
        "url": format!("{web}/-/work_items/{}", issue.iid), "total_time_spent": 0, "time_change": 0,
        "human_total_time_spent": null, "human_time_change": null, "human_time_estimate": null,
        "assignee_ids": issue.assignees, "assignee_id": issue.assignees.first(), "labels": labels(world, &issue.labels),
        "state": issue.state(), "severity": "unknown", "customer_relations_contacts": [],
    })
}

/// An issue event. Without an action it is what the test button sends.
pub fn issue(world: &World, of: &Issue, by: u64, action: Option<&str>, changes: Changes) -> Value {
    let in_project = &world.projects[&of.project];
    let mut attributes = issue_attributes(world, of);
    if let Some(action) = action {
        attributes["action"] = json!(action);
    }
    let kind = if of.issue_type == IssueType::Issue { "issue" } else { "work_item" };
    let event = if of.confidential && kind == "issue" { "confidential_issue" } else { kind };
    let mut body = json!({
        "object_kind": kind, "event_type": event, "user": user(world, by), "project": project(world, in_project),
        "object_attributes": attributes, "labels": labels(world, &of.labels), "changes": changes,
        "repository": repository(world, in_project),
    });
    if !of.assignees.is_empty() {
        body["assignees"] = of.assignees.iter().map(|id| user(world, *id)).collect();
    }
    body
}

fn note_attributes(world: &World, issue: &Issue, note: &Note, discussion: &str) -> Value {
    let web = world.web_url(&world.projects[&issue.project]);
    json!({
        "attachment": null, "author_id": note.author, "change_position": null, "commit_id": null,
        "created_at": time::hook(note.created_at), "discussion_id": discussion, "id": note.id, "internal": note.internal,
        "line_code": null, "note": note.body, "noteable_id": issue.id, "noteable_type": "Issue", "original_position": null,
        "position": null, "project_id": issue.project, "resolved_at": null, "resolved_by_id": null, "resolved_by_push": null,
        "st_diff": null, "system": note.system, "type": note.threaded.then_some("DiscussionNote"),
        "updated_at": time::hook(note.updated_at), "updated_by_id": note.updated_by, "description": note.body,
        "url": format!("{web}/-/work_items/{}#note_{}", issue.iid, note.id),
    })
}

/// A comment event. `user` is the note's author, whoever edited it.
pub fn note(world: &World, issue: &Issue, of: &Note, discussion: &str, action: &str) -> Value {
    let in_project = &world.projects[&issue.project];
    let mut attributes = note_attributes(world, issue, of, discussion);
    attributes["action"] = json!(action);
    let event = if of.internal || issue.confidential { "confidential_note" } else { "note" };
    json!({
        "object_kind": "note", "event_type": event, "user": user(world, of.author), "project_id": issue.project,
        "project": project(world, in_project), "object_attributes": attributes, "repository": repository(world, in_project),
        "issue": issue_attributes(world, issue),
    })
}

/// An emoji event; text of note and issue travels along whatever their confidentiality.
pub fn emoji(world: &World, award: &Award, issue: u64, action: &str) -> Value {
    let issue = &world.issues[&issue];
    let web = world.web_url(&world.projects[&issue.project]);
    let page = format!("{web}/-/work_items/{}", issue.iid);
    let (kind, id, page, note) = match award.on {
        Awardable::Issue(id) => ("Issue", id, page, None),
        Awardable::Note(id) => {
            let (_, discussion) = world.place_of_note(id).expect("the award is on a note of this issue");
            let note = note_attributes(world, issue, world.note(id), &discussion);
            ("Note", id, format!("{page}#note_{id}"), Some(note))
        }
    };
    let mut body = json!({
        "object_kind": "emoji", "event_type": action, "user": user(world, award.user), "project_id": issue.project,
        "project": project(world, &world.projects[&issue.project]),
        "object_attributes": {
            "user_id": award.user, "created_at": time::hook(award.at), "id": award.id, "name": award.name,
            "awardable_type": kind, "awardable_id": id, "updated_at": time::hook(award.at), "action": action,
            "awarded_on_url": page,
        },
    });
    if let Some(note) = note {
        body["note"] = note;
    }
    body["issue"] = issue_attributes(world, issue);
    body
}

/// A branch that moved.
pub struct Push {
    pub project: u64,
    /// `refs/heads/…`
    pub reference: String,
    pub before: String,
    pub after: String,
    pub user: Option<u64>,
}

/// A push event: at most the twenty newest commits.
pub fn push(world: &World, push: &Push) -> Value {
    let of = &world.projects[&push.project];
    let (commits, total) = match push.after == ZERO {
        true => (Vec::new(), 0),
        false => pushed(world, of, push),
    };
    let person = push.user.map(|id| &world.users[&id]);
    let mut repository = repository(world, of);
    let project = project(world, of);
    for key in ["git_http_url", "git_ssh_url", "visibility_level"] {
        repository[key] = project[key].clone();
    }
    json!({
        "object_kind": "push", "event_name": "push", "before": push.before, "after": push.after, "ref": push.reference,
        "ref_protected": of.default_branch.as_ref().is_some_and(|name| push.reference == format!("refs/heads/{name}")),
        "checkout_sha": (push.after != ZERO).then_some(&push.after), "message": null, "user_id": push.user,
        "user_name": person.map(|user| &user.name), "user_username": person.map(|user| &user.username), "user_email": null,
        "user_avatar": person.map(|user| avatar(&user.username)), "project_id": of.id, "project": project,
        "commits": commits, "total_commits_count": total, "push_options": {}, "repository": repository,
    })
}

fn pushed(world: &World, of: &Project, push: &Push) -> (Vec<Value>, usize) {
    let old = if push.before == ZERO { String::new() } else { push.before.clone() };
    let commits = of.repository.between(&old, &push.after);
    let newest = commits.len().saturating_sub(20);
    (commits[newest..].iter().map(|commit| commit_row(world, of, commit)).collect(), commits.len())
}

fn commit_row(world: &World, of: &Project, commit: &Commit) -> Value {
    let (added, modified, removed) = touched(&of.repository, commit);
    json!({
        "id": commit.id, "message": commit.message, "title": commit.title(), "timestamp": time::offset(commit.at),
        "url": format!("{}/-/commit/{}", world.web_url(of), commit.id),
        "author": { "name": commit.author_name, "email": commit.author_email },
        "added": added, "modified": modified, "removed": removed,
    })
}

/// Paths a commit added, changed and removed; a rename is a removal and an addition.
fn touched<'r>(
    repository: &'r Repository,
    commit: &'r Commit,
) -> (Vec<&'r String>, Vec<&'r String>, Vec<&'r String>) {
    let before = commit.parents.first().and_then(|id| repository.commit(id)).map(|parent| &*parent.tree);
    let was = |path: &String| before.and_then(|tree| tree.get(path));
    let added = commit.tree.keys().filter(|path| was(path).is_none()).collect();
    let modified = commit
        .tree
        .iter()
        .filter(|(path, entry)| was(path).is_some_and(|old| old != *entry))
        .map(|(path, _)| path);
    let removed = before
        .into_iter()
        .flat_map(|tree| tree.keys())
        .filter(|path| !commit.tree.contains_key(*path))
        .collect();
    (added, modified.collect(), removed)
}

/// A merge request event.
pub fn merge_request(world: &World, mr: &MergeRequest, by: u64, action: &str) -> Value {
    let target = &world.projects[&mr.project];
    let updated = change(json!(time::hook(mr.created_at)), json!(time::hook(mr.updated_at)));
    json!({
        "object_kind": "merge_request", "event_type": "merge_request", "user": user(world, by),
        "project": project(world, target), "object_attributes": merge_request_attributes(world, mr, action), "labels": [],
        "changes": { "updated_at": updated }, "repository": repository(world, target),
    })
}

fn merge_request_attributes(world: &World, mr: &MergeRequest, action: &str) -> Value {
    let (source, target) = (&world.projects[&mr.source_project], &world.projects[&mr.project]);
    let commit = &target.repository.commits[&mr.sha];
    let state_id = ["opened", "closed", "merged", "locked"]
        .iter()
        .position(|state| *state == mr.state)
        .map_or(4, |at| at + 1);
    let mut attributes = json!({
        "assignee_id": null, "author_id": mr.author, "created_at": time::hook(mr.created_at), "description": mr.description,
        "draft": false, "head_pipeline_id": null, "id": mr.id, "iid": mr.iid, "last_edited_at": null,
        "last_edited_by_id": null, "merge_commit_sha": mr.merge_commit, "merge_error": null,
        "merge_params": { "force_remove_source_branch": "1" }, "merge_status": "can_be_merged", "merge_user_id": mr.merged_by,
        "merge_when_pipeline_succeeds": false, "milestone_id": null, "source_branch": mr.source_branch,
        "source_project_id": mr.source_project, "state_id": state_id, "target_branch": mr.target_branch,
        "target_project_id": mr.project, "time_estimate": 0, "title": mr.title, "updated_at": time::hook(mr.updated_at),
        "updated_by_id": null, "prepared_at": time::hook(mr.created_at), "assignee_ids": [],
        "blocking_discussions_resolved": true, "first_contribution": false, "human_time_change": null,
        "human_time_estimate": null, "human_total_time_spent": null, "labels": [], "reviewer_ids": [],
    });
    attributes["detailed_merge_status"] = json!(if mr.state == "opened" { "mergeable" } else { "not_open" });
    attributes["last_commit"] = json!({
        "id": commit.id, "message": commit.message, "title": commit.title(), "timestamp": time::offset(commit.at),
        "url": format!("{}/-/commit/{}", world.web_url(source), commit.id),
        "author": { "name": commit.author_name, "email": "[REDACTED]" },
    });
    let rest = json!({
        "source": project(world, source), "state": mr.state, "system": false, "target": project(world, target),
        "time_change": 0, "total_time_spent": 0, "url": format!("{}/-/merge_requests/{}", world.web_url(target), mr.iid),
        "work_in_progress": false, "approval_rules": [], "action": action, "actioned_at": time::hook(mr.updated_at),
    });
    if let (Some(all), Value::Object(rest)) = (attributes.as_object_mut(), rest) {
        all.extend(rest);
    }
    attributes
}

/// A project that came or goes.
pub fn project_event(world: &World, event: &str, project: &Project) -> Value {
    let created = time::short(project.created_at);
    json!({
        "event_name": event, "created_at": created, "updated_at": created, "name": project.name, "path": project.path,
        "path_with_namespace": world.project_path(project), "project_id": project.id,
        "project_namespace_id": 200 + project.id, "owners": [{ "name": "Ines Haddad", "email": "ines@example.com" }],
        "project_visibility": project.visibility.name(),
    })
}

/// A subgroup that came or goes.
pub fn group_event(world: &World, event: &str, group: &Group) -> Value {
    let created = time::short(group.created_at);
    let parent = group.parent.map(|id| &world.groups[&id]);
    json!({
        "created_at": created, "updated_at": created, "event_name": event, "name": group.name, "path": group.path,
        "full_path": world.group_path(group.id), "group_id": group.id, "parent_group_id": group.parent,
        "parent_name": parent.map(|group| &group.name), "parent_path": parent.map(|group| &group.path),
        "parent_full_path": group.parent.map(|id| world.group_path(id)),
    })
}

/// A token that dies in a few days.
pub fn token_expiring(world: &World, group: &Group, token: &Token) -> Value {
    json!({
        "object_kind": "access_token",
        "group": {
            "group_name": group.name, "group_path": group.path, "group_id": group.id, "full_path": world.group_path(group.id),
        },
        "object_attributes": {
            "user_id": token.user, "created_at": time::hook(token.created_at), "id": token.id, "name": token.name,
            "expires_at": token.expires_at, "last_used_at": token.last_used_at.map(time::hook),
        },
        "event_name": "expiring_access_token",
    })
}
