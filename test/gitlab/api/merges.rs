//! Merge requests, to be read.

use super::{Answer, Call, Outcome, shape};
use crate::gitlab::world::{MergeRequest, Project, World};

impl Call {
    fn find_merge_request<'w>(
        &self,
        world: &'w World,
        project: &Project,
        iid: &str,
    ) -> Result<&'w MergeRequest, Answer> {
        let found = iid.parse().ok().and_then(|iid| world.find_merge_request(project.id, iid));
        found.ok_or_else(|| Answer::missing(""))
    }

    pub(super) fn merge_requests(&self, world: &World, project: &Project) -> Outcome {
        let state = self.get("state").unwrap_or("all");
        let after = self.time("updated_after")?;
        let wanted = |mr: &&MergeRequest| {
            mr.project == project.id
                && (state == "all" || mr.state == state)
                && after.is_none_or(|at| mr.updated_at >= at)
        };
        let mut found: Vec<&MergeRequest> = world.merge_requests.values().filter(wanted).collect();
        found.sort_by_key(|mr| std::cmp::Reverse((mr.created_at, mr.id)));
        self.page(world, found.iter().map(|mr| shape::merge_request(world, mr)).collect())
    }

    pub(super) fn merge_request(&self, world: &World, project: &Project, iid: &str) -> Outcome {
        Ok(Answer::ok(shape::merge_request(world, self.find_merge_request(world, project, iid)?)))
    }

    pub(super) fn merge_request_diffs(&self, world: &World, project: &Project, iid: &str) -> Outcome {
        let mr = self.find_merge_request(world, project, iid)?;
        let tree = |id: &str| &project.repository.commits[id].tree;
        let diffs = project.repository.diff(tree(&mr.base), tree(&mr.sha));
        self.page(world, diffs.iter().map(shape::diff).collect())
    }

    pub(super) fn merge_request_commits(&self, world: &World, project: &Project, iid: &str) -> Outcome {
        let mr = self.find_merge_request(world, project, iid)?;
        let mut commits = project.repository.between(&mr.base, &mr.sha);
        commits.reverse();
        self.page(world, commits.iter().map(|commit| shape::commit(world, project, commit)).collect())
    }
}
