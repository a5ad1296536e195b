//! Search over the sections of the corpus: lexical (tantivy) and dense (vectors), fused.
//!
//! The index lives in memory. It is a cache: the database holds the truth, each replica builds its index from
//! there and follows changes.

mod dense;
mod fingerprint;
mod lexical;
mod query;
mod words;

use std::collections::HashMap;

use crate::prose::Question;
use crate::reference::RepoPath;
use crate::section::Kind;
use crate::target::ProjectId;

pub use dense::{DIM, Vector};
pub use fingerprint::{Fingerprint, similarity};
pub use lexical::{Boosts, Error};
pub use query::Places;
pub(crate) use words::terms;

use lexical::Lexical;

/// What the index knows of a section.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// The key of the section, unique in the index.
    pub id: u64,
    /// Headings from the page's title down.
    pub heading_path: &'a [String],
    /// The passages of the section's body.
    pub passages: Vec<&'a str>,
    /// What it is made of.
    pub kind: Kind,
    /// One vector for each passage that has been embedded; may be empty.
    pub vectors: Vec<Vector>,
}

/// A section that search found, with every number that speaks for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The key of the section.
    pub id: u64,
    /// Its project.
    pub project: ProjectId,
    /// The lexical score; not comparable between questions. 0 where the lexical search did not find it.
    pub bm25: f32,
    /// The place among the lexical hits, from 0.
    pub bm25_rank: Option<usize>,
    /// The cosine of question and best passage; 0 where the section has no vector.
    pub cosine: f32,
    /// The place among the dense hits, from 0.
    pub dense_rank: Option<usize>,
    /// The fused score that orders the list.
    pub fused: f32,
}

/// The weighted terms of a question's words, for measures outside the index.
pub(crate) fn question_terms(words: &crate::prose::question::Words<'_>) -> Vec<(String, f32)> {
    query::terms(words, &Places::default()).prose
}

/// How hits are weighed. The defaults were fitted on labelled questions; see `docs/search.md`.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// Weights of the places of a question.
    pub places: Places,
    /// Weights of the fields of a section.
    pub boosts: Boosts,
    /// The constant of reciprocal rank fusion.
    pub fusion: f32,
    /// What dense ranks count, where lexical ranks count one.
    pub dense: f32,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning { places: Places::default(), boosts: Boosts::default(), fusion: 20.0, dense: 1.0 }
    }
}

/// Hits of each kind that are fused, for every hit that is wanted.
const DEPTH: usize = 3;

/// The search index of one replica.
pub struct Index {
    lexical: Lexical,
    vectors: dense::Vectors,
    sections: HashMap<(ProjectId, String), usize>,
    /// Files of each project.
    projects: HashMap<ProjectId, usize>,
    tuning: Tuning,
}

impl Index {
    /// An empty index in memory.
    pub fn new() -> Result<Index, Error> {
        Index::tuned(Tuning::default())
    }

    /// An empty index that weighs hits in its own way.
    pub fn tuned(tuning: Tuning) -> Result<Index, Error> {
        Ok(Index {
            lexical: Lexical::new()?,
            vectors: dense::Vectors::default(),
            sections: HashMap::new(),
            projects: HashMap::new(),
            tuning,
        })
    }

    /// Weighs hits in another way from now on.
    pub fn retune(&mut self, tuning: Tuning) {
        self.tuning = tuning;
    }

    /// Replaces the sections of a file. Seen by searches after [`Index::commit`].
    pub fn replace_file(
        &mut self,
        project: ProjectId,
        path: &RepoPath,
        sections: Vec<Entry<'_>>,
    ) -> Result<(), Error> {
        self.remove_file(project, path);
        for entry in &sections {
            self.lexical.add(project, path, entry)?;
            for vector in &entry.vectors {
                self.vectors.add(project, path.as_str(), entry.id, vector);
            }
        }
        if !sections.is_empty() {
            *self.projects.entry(project).or_default() += 1;
            self.sections.insert((project, path.as_str().to_owned()), sections.len());
        }
        Ok(())
    }

    /// Adds vectors of a section that has none yet; seen at once.
    pub fn add_vectors(&mut self, project: ProjectId, path: &RepoPath, section: u64, vectors: &[Vector]) {
        if !self.vectors.knows(section) {
            for vector in vectors {
                self.vectors.add(project, path.as_str(), section, vector);
            }
        }
    }

    /// Forgets a file. Its vectors go at once, its words with [`Index::commit`].
    pub fn remove_file(&mut self, project: ProjectId, path: &RepoPath) {
        if self.sections.remove(&(project, path.as_str().to_owned())).is_some() {
            if let Some(files) = self.projects.get_mut(&project) {
                *files -= 1;
            }
            self.projects.retain(|_, files| *files > 0);
            self.lexical.remove_file(project, path);
            self.vectors.remove_file(project, path.as_str());
        }
    }

    /// Forgets a project. Its vectors go at once, its words with [`Index::commit`].
    pub fn remove_project(&mut self, project: ProjectId) {
        self.sections.retain(|(of, _), _| *of != project);
        self.projects.remove(&project);
        self.lexical.remove_project(project);
        self.vectors.remove_project(project);
    }

    /// Makes all changes so far visible to searches.
    pub fn commit(&mut self) -> Result<(), Error> {
        self.lexical.commit()
    }

    /// The number of sections.
    pub fn len(&self) -> usize {
        self.sections.values().sum()
    }

    /// Whether there is no section.
    pub fn is_empty(&self) -> bool {
        self.sections.is_empty()
    }

    /// The `k` best sections of the projects that are `allowed`, best first. `vector` is the question's own;
    /// without one the search is lexical.
    pub fn find(
        &self,
        question: &Question,
        vector: Option<&Vector>,
        k: usize,
        allowed: &dyn Fn(ProjectId) -> bool,
    ) -> Result<Vec<Found>, Error> {
        let depth = k.saturating_mul(DEPTH).max(60);
        let open = self.projects.keys().copied().filter(|&project| allowed(project)).collect();
        let hits = self.lexical.search(question, &self.tuning, depth, open, self.projects.len())?;
        let near = vector.map(|vector| self.vectors.nearest(vector, depth, allowed)).unwrap_or_default();
        let mut found: HashMap<u64, Found> = HashMap::new();
        for (rank, hit) in hits.into_iter().enumerate() {
            let entry = found.entry(hit.section).or_insert(Found::blank(hit.section, hit.project));
            entry.bm25 = hit.score;
            entry.bm25_rank = Some(rank);
            entry.fused += 1.0 / (self.tuning.fusion + rank as f32);
        }
        for (rank, (section, project, cosine)) in near.into_iter().enumerate() {
            let entry = found.entry(section).or_insert(Found::blank(section, project));
            entry.cosine = cosine;
            entry.dense_rank = Some(rank);
            entry.fused += self.tuning.dense / (self.tuning.fusion + rank as f32);
        }
        let mut found: Vec<Found> = found.into_values().collect();
        found.sort_by(|a, b| b.fused.total_cmp(&a.fused).then(a.id.cmp(&b.id)));
        found.truncate(k);
        for hit in found.iter_mut().filter(|hit| hit.dense_rank.is_none()) {
            hit.cosine = vector.and_then(|vector| self.vectors.cosine(hit.id, vector)).unwrap_or(0.0);
        }
        Ok(found)
    }
}

impl Found {
    fn blank(id: u64, project: ProjectId) -> Found {
        Found { id, project, bm25: 0.0, bm25_rank: None, cosine: 0.0, dense_rank: None, fused: 0.0 }
    }
}

#[cfg(test)]
mod tests;
