//! The JSON of the REST interface, object by object.

use crate::gitlab::git::Commit;
use crate::gitlab::git::diff::FileDiff;
use crate::gitlab::time;
use crate::gitlab::world::{Awardable, Group, Issue, Label, MergeRequest, Note, Project, User, World};
use serde_json::{Value, json};

/// A user as embedded in notes and issues: no word about being a bot.
pub fn author(world: &World, id: u64) -> Value {
    let user = &world.users[&id];
    json!({
        "id": id, "username": user.username, "public_email": null, "name": user.name, "state": user.state, "locked": false,
        "avatar_url": null, "web_url": format!("{}/{}", world.instance, user.username),
    })
}

/// A user asked for by id.
pub fn user(world: &World, user: &User) -> Value {
    let mut shape = author(world, user.id);
    shape["bot"] = json!(user.bot);
    shape["created_at"] = json!(time::rest(user.created_at));
    shape["external"] = json!(user.external);
    shape
}

/// A group.
pub fn group(world: &World, group: &Group) -> Value {
    let path = world.group_path(group.id);
    json!({
        "id": group.id, "web_url": format!("{}/groups/{path}", world.instance), "name": group.name, "path": group.path,
        "description": "", "visibility": group.visibility.name(), "full_name": path.replace('/', " / "), "full_path": path,
        "parent_id": group.parent, "created_at": time::rest(group.created_at), "avatar_url": null, "archived": false,
        "marked_for_deletion_on": group.marked_for_deletion_on,
    })
}

/// A project as a caller sees it.
pub fn project(world: &World, of: &Project, caller: Option<u64>) -> Value {
    let (path, web, namespace) = (world.project_path(of), world.web_url(of), &world.groups[&of.namespace]);
    let code = world.reads_code(of, caller);
    let upstream = of
        .forked_from
        .and_then(|id| world.projects.get(&id))
        .filter(|project| world.sees_project(project, caller));
    let shared = |(id, level): &(u64, _)| {
        let group = &world.groups[id];
        json!({
            "group_id": id, "group_name": group.name, "group_full_path": world.group_path(*id),
            "group_access_level": *level as u64, "expires_at": null,
        })
    };
    let level = caller
        .and_then(|id| world.group_level(of.namespace, id))
        .map(|level| json!({ "access_level": level as u64 }));
    let own = caller.and_then(|id| of.members.get(&id)).map(|level| json!({ "access_level": *level as u64 }));
    let mut shape = json!({
        "id": of.id, "description": of.description, "name": of.name, "path": of.path, "path_with_namespace": path,
        "created_at": time::rest(of.created_at), "default_branch": of.default_branch.as_ref().filter(|_| code),
        "web_url": web, "readme_url": null, "topics": [], "star_count": 0, "forks_count": 0, "avatar_url": null,
        "namespace": {
            "id": namespace.id, "name": namespace.name, "path": namespace.path, "kind": "group",
            "full_path": world.group_path(namespace.id), "parent_id": namespace.parent, "avatar_url": null,
            "web_url": format!("{}/groups/{}", world.instance, world.group_path(namespace.id)),
        },
        "archived": of.archived, "visibility": of.visibility.name(), "empty_repo": of.repository.commits.is_empty(),
        "issues_enabled": of.issues_access.name() != "disabled", "merge_requests_enabled": of.merge_requests_access.name() != "disabled",
        "issues_access_level": of.issues_access.name(), "repository_access_level": of.repository_access.name(),
        "merge_requests_access_level": of.merge_requests_access.name(), "forking_access_level": "enabled",
        "wiki_access_level": "enabled", "snippets_access_level": "enabled", "pages_access_level": "public",
        "shared_with_groups": of.shared_with.iter().map(shared).collect::<Value>(), "merge_method": of.merge_method,
        "marked_for_deletion_on": of.marked_for_deletion_on, "marked_for_deletion_at": of.marked_for_deletion_on,
        "permissions": { "project_access": own, "group_access": level },
    });
    let latest = of.repository.commits.values().map(|commit| commit.at).max().unwrap_or(of.created_at);
    shape["last_activity_at"] = json!(time::rest(latest));
    if let Some(upstream) = upstream {
        shape["forked_from_project"] = json!({
            "id": upstream.id, "name": upstream.name, "path_with_namespace": world.project_path(upstream),
            "web_url": world.web_url(upstream),
        });
    }
    shape
}

/// A project in the few fields of `simple=true`.
pub fn simple_project(world: &World, of: &Project, caller: Option<u64>) -> Value {
    let mut shape = project(world, of, caller);
    let kept = [
        "id",
        "description",
        "name",
        "path",
        "path_with_namespace",
        "created_at",
        "default_branch",
        "web_url",
        "readme_url",
        "topics",
        "star_count",
        "forks_count",
        "avatar_url",
        "namespace",
        "last_activity_at",
    ];
    if let Some(fields) = shape.as_object_mut() {
        fields.retain(|key, _| kept.contains(&key.as_str()));
    }
    shape
}

/// An issue.
pub fn issue(world: &World, of: &Issue) -> Value {
    let project = &world.projects[&of.project];
    let (path, web) = (world.project_path(project), world.web_url(project));
    let mut labels: Vec<&str> = of.labels.iter().map(|id| world.labels[id].name.as_str()).collect();
    labels.sort_unstable();
    let assignees: Vec<Value> = of.assignees.iter().map(|id| author(world, *id)).collect();
    let comments = of.notes().iter().filter(|note| !note.system).count();
    let on = Awardable::Issue(of.id);
    json!({
        "id": of.id, "iid": of.iid, "project_id": of.project, "title": of.title, "description": of.description,
        "state": of.state(), "created_at": time::rest(of.created_at), "updated_at": time::rest(of.updated_at),
        "closed_at": of.closed_at.map(time::rest), "closed_by": of.closed_at.and(of.updated_by).map(|id| author(world, id)),
        "labels": labels, "milestone": null, "assignees": assignees, "author": author(world, of.author),
        "type": of.issue_type.rest().to_ascii_uppercase(), "assignee": assignees.first(), "user_notes_count": comments,
        "merge_requests_count": 0, "upvotes": world.award_count(on, "thumbsup"), "downvotes": world.award_count(on, "thumbsdown"),
        "due_date": null, "confidential": of.confidential, "discussion_locked": of.discussion_locked,
        "issue_type": of.issue_type.rest(), "web_url": format!("{web}/-/work_items/{}", of.iid),
        "time_stats": { "time_estimate": 0, "total_time_spent": 0, "human_time_estimate": null, "human_total_time_spent": null },
        "task_completion_status": { "count": 0, "completed_count": 0 }, "has_tasks": false, "severity": "UNKNOWN",
        "references": { "short": format!("#{}", of.iid), "relative": format!("#{}", of.iid), "full": format!("{path}#{}", of.iid) },
        "moved_to_id": of.moved_to, "imported": false, "imported_from": "none", "service_desk_reply_to": null,
    })
}

/// A note.
pub fn note(world: &World, issue: &Issue, of: &Note) -> Value {
    json!({
        "id": of.id, "type": of.threaded.then_some("DiscussionNote"), "body": of.body, "author": author(world, of.author),
        "created_at": time::rest(of.created_at), "updated_at": time::rest(of.updated_at), "system": of.system,
        "noteable_id": issue.id, "noteable_type": "Issue", "project_id": issue.project, "resolvable": of.threaded,
        "confidential": of.internal, "internal": of.internal, "imported": false, "imported_from": "none",
        "noteable_iid": issue.iid, "commands_changes": {},
    })
}

/// A label, as a project or a group lists it.
pub fn label(label: &Label) -> Value {
    json!({
        "id": label.id, "name": label.name, "description": label.description, "description_html": label.description,
        "text_color": "#FFFFFF", "color": label.color, "archived": label.archived, "subscribed": false, "priority": null,
        "is_project_label": label.project.is_some(),
    })
}

/// A commit.
pub fn commit(world: &World, project: &Project, of: &Commit) -> Value {
    let at = time::offset(of.at).replace("+00:00", ".000+00:00");
    json!({
        "id": of.id, "short_id": of.short(), "created_at": at, "parent_ids": of.parents, "title": of.title(),
        "message": of.message, "author_name": of.author_name, "author_email": of.author_email, "authored_date": at,
        "committer_name": of.author_name, "committer_email": of.author_email, "committed_date": at, "trailers": {},
        "extended_trailers": {}, "web_url": format!("{}/-/commit/{}", world.web_url(project), of.id),
    })
}

/// One file of a diff.
pub fn diff(of: &FileDiff) -> Value {
    json!({
        "diff": of.diff, "collapsed": false, "too_large": false, "new_path": of.new_path, "old_path": of.old_path,
        "a_mode": of.a_mode, "b_mode": of.b_mode, "new_file": of.new_file, "renamed_file": of.renamed_file,
        "deleted_file": of.deleted_file, "generated_file": null,
    })
}

/// A merge request.
pub fn merge_request(world: &World, of: &MergeRequest) -> Value {
    let project = &world.projects[&of.project];
    let (path, web) = (world.project_path(project), world.web_url(project));
    json!({
        "id": of.id, "iid": of.iid, "project_id": of.project, "title": of.title, "description": of.description,
        "state": of.state, "created_at": time::rest(of.created_at), "updated_at": time::rest(of.updated_at),
        "merged_by": of.merged_by.map(|id| author(world, id)), "merge_user": of.merged_by.map(|id| author(world, id)),
        "merged_at": of.merged_at.map(time::rest), "closed_at": null, "target_branch": of.target_branch,
        "source_branch": of.source_branch, "author": author(world, of.author), "assignees": [], "reviewers": [],
        "source_project_id": of.source_project, "target_project_id": of.project, "labels": [], "draft": false,
        "milestone": null, "merge_when_pipeline_succeeds": false, "merge_status": "can_be_merged",
        "detailed_merge_status": if of.state == "opened" { "mergeable" } else { "not_open" }, "sha": of.sha,
        "merge_commit_sha": of.merge_commit, "squash_commit_sha": of.squash_commit, "squash": of.squash_commit.is_some(),
        "references": { "short": format!("!{}", of.iid), "relative": format!("!{}", of.iid), "full": format!("{path}!{}", of.iid) },
        "web_url": format!("{web}/-/merge_requests/{}", of.iid), "user_notes_count": 0, "upvotes": 0, "downvotes": 0,
        "diff_refs": { "base_sha": of.base, "head_sha": of.sha, "start_sha": of.base },
    })
}
