//! Labels of groups and projects, by their exact names.

use super::World;
use crate::gitlab::time::Millis;

/// A label; it belongs to a group or to a project.
#[derive(Clone, Debug)]
pub struct Label {
    pub id: u64,
    pub name: String,
    pub color: String,
    pub description: Option<String>,
    pub group: Option<u64>,
    pub project: Option<u64>,
    pub archived: bool,
    pub created_at: Millis,
}

/// The colour GitLab gives a label that `add_labels` made.
const STRAY_COLOR: &str = "#428BCA";

impl World {
    /// A group label.
    pub fn add_group_label(&mut self, group: &str, name: &str, color: &str) -> u64 {
        let group = self.group(group).id;
        self.typed(name);
        self.create_label(name, color, None, (Some(group), None))
    }

    /// A project label.
    pub fn add_project_label(&mut self, project: &str, name: &str, color: &str) -> u64 {
        let project = self.project(project).id;
        self.typed(name);
        self.create_label(name, color, None, (None, Some(project)))
    }

    /// A label of a group or a project (ids).
    pub(crate) fn create_label(
        &mut self,
        name: &str,
        color: &str,
        description: Option<String>,
        (group, project): (Option<u64>, Option<u64>),
    ) -> u64 {
        let (id, created_at) = (self.next_id("label"), self.time.now());
        let (name, color) = (name.to_owned(), color.to_owned());
        self.labels
            .insert(id, Label { id, name, color, description, group, project, archived: false, created_at });
        id
    }

    /// The labels an issue of the project may carry: its own, then those of its groups.
    pub fn labels_of_project(&self, project: u64, ancestors: bool) -> Vec<&Label> {
        let chain = self.group_chain(self.projects[&project].namespace);
        let above = |label: &&Label| ancestors && label.group.is_some_and(|id| chain.contains(&id));
        self.labels.values().filter(|label| label.project == Some(project) || above(label)).collect()
    }

    /// The labels of a group, with those of its parents.
    pub fn labels_of_group(&self, group: u64, ancestors: bool) -> Vec<&Label> {
        let chain = self.group_chain(group);
        let fits = |id: u64| if ancestors { chain.contains(&id) } else { id == group };
        self.labels.values().filter(|label| label.group.is_some_and(fits)).collect()
    }

    pub(crate) fn has_label(&self, project: u64, name: &str) -> bool {
        self.labels_of_project(project, true).iter().any(|label| label.name == name)
    }

    /// The names of an issue's labels, sorted.
    pub fn label_names(&self, project: &str, iid: u64) -> Vec<String> {
        let ids = &self.issue(project, iid).labels;
        let mut names: Vec<String> = ids.iter().map(|id| self.labels[id].name.clone()).collect();
        names.sort();
        names
    }

    /// Adds and removes labels by name, as somebody. With `create`, an unknown name becomes a project label,
    /// which is what the REST interface does. A name on both lists is removed.
    pub(crate) fn change_labels(&mut self, issue: u64, by: u64, add: &[&str], remove: &[&str], create: bool) {
        let project = self.issues[&issue].project;
        let mut labels = self.issues[&issue].labels.clone();
        for name in add {
            match self.label_id(project, name) {
                Some(id) if !labels.contains(&id) => labels.push(id),
                Some(_) => {}
                None if create => labels.push(self.stray_label(project, by, name)),
                None => {}
            }
        }
        labels.retain(|id| !remove.contains(&self.labels[id].name.as_str()));
        self.put_labels(issue, by, labels);
    }

    /// Replaces all labels by these.
    pub(crate) fn replace_labels(&mut self, issue: u64, by: u64, names: &[&str]) {
        let project = self.issues[&issue].project;
        let labels = names.iter().filter_map(|name| self.label_id(project, name)).collect();
        self.put_labels(issue, by, labels);
    }

    fn label_id(&self, project: u64, name: &str) -> Option<u64> {
        self.labels_of_project(project, true).iter().find(|label| label.name == name).map(|label| label.id)
    }

    fn stray_label(&mut self, project: u64, by: u64, name: &str) -> u64 {
        self.typed_by(by, name);
        self.create_label(name, STRAY_COLOR, None, (None, Some(project)))
    }

    /// Somebody adds labels to an issue; unknown names are created in the project.
    pub fn add_labels(&mut self, project: &str, iid: u64, by: &str, names: &[&str]) {
        let (issue, by) = (self.issue(project, iid).id, self.user(by).id);
        self.change_labels(issue, by, names, &[], true);
    }

    /// Somebody takes labels off an issue.
    pub fn remove_labels(&mut self, project: &str, iid: u64, by: &str, names: &[&str]) {
        let (issue, by) = (self.issue(project, iid).id, self.user(by).id);
        self.change_labels(issue, by, &[], names, false);
    }
}
