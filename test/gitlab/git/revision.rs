//! Names of commits, and how commits descend from each other.

use super::{Commit, Repository, Sha};
use std::collections::{BTreeSet, HashSet, VecDeque};

impl Repository {
    /// The commit a revision names: `HEAD`, a branch, a tag, a full ref, a full id or an unambiguous prefix of
    /// at least four digits. Names win over ids, as they do in GitLab.
    pub fn revision(&self, name: &str, default_branch: Option<&str>) -> Option<&Commit> {
        let by_name = match name {
            "HEAD" => default_branch.and_then(|branch| self.branches.get(branch)),
            _ => None
                .or_else(|| self.branches.get(name.strip_prefix("refs/heads/").unwrap_or(name)))
                .or_else(|| self.tags.get(name.strip_prefix("refs/tags/").unwrap_or(name)))
                .or_else(|| self.refs.get(name)),
        };
        match by_name {
            Some(id) => self.commits.get(id),
            None => self.by_prefix(name),
        }
    }

    /// The one commit whose id begins so.
    pub fn by_prefix(&self, prefix: &str) -> Option<&Commit> {
        if let Some(commit) = self.commits.get(prefix) {
            return Some(commit);
        }
        let hex =
            prefix.len() >= 4 && prefix.len() <= 40 && prefix.bytes().all(|byte| byte.is_ascii_hexdigit());
        let prefix = prefix.to_ascii_lowercase();
        let mut found = self.commits.values().filter(|commit| hex && commit.id.starts_with(&prefix));
        found.next().filter(|_| found.next().is_none())
    }

    /// Every commit that can be reached from `from`, itself included.
    pub fn ancestors(&self, from: &str) -> HashSet<Sha> {
        let mut seen = HashSet::new();
        let mut next = VecDeque::from([from.to_owned()]);
        while let Some(id) = next.pop_front() {
            let Some(commit) = self.commits.get(&id) else { continue };
            if seen.insert(id) {
                next.extend(commit.parents.iter().cloned());
            }
        }
        seen
    }

    /// The history of a commit, newest first; with `path`, only the commits that changed it or what lies below.
    pub fn log(&self, from: &str, path: Option<&str>) -> Vec<&Commit> {
        let mut commits: Vec<&Commit> = self
            .ancestors(from)
            .iter()
            .filter_map(|id| self.commits.get(id))
            .filter(|c| self.touches(c, path))
            .collect();
        commits.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| self.depth_order(a, b)));
        commits
    }

    /// Commits of one moment: a descendant comes before its ancestor.
    fn depth_order(&self, a: &Commit, b: &Commit) -> std::cmp::Ordering {
        let (over, under) = (self.ancestors(&a.id).contains(&b.id), self.ancestors(&b.id).contains(&a.id));
        under.cmp(&over).then_with(|| a.id.cmp(&b.id))
    }

    fn touches(&self, commit: &Commit, path: Option<&str>) -> bool {
        let Some(path) = path.filter(|path| !path.is_empty()) else { return true };
        let parent = commit.parents.first().and_then(|id| self.commits.get(id));
        let below = format!("{path}/");
        let part = |commit: &Commit| -> Vec<(String, Sha)> {
            let inside = |p: &&String| *p == path || p.starts_with(&below);
            commit.tree.iter().filter(|(p, _)| inside(p)).map(|(p, e)| (p.clone(), e.id.clone())).collect()
        };
        part(commit) != parent.map(part).unwrap_or_default()
    }

    /// The newest commit that is an ancestor of all of `ids`; none when there is none.
    pub fn merge_base(&self, ids: &[&str]) -> Option<&Commit> {
        let mut common: Option<HashSet<Sha>> = None;
        for id in ids {
            let ancestors = self.ancestors(id);
            common = Some(match common {
                None => ancestors,
                Some(so_far) => so_far.intersection(&ancestors).cloned().collect(),
            });
        }
        let common = common?;
        let beneath: HashSet<Sha> = common
            .iter()
            .flat_map(|id| self.commits[id].parents.iter())
            .flat_map(|parent| self.ancestors(parent))
            .collect();
        common
            .iter()
            .filter(|id| !beneath.contains(*id))
            .map(|id| &self.commits[id])
            .max_by_key(|c| (c.at, c.id.clone()))
    }

    /// Branches and tags that contain a commit, as (`branch` or `tag`, name).
    pub fn containing(&self, id: &str) -> Vec<(&'static str, &str)> {
        let heads = self.branches.iter().map(|(name, head)| ("branch", name.as_str(), head));
        let tags = self.tags.iter().map(|(name, head)| ("tag", name.as_str(), head));
        heads
            .chain(tags)
            .filter(|(_, _, head)| self.ancestors(head).contains(id))
            .map(|(kind, name, _)| (kind, name))
            .collect()
    }

    /// The last commit of `from`'s history that changed `path`.
    pub fn last_change(&self, from: &str, path: &str) -> Option<&Commit> {
        self.log(from, Some(path)).into_iter().next()
    }

    /// The commits of `to` that `from` lacks, oldest first.
    pub fn between(&self, from: &str, to: &str) -> Vec<&Commit> {
        let known = self.ancestors(from);
        let mut commits: Vec<&Commit> =
            self.log(to, None).into_iter().filter(|c| !known.contains(&c.id)).collect();
        commits.reverse();
        commits
    }

    /// Folders of a tree, each once.
    pub fn folders(commit: &Commit) -> BTreeSet<&str> {
        commit.tree.keys().flat_map(|path| path.match_indices('/').map(|(at, _)| &path[..at])).collect()
    }
}
