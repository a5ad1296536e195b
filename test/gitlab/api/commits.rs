//! Commits: their history, diffs, places, and common ancestors.

use super::{Answer, Call, Outcome, shape};
use crate::gitlab::git::Commit;
use crate::gitlab::world::{Project, World};
use serde_json::{Value, json};

impl Call {
    pub(super) fn commits(&self, world: &World, project: &Project) -> Outcome {
        let from = self.at(project, self.get("ref_name"), "Commit")?;
        let (since, until) = (self.time("since")?, self.time("until")?);
        let inside = |commit: &&Commit| {
            since.is_none_or(|at| commit.at >= at) && until.is_none_or(|at| commit.at <= at)
        };
        let log = project.repository.log(&from.id, self.get("path"));
        self.page_uncounted(
            world,
            log.into_iter().filter(inside).map(|commit| shape::commit(world, project, commit)).collect(),
        )
    }

    /// `sha` may be a branch or tag name as well.
    pub(super) fn commit(&self, world: &World, project: &Project, sha: &str) -> Outcome {
        let commit = self.at(project, Some(sha), "Commit")?;
        let mut shape = shape::commit(world, project, commit);
        let diffs = commit_diffs(project, commit);
        let count = |sign: char| {
            diffs.iter().flat_map(|file| file.diff.lines()).filter(|line| line.starts_with(sign)).count()
        };
        let (additions, deletions) = (count('+'), count('-'));
        shape["stats"] =
            json!({ "additions": additions, "deletions": deletions, "total": additions + deletions });
        shape["status"] = Value::Null;
        shape["project_id"] = json!(project.id);
        shape["last_pipeline"] = Value::Null;
        Ok(Answer::ok(shape))
    }

    pub(super) fn commit_diff(&self, world: &World, project: &Project, sha: &str) -> Outcome {
        let commit = self.at(project, Some(sha), "Commit")?;
        self.page(world, commit_diffs(project, commit).iter().map(shape::diff).collect())
    }

    /// Only branches and tags: a commit of a merge request alone is nowhere.
    pub(super) fn commit_refs(&self, world: &World, project: &Project, sha: &str) -> Outcome {
        let commit = self.at(project, Some(sha), "Commit")?;
        let wanted = self.get("type").unwrap_or("all");
        let places = project
            .repository
            .containing(&commit.id)
            .into_iter()
            .filter(|(kind, _)| wanted == "all" || wanted == *kind);
        self.page(world, places.map(|(kind, name)| json!({ "type": kind, "name": name })).collect())
    }

    pub(super) fn commit_merge_requests(&self, world: &World, project: &Project, sha: &str) -> Outcome {
        let id = self.at(project, Some(sha), "Commit")?.id.clone();
        if !world.reads_merge_requests(project, self.user(world)) {
            return self.page(world, Vec::new());
        }
        let brings = |mr: &crate::gitlab::world::MergeRequest| {
            let own = || project.repository.between(&mr.base, &mr.sha).iter().any(|commit| commit.id == id);
            mr.project == project.id
                && (mr.merge_commit.as_ref() == Some(&id) || mr.squash_commit.as_ref() == Some(&id) || own())
        };
        let found = world.merge_requests.values().filter(|mr| brings(mr));
        self.page(world, found.map(|mr| shape::merge_request(world, mr)).collect())
    }

    pub(super) fn merge_base(&self, world: &World, project: &Project) -> Outcome {
        let refs = self.list("refs");
        if refs.len() < 2 {
            return Err(Answer::json(400, json!({ "message": "400 Bad request - Provide at least 2 refs" })));
        }
        let named = |name: &str| project.repository.revision(name, project.default_branch.as_deref());
        let unknown: Vec<&str> = refs.iter().copied().filter(|name| named(name).is_none()).collect();
        if !unknown.is_empty() {
            let text = format!(
                "400 Bad request - Could not find ref{}: {}",
                if unknown.len() > 1 { "s" } else { "" },
                unknown.join(", ")
            );
            return Err(Answer::json(400, json!({ "message": text })));
        }
        let ids: Vec<&str> =
            refs.iter().filter_map(|name| named(name)).map(|commit| commit.id.as_str()).collect();
        let base = project.repository.merge_base(&ids).ok_or_else(|| Answer::missing("Merge Base"))?;
        Ok(Answer::ok(shape::commit(world, project, base)))
    }

    /// From the common ancestor, unless `straight` is asked for.
    pub(super) fn compare(&self, world: &World, project: &Project) -> Outcome {
        let (from, to) = (self.need("from")?, self.need("to")?);
        let (from, to) = (self.at(project, Some(from), "Ref")?, self.at(project, Some(to), "Ref")?);
        let base = match self.flag("straight", false)? {
            true => Some(from),
            false => project.repository.merge_base(&[&from.id, &to.id]),
        };
        let base = base.ok_or_else(|| Answer::missing("Merge Base"))?;
        let commits = project.repository.between(&from.id, &to.id);
        let diffs = project.repository.diff(&base.tree, &to.tree);
        Ok(Answer::ok(json!({
            "commit": commits.last().map(|commit| shape::commit(world, project, commit)),
            "commits": commits.iter().map(|commit| shape::commit(world, project, commit)).collect::<Value>(),
            "diffs": diffs.iter().map(shape::diff).collect::<Value>(), "compare_timeout": false,
            "compare_same_ref": from.id == to.id,
            "web_url": format!("{}/-/compare/{}...{}", world.web_url(project), from.id, to.id),
        })))
    }
}

fn commit_diffs(project: &Project, commit: &Commit) -> Vec<crate::gitlab::git::diff::FileDiff> {
    let parent = commit.parents.first().and_then(|id| project.repository.commit(id));
    let empty = crate::gitlab::git::Tree::new();
    project.repository.diff(parent.map_or(&empty, |parent| &parent.tree), &commit.tree)
}
