//! Groups, their subgroups, their projects.

use super::{Answer, Call, Outcome, shape};
use crate::gitlab::world::{Project, World};
use serde_json::Value;

impl Call {
    /// The group a path part names (id or full path), if the caller may see it.
    pub(super) fn find_group(&self, world: &World, name: &str) -> Result<u64, Answer> {
        let found = match name.parse::<u64>() {
            Ok(id) => world.groups.get(&id),
            Err(_) => world.find_group(name),
        };
        let seen = found.filter(|group| world.sees_group(group.id, self.user(world)));
        seen.map(|group| group.id).ok_or_else(|| Answer::missing("Group"))
    }

    pub(super) fn group(&self, world: &World, name: &str) -> Outcome {
        let id = self.find_group(world, name)?;
        let mut shape = shape::group(world, &world.groups[&id]);
        if self.flag("with_projects", true)? {
            let own = world.projects.values().filter(|project| project.namespace == id);
            let seen = own.filter(|project| world.sees_project(project, self.user(world)));
            shape["projects"] =
                seen.map(|project| shape::project(world, project, self.user(world))).collect();
        }
        Ok(Answer::ok(shape))
    }

    pub(super) fn subgroups(&self, world: &World, name: &str, all: bool) -> Outcome {
        let id = self.find_group(world, name)?;
        let below = |group: &u64| match all {
            true => *group != id && world.group_chain(*group).contains(&id),
            false => world.groups[group].parent == Some(id),
        };
        let found =
            world.groups.keys().filter(|group| below(group) && world.sees_group(**group, self.user(world)));
        self.page(world, found.map(|group| shape::group(world, &world.groups[group])).collect())
    }

    /// By default only direct projects, but also those of others that are shared into the group.
    pub(super) fn group_projects(&self, world: &World, name: &str) -> Outcome {
        let id = self.find_group(world, name)?;
        let (deep, shared) = (self.flag("include_subgroups", false)?, self.flag("with_shared", true)?);
        let (archived, simple) = (self.maybe_flag("archived")?, self.flag("simple", false)?);
        let visibility = self.get("visibility");
        let caller = self.user(world);
        let under = |group: u64| if deep { world.group_chain(group).contains(&id) } else { group == id };
        let inside = |project: &Project| {
            under(project.namespace) || shared && project.shared_with.iter().any(|(group, _)| under(*group))
        };
        let wanted = |project: &&Project| {
            inside(project)
                && archived.is_none_or(|archived| project.archived == archived)
                && visibility.is_none_or(|name| project.visibility.name() == name)
                && world.sees_project(project, caller)
        };
        let row = |project| {
            if simple {
                shape::simple_project(world, project, caller)
            } else {
                shape::project(world, project, caller)
            }
        };
        let mut rows: Vec<Value> = world.projects.values().filter(wanted).map(row).collect();
        rows.reverse();
        if self.get("sort") == Some("asc") {
            rows.reverse();
        }
        self.page(world, rows)
    }
}
