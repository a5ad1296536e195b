//! Files: the same path at the head, or where it went since the commit that the reference names.

use crate::gitlab::endpoint::Own;
use crate::gitlab::error::absent;
use crate::gitlab::repository::TreeRow;
use crate::gitlab::resolve::diff::LineMap;
use crate::gitlab::resolve::{Stop, Walk, Why};
use crate::gitlab::wire::{CommitRow, DiffRow};
use crate::reference::{Lines, ProjectPath, RepoPath, Sha};
use crate::target::Resolved;
use crate::target::corpus::OpenProject;

/// Renames in a row that are followed.
const RENAMES: usize = 8;
/// Files of a renaming commit that are looked through, in pages of a hundred.
const DIFF_PAGES: usize = 5;

/// What a reference says a file is at: which commit, if any, and the path there.
struct Named {
    /// The commit that the lines are counted at; `None` for the head as it is.
    commit: Option<String>,
    path: RepoPath,
    /// Whether a commit was named that tells nothing about today.
    stray: bool,
}

impl Walk<'_> {
    pub(super) async fn file(
        &self,
        project: &ProjectPath,
        git_ref: Option<&str>,
        path: &RepoPath,
        lines: Option<Lines>,
    ) -> Result<Vec<Resolved>, Stop> {
        let (open, head) = self.open(project).await?;
        let named = self.named_file(&open, &head, git_ref, path).await?;
        let place = match self.row(open.project().id, &head, &named.path).await? {
            Some(row) => {
                // Refused content is not compared either.
                self.place(&open, &head, &row, None, None)?;
                let lines = self.lines_today(&open, &head, &named, &row, lines).await?;
                self.place(&open, &head, &row, lines, None)?
            }
            None => {
                let commit = named.commit.ok_or(Stop::Dead(Why::NoFile))?;
                let (row, lines) = self.follow(&open, &head, commit, named.path, lines).await?;
                self.place(&open, &head, &row, lines, None)?
            }
        };
        self.has_lines(&place).await?;
        Ok(vec![place])
    }

    /// Sorts out what the reference names. A first segment that is no ref may be the beginning of one: GitLab is
    /// asked which there are, and nothing is guessed.
    async fn named_file(
        &self,
        open: &OpenProject,
        head: &str,
        git_ref: Option<&str>,
        path: &RepoPath,
    ) -> Result<Named, Stop> {
        let project = open.project();
        let at_head = |path: RepoPath| Named { commit: None, path, stray: false };
        let Some(name) = git_ref.filter(|name| *name != "HEAD") else { return Ok(at_head(path.clone())) };
        if project.default_branch.as_deref() == Some(name) {
            return Ok(at_head(path.clone()));
        }
        let by_hash = match Sha::parse(&name.to_ascii_lowercase()) {
            Some(sha) => self.commit(project.id, sha.as_str()).await?,
            None => None,
        };
        if let Some(commit) = by_hash {
            let known = self.is_in_history(project.id, &commit.id, head).await?;
            return Ok(Named { commit: known.then_some(commit.id), path: path.clone(), stray: !known });
        }
        if let Some(commit) = self.named(project.id, name).await? {
            return Ok(Named { commit: Some(commit), path: path.clone(), stray: false });
        }
        let whole = format!("{name}/{}", path.as_str());
        let names = self.names_below(project.id, name).await?;
        let begins =
            |name: &&String| whole.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('/'));
        let Some(longest) = names.iter().filter(begins).max_by_key(|name| name.len()) else {
            return Ok(Named { commit: None, path: path.clone(), stray: true });
        };
        let path = RepoPath::parse(&whole[longest.len() + 1..]).ok_or(Stop::Dead(Why::NoFile))?;
        if project.default_branch.as_deref() == Some(longest) {
            return Ok(at_head(path));
        }
        let commit = self.named(project.id, longest).await?;
        Ok(Named { stray: commit.is_none(), commit, path })
    }

    /// Where the lines are in today's file of the same path.
    async fn lines_today(
        &self,
        open: &OpenProject,
        head: &str,
        named: &Named,
        row: &TreeRow,
        lines: Option<Lines>,
    ) -> Result<Option<Lines>, Stop> {
        let Some(lines) = lines else { return Ok(None) };
        let Some(commit) = named.commit.as_deref() else {
            return if named.stray { Err(Stop::Dead(Why::LinesLost)) } else { Ok(Some(lines)) };
        };
        let then = self.row(open.project().id, commit, &named.path).await?;
        match then {
            None => Err(Stop::Dead(Why::NoFile)),
            Some(then) if then.id == row.id => Ok(Some(lines)),
            Some(_) => self.map(open, commit, head, &named.path, lines).await.map(Some),
        }
    }

    /// Maps lines of a path that both commits have.
    async fn map(
        &self,
        open: &OpenProject,
        from: &str,
        to: &str,
        path: &RepoPath,
        lines: Lines,
    ) -> Result<Lines, Stop> {
        let compared = self.compare(open, from, to).await?.ok_or(Stop::Dead(Why::LinesLost))?;
        match compared.diffs.iter().find(|diff| diff.new_path == path.as_str() && !diff.deleted_file) {
            Some(diff) if diff.old_path == path.as_str() => through(diff, lines),
            _ => Err(Stop::Dead(Why::LinesLost)),
        }
    }

    /// Follows a file that is not at its path any more through the renames since `commit`.
    async fn follow(
        &self,
        open: &OpenProject,
        head: &str,
        commit: String,
        path: RepoPath,
        lines: Option<Lines>,
    ) -> Result<(TreeRow, Option<Lines>), Stop> {
        let project = open.project().id;
        if self.row(project, &commit, &path).await?.is_none() {
            return Err(Stop::Dead(Why::NoFile));
        }
        let (mut at, mut path, mut lines) = (commit, path, lines);
        for _ in 0..RENAMES {
            let rename = self.last_touch(project, head, &path).await?.ok_or(Stop::Dead(Why::NoFile))?;
            if !self.is_in_history(project, &rename.id, head).await? {
                return Err(Stop::Dead(Why::NoFile));
            }
            let diff = self.departure(open, &rename.id, &path).await?;
            if let Some(range) = lines {
                let parent = rename.parent_ids.first().ok_or(Stop::Dead(Why::LinesLost))?;
                let before = self.until(open, &at, parent, &path, range).await?;
                lines = Some(through(&diff, before)?);
            }
            path = RepoPath::parse(&diff.new_path).ok_or(Stop::Dead(Why::NoFile))?;
            at = rename.id;
            if let Some(row) = self.row(project, head, &path).await? {
                let lines = match lines {
                    Some(range) => Some(self.until(open, &at, head, &path, range).await?),
                    None => None,
                };
                return Ok((row, lines));
            }
        }
        Err(Stop::Dead(Why::NoFile))
    }

    /// Maps lines of one path from a commit to a later one; equal objects need no comparison.
    async fn until(
        &self,
        open: &OpenProject,
        from: &str,
        to: &str,
        path: &RepoPath,
        lines: Lines,
    ) -> Result<Lines, Stop> {
        let project = open.project().id;
        let then = self.row(project, from, path).await?.ok_or(Stop::Dead(Why::LinesLost))?;
        let later = self.row(project, to, path).await?.ok_or(Stop::Dead(Why::LinesLost))?;
        if then.id == later.id { Ok(lines) } else { self.map(open, from, to, path, lines).await }
    }

    /// The last commit of the history of `head` that touched the path.
    async fn last_touch(&self, project: u64, head: &str, path: &RepoPath) -> Result<Option<CommitRow>, Stop> {
        self.spend()?;
        let endpoint = Own::get(format!("projects/{project}/repository/commits"))
            .with("ref_name", head)
            .with("path", path.as_str());
        let first = absent(self.gitlab.http.pages::<CommitRow>(&endpoint)?.next().await)?;
        Ok(first.flatten().unwrap_or_default().into_iter().next())
    }

    /// How the path left in a commit: renamed, or deleted.
    async fn departure(&self, open: &OpenProject, commit: &str, path: &RepoPath) -> Result<DiffRow, Stop> {
        self.spend()?;
        let found = self.gitlab.commit_diff(open, commit, DIFF_PAGES).await?;
        let (diffs, _) = found.ok_or(Stop::Dead(Why::NoFile))?;
        let mut renamed: Vec<DiffRow> =
            diffs.into_iter().filter(|diff| diff.old_path == path.as_str() && !diff.new_file).collect();
        if renamed.len() > 1 {
            return Err(Stop::Dead(Why::Ambiguous));
        }
        match renamed.pop() {
            Some(diff) if diff.renamed_file && !diff.deleted_file => Ok(diff),
            _ => Err(Stop::Dead(Why::Deleted)),
        }
    }

    /// Lines count only if the file has them.
    async fn has_lines(&self, place: &Resolved) -> Result<(), Stop> {
        let Some(lines) = place.lines() else { return Ok(()) };
        let text = self.text(place).await?;
        let count = text.lines().count();
        if (lines.last as usize) <= count { Ok(()) } else { Err(Stop::Dead(Why::NoLines)) }
    }
}

/// Lines through the change of one file. A change without a word about lines is only a rename, if it is one.
pub(super) fn through(diff: &DiffRow, lines: Lines) -> Result<Lines, Stop> {
    if diff.too_large || diff.collapsed {
        return Err(Stop::Dead(Why::LinesLost));
    }
    let map = LineMap::parse(&diff.diff).ok_or(Stop::Dead(Why::LinesLost))?;
    match (map.is_empty(), diff.renamed_file) {
        (true, true) => Ok(lines),
        (true, false) => Err(Stop::Dead(Why::LinesLost)),
        (false, _) => map.lines(lines).ok_or(Stop::Dead(Why::NoLines)),
    }
}
