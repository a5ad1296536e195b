//! Commits and merge requests: the files they touched, as they are at the head, at the lines they touched.
//! Their messages, titles, descriptions and discussions are never asked for.

use gitlab::api::projects::merge_requests::MergeRequest;

use crate::gitlab::error::absent;
use crate::gitlab::resolve::diff::LineMap;
use crate::gitlab::resolve::file::through;
use crate::gitlab::resolve::{PLACES, Stop, Walk, Why};
use crate::gitlab::wire::{CompareRow, DiffRow, MergeRequestRow};
use crate::reference::{Iid, Lines, ProjectPath, RepoPath, Sha};
use crate::target::Resolved;
use crate::target::corpus::OpenProject;

/// Files of a commit that are looked through, in pages of a hundred.
const DIFF_PAGES: usize = 3;
/// Stretches of one file that are looked at.
const STRETCHES: usize = 6;

impl Walk<'_> {
    pub(super) async fn commit_reference(
        &self,
        project: &ProjectPath,
        sha: &Sha,
    ) -> Result<Vec<Resolved>, Stop> {
        let (open, head) = self.open(project).await?;
        let commit = self.commit(open.project().id, sha.as_str()).await?.ok_or(Stop::Dead(Why::NoCommit))?;
        self.touched(&open, &head, &commit.id).await
    }

    pub(super) async fn merge_request(&self, project: &ProjectPath, iid: Iid) -> Result<Vec<Resolved>, Stop> {
        let (open, head) = self.open(project).await?;
        self.spend()?;
        let endpoint = MergeRequest::builder()
            .project(open.project().id)
            .merge_request(u64::from(iid.get()))
            .build()
            .expect("every required field is given");
        let row: Option<MergeRequestRow> = absent(self.gitlab.http.json(&endpoint).await)?;
        let row = row.ok_or(Stop::Dead(Why::NoMergeRequest))?;
        if row.state != "merged" {
            return Err(Stop::Dead(Why::NotMerged));
        }
        let id = merged_as(row).ok_or(Stop::Dead(Why::NoCommit))?;
        let commit = self.commit(open.project().id, &id).await?.ok_or(Stop::Dead(Why::NoCommit))?;
        self.touched(&open, &head, &commit.id).await
    }

    /// What a commit of the history touched, as far as it is still there.
    async fn touched(&self, open: &OpenProject, head: &str, commit: &str) -> Result<Vec<Resolved>, Stop> {
        if !self.is_in_history(open.project().id, commit, head).await? {
            return Err(Stop::Dead(Why::NotInHistory));
        }
        self.spend()?;
        let found = self.gitlab.commit_diff(open, commit, DIFF_PAGES).await?;
        let (diffs, _) = found.ok_or(Stop::Dead(Why::NoCommit))?;
        let listed = |diff: &&DiffRow| {
            let path = RepoPath::parse(&diff.new_path);
            !diff.deleted_file && path.is_some_and(|path| self.corpus.admit_path(&path).is_ok())
        };
        let diffs: Vec<&DiffRow> = diffs.iter().filter(listed).collect();
        if diffs.is_empty() {
            return Ok(Vec::new());
        }
        let since = if commit == head { None } else { self.compare(open, commit, head).await? };
        let mut places = Vec::new();
        for diff in diffs {
            if places.len() >= PLACES {
                break;
            }
            let Some((path, ranges)) = today(diff, since.as_deref()) else { continue };
            // Where nobody can tell what happened to the lines since, they are not taken for today's.
            let ranges = ranges.filter(|_| commit == head || since.is_some());
            // What is not there any more, or not for this audience, is left out; the rest stands.
            match self.places(open, head, &path, ranges).await {
                Ok(found) => places.extend(found),
                Err(Stop::Dead(_) | Stop::Barred(_)) => {}
                Err(stop) => return Err(stop),
            }
        }
        Ok(places)
    }

    async fn places(
        &self,
        open: &OpenProject,
        head: &str,
        path: &RepoPath,
        ranges: Option<Vec<Lines>>,
    ) -> Result<Vec<Resolved>, Stop> {
        let row = self.row(open.project().id, head, path).await?.ok_or(Stop::Dead(Why::NoFile))?;
        match ranges {
            None => Ok(vec![self.place(open, head, &row, None, None)?]),
            Some(ranges) => {
                ranges.into_iter().map(|lines| self.place(open, head, &row, Some(lines), None)).collect()
            }
        }
    }
}

/// The commit on the target branch: a merge's, a squash's, or the head of a fast-forward.
fn merged_as(row: MergeRequestRow) -> Option<String> {
    let ids = [row.merge_commit_sha, row.squash_commit_sha, row.sha];
    let full = |id: &String| {
        matches!(id.len(), 40 | 64) && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    };
    ids.into_iter().flatten().find(full)
}

/// Where a touched file is today, and where in it; `None` when it went, or what was touched in it. No lines
/// means the whole file: the commit made it, or only renamed it.
fn today(diff: &DiffRow, since: Option<&CompareRow>) -> Option<(RepoPath, Option<Vec<Lines>>)> {
    let path = RepoPath::parse(&diff.new_path)?;
    let ranges = if diff.new_file || diff.too_large || diff.collapsed {
        None
    } else {
        let touched = LineMap::parse(&diff.diff)?.touched();
        (!touched.is_empty()).then_some(touched)
    };
    let Some(since) = since else { return Some((path, short(ranges))) };
    let mut later = since.diffs.iter().filter(|later| later.old_path == diff.new_path && !later.new_file);
    let Some(change) = later.next() else { return Some((path, short(ranges))) };
    if change.deleted_file || later.next().is_some() {
        return None;
    }
    let path = RepoPath::parse(&change.new_path)?;
    let Some(ranges) = ranges else { return Some((path, None)) };
    let mapped: Vec<Lines> = ranges.into_iter().filter_map(|lines| through(change, lines).ok()).collect();
    (!mapped.is_empty()).then(|| (path, short(Some(mapped))))
}

fn short(ranges: Option<Vec<Lines>>) -> Option<Vec<Lines>> {
    ranges.map(|mut ranges| {
        ranges.truncate(STRETCHES);
        ranges
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(json: &str) -> DiffRow {
        serde_json::from_str(json).expect("tolerant")
    }

    fn compare(rows: &str) -> CompareRow {
        serde_json::from_str(&format!(r#"{{"diffs":{rows}}}"#)).expect("tolerant")
    }

    const CHANGE: &str = r#"{"old_path":"a.md","new_path":"a.md","diff":"@@ -2 +2 @@\n-x\n+y\n"}"#;

    fn lines(found: Option<(RepoPath, Option<Vec<Lines>>)>) -> Option<(String, Vec<(u32, u32)>)> {
        found.map(|(path, ranges)| {
            let ranges = ranges.into_iter().flatten().map(|lines| (lines.first, lines.last)).collect();
            (path.as_str().to_owned(), ranges)
        })
    }

    #[test]
    fn what_a_commit_touched_is_told_in_todays_lines() {
        assert_eq!(lines(today(&diff(CHANGE), None)), Some(("a.md".into(), vec![(2, 2)])));
        let moved = compare(
            r#"[{"old_path":"a.md","new_path":"b.md","renamed_file":true,"diff":"@@ -0,0 +1,3 @@\n+1\n+2\n+3\n"}]"#,
        );
        assert_eq!(lines(today(&diff(CHANGE), Some(&moved))), Some(("b.md".into(), vec![(5, 5)])));
    }

    #[test]
    fn what_went_since_is_gone() {
        let deleted = compare(r#"[{"old_path":"a.md","new_path":"a.md","deleted_file":true,"diff":""}]"#);
        assert_eq!(lines(today(&diff(CHANGE), Some(&deleted))), None);
        let rewritten = compare(r#"[{"old_path":"a.md","new_path":"a.md","diff":"@@ -2 +2 @@\n-y\n+z\n"}]"#);
        assert_eq!(lines(today(&diff(CHANGE), Some(&rewritten))), None);
        let collapsed = compare(r#"[{"old_path":"a.md","new_path":"a.md","diff":"","collapsed":true}]"#);
        assert_eq!(lines(today(&diff(CHANGE), Some(&collapsed))), None);
    }

    #[test]
    fn a_merge_is_told_by_merge_then_squash_then_head() {
        let id = |c: char| c.to_string().repeat(40);
        let row = |merge: Option<String>, squash: Option<String>| MergeRequestRow {
            state: "merged".into(),
            sha: Some(id('c')),
            merge_commit_sha: merge,
            squash_commit_sha: squash,
        };
        assert_eq!(merged_as(row(Some(id('a')), Some(id('b')))), Some(id('a')));
        assert_eq!(merged_as(row(None, Some(id('b')))), Some(id('b')));
        assert_eq!(merged_as(row(Some(String::new()), None)), Some(id('c')));
        assert_eq!(merged_as(row(Some("main".into()), None)), Some(id('c')));
    }
}
