//! Repositories: heads, trees, and the content of what was admitted.

use std::sync::Arc;

use bytes::Bytes;
use gitlab::api::projects::repository::branches::Branch;

use crate::gitlab::GitLab;
use crate::gitlab::endpoint::{Own, segment};
use crate::gitlab::error::{Error, absent};
use crate::gitlab::http::{Limits, TOO_LARGE};
use crate::gitlab::pages::Pages;
use crate::gitlab::wire::{BranchRow, CommitRow, CompareRow, DiffRow, TreeEntry};
use crate::reference::RepoPath;
use crate::reply::marker::Quoted;
use crate::target::corpus::{Manifest, OpenProject};
use crate::target::{Admitted, Blob, Project, ProjectId, Resolved};

/// Bytes in which a NUL makes a file a binary one: what Git looks at.
const BINARY_WITHIN: usize = 8000;
/// How the text of a large-file pointer begins.
const LFS: &str = "version https://git-lfs.github.com/spec/";
/// Files in a comparison from which on GitLab may have left some out (its `diff_max_files`).
const COMPARED: usize = 1000;
/// Pages of a folder that are looked through for one file.
const FOLDER_PAGES: usize = 200;
/// Bytes of a blob that is compared with a note: what is quoted is never larger.
const VERIFIED: usize = 4 << 20;

/// A file, symbolic link or submodule of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeRow {
    /// Its path.
    pub path: RepoPath,
    /// Its object id.
    pub id: String,
    /// Its Git mode.
    pub mode: String,
}

/// All files of a commit, page by page.
pub struct Tree<'a>(Pages<'a, TreeEntry>);

impl Tree<'_> {
    /// The next page; `None` after the last. Folders are left out, and so are paths that no reference could
    /// name. [`Error::Gone`] when the commit or the repository is not there.
    pub async fn next(&mut self) -> Result<Option<Vec<TreeRow>>, Error> {
        Ok(self.0.next().await?.map(rows))
    }
}

fn rows(entries: Vec<TreeEntry>) -> Vec<TreeRow> {
    let file = |entry: TreeEntry| {
        let path = (entry.kind != "tree").then(|| RepoPath::parse(&entry.path)).flatten()?;
        Some(TreeRow { path, id: entry.id, mode: entry.mode })
    };
    entries.into_iter().filter_map(file).collect()
}

/// What reading a file gave.
#[derive(Clone, Debug)]
pub enum Read {
    /// Its text, byte for byte.
    Text(Blob),
    /// It is larger than the caller wants.
    TooLarge,
    /// It is no UTF-8 text.
    Binary,
    /// It is a pointer to a large file that lies elsewhere.
    Lfs,
}

/// What differs between two commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// The paths that were added, changed or removed; a renamed file counts with both.
    pub paths: Vec<RepoPath>,
    /// Whether these are all; when not, only the tree tells.
    pub complete: bool,
}

impl GitLab {
    /// The full id of the commit at the head of a branch; `None` when there is no such branch, or no
    /// repository that the token may read.
    pub async fn head(&self, project: ProjectId, branch: &str) -> Result<Option<String>, Error> {
        if !is_ref_name(branch) {
            return Ok(None);
        }
        let endpoint =
            Branch::builder().project(project).branch(branch).build().expect("every required field is given");
        let row: Option<BranchRow> = absent(self.http.json(&endpoint).await)?;
        if let Some(commit) = row.and_then(|row| row.commit) {
            return Ok(Some(commit.id));
        }
        // A commit's address takes a branch name too, also where the list of branches is not to be had.
        let path = format!("projects/{project}/repository/commits/{}", segment(branch));
        let row: Option<CommitRow> = absent(self.http.json(&Own::get(path)).await)?;
        Ok(row.map(|row| row.id))
    }

    /// All files of a commit (or branch).
    pub fn tree(&self, project: ProjectId, commit: &str) -> Result<Tree<'_>, Error> {
        self.tree_below(project, commit, "")
    }

    /// All files below a folder of a commit; all of the commit for an empty folder.
    pub(super) fn tree_below(
        &self,
        project: ProjectId,
        commit: &str,
        folder: &str,
    ) -> Result<Tree<'_>, Error> {
        // The `gitlab` crate sends these parameters in the body of the GET, which proxies may drop.
        let endpoint = Own::get(format!("projects/{project}/repository/tree"))
            .with("ref", commit)
            .with("recursive", true)
            .with("pagination", "keyset");
        let endpoint = if folder.is_empty() { endpoint } else { endpoint.with("path", folder) };
        Ok(Tree(self.http.pages(&endpoint)?))
    }

    /// The files of one folder of a commit, at most `pages` hundred entries, and whether these are all; `None`
    /// when there is no such folder. `folder` is empty for the root.
    pub(super) async fn folder(
        &self,
        project: ProjectId,
        commit: &str,
        folder: &str,
        pages: usize,
    ) -> Result<Option<(Vec<TreeRow>, bool)>, Error> {
        let endpoint = Own::get(format!("projects/{project}/repository/tree"))
            .with("ref", commit)
            .with("pagination", "keyset");
        let endpoint = if folder.is_empty() { endpoint } else { endpoint.with("path", folder) };
        let found = absent(self.http.pages::<TreeEntry>(&endpoint)?.collect(pages).await)?;
        Ok(found.map(|(entries, whole)| (rows(entries), whole)))
    }

    /// A file at the head of its project's default branch, now; `None` when it is not there. The tree is asked,
    /// because only it tells a symbolic link from a file.
    pub async fn file_at_head(
        &self,
        project: &Arc<Project>,
        path: &RepoPath,
    ) -> Result<Option<Resolved>, Error> {
        let Some(branch) = &project.default_branch else { return Ok(None) };
        let Some(head) = self.head(project.id, branch).await? else { return Ok(None) };
        let folder = path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder);
        let Some((rows, _)) = self.folder(project.id, &head, folder, FOLDER_PAGES).await? else {
            return Ok(None);
        };
        let row = rows.into_iter().find(|row| row.path == *path);
        Ok(row
            .map(|row| Resolved::observed(Arc::clone(project), head, row.path, row.id, row.mode, None, None)))
    }

    /// The content of an admitted file of at most `cap` bytes; `None` when the object is gone.
    pub async fn read(&self, place: &Admitted, cap: usize) -> Result<Option<Read>, Error> {
        let resolved = place.place();
        let path =
            format!("projects/{}/repository/blobs/{}/raw", resolved.project().id, segment(resolved.blob()));
        let by_blob = absent(self.http.raw(&Own::get(path), Limits::bytes(cap)).await);
        let found = match by_blob {
            // The object is not served by its id: the same file at the same commit.
            Ok(None) => self.read_at_commit(resolved, cap).await,
            other => other,
        };
        match found {
            Ok(bytes) => Ok(bytes.map(|bytes| content(place, &bytes))),
            Err(Error::Broken(call)) if call.what == TOO_LARGE => Ok(Some(Read::TooLarge)),
            Err(error) => Err(error),
        }
    }

    async fn read_at_commit(&self, place: &Resolved, cap: usize) -> Result<Option<Bytes>, Error> {
        let (project, path) = (place.project().id, segment(place.path().as_str()));
        let endpoint =
            Own::get(format!("projects/{project}/repository/files/{path}/raw")).with("ref", place.commit());
        absent(self.http.raw(&endpoint, Limits::bytes(cap)).await)
    }

    /// The text of a generator's configuration file of at most `cap` bytes; `None` when it is gone, larger or no
    /// text.
    pub async fn read_manifest(&self, manifest: &Manifest, cap: usize) -> Result<Option<String>, Error> {
        let place = manifest.place();
        let path = format!("projects/{}/repository/blobs/{}/raw", place.project().id, segment(place.blob()));
        match absent(self.http.raw(&Own::get(path), Limits::bytes(cap)).await) {
            Ok(bytes) => Ok(bytes.and_then(|bytes| String::from_utf8(bytes.to_vec()).ok())),
            Err(Error::Broken(call)) if call.what == TOO_LARGE => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The bytes of the blob that a note of ours names, for `verify`; `None` when it is gone.
    pub async fn quoted_blob(&self, quoted: &Quoted) -> Result<Option<Bytes>, Error> {
        let path = format!("projects/{}/repository/blobs/{}/raw", quoted.project, segment(&quoted.blob));
        absent(self.http.raw(&Own::get(path), Limits::bytes(VERIFIED)).await)
    }

    /// What differs between two commits as they are (not since they parted); `None` when one of them is gone.
    pub async fn compare(
        &self,
        project: &OpenProject,
        from: &str,
        to: &str,
    ) -> Result<Option<Changes>, Error> {
        let row = self.comparison(project, from, to).await?;
        Ok(row.map(|row| {
            let both = row.diffs.iter().flat_map(|diff| [&diff.old_path, &diff.new_path]);
            let mut paths: Vec<RepoPath> = both.filter_map(|path| RepoPath::parse(path)).collect();
            paths.sort();
            paths.dedup();
            Changes { paths, complete: !row.compare_timeout && row.diffs.len() < COMPARED }
        }))
    }

    /// The differences between two commits, with their text.
    pub(super) async fn comparison(
        &self,
        project: &OpenProject,
        from: &str,
        to: &str,
    ) -> Result<Option<CompareRow>, Error> {
        let endpoint = Own::get(format!("projects/{}/repository/compare", project.project().id))
            .with("from", from)
            .with("to", to)
            .with("straight", true);
        absent(self.http.json(&endpoint).await)
    }

    /// What a commit changed against its first parent, at most `pages` hundred files, and whether that is all.
    pub(super) async fn commit_diff(
        &self,
        project: &OpenProject,
        commit: &str,
        pages: usize,
    ) -> Result<Option<(Vec<DiffRow>, bool)>, Error> {
        let path = format!("projects/{}/repository/commits/{}/diff", project.project().id, segment(commit));
        absent(self.http.pages::<DiffRow>(&Own::get(path))?.collect(pages).await)
    }
}

/// What Git allows as the name of a branch or tag, as far as a name could lead a request astray.
pub(super) fn is_ref_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 255
        && !name.contains("..")
        && !name.contains("//")
        && !name.contains("@{")
        && !name.starts_with(['/', '-', '.'])
        && !name.ends_with(['/', '.'])
        && !name.ends_with(".lock")
        && !name
            .chars()
            .any(|c| c.is_control() || matches!(c, ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\'))
}

/// What the bytes of an admitted file are.
pub(super) fn content(place: &Admitted, bytes: &[u8]) -> Read {
    if bytes[..bytes.len().min(BINARY_WITHIN)].contains(&0) {
        return Read::Binary;
    }
    match std::str::from_utf8(bytes) {
        Err(_) => Read::Binary,
        Ok(text) if text.starts_with(LFS) => Read::Lfs,
        Ok(text) => Read::Text(Blob::read(place.clone(), Arc::from(text))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_lead_elsewhere_are_no_refs() {
        for name in ["main", "feature/x", "v1.2.3", "release-2026", "ünï"] {
            assert!(is_ref_name(name), "{name}");
        }
        for name in
            ["", "..", ".", "a..b", "-x", "/x", "x/", "a b", "x?y", "a:b", "x.lock", "a//b", "HEAD~1", "@{u}"]
        {
            assert!(!is_ref_name(name), "{name}");
        }
    }

    #[test]
    fn folders_and_unspeakable_paths_are_left_out_of_a_tree() {
        let entries: Vec<TreeEntry> = serde_json::from_str(
            r#"[{"id":"1","path":"docs","type":"tree","mode":"040000"},
                {"id":"2","path":"docs/a.md","type":"blob","mode":"100644"},
                {"id":"3","path":"sub","type":"commit","mode":"160000"},
                {"id":"4","path":"bad\u0007.md","type":"blob","mode":"100644"}]"#,
        )
        .expect("tolerant");
        let paths: Vec<String> =
            rows(entries).iter().map(|row| format!("{} {}", row.path.as_str(), row.mode)).collect();
        assert_eq!(paths, ["docs/a.md 100644", "sub 160000"]);
    }
}
