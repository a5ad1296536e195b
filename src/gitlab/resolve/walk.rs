//! What one walk asks GitLab, each thing once, within a budget.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Mutex, OnceCell};

use crate::clock::Millis;
use crate::docsite::Sites;
use crate::gitlab::endpoint::{Own, segment};
use crate::gitlab::error::{Error, absent};
use crate::gitlab::repository::{Read, TreeRow, is_ref_name};
use crate::gitlab::resolve::{Stop, Why};
use crate::gitlab::wire::{CommitRow, CompareRow, NamedRow};
use crate::gitlab::{GitLab, ProjectRef};
use crate::reference::{ProjectPath, RepoPath};
use crate::target::corpus::{Audience, Corpus, OpenProject};
use crate::target::{Admitted, Project, ProjectId, Resolved};

/// Entries of one folder that are looked through for a file, in pages of a hundred; and of all below a folder.
const FOLDER_PAGES: usize = 200;
const TREE_PAGES: usize = 30;
/// Bytes of a file that are read to find a heading or to count its lines.
const FILE_MAX: usize = 2 << 20;

/// What a walk may cost. References are strangers' to write, so their number and depth are not theirs to choose.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Requests to GitLab.
    pub requests: usize,
    /// Time from the walk's beginning.
    pub time: Duration,
}

impl Default for Budget {
    /// 240 requests: an ordinary reference takes three or four, sixty-four of them share most. 20 seconds.
    fn default() -> Budget {
        Budget { requests: 240, time: Duration::from_secs(20) }
    }
}

/// One look at the references of one thread: a cache and a budget. Nothing in it outlives the walk, so a walk
/// sees one moment of each project.
pub struct Walk<'a> {
    pub(super) gitlab: &'a GitLab,
    pub(super) corpus: &'a Corpus,
    pub(super) sites: &'a Sites,
    pub(super) audience: Audience,
    left: AtomicUsize,
    until: Millis,
    projects: Memo<String, Option<Arc<Project>>>,
    heads: Memo<ProjectId, Option<String>>,
    folders: Memo<(ProjectId, String, String), Option<Rows>>,
    refs: Memo<(ProjectId, String), Option<String>>,
    commits: Memo<(ProjectId, String), Option<CommitRow>>,
    ancestors: Memo<(ProjectId, String), bool>,
    comparisons: Memo<(ProjectId, String, String), Option<Arc<CompareRow>>>,
    blobs: Memo<(ProjectId, String, RepoPath), Option<Read>>,
    trees: Memo<(ProjectId, String), Rows>,
}

type Rows = Arc<Vec<TreeRow>>;

/// Things that are asked for once; two who ask at the same time share the answer. Failures are not kept.
struct Memo<K, V>(Mutex<HashMap<K, Arc<OnceCell<V>>>>);

impl<K: Eq + Hash, V: Clone> Memo<K, V> {
    fn new() -> Memo<K, V> {
        Memo(Mutex::new(HashMap::new()))
    }

    async fn get(&self, key: K, ask: impl Future<Output = Result<V, Stop>>) -> Result<V, Stop> {
        let cell = Arc::clone(self.0.lock().await.entry(key).or_default());
        cell.get_or_try_init(|| ask).await.cloned()
    }
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        gitlab: &'a GitLab,
        corpus: &'a Corpus,
        sites: &'a Sites,
        audience: Audience,
        budget: Budget,
    ) -> Walk<'a> {
        let until = gitlab.http.now() + budget.time.as_millis() as Millis;
        Walk {
            gitlab,
            corpus,
            sites,
            audience,
            left: AtomicUsize::new(budget.requests),
            until,
            projects: Memo::new(),
            heads: Memo::new(),
            folders: Memo::new(),
            refs: Memo::new(),
            commits: Memo::new(),
            ancestors: Memo::new(),
            comparisons: Memo::new(),
            blobs: Memo::new(),
            trees: Memo::new(),
        }
    }

    /// Takes a request from the budget. A reference that asks for too much is dropped; a GitLab that is too slow is no
    /// reason to think that it leads nowhere.
    pub(super) fn spend(&self) -> Result<(), Stop> {
        let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if taken.is_err() {
            Err(Stop::Spent)
        } else if self.gitlab.http.now() > self.until {
            Err(Stop::Failed(Error::slow("the references of a thread")))
        } else {
            Ok(())
        }
    }

    /// The project behind a path, admitted for the audience, with the head of its default branch. Nothing else
    /// of a project is asked before this: of an excluded one not even a file name.
    pub(super) async fn open(&self, path: &ProjectPath) -> Result<(OpenProject, String), Stop> {
        let key = path.as_str().to_ascii_lowercase();
        let project = self
            .projects
            .get(key, async {
                self.spend()?;
                Ok(self.gitlab.project(ProjectRef::Path(path.clone())).await?)
            })
            .await?
            .ok_or(Stop::Dead(Why::NoProject))?;
        let open = self.corpus.admit_project(&project, &self.audience)?;
        let branch = project.default_branch.as_deref().ok_or(Stop::Dead(Why::NoBranch))?;
        let head = self
            .heads
            .get(project.id, async {
                self.spend()?;
                Ok(self.gitlab.head(project.id, branch).await?)
            })
            .await?;
        Ok((open, head.ok_or(Stop::Dead(Why::NoBranch))?))
    }

    /// The file at a path of a commit, as the tree has it.
    pub(super) async fn row(
        &self,
        project: ProjectId,
        commit: &str,
        path: &RepoPath,
    ) -> Result<Option<TreeRow>, Stop> {
        let folder = path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder);
        let rows = self
            .folders
            .get((project, commit.to_owned(), folder.to_owned()), async {
                self.spend()?;
                let found = self.gitlab.folder(project, commit, folder, FOLDER_PAGES).await?;
                Ok(found.map(|(rows, _)| Arc::new(rows)))
            })
            .await?;
        Ok(rows.and_then(|rows| rows.iter().find(|row| row.path == *path).cloned()))
    }

    /// The commit that a branch or tag of this name is at; `None` when there is neither.
    pub(super) async fn named(&self, project: ProjectId, name: &str) -> Result<Option<String>, Stop> {
        if !is_ref_name(name) {
            return Ok(None);
        }
        self.refs
            .get((project, name.to_owned()), async {
                self.spend()?;
                if let Some(commit) = self.gitlab.head(project, name).await? {
                    return Ok(Some(commit));
                }
                self.spend()?;
                let path = format!("projects/{project}/repository/tags/{}", segment(name));
                let tag: Option<crate::gitlab::wire::BranchRow> =
                    absent(self.gitlab.http.json(&Own::get(path)).await)?;
                Ok(tag.and_then(|tag| tag.commit).map(|commit| commit.id))
            })
            .await
    }

    /// The names of branches and tags that begin with `first/`.
    pub(super) async fn names_below(&self, project: ProjectId, first: &str) -> Result<Vec<String>, Stop> {
        let mut names = Vec::new();
        for kind in ["branches", "tags"] {
            self.spend()?;
            let endpoint = Own::get(format!("projects/{project}/repository/{kind}"))
                .with("search", format!("^{first}/"));
            let rows = absent(self.gitlab.http.pages::<NamedRow>(&endpoint)?.collect(5).await)?;
            names.extend(rows.into_iter().flat_map(|(rows, _)| rows).map(|row| row.name));
        }
        Ok(names)
    }

    /// The commit of a hash; `None` when there is none, or when something else goes by that name.
    pub(super) async fn commit(&self, project: ProjectId, sha: &str) -> Result<Option<CommitRow>, Stop> {
        let found = self
            .commits
            .get((project, sha.to_owned()), async {
                self.spend()?;
                let path = format!("projects/{project}/repository/commits/{}", segment(sha));
                Ok(absent(self.gitlab.http.json::<CommitRow>(&Own::get(path)).await)?)
            })
            .await?;
        Ok(found.filter(|commit| commit.id.starts_with(sha)))
    }

    /// Whether a commit, by its full id, is in the history of the head. Commits of forks' merge requests and of
    /// deleted branches are found by their hashes too, and are in nobody's history.
    pub(super) async fn is_in_history(&self, project: ProjectId, id: &str, head: &str) -> Result<bool, Stop> {
        if id == head {
            return Ok(true);
        }
        self.ancestors
            .get((project, id.to_owned()), async {
                self.spend()?;
                let endpoint = Own::get(format!("projects/{project}/repository/merge_base"))
                    .with("refs[]", id)
                    .with("refs[]", head);
                match absent(self.gitlab.http.json::<CommitRow>(&endpoint).await) {
                    Ok(base) => Ok(base.is_some_and(|base| base.id == id)),
                    // No common history is answered with 400 by some versions.
                    Err(Error::Broken(call)) if call.status == Some(400) => Ok(false),
                    Err(error) => Err(error.into()),
                }
            })
            .await
    }

    /// The differences between two commits; `None` when GitLab gives none.
    pub(super) async fn compare(
        &self,
        open: &OpenProject,
        from: &str,
        to: &str,
    ) -> Result<Option<Arc<CompareRow>>, Stop> {
        let key = (open.project().id, from.to_owned(), to.to_owned());
        self.comparisons
            .get(key, async {
                self.spend()?;
                match self.gitlab.comparison(open, from, to).await {
                    Ok(row) => Ok(row.filter(|row| !row.compare_timeout).map(Arc::new)),
                    // Larger than anything that could be followed.
                    Err(Error::Broken(call)) if call.status.is_none() => Ok(None),
                    Err(error) => Err(error.into()),
                }
            })
            .await
    }

    /// All files below a folder; the walk stops looking after `TREE_PAGES` pages.
    pub(super) async fn tree(
        &self,
        project: ProjectId,
        commit: &str,
        folder: &str,
    ) -> Result<Arc<Vec<TreeRow>>, Stop> {
        self.trees
            .get((project, format!("{commit}:{folder}")), async {
                let mut rows = Vec::new();
                let mut tree = self.gitlab.tree_below(project, commit, folder)?;
                for _ in 0..TREE_PAGES {
                    self.spend()?;
                    match tree.next().await {
                        Ok(Some(page)) => rows.extend(page),
                        Ok(None) | Err(Error::Gone(_)) => break,
                        Err(error) => return Err(error.into()),
                    }
                }
                Ok(Arc::new(rows))
            })
            .await
    }

    /// The content of an admitted file, read once a walk. `None` when the object is gone.
    ///
    /// # Errors
    /// GitLab's. Reading is not part of the budget: what is admitted is there to be read.
    pub async fn read(&self, place: &Admitted) -> Result<Option<Read>, Error> {
        let resolved = place.place();
        let key = (resolved.project().id, resolved.blob().to_owned(), resolved.path().clone());
        let read = self.blobs.get(key, async { Ok(self.gitlab.read(place, FILE_MAX).await?) }).await;
        match read {
            // The text is shared; the place is the caller's, with his lines and anchor.
            Ok(Some(Read::Text(blob))) => {
                Ok(Some(Read::Text(crate::target::Blob::read(place.clone(), Arc::clone(blob.text())))))
            }
            Ok(read) => Ok(read),
            Err(Stop::Failed(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// The text of a place, where the predicate admits it and it is text.
    pub(super) async fn text(&self, place: &Resolved) -> Result<Arc<str>, Stop> {
        let admitted = self.corpus.admit(place.clone(), &self.audience)?;
        match self.read(&admitted).await? {
            Some(Read::Text(blob)) => Ok(Arc::clone(blob.text())),
            Some(_) => Err(Stop::Dead(Why::NotText)),
            None => Err(Stop::Dead(Why::NoFile)),
        }
    }
}
