//! The lexical half: BM25 over weighted fields.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tantivy::collector::{FilterCollector, TopDocs};
use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery};
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, Searcher, TantivyDocument, Term};

use crate::prose::Question;
use crate::reference::RepoPath;
use crate::search::query::{self, Terms};
use crate::search::{Entry, Tuning, fingerprint, words};
use crate::section::Kind;
use crate::target::ProjectId;

/// Terms of a question that are searched for; of more, the weightiest by rarity are taken.
const TERMS_MAX: usize = 64;
/// Memory for documents that are not yet committed, in bytes.
const BUFFER: usize = 32_000_000;

/// The search engine could not do its work: it is out of memory, or a thread of it died.
#[derive(Debug, thiserror::Error)]
#[error("the search index failed")]
pub struct Error(#[from] tantivy::TantivyError);

/// Weights of the fields of a section.
#[derive(Clone, Debug)]
pub struct Boosts {
    /// The section's own heading.
    pub title: f32,
    /// The headings above it.
    pub path: f32,
    /// The passage.
    pub body: f32,
    /// Whole names in the passage.
    pub names: f32,
    /// The words of the file's path.
    pub file: f32,
    /// What the score of a code section is multiplied with.
    pub code: f32,
    /// What a section gains of the score of the best other section of its file.
    pub page: f32,
}

impl Default for Boosts {
    fn default() -> Boosts {
        Boosts { title: 1.0, path: 0.4, body: 2.0, names: 0.5, file: 0.4, code: 0.5, page: 0.1 }
    }
}

#[derive(Clone, Copy)]
struct Fields {
    key: Field,
    project: Field,
    section: Field,
    code: Field,
    page: Field,
    title: Field,
    path: Field,
    body: Field,
    names: Field,
    file: Field,
}

/// A section that the words of a question were found in.
pub(super) struct Hit {
    pub(super) section: u64,
    pub(super) project: ProjectId,
    pub(super) score: f32,
}

/// Section, project, score: as plain numbers, which is all that leaves a question.
type Scored = (u64, (ProjectId, f32));
/// What a term is worth, the fields to look for it in with their weights, and the term.
type Clause = (f32, Vec<(Field, f32)>, String);

/// The tantivy index.
pub(super) struct Lexical {
    writer: IndexWriter,
    reader: IndexReader,
    fields: Fields,
}

impl Lexical {
    pub(super) fn new() -> Result<Lexical, Error> {
        let mut schema = Schema::builder();
        let text = |analyser: &str| {
            let indexing = TextFieldIndexing::default().set_tokenizer(analyser);
            TextOptions::default()
                .set_indexing_options(indexing.set_index_option(IndexRecordOption::WithFreqs))
        };
        let fields = Fields {
            key: schema.add_text_field("key", STRING),
            project: schema.add_u64_field("project", INDEXED | FAST),
            section: schema.add_u64_field("section", FAST),
            code: schema.add_u64_field("code", FAST),
            page: schema.add_u64_field("page", FAST),
            title: schema.add_text_field("title", text("prose")),
            path: schema.add_text_field("path", text("prose")),
            body: schema.add_text_field("body", text("prose")),
            names: schema.add_text_field("names", text("names")),
            file: schema.add_text_field("file", text("prose")),
        };
        let index = Index::create_in_ram(schema.build());
        index.tokenizers().register("prose", words::prose());
        index.tokenizers().register("names", words::names());
        let writer = index.writer_with_num_threads(1, BUFFER)?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Lexical { writer, reader, fields })
    }

    /// Adds one document for each passage of a section.
    pub(super) fn add(&self, project: ProjectId, path: &RepoPath, entry: &Entry<'_>) -> Result<(), Error> {
        let (title, above) = match entry.heading_path.split_last() {
            Some((title, above)) => (title.as_str(), above.join(" ")),
            None => ("", String::new()),
        };
        let page = fingerprint::wide(&key(project, path));
        for passage in &entry.passages {
            let mut document = TantivyDocument::default();
            document.add_text(self.fields.key, key(project, path));
            document.add_u64(self.fields.project, project);
            document.add_u64(self.fields.section, entry.id);
            document.add_u64(self.fields.code, u64::from(entry.kind == Kind::Code));
            document.add_u64(self.fields.page, page);
            document.add_text(self.fields.title, title);
            document.add_text(self.fields.path, &above);
            document.add_text(self.fields.body, passage);
            document.add_text(self.fields.names, format!("{title} {above} {passage}"));
            document.add_text(self.fields.file, path.as_str());
            self.writer.add_document(document)?;
        }
        Ok(())
    }

    pub(super) fn remove_file(&self, project: ProjectId, path: &RepoPath) {
        self.writer.delete_term(Term::from_field_text(self.fields.key, &key(project, path)));
    }

    pub(super) fn remove_project(&self, project: ProjectId) {
        self.writer.delete_term(Term::from_field_u64(self.fields.project, project));
    }

    pub(super) fn commit(&mut self) -> Result<(), Error> {
        self.writer.commit()?;
        self.reader.reload()?;
        Ok(())
    }

    /// The best `k` sections of the `open` projects, best first; `projects` is the number of all.
    pub(super) fn search(
        &self,
        question: &Question,
        tuning: &Tuning,
        k: usize,
        open: HashSet<ProjectId>,
        projects: usize,
    ) -> Result<Vec<Hit>, Error> {
        let searcher = self.reader.searcher();
        let failed = std::cell::RefCell::new(None);
        let scores: Vec<Scored> = question.weigh(|text| {
            let query = self.query(&searcher, query::terms(&text, &tuning.places), tuning);
            let hits = query.and_then(|query| self.collect(&searcher, &query, tuning, k, open, projects));
            hits.unwrap_or_else(|error| {
                failed.replace(Some(error));
                Vec::new()
            })
        });
        match failed.into_inner() {
            Some(error) => Err(error),
            None => Ok(scores
                .into_iter()
                .map(|(section, (project, score))| Hit { section, project, score })
                .collect()),
        }
    }

    /// Runs a query and keeps the best passage of every section.
    fn collect(
        &self,
        searcher: &Searcher,
        query: &dyn Query,
        tuning: &Tuning,
        k: usize,
        open: HashSet<ProjectId>,
        projects: usize,
    ) -> Result<Vec<Scored>, Error> {
        let top = TopDocs::with_limit(k * 2).order_by_score();
        let hits = if open.len() == projects {
            searcher.search(query, &top)?
        } else {
            let open = Arc::new(open);
            let admits = move |project: u64| open.contains(&project);
            searcher.search(query, &FilterCollector::new("project".to_owned(), admits, top))?
        };
        let mut best: HashMap<u64, Passage> = HashMap::new();
        for (score, address) in hits {
            let fast = searcher.segment_reader(address.segment_ord).fast_fields();
            let value =
                |name: &str| -> Result<u64, Error> { Ok(fast.u64(name)?.first(address.doc_id).unwrap_or(0)) };
            let score = if value("code")? == 1 { score * tuning.boosts.code } else { score };
            let passage = Passage { project: value("project")?, page: value("page")?, score };
            let entry = best.entry(value("section")?).or_insert(passage);
            entry.score = entry.score.max(score);
        }
        let mut best: Vec<(u64, Passage)> = best.into_iter().collect();
        lift(&mut best, tuning.boosts.page);
        best.sort_by(|a, b| b.1.score.total_cmp(&a.1.score).then(a.0.cmp(&b.0)));
        best.truncate(k);
        Ok(best.into_iter().map(|(section, passage)| (section, (passage.project, passage.score))).collect())
    }

    /// The query: for each term the sum over the fields, weighted.
    fn query(&self, searcher: &Searcher, terms: Terms, tuning: &Tuning) -> Result<BooleanQuery, Error> {
        let boosts = &tuning.boosts;
        let prose = [
            (self.fields.title, boosts.title),
            (self.fields.path, boosts.path),
            (self.fields.body, boosts.body),
            (self.fields.file, boosts.file),
        ];
        let documents = searcher.num_docs().max(1) as f32;
        let mut clauses: Vec<Clause> = Vec::new();
        for (term, weight) in terms.prose {
            let found = searcher.doc_freq(&Term::from_field_text(self.fields.body, &term))? as f32;
            let worth = weight * (1.0 + (documents - found + 0.5) / (found + 0.5)).ln();
            clauses.push((
                worth,
                prose.iter().map(|&(field, boost)| (field, boost * weight)).collect(),
                term,
            ));
        }
        for (term, weight) in terms.names {
            let found = searcher.doc_freq(&Term::from_field_text(self.fields.names, &term))? as f32;
            if found > 0.0 {
                let worth = weight * (1.0 + documents / found).ln();
                clauses.push((worth, vec![(self.fields.names, boosts.names * weight)], term));
            }
        }
        clauses.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.2.cmp(&b.2)));
        clauses.truncate(TERMS_MAX);
        let clauses = clauses.into_iter().flat_map(|(_, fields, term)| {
            fields.into_iter().filter(|(_, weight)| *weight > 0.0).map(move |(field, weight)| {
                let term = TermQuery::new(Term::from_field_text(field, &term), IndexRecordOption::WithFreqs);
                let query: Box<dyn Query> = Box::new(BoostQuery::new(Box::new(term), weight));
                (Occur::Should, query)
            })
        });
        Ok(BooleanQuery::new(clauses.collect()))
    }
}

/// The best passage of a section.
struct Passage {
    project: ProjectId,
    page: u64,
    score: f32,
}

/// Lifts every section by a share of the best other section of its file: a page that treats the subject in
/// several places is the likelier one.
fn lift(sections: &mut [(u64, Passage)], share: f32) {
    let mut pages: HashMap<u64, (f32, f32)> = HashMap::new();
    for (_, passage) in sections.iter() {
        let (first, second) = pages.entry(passage.page).or_default();
        if passage.score > *first {
            *second = *first;
            *first = passage.score;
        } else {
            *second = second.max(passage.score);
        }
    }
    for (_, passage) in sections {
        let (first, second) = pages[&passage.page];
        let other = if passage.score >= first { second } else { first };
        passage.score += share * other;
    }
}

fn key(project: ProjectId, path: &RepoPath) -> String {
    format!("{project}:{}", path.as_str())
}
