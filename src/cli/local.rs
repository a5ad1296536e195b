//! A folder as a searchable corpus, with the judge at hand.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::cli::folder::{File, Folder};
use crate::cli::vectors::Cache;
use crate::judge::{Candidate, Judge, Judged, heading};
use crate::prose::Question;
use crate::search::{Entry, Found, Index, Tuning, Vector};
use crate::section::{self, Quote, Section};

/// The project id that a folder's files get.
const PROJECT: u64 = 1;
/// Passages of one section that get a vector; what follows is found by its words.
const VECTORS_MAX: usize = 8;
/// The same in a short list, where somebody waits.
const VECTORS_SHORT: usize = 1;
/// Sections that search returns.
pub const DEPTH: usize = 20;
/// Of these, sections that the judge reads: as many as its probabilities were fitted on.
pub const READ: usize = 8;

/// A folder, indexed. Sections are numbered in the order of files and lines.
pub struct Local {
    /// What was read.
    pub folder: Folder,
    judge: Judge,
    index: Index,
    pub(super) places: Vec<(usize, usize)>,
}

/// Lexical hits that get vectors where the folder was not embedded as a whole.
const SHORTLIST: usize = 30;

/// How a folder is indexed.
pub struct Indexing<'a> {
    /// The weights of the search.
    pub tuning: Tuning,
    /// Where vectors are kept between runs; without it every section is embedded anew.
    pub cache: Option<&'a mut Cache>,
    /// Whether to embed every section at once, which takes a minute for a thousand sections. Without it only what
    /// the words of a question find is compared by vectors: see [`Local::shortlist`].
    pub dense: bool,
}

/// What search and judge say of a question.
pub struct Answer {
    /// The score of the question gate.
    pub kind: f32,
    /// What search found, best first.
    pub found: Vec<Found>,
    /// What the judge read, the likeliest first.
    pub judged: Vec<Judged>,
}

impl Local {
    /// Indexes a folder.
    pub fn index(folder: Folder, judge: Judge, how: Indexing<'_>) -> anyhow::Result<Local> {
        let mut places = Vec::new();
        let mut passages: Vec<(String, &str)> = Vec::new();
        let mut spans = Vec::new();
        for (number, file) in folder.files.iter().enumerate() {
            for (at, section) in file.sections.iter().enumerate() {
                places.push((number, at));
                let title = heading(&section.heading_path);
                let ranges = section::passages(section, &file.text);
                spans.push(passages.len()..passages.len() + ranges.len());
                passages.extend(ranges.into_iter().map(|range| (title.clone(), &file.text[range])));
            }
        }
        let wanted: Vec<usize> = if how.dense {
            spans.iter().flat_map(|span| span.clone().take(VECTORS_MAX)).collect()
        } else {
            Vec::new()
        };
        let vectors = embed(&judge, &passages, &wanted, how.cache);
        let mut index = Index::tuned(how.tuning)?;
        let mut id = 0;
        for file in &folder.files {
            let mut entries = Vec::new();
            for section in &file.sections {
                let span = spans[id].clone();
                entries.push(Entry {
                    id: id as u64,
                    heading_path: &section.heading_path,
                    passages: passages[span.clone()].iter().map(|(_, text)| *text).collect(),
                    kind: section.kind,
                    vectors: span.filter_map(|at| vectors[at].clone()).collect(),
                });
                id += 1;
            }
            index.replace_file(PROJECT, &file.path, entries)?;
        }
        index.commit()?;
        Ok(Local { folder, judge, index, places })
    }

    /// Embeds the best lexical hits of a question, so that they can be compared by vectors.
    pub fn shortlist(&mut self, question: &Question) -> anyhow::Result<()> {
        for hit in self.lexical(question, SHORTLIST)? {
            let (number, at) = self.places[usize::try_from(hit.id)?];
            let file = &self.folder.files[number];
            let section = &file.sections[at];
            let title = heading(&section.heading_path);
            let ranges = section::passages(section, &file.text).into_iter().take(VECTORS_SHORT);
            let vectors: Vec<Vector> =
                ranges.map(|range| self.judge.passage_vector(&title, &file.text[range])).collect();
            self.index.add_vectors(PROJECT, &file.path, hit.id, &vectors);
        }
        Ok(())
    }

    /// The number of sections.
    pub fn sections(&self) -> usize {
        self.places.len()
    }

    /// Weighs hits in another way from now on.
    pub fn retune(&mut self, tuning: Tuning) {
        self.index.retune(tuning);
    }

    /// The file and the section with this number.
    pub fn place(&self, id: u64) -> (&File, &Section) {
        let (file, section) = self.places[usize::try_from(id).expect("sections are numbered by usize")];
        (&self.folder.files[file], &self.folder.files[file].sections[section])
    }

    /// The best sections by words alone, best first.
    pub fn lexical(&self, question: &Question, k: usize) -> anyhow::Result<Vec<Found>> {
        Ok(self.index.find(question, None, k, &|_| true)?)
    }

    /// The best sections, best first.
    pub fn find(&self, question: &Question, k: usize) -> anyhow::Result<Vec<Found>> {
        let vector = self.judge.vector(question);
        Ok(self.index.find(question, Some(&vector), k, &|_| true)?)
    }

    /// Searches, and has the judge read what was found.
    pub fn ask(&self, question: &Question, labels: &[&str], issue_type: &str) -> anyhow::Result<Answer> {
        let kind = self.judge.kind(question, labels, issue_type);
        let found = self.find(question, DEPTH)?;
        let candidates: Vec<Candidate<'_>> = found
            .iter()
            .take(READ)
            .map(|hit| {
                let (file, section) = self.place(hit.id);
                let text = &file.text[section.bytes.clone()];
                Candidate { key: hit.id, section, text, found: Some(*hit), referenced: false, votes: 0 }
            })
            .collect();
        let judged = self.judge.judge(question, &candidates);
        Ok(Answer { kind, found, judged })
    }

    /// What to quote of a section.
    pub fn quote(&self, question: &Question, id: u64) -> Option<Quote> {
        let (file, section) = self.place(id);
        section::best_quote(section, &file.text, |blocks| self.judge.weigh_blocks(question, blocks))
    }
}

/// The vectors of the `wanted` passages; from the cache where it knows them.
fn embed(
    judge: &Judge,
    passages: &[(String, &str)],
    wanted: &[usize],
    mut cache: Option<&mut Cache>,
) -> Vec<Option<Vector>> {
    let mut vectors: Vec<Option<Vector>> = vec![None; passages.len()];
    let mut missing = Vec::new();
    for &at in wanted {
        let (title, text) = &passages[at];
        match cache.as_ref().and_then(|cache| cache.get(title, text)) {
            Some(known) => vectors[at] = Some(known),
            None => missing.push(at),
        }
    }
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(missing.len()).max(1);
    let done: Vec<(usize, Vector)> = std::thread::scope(|scope| {
        let work = || {
            let mut own = Vec::new();
            while let Some(&at) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                let (title, text) = &passages[at];
                own.push((at, judge.passage_vector(title, text)));
            }
            own
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("embedding does not panic")).collect()
    });
    for (at, vector) in done {
        if let Some(cache) = cache.as_mut() {
            cache.put(&passages[at].0, passages[at].1, &vector);
        }
        vectors[at] = Some(vector);
    }
    vectors
}
