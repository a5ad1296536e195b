//! Is it a question, and does this passage cover it? Numbers in, numbers out; the same input, the same output.

mod decision;
pub mod endpoint;

use std::collections::HashSet;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use signpost_reader::{Evidence, Gate, Reader, any_of_best, probability};

use crate::prose::Question;
use crate::search::{Found, Vector, question_terms, terms};
use crate::section::{self, Section};

pub use decision::{Decision, GapKind, Policy, TARGETS_MAX, decide};

/// A section that may answer the question, from whatever route it came.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// The caller's name for it.
    pub key: u64,
    /// Its headings and what it is made of; the ranges are not looked at.
    pub section: &'a Section,
    /// The section's own text, heading included: `text[section.bytes]`, as it would be cited.
    pub text: &'a str,
    /// What search says of it; `None` for a section that search did not return.
    pub found: Option<Found>,
    /// Whether the thread itself refers to it.
    pub referenced: bool,
    /// How many similar closed issues refer to it.
    pub votes: u32,
}

/// A candidate, judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// The caller's name for it.
    pub key: u64,
    /// The probability that its text covers the question.
    pub probability: f32,
    /// The probability that one of the three likeliest candidates of the question covers it: the same for all.
    pub together: f32,
    /// The reader's raw score.
    pub reader: f32,
    /// The cosine of question and section.
    pub cosine: f32,
    /// The lexical score, as a share of the best candidate's.
    pub lexical: f32,
    /// The place among the lexical hits, from 1; 0 if it is not one.
    pub lexical_rank: u32,
    /// The place among the dense hits, from 1; 0 if it is not one.
    pub dense_rank: u32,
    /// The share of the question's terms that stand in the section.
    pub coverage: f32,
    /// Whether the thread itself refers to it.
    pub referenced: bool,
    /// How many similar closed issues refer to it.
    pub votes: u32,
    digest: u64,
}

impl Judged {
    /// Whether `text` is what was read when this was judged.
    pub fn is_of(&self, text: &str) -> bool {
        self.digest == digest(text)
    }
}

/// Tells texts apart; nothing depends on its secrecy, since both texts come from the corpus.
fn digest(text: &str) -> u64 {
    let hash = Sha256::digest(text.as_bytes());
    u64::from_be_bytes(std::array::from_fn(|at| hash[at]))
}

/// A heading path as one line, the way the reader was trained on it.
pub fn heading(path: &[String]) -> String {
    path.join(" > ")
}

/// The built-in judge. Holds some 70 MB of weights; load one and share it.
#[derive(Clone)]
pub struct Judge {
    reader: Arc<Reader>,
}

impl Judge {
    /// Loads the weights that the program carries.
    pub fn load() -> Judge {
        Judge { reader: Arc::new(Reader::load()) }
    }

    /// A judge that shares a loaded reader.
    pub fn with(reader: Arc<Reader>) -> Judge {
        Judge { reader }
    }

    /// The reader inside, for embedding.
    pub fn reader(&self) -> &Arc<Reader> {
        &self.reader
    }

    /// The probability that the issue asks how to use or understand the software. `issue_type` is GitLab's
    /// (`issue`, `incident`, `task`).
    pub fn kind(&self, question: &Question, labels: &[&str], issue_type: &str) -> f32 {
        question.weigh(|words| Gate::load().question(words.title, words.text, labels, issue_type))
    }

    /// The vector of a question, to search by and to compare questions by.
    pub fn vector(&self, question: &Question) -> Vector {
        let essence = |words: crate::prose::question::Words<'_>| {
            self.reader.embed_question(&signpost_reader::essence(words.title, words.text))
        };
        Vector::quantise(&question.weigh(essence))
    }

    /// The vector of a passage.
    pub fn passage_vector(&self, heading: &str, text: &str) -> Vector {
        Vector::quantise(&self.reader.embed_passage(heading, text))
    }

    /// Judges candidates against the question, the likeliest first. Only the candidates' own texts are read; the
    /// route they came by is evidence beside it.
    pub fn judge(&self, question: &Question, candidates: &[Candidate<'_>]) -> Vec<Judged> {
        let evidence = self.evidence(question, candidates);
        let together = any_of_best(&evidence);
        let mut judged: Vec<Judged> = candidates
            .iter()
            .zip(&evidence)
            .enumerate()
            .map(|(at, (candidate, own))| Judged {
                key: candidate.key,
                probability: probability(&evidence, at),
                together,
                reader: own.reader,
                cosine: own.cosine,
                lexical: own.bm25,
                lexical_rank: own.bm25_rank,
                dense_rank: own.dense_rank,
                coverage: own.term_coverage,
                referenced: own.referenced,
                votes: own.votes,
                digest: digest(candidate.text),
            })
            .collect();
        judged.sort_by(|a, b| b.probability.total_cmp(&a.probability).then(a.key.cmp(&b.key)));
        judged
    }

    /// What is known about each candidate.
    pub fn evidence(&self, question: &Question, candidates: &[Candidate<'_>]) -> Vec<Evidence> {
        let headings: Vec<String> =
            candidates.iter().map(|candidate| heading(&candidate.section.heading_path)).collect();
        let bodies =
            candidates.iter().map(|candidate| section::below_heading(candidate.section, candidate.text));
        let texts: Vec<(&str, &str)> = headings.iter().map(String::as_str).zip(bodies).collect();
        let readings = question.weigh(|words| self.reader.cover(words.title, words.text, &texts));
        let shares = term_shares(question, &texts);
        let best = candidates.iter().filter_map(|c| c.found).map(|found| found.bm25).fold(0.0, f32::max);
        let vector =
            candidates.iter().any(|c| c.found.is_none_or(|f| f.cosine == 0.0)).then(|| self.vector(question));
        let rows = candidates.iter().zip(&texts).zip(readings.into_iter().zip(shares));
        let mut evidence: Vec<Evidence> = rows
            .map(|((candidate, (heading, text)), (reader, term_coverage))| {
                let found = candidate.found;
                let known = found.map(|found| found.cosine).filter(|cosine| *cosine != 0.0);
                let cosine =
                    known.or_else(|| Some(vector.as_ref()?.cosine(&self.passage_vector(heading, text))));
                Evidence {
                    reader,
                    cosine: cosine.unwrap_or(0.0),
                    bm25: found.filter(|_| best > 0.0).map_or(0.0, |found| found.bm25 / best),
                    bm25_rank: rank(found.and_then(|found| found.bm25_rank)),
                    dense_rank: rank(found.and_then(|found| found.dense_rank)),
                    term_coverage,
                    referenced: candidate.referenced,
                    votes: candidate.votes,
                }
            })
            .collect();
        place_unsearched(candidates, &mut evidence);
        evidence
    }

    /// Weighs pieces of one section against the question: how well each is worth quoting.
    pub fn weigh_blocks(&self, question: &Question, texts: &[&str]) -> Vec<f32> {
        question.weigh(|words| {
            let wanted = question_terms(&words);
            let sets: Vec<HashSet<String>> =
                texts.iter().map(|text| terms(text).into_iter().collect()).collect();
            let all = sets.len() as f32;
            let rarity = |term: &str| {
                let count = sets.iter().filter(|set| set.contains(term)).count() as f32;
                if count > 0.0 { (1.0 + all / count).ln() } else { 0.0 }
            };
            let wanted: Vec<(String, f32)> = wanted
                .into_iter()
                .map(|(term, weight)| (rarity(&term) * weight, term))
                .map(|(w, t)| (t, w))
                .collect();
            let weigh = |set: &HashSet<String>| {
                let shared: f32 =
                    wanted.iter().filter(|(term, _)| set.contains(term)).map(|(_, weight)| weight).sum();
                // A long block holds more words by chance.
                shared / (20.0 + set.len() as f32).ln()
            };
            sets.iter().map(weigh).collect()
        })
    }
}

/// A section that a thread points at may be newer than the index, or lie beyond what search returns. Its places are
/// then those that it would have among the candidates, by the measures that need no index; without them it would
/// count as the worst hit of all.
fn place_unsearched(candidates: &[Candidate<'_>], evidence: &mut [Evidence]) {
    let known: Vec<(f32, f32)> = evidence.iter().map(|e| (e.cosine, e.term_coverage)).collect();
    let most = known.iter().map(|(_, share)| *share).fold(0.0, f32::max);
    let place = |above: usize| u32::try_from(above + 1).unwrap_or(u32::MAX);
    for (_, own) in candidates.iter().zip(evidence).filter(|(candidate, _)| candidate.found.is_none()) {
        own.dense_rank = place(known.iter().filter(|(cosine, _)| *cosine > own.cosine).count());
        own.bm25_rank = place(known.iter().filter(|(_, share)| *share > own.term_coverage).count());
        own.bm25 = if most > 0.0 { own.term_coverage / most } else { 0.0 };
    }
}

/// Places count from 1 for the reader; 0 is "not in the list".
fn rank(rank: Option<usize>) -> u32 {
    rank.map_or(0, |rank| u32::try_from(rank + 1).unwrap_or(u32::MAX))
}

/// For each text the weighted share of the question's terms that it holds, headings included.
fn term_shares(question: &Question, texts: &[(&str, &str)]) -> Vec<f32> {
    question.weigh(|words| {
        let wanted = question_terms(&words);
        let total: f32 = wanted.iter().map(|(_, weight)| weight).sum();
        let share = |(heading, text): &(&str, &str)| {
            let held: HashSet<String> = terms(heading).into_iter().chain(terms(text)).collect();
            let shared: f32 =
                wanted.iter().filter(|(term, _)| held.contains(term)).map(|(_, weight)| weight).sum();
            if total > 0.0 { shared / total } else { 0.0 }
        };
        texts.iter().map(share).collect()
    })
}

#[cfg(test)]
impl Judged {
    /// A candidate with a probability and nothing else, for tests of decisions.
    pub(crate) fn sample(key: u64, probability: f32, text: &str) -> Judged {
        Judged {
            key,
            probability,
            together: probability,
            reader: 0.0,
            cosine: 0.0,
            lexical: 0.0,
            lexical_rank: 0,
            dense_rank: 0,
            coverage: 0.0,
            referenced: false,
            votes: 0,
            digest: digest(text),
        }
    }
}
