//! Trees, branches, tags, archives.

use super::{Answer, Call, Outcome, shape};
use crate::gitlab::git::{Child, Commit, Entry, Mode, children, tree_id};
use crate::gitlab::world::{Project, World};
use serde_json::{Value, json};

/// Archives one user may have in a minute; fixed in GitLab.
const ARCHIVES_PER_MINUTE: usize = 5;

impl Call {
    /// The commit a revision names; the default branch's head when none is given.
    pub(super) fn at<'p>(
        &self,
        project: &'p Project,
        revision: Option<&str>,
        what: &str,
    ) -> Result<&'p Commit, Answer> {
        let name = revision.unwrap_or("HEAD");
        project
            .repository
            .revision(name, project.default_branch.as_deref())
            .ok_or_else(|| Answer::missing(what))
    }

    pub(super) fn tree(&self, world: &World, project: &Project) -> Outcome {
        let commit = self.at(project, self.get("ref"), "Tree")?;
        let path = self.get("path").unwrap_or_default().trim_matches('/');
        let folder = if path.is_empty() { String::new() } else { format!("{path}/") };
        if !folder.is_empty() && !commit.tree.keys().any(|file| file.starts_with(&folder)) {
            return Err(Answer::missing("invalid revision or path"));
        }
        let mut rows = Vec::new();
        list(commit, &folder, self.flag("recursive", false)?, &mut rows);
        self.page(world, rows)
    }

    pub(super) fn branches(&self, world: &World, project: &Project) -> Outcome {
        let wanted = self.get("search").unwrap_or_default().to_lowercase();
        let fits = |name: &str| match (wanted.strip_prefix('^'), wanted.strip_suffix('$')) {
            (Some(head), _) => name.starts_with(head),
            (_, Some(tail)) => name.ends_with(tail),
            _ => name.contains(&wanted),
        };
        let names = project.repository.branches.keys().filter(|name| fits(&name.to_lowercase()));
        self.page(world, names.map(|name| branch(world, project, name)).collect())
    }

    pub(super) fn branch(&self, world: &World, project: &Project, name: &str) -> Outcome {
        match project.repository.branches.contains_key(name) {
            true => Ok(Answer::ok(branch(world, project, name))),
            false => Err(Answer::missing("Branch")),
        }
    }

    pub(super) fn tags(&self, world: &World, project: &Project) -> Outcome {
        self.page(world, project.repository.tags.keys().map(|name| tag(world, project, name)).collect())
    }

    pub(super) fn tag(&self, world: &World, project: &Project, name: &str) -> Outcome {
        match project.repository.tags.contains_key(name) {
            true => Ok(Answer::ok(tag(world, project, name))),
            false => Err(Answer::missing("Tag")),
        }
    }

    pub(super) fn archive(&self, world: &mut World, name: &str) -> Outcome {
        let caller = self.user(world).unwrap_or(0);
        self.readable(world, name)?;
        if !world.within_limit("archive", caller, ARCHIVES_PER_MINUTE, 60_000) {
            return Err(Answer::too_many());
        }
        let project = self.readable(world, name)?;
        let commit = self.at(project, self.get("sha"), "File")?;
        let path = self.get("path").unwrap_or_default().trim_matches('/');
        let revision =
            self.get("sha").or(project.default_branch.as_deref()).unwrap_or("HEAD").replace('/', "-");
        let mut top = format!("{}-{revision}-{}", project.path, commit.id);
        if !path.is_empty() {
            top = format!("{top}-{}", path.replace('/', "-"));
        }
        let exclude: Vec<String> = self.list("exclude_paths").into_iter().map(str::to_owned).collect();
        let bytes = project.repository.archive(commit, &top, path, &exclude);
        Ok(Answer::bytes(bytes, "application/octet-stream")
            .with("Content-Disposition", format!("attachment; filename=\"{top}.tar.gz\"")))
    }
}

fn list(commit: &Commit, folder: &str, recursive: bool, rows: &mut Vec<Value>) {
    let mut here = children(&commit.tree, folder);
    if !recursive {
        here.sort_by_key(|child| !matches!(child, Child::Folder(_)));
    }
    for child in here {
        match child {
            Child::Entry(name, entry) => rows.push(row(&name, folder, entry)),
            Child::Folder(name) => {
                let inside = format!("{folder}{name}/");
                let id = tree_id(&commit.tree, &inside);
                rows.push(json!({ "id": id, "name": name, "type": "tree", "path": format!("{folder}{name}"), "mode": "040000" }));
                if recursive {
                    list(commit, &inside, true, rows);
                }
            }
        }
    }
}

fn row(name: &str, folder: &str, entry: &Entry) -> Value {
    let kind = if entry.mode == Mode::Submodule { "commit" } else { "blob" };
    json!({ "id": entry.id, "name": name, "type": kind, "path": format!("{folder}{name}"), "mode": entry.mode.digits() })
}

fn branch(world: &World, project: &Project, name: &str) -> Value {
    let commit = &project.repository.commits[&project.repository.branches[name]];
    let default = project.default_branch.as_deref() == Some(name);
    json!({
        "name": name, "commit": shape::commit(world, project, commit), "merged": false, "protected": default,
        "developers_can_push": false, "developers_can_merge": false, "can_push": false, "default": default,
        "web_url": format!("{}/-/tree/{name}", world.web_url(project)),
    })
}

fn tag(world: &World, project: &Project, name: &str) -> Value {
    let commit = &project.repository.commits[&project.repository.tags[name]];
    json!({
        "name": name, "message": "", "target": commit.id, "commit": shape::commit(world, project, commit), "release": null,
        "protected": false, "created_at": null,
    })
}
