//! The corpus kept as it is today: which projects, which files at their heads, which sections.

mod embed;
mod file;
mod whole;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use futures_util::StreamExt;

use crate::clock::Clock;
use crate::docsite;
use crate::gitlab::{Error as GitLabError, GitLab, Read, TreeRow};
use crate::reference::RepoPath;
use crate::store::corpus::FileRow;
use crate::store::queue::Place;
use crate::store::{Store, StoreError};
use crate::target::corpus::{Audience, Corpus, OpenProject, Refusal};
use crate::target::{Admitted, Project, ProjectId, Resolved};

pub use embed::embed_some;
pub use file::FILE_MAX;
use whole::{Archives, Folders, Seen};

/// Files of one project that are read at the same time; the client caps what all projects do together.
const CONCURRENCY: usize = 6;

/// Why the corpus could not be brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// GitLab.
    #[error(transparent)]
    GitLab(#[from] GitLabError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The configured group is not there, so that nothing is known to lie outside it.
    #[error("the group {0} is not there: it was renamed, or gitlab.group is misspelt")]
    NoGroup(String),
}

/// What became of one project.
#[derive(Clone, Debug, Default)]
pub struct Synced {
    /// The check at which the project fell, if it did.
    pub refused: Option<&'static str>,
    /// The commit it is synced to.
    pub head: Option<String>,
    /// How many files changed, went or came.
    pub changed: usize,
    /// Sections of the files that changed.
    pub sections: usize,
    /// Bytes that were read.
    pub bytes: u64,
}

/// Brings projects and files up to date. Cheap to clone.
#[derive(Clone)]
pub struct Syncer {
    gitlab: GitLab,
    store: Store,
    corpus: Arc<Corpus>,
    clock: Clock,
    archives: Arc<Archives>,
}

impl Syncer {
    /// A syncer of what `corpus` admits.
    pub fn new(gitlab: GitLab, store: Store, corpus: Arc<Corpus>, clock: Clock) -> Syncer {
        Syncer { gitlab, store, corpus, clock, archives: Arc::default() }
    }

    /// Re-reads the group's list of projects: new, renamed, moved, archived, hidden and excluded ones. What left
    /// the predicate leaves the database at once; what is not listed any more is asked about by its id. Returns
    /// the ids of the admitted ones.
    ///
    /// # Errors
    /// GitLab, the database.
    pub async fn refresh_group(&self) -> Result<Vec<ProjectId>, SyncError> {
        let known: HashMap<ProjectId, bool> =
            self.store.projects().await?.into_iter().map(|r| (r.project.id, r.head.is_some())).collect();
        let mut listed = BTreeMap::new();
        let mut projects = self.gitlab.group_projects(self.corpus.group())?;
        while let Some(page) = projects.next().await? {
            for project in page {
                listed.insert(project.id, project);
            }
        }
        let unlisted: Vec<ProjectId> = known.keys().filter(|id| !listed.contains_key(id)).copied().collect();
        for id in &unlisted {
            match self.gitlab.project(*id).await? {
                Some(project) => {
                    listed.insert(*id, project);
                }
                None => self.store.forget_content(*id, true, self.clock.now()).await?,
            }
        }
        let mut admitted = Vec::new();
        for (id, project) in listed {
            let cached = known.get(&id).copied().unwrap_or(false);
            match self.corpus.admit_project(&project, &Audience::of_index(&project)) {
                Ok(_) => {
                    self.store.save_project(&project, None, self.clock.now()).await?;
                    admitted.push(id);
                }
                Err(refusal) => self.refuse(&project, refusal, cached).await?,
            }
        }
        Ok(admitted)
    }

    /// An excluded project, or one that is not the group's, is not even written down.
    async fn refuse(&self, project: &Project, refusal: Refusal, cached: bool) -> Result<(), SyncError> {
        let now = self.clock.now();
        let unnamed = matches!(refusal, Refusal::Excluded | Refusal::OutsideGroup);
        if refusal == Refusal::OutsideGroup && !self.gitlab.has_group(self.corpus.group()).await? {
            return Err(SyncError::NoGroup(self.corpus.group().to_owned()));
        }
        if cached || unnamed {
            self.store.forget_content(project.id, unnamed, now).await?;
        }
        if !unnamed {
            self.store.save_project(project, Some(refusal.name()), now).await?;
        }
        Ok(())
    }

    /// Brings one project up to the head of its default branch. Only blobs whose id changed are read.
    ///
    /// # Errors
    /// GitLab, the database. What was done stays done: the next call goes on from there.
    pub async fn sync_project(&self, id: ProjectId) -> Result<Synced, SyncError> {
        let now = self.clock.now();
        let Some(project) = self.gitlab.project(id).await? else {
            self.store.forget_content(id, true, now).await?;
            return Ok(Synced { refused: Some("gone"), ..Synced::default() });
        };
        let open = match self.corpus.admit_project(&project, &Audience::of_index(&project)) {
            Ok(open) => open,
            Err(refusal) => {
                self.refuse(&project, refusal, true).await?;
                return Ok(Synced { refused: Some(refusal.name()), ..Synced::default() });
            }
        };
        self.store.save_project(&project, None, now).await?;
        let head = match &project.default_branch {
            Some(branch) => self.gitlab.head(id, branch).await?,
            None => None,
        };
        let Some(head) = head else {
            self.store.forget_content(id, false, now).await?;
            return Ok(Synced { refused: Some("empty"), ..Synced::default() });
        };
        let stored = self.store.projects().await?.into_iter().find(|row| row.project.id == id);
        if stored.is_some_and(|row| row.head.as_deref() == Some(&head)) {
            return Ok(Synced { head: Some(head), ..Synced::default() });
        }
        let mut synced = Synced { head: Some(head.clone()), ..Synced::default() };
        self.sync_tree(&open, &head, &mut synced).await?;
        self.store.set_head(id, &head, self.clock.now()).await?;
        Ok(synced)
    }

    async fn sync_tree(&self, open: &OpenProject, head: &str, synced: &mut Synced) -> Result<(), SyncError> {
        let project = open.project();
        let mut gone: HashMap<String, FileRow> =
            self.store.files(project.id).await?.into_iter().map(|f| (f.path.clone(), f)).collect();
        let (mut wanted, mut folders) = (Vec::new(), Folders::default());
        let mut tree = self.gitlab.tree(project.id, head)?;
        while let Some(page) = tree.next().await? {
            for row in page {
                if self.corpus.admit_path(&row.path).is_err() {
                    folders.saw(row.path.as_str(), Seen::Unlisted);
                    self.read_manifest(project, head, row, &mut gone).await?;
                    continue;
                }
                let known = gone.remove(row.path.as_str());
                if known.is_none_or(|file| file.blob != row.id || file.mode != row.mode) {
                    folders.saw(row.path.as_str(), Seen::Wanted);
                    wanted.push(row);
                } else {
                    folders.saw(row.path.as_str(), Seen::Known);
                }
            }
        }
        for path in gone.into_keys() {
            self.store.forget_file(project.id, &path, self.clock.now()).await?;
            synced.changed += 1;
        }
        let mut whole = self.read_whole(open, head, &folders, &wanted).await;
        let mut reading = futures_util::stream::iter(wanted)
            .map(|row| (whole.remove(row.path.as_str()), row))
            .map(|(read, row)| self.read_file(project, head, row, read))
            .buffer_unordered(CONCURRENCY);
        while let Some(done) = reading.next().await {
            if let Some((sections, bytes)) = done? {
                synced.changed += 1;
                synced.sections += sections;
                synced.bytes += bytes;
            }
        }
        Ok(())
    }

    /// What one archive gives of the wanted files, where it is cheaper than reading each. It is never needed: when
    /// GitLab gives none, or not now, they are read one by one.
    async fn read_whole(
        &self,
        open: &OpenProject,
        head: &str,
        folders: &Folders,
        wanted: &[TreeRow],
    ) -> HashMap<String, Read> {
        let Some(folder) = folders.cheapest().filter(|_| self.archives.ask(&self.clock)) else {
            return HashMap::new();
        };
        let (project, audience) = (open.project(), Audience::of_index(open.project()));
        let admitted =
            wanted.iter().filter_map(|row| self.corpus.admit(observed(project, head, row), &audience).ok());
        let read = self.gitlab.read_folder(open, head, folder, admitted.collect(), FILE_MAX).await;
        read.unwrap_or_else(|error| {
            tracing::debug!(%error, project.id = project.id, "there is no archive; files are read one by one");
            HashMap::new()
        })
    }

    /// A generator's configuration tells where the documentation site is, though the globs rarely name it. It is
    /// read to learn that and never quoted.
    async fn read_manifest(
        &self,
        project: &Arc<Project>,
        head: &str,
        row: TreeRow,
        gone: &mut HashMap<String, FileRow>,
    ) -> Result<(), SyncError> {
        if !docsite::is_manifest(&row.path) {
            return Ok(());
        }
        let place = observed(project, head, &row);
        let TreeRow { path, id, mode } = row;
        if gone.remove(path.as_str()).is_some_and(|known| known.blob == id) {
            return Ok(());
        }
        let audience = Audience::of_index(project);
        let Ok(manifest) = self.corpus.admit_manifest(place, &audience, docsite::is_manifest) else {
            return Ok(());
        };
        let Some(text) = self.gitlab.read_manifest(&manifest, FILE_MAX).await? else { return Ok(()) };
        let skipped = Some("site_manifest".to_owned());
        let file =
            FileRow { path: path.as_str().to_owned(), blob: id, mode, bytes: text.len() as u64, skipped };
        // Before the file's change is announced, on which every replica reads its table of sites anew.
        self.store.save_docsite(project.id, path.as_str(), Some(&text)).await?;
        self.store.save_file(project.id, &file, &[], self.clock.now()).await?;
        Ok(())
    }

    /// Takes or reads one file and cuts it. A file that cannot be read as text is written down with the reason.
    async fn read_file(
        &self,
        project: &Arc<Project>,
        head: &str,
        row: TreeRow,
        read: Option<Read>,
    ) -> Result<Option<(usize, u64)>, SyncError> {
        let place = observed(project, head, &row);
        let TreeRow { path, id, mode } = row;
        let (skipped, text) = match self.corpus.admit(place, &Audience::of_index(project)) {
            Err(refusal) => (Some(refusal.name()), None),
            Ok(admitted) => match self.read(&admitted, read).await? {
                Some(Read::Text(blob)) => (None, Some(blob)),
                Some(Read::TooLarge) => (Some("too_large"), None),
                Some(Read::Binary) => (Some("binary"), None),
                Some(Read::Lfs) => (Some("lfs_pointer"), None),
                // The head moved on while we read: the push that moved it is on its way here.
                None => return Ok(None),
            },
        };
        // Catalogues of translations, drawings, data: text that nobody reads as documentation.
        let unknown = text.is_some() && !file::is_read(&path);
        let cut = text.as_ref().filter(|_| !unknown);
        let sections = cut.map(|blob| file::sections(project.id, &path, blob.text())).unwrap_or_default();
        let skipped =
            skipped.or(unknown.then_some("format")).or(sections.is_empty().then_some("no_sections"));
        let bytes = text.as_ref().map_or(0, |blob| blob.text().len() as u64);
        let file = FileRow {
            path: path.as_str().to_owned(),
            blob: id,
            mode,
            bytes,
            skipped: skipped.map(str::to_owned),
        };
        match &text {
            Some(blob) => self.save_docsite(project.id, &path, blob.text()).await?,
            None => self.store.save_docsite(project.id, path.as_str(), None).await?,
        }
        self.store.save_file(project.id, &file, &sections, self.clock.now()).await?;
        Ok(Some((sections.len(), bytes)))
    }

    /// The content of an admitted file, unless an archive had it.
    async fn read(&self, admitted: &Admitted, read: Option<Read>) -> Result<Option<Read>, SyncError> {
        match read {
            Some(read) => Ok(Some(read)),
            None => Ok(self.gitlab.read(admitted, FILE_MAX).await?),
        }
    }

    /// Keeps what declares a documentation site or moves one of its pages. A text with NUL does neither: Postgres would
    /// not take it.
    async fn save_docsite(&self, project: ProjectId, path: &RepoPath, text: &str) -> Result<(), SyncError> {
        let tells = !text.contains('\0') && (docsite::is_manifest(path) || docsite::moves_pages(path, text));
        Ok(self.store.save_docsite(project, path.as_str(), tells.then_some(text)).await?)
    }

    /// After a change of the configured globs: files that the predicate no longer lists are dropped, and every
    /// project is walked again (its unchanged blobs are not read again).
    ///
    /// # Errors
    /// The database.
    pub async fn apply_globs(&self) -> Result<(), SyncError> {
        for row in self.store.projects().await? {
            let id = row.project.id;
            for file in self.store.files(id).await? {
                let listed = RepoPath::parse(&file.path)
                    .is_some_and(|path| self.corpus.admit_path(&path).is_ok() || docsite::is_manifest(&path));
                if !listed {
                    self.store.forget_file(id, &file.path, self.clock.now()).await?;
                }
            }
            self.store.forget_head(id).await?;
            self.store.want(Place::repository(id), None, self.clock.now()).await?;
        }
        Ok(())
    }
}

/// A file as the tree at `head` names it.
fn observed(project: &Arc<Project>, head: &str, row: &TreeRow) -> Resolved {
    let TreeRow { path, id, mode } = row;
    Resolved::observed(
        Arc::clone(project),
        head.to_owned(),
        path.clone(),
        id.clone(),
        mode.clone(),
        None,
        None,
    )
}
