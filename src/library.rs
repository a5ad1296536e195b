//! The search index of this replica: built from the database, following its changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::clock::{Clock, Millis};
use crate::prose::Question;
use crate::reference::{Lines, RepoPath};
use crate::search::{DIM, Entry, Found, Index, Vector};
use crate::section::{Kind, Section, passages};
use crate::store::corpus::SectionRow;
use crate::store::{Store, StoreError};
use crate::target::ProjectId;

/// Numbers of changes become visible out of order when replicas write at once; what is younger than this is
/// looked at again.
const OVERLAP: Millis = 10_000;
/// Bytes of one vector at rest: four of scale, one a component.
const VECTOR_BYTES: usize = 4 + DIM;

/// The index could not be built or searched.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The search engine.
    #[error("the search index: {0}")]
    Search(#[from] crate::search::Error),
}

/// Cheap to clone; all clones share one index.
#[derive(Clone)]
pub struct Library {
    index: Arc<RwLock<Index>>,
    follow: Arc<tokio::sync::Mutex<Position>>,
    sections: Arc<Mutex<usize>>,
    clock: Clock,
}

#[derive(Default)]
struct Position {
    floor: i64,
    seen: BTreeSet<i64>,
}

impl Library {
    /// An empty library.
    ///
    /// # Errors
    /// The search engine.
    pub fn new(clock: Clock) -> Result<Library, LibraryError> {
        Ok(Library {
            index: Arc::new(RwLock::new(Index::new()?)),
            follow: Arc::default(),
            sections: Arc::default(),
            clock,
        })
    }

    /// Builds the index from the database, project by project.
    ///
    /// # Errors
    /// The database, the search engine.
    pub async fn build(&self, store: &Store) -> Result<(), LibraryError> {
        let mut position = self.follow.lock().await;
        position.floor = store.last_change().await?;
        position.seen.clear();
        for row in store.projects().await? {
            // Also one whose tree is to be walked again: what is unchanged there is announced by nobody.
            if row.refusal.is_none() {
                self.load_project(store, row.project.id).await?;
            }
        }
        self.commit()
    }

    /// Applies what changed in the database since the last look. Returns whether anything did.
    ///
    /// # Errors
    /// The database, the search engine.
    pub async fn follow(&self, store: &Store) -> Result<bool, LibraryError> {
        let mut position = self.follow.lock().await;
        let mut changed: BTreeMap<ProjectId, BTreeSet<String>> = BTreeMap::new();
        let settled = self.clock.now() - OVERLAP;
        // What fails or is given up half-way is followed again from where it began.
        let (mut floor, mut seen) = (position.floor, position.seen.clone());
        let mut after = floor;
        loop {
            let changes = store.changes(after).await?;
            let full = changes.len() == 1000;
            for (seq, project, path, at) in changes {
                after = after.max(seq);
                if seen.insert(seq) {
                    changed.entry(project).or_default().insert(path);
                }
                if at < settled {
                    floor = floor.max(seq);
                }
            }
            if !full {
                break;
            }
        }
        seen.retain(|seq| *seq > floor);
        for (project, paths) in &changed {
            if paths.contains("") {
                self.lock_write().remove_project(*project);
                self.load_project(store, *project).await?;
            } else {
                for path in paths {
                    let rows = store.sections_of_file(*project, path).await?;
                    self.load_file(*project, path, &rows)?;
                }
            }
        }
        if !changed.is_empty() {
            self.commit()?;
        }
        *position = Position { floor, seen };
        Ok(!changed.is_empty())
    }

    /// The `k` best sections for a question among the projects that are `allowed`.
    ///
    /// # Errors
    /// The search engine.
    pub fn find(
        &self,
        question: &Question,
        vector: Option<&Vector>,
        k: usize,
        allowed: &dyn Fn(ProjectId) -> bool,
    ) -> Result<Vec<Found>, LibraryError> {
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
        Ok(index.find(question, vector, k, allowed)?)
    }

    /// How many sections are searched.
    pub fn len(&self) -> usize {
        *self.sections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nothing can be found.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    async fn load_project(&self, store: &Store, project: ProjectId) -> Result<(), LibraryError> {
        let rows = store.sections_of_project(project).await?;
        for file in rows.chunk_by(|a, b| a.path == b.path) {
            self.load_file(project, &file[0].path, file)?;
        }
        Ok(())
    }

    fn load_file(&self, project: ProjectId, path: &str, rows: &[SectionRow]) -> Result<(), LibraryError> {
        let Some(path) = RepoPath::parse(path) else { return Ok(()) };
        let mut index = self.lock_write();
        if rows.is_empty() {
            index.remove_file(project, &path);
            return Ok(());
        }
        Ok(index.replace_file(project, &path, rows.iter().map(entry).collect())?)
    }

    fn commit(&self) -> Result<(), LibraryError> {
        let mut index = self.lock_write();
        index.commit()?;
        *self.sections.lock().unwrap_or_else(PoisonError::into_inner) = index.len();
        Ok(())
    }

    fn lock_write(&self) -> std::sync::RwLockWriteGuard<'_, Index> {
        self.index.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The section as it stands alone: its ranges count from the beginning of its own text.
pub fn alone(row: &SectionRow) -> Section {
    let lines = row.body.lines().count().max(1) as u32;
    Section {
        heading_path: row.headings.clone(),
        anchor: row.anchor.clone(),
        explicit_id: row.explicit_id.clone(),
        lines: Lines { first: 1, last: lines },
        bytes: 0..row.body.len(),
        kind: if row.kind == "code" { Kind::Code } else { Kind::Doc },
    }
}

fn entry(row: &SectionRow) -> Entry<'_> {
    let section = alone(row);
    let ranges = passages(&section, &row.body);
    let vectors = row.vector.as_deref().unwrap_or_default();
    Entry {
        id: row.id,
        heading_path: &row.headings,
        passages: ranges.into_iter().map(|range| &row.body[range]).collect(),
        kind: section.kind,
        vectors: vectors.chunks(VECTOR_BYTES).filter_map(Vector::from_bytes).collect(),
    }
}
