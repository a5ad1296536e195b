//! Labels of projects and groups.

use super::{Answer, Call, Outcome, shape};
use crate::gitlab::world::{Label, Level, World};
use serde_json::json;

impl Call {
    pub(super) fn project_labels(&self, world: &World, project: &str) -> Outcome {
        let project = self.project(world, project)?.id;
        self.label_list(world, world.labels_of_project(project, self.flag("include_ancestor_groups", true)?))
    }

    pub(super) fn group_labels(&self, world: &World, group: &str) -> Outcome {
        let group = self.find_group(world, group)?;
        self.label_list(world, world.labels_of_group(group, self.flag("include_ancestor_groups", true)?))
    }

    fn label_list(&self, world: &World, mut labels: Vec<&Label>) -> Outcome {
        let wanted = self.get("search").map(str::to_lowercase);
        labels.retain(|label| wanted.as_ref().is_none_or(|text| label.name.to_lowercase().contains(text)));
        labels.sort_by(|a, b| a.name.cmp(&b.name));
        self.page(world, labels.into_iter().map(shape::label).collect())
    }

    pub(super) fn create_project_label(&self, world: &mut World, name: &str) -> Outcome {
        let project = self.project(world, name)?;
        self.role(world, project, Level::Planner)?;
        let id = project.id;
        self.create_label(world, (None, Some(id)))
    }

    pub(super) fn create_group_label(&self, world: &mut World, name: &str) -> Outcome {
        let group = self.find_group(world, name)?;
        if world.group_level(group, self.somebody(world)?) < Some(Level::Planner) {
            return Err(Answer::forbidden());
        }
        self.create_label(world, (Some(group), None))
    }

    fn create_label(&self, world: &mut World, place: (Option<u64>, Option<u64>)) -> Outcome {
        let (name, color) = (self.need("name")?, self.need("color")?);
        if !color.starts_with('#') || ![4, 7].contains(&color.len()) {
            return Err(Answer::json(400, json!({ "message": { "color": ["must be a valid color code"] } })));
        }
        if world.labels.values().any(|label| label.name == name && (label.group, label.project) == place) {
            return Err(Answer::json(409, json!({ "message": "Label already exists" })));
        }
        let description = self.get("description").map(str::to_owned);
        let id = world.create_label(name, color, description, place);
        Ok(Answer::created(shape::label(&world.labels[&id])))
    }
}
