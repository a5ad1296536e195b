//! Issues: lists, one, changes.

use super::{Answer, Call, Outcome, shape};
use crate::gitlab::world::{Issue, Level, World};
use serde_json::{Value, json};

impl Call {
    /// The global id of an issue the caller may read.
    pub(super) fn issue(&self, world: &World, project: &str, iid: &str) -> Result<u64, Answer> {
        let project = self.project(world, project)?;
        let found = iid.parse().ok().and_then(|iid| world.find_issue(project.id, iid));
        let seen = found.filter(|issue| world.reads_issue(issue, self.user(world)));
        seen.map(|issue| issue.id).ok_or_else(|| Answer::missing(""))
    }

    pub(super) fn show_issue(&self, world: &World, issue: u64) -> Outcome {
        Ok(Answer::ok(shape::issue(world, &world.issues[&issue])))
    }

    pub(super) fn project_issues(&self, world: &World, project: &str) -> Outcome {
        self.issue_list(world, self.selected(world, self.of_project(world, project)?)?)
    }

    /// Issues of archived projects are left out unless asked for.
    pub(super) fn group_issues(&self, world: &World, group: &str) -> Outcome {
        self.issue_list(world, self.selected(world, self.of_group(world, group)?)?)
    }

    pub(super) fn project_statistics(&self, world: &World, project: &str) -> Outcome {
        Ok(counts(&self.selected(world, self.of_project(world, project)?)?))
    }

    pub(super) fn group_statistics(&self, world: &World, group: &str) -> Outcome {
        Ok(counts(&self.selected(world, self.of_group(world, group)?)?))
    }

    fn of_project<'w>(&self, world: &'w World, project: &str) -> Result<Vec<&'w Issue>, Answer> {
        let project = self.project(world, project)?.id;
        Ok(world.issues.values().filter(|issue| issue.project == project).collect())
    }

    fn of_group<'w>(&self, world: &'w World, group: &str) -> Result<Vec<&'w Issue>, Answer> {
        let group = self.find_group(world, group)?;
        let living = self.flag("non_archived", true)?;
        let inside = |issue: &&Issue| {
            let project = &world.projects[&issue.project];
            world.group_chain(project.namespace).contains(&group) && !(living && project.archived)
        };
        Ok(world.issues.values().filter(inside).collect())
    }

    /// Those of the issues that the caller may read and that pass every filter given.
    fn selected<'w>(&self, world: &'w World, mut issues: Vec<&'w Issue>) -> Result<Vec<&'w Issue>, Answer> {
        let times = (self.time("updated_after")?, self.time("updated_before")?, self.time("created_after")?);
        let state = self.get("state").unwrap_or("all");
        if !["all", "opened", "closed"].contains(&state) {
            return Err(Answer::bad("state does not have a valid value"));
        }
        let confidential = self.maybe_flag("confidential")?;
        let (labels, kind, iids) = (self.list("labels"), self.get("issue_type"), self.list("iids"));
        let author = self.get("author_id");
        issues.retain(|issue| {
            let names: Vec<&str> = issue.labels.iter().map(|id| world.labels[id].name.as_str()).collect();
            world.reads_issue(issue, self.user(world))
                && (state == "all" || issue.state() == state)
                && times.0.is_none_or(|at| issue.updated_at >= at)
                && times.1.is_none_or(|at| issue.updated_at <= at)
                && times.2.is_none_or(|at| issue.created_at >= at)
                && confidential.is_none_or(|wanted| issue.confidential == wanted)
                && labels.iter().all(|label| names.contains(label))
                && kind.is_none_or(|kind| issue.issue_type.rest() == kind)
                && author.is_none_or(|id| issue.author.to_string() == id)
                && (iids.is_empty() || iids.contains(&issue.iid.to_string().as_str()))
        });
        Ok(issues)
    }

    fn issue_list(&self, world: &World, mut found: Vec<&Issue>) -> Outcome {
        match self.get("order_by") {
            Some("updated_at") => found.sort_by_key(|issue| (issue.updated_at, issue.id)),
            _ => found.sort_by_key(|issue| (issue.created_at, issue.id)),
        }
        if self.get("sort") != Some("asc") {
            found.reverse();
        }
        self.page(world, found.into_iter().map(|issue| shape::issue(world, issue)).collect())
    }

    pub(super) fn create_issue(&self, world: &mut World, name: &str) -> Outcome {
        let project = self.project(world, name)?;
        let (path, user) = (world.project_path(project), self.somebody(world)?);
        if project.archived || !world.reads_issues(project, Some(user)) {
            return Err(Answer::forbidden());
        }
        let (title, description) = (self.need("title")?, self.get("description").unwrap_or_default());
        let by = world.users[&user].username.clone();
        let confidential = self.flag("confidential", false)?;
        let iid = world.open_with(&path, &by, title, description, |issue| issue.confidential = confidential);
        let id = world.issue(&path, iid).id;
        let labels = self.list("labels");
        if !labels.is_empty() {
            world.change_labels(id, user, &labels, &[], true);
        }
        Ok(Answer::created(shape::issue(world, &world.issues[&id])))
    }

    /// Planners and up change anything; authors their own text and state; nobody changes an archived project.
    pub(super) fn update_issue(&self, world: &mut World, id: u64) -> Outcome {
        let user = self.somebody(world)?;
        let issue = &world.issues[&id];
        let project = &world.projects[&issue.project];
        let trusted = world.project_level(project, user) >= Some(Level::Planner);
        if project.archived || !(trusted || issue.author == user) {
            return Err(Answer::forbidden());
        }
        let known = [
            "title",
            "description",
            "add_labels",
            "remove_labels",
            "labels",
            "state_event",
            "confidential",
            "discussion_locked",
        ];
        let list = |name: &&str| !self.list(name).is_empty();
        if !known.iter().any(|name| self.given(name).is_some() || list(name)) {
            return Err(Answer::bad(&format!(
                "{} are missing, at least one parameter must be provided",
                known.join(", ")
            )));
        }
        if trusted {
            self.update_labels(world, id, user);
            if let Some(secret) = self.maybe_flag("confidential")? {
                world.set_confidential_by_id(id, user, secret);
            }
            if let Some(locked) = self.maybe_flag("discussion_locked")? {
                world.lock_by_id(id, user, locked);
            }
        }
        let (title, text) = (self.get("title"), self.given("description"));
        if title.is_some() || text.is_some() {
            world.edit_issue_by_id(id, user, title, text);
        }
        match self.get("state_event") {
            Some("close") => world.set_closed(id, user, true),
            Some("reopen") => world.set_closed(id, user, false),
            _ => {}
        }
        Ok(Answer::ok(shape::issue(world, &world.issues[&id])))
    }

    fn update_labels(&self, world: &mut World, id: u64, user: u64) {
        if self.given("labels").is_some() || !self.list("labels").is_empty() {
            let names = self.list("labels");
            let old: Vec<String> =
                world.issues[&id].labels.iter().map(|label| world.labels[label].name.clone()).collect();
            let gone: Vec<&str> =
                old.iter().map(String::as_str).filter(|name| !names.contains(name)).collect();
            world.change_labels(id, user, &names, &gone, true);
        }
        let (add, remove) = (self.list("add_labels"), self.list("remove_labels"));
        if !add.is_empty() || !remove.is_empty() {
            world.change_labels(id, user, &add, &remove, true);
        }
    }

    /// Whether the caller may comment: a reader, not in an archived project; a member when it is locked.
    pub(super) fn may_comment(&self, world: &World, issue: u64) -> Result<u64, Answer> {
        let user = self.somebody(world)?;
        let issue = &world.issues[&issue];
        let project = &world.projects[&issue.project];
        let member = world.project_level(project, user).is_some();
        match project.archived || issue.discussion_locked == Some(true) && !member {
            true => Err(Answer::forbidden()),
            false => Ok(user),
        }
    }
}

fn counts(issues: &[&Issue]) -> Answer {
    let closed = issues.iter().filter(|issue| issue.state() == "closed").count();
    let counts = json!({ "all": issues.len(), "closed": closed, "opened": issues.len() - closed });
    Answer::ok(json!({ "statistics": { "counts": counts } }))
}

/// The answer to a text of quick actions only: they ran, nothing is stored.
pub(super) fn only_commands() -> Answer {
    Answer::json(
        202,
        json!({ "commands_changes": Value::Object(serde_json::Map::new()), "summary": ["Commands applied"] }),
    )
}
