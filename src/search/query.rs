//! What to look for: a question taken apart into weighted terms.
//!
//! Issues are full of words that say nothing about what is asked: form headings, version tables, logs. Terms are
//! weighted by where they stand, and each keeps the highest sum of its places up to a cap.

use std::collections::HashMap;

use crate::prose::question::Words;
use crate::search::words;

/// Weights of the places of a question where a word may stand.
#[derive(Clone, Debug)]
pub struct Places {
    /// The title.
    pub title: f32,
    /// Sentences of the text that ask: with a question mark or a question word.
    pub asking: f32,
    /// Other running text.
    pub telling: f32,
    /// Inline code and quoted words, in place of what surrounds them.
    pub code: f32,
    /// Fenced code: commands and configuration.
    pub listing: f32,
    /// Lines of logs and messages that name an error.
    pub message: f32,
    /// Other lines of logs, version tables, filled-in forms.
    pub noise: f32,
}

impl Default for Places {
    fn default() -> Places {
        Places { title: 1.1, asking: 1.3, telling: 0.8, code: 1.4, listing: 0.4, message: 0.6, noise: 0.05 }
    }
}

/// The weighted terms of a question.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    /// Stemmed words.
    pub(crate) prose: Vec<(String, f32)>,
    /// Whole names: options, environment variables, dotted paths.
    pub(crate) names: Vec<(String, f32)>,
}

/// A term may not weigh more than this times its best place, however often it is repeated.
const REPEAT_CAP: f32 = 1.5;

/// Takes a question apart.
pub(crate) fn terms(question: &Words<'_>, places: &Places) -> Terms {
    let mut prose = Sums::default();
    let mut names = Sums::default();
    let (mut prose_analyser, mut name_analyser) = (words::prose(), words::names());
    let mut add = |text: &str, weight: f32| {
        words::each(&mut prose_analyser, text, |term| prose.add(term, weight));
        words::each(&mut name_analyser, text, |term| names.add(term, weight));
    };
    add(question.title, places.title);
    for part in parts(question.text) {
        match part {
            Part::Text(text) => sentences(text, places, &mut add),
            Part::Listing(text) => {
                for row in text.lines() {
                    add(row, listing_weight(row, places));
                }
            }
            Part::Noise(text) => add(text, places.noise),
        }
    }
    Terms { prose: prose.done(), names: names.done() }
}

#[derive(Default)]
struct Sums {
    weights: HashMap<String, (f32, f32)>,
}

impl Sums {
    fn add(&mut self, term: &str, weight: f32) {
        if let Some((sum, best)) = self.weights.get_mut(term) {
            *sum += weight;
            *best = best.max(weight);
        } else if weight > 0.0 {
            self.weights.insert(term.to_owned(), (weight, weight));
        }
    }

    fn done(self) -> Vec<(String, f32)> {
        let capped = |(term, (sum, best)): (String, (f32, f32))| (term, sum.min(best * REPEAT_CAP));
        let mut terms: Vec<(String, f32)> = self.weights.into_iter().map(capped).collect();
        terms.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        terms
    }
}

enum Part<'a> {
    Text(&'a str),
    Listing(&'a str),
    Noise(&'a str),
}

/// The parts of a description: text, fenced code, and what forms put there.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut found = Vec::new();
    let mut fence: Option<char> = None;
    let mut under_noise = false;
    for row in text.lines() {
        let bare = row.trim();
        let mark = ['`', '~'].into_iter().find(|mark| bare.starts_with(&mark.to_string().repeat(3)));
        match (fence, mark) {
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) if under_noise => found.push(Part::Noise(row)),
            (Some(_), _) => found.push(Part::Listing(row)),
            (None, Some(mark)) => fence = Some(mark),
            (None, None) if bare.starts_with('#') && bare.len() < 80 => {
                let title = bare.trim_start_matches('#').trim();
                under_noise = is_noise_heading(title);
                if bare.len() > title.len() + 1 && !is_form_heading(title) && !under_noise {
                    found.push(Part::Text(title));
                }
            }
            (None, None) if bare.is_empty() || bare.starts_with("<!--") || bare == "_No response_" => {}
            (None, None) if under_noise || is_noise(bare) => found.push(Part::Noise(row)),
            (None, None) => found.push(Part::Text(row)),
        }
    }
    found
}

/// Headings of issue forms under which versions, systems and logs stand.
fn is_noise_heading(title: &str) -> bool {
    let title = title.to_lowercase();
    let about = [
        "version",
        "platform",
        "environment",
        "system",
        "operating",
        " os",
        "configuration details",
        "log",
        "debug",
        "checklist",
        "checks",
        "prerequisite",
        "search",
        "installation method",
        "installed plugins",
        "output of",
    ];
    about.iter().any(|word| title.contains(word)) || title == "os"
}

/// Headings of issue forms that say nothing themselves.
fn is_form_heading(title: &str) -> bool {
    let title = title.to_lowercase();
    let title = title.trim_end_matches([':', '?', '.']);
    let words = [
        "question",
        "summary",
        "description",
        "details",
        "additional",
        "context",
        "describe",
        "steps",
        "reproduce",
        "example",
        "expected",
        "actual",
        "behavior",
        "behaviour",
        "issue",
        "problem",
        "what",
        "related",
        "bug",
    ];
    title.len() < 60 && words.iter().any(|word| title.contains(word))
}

/// Rows of version tables, check lists, stack traces and logs.
fn is_noise(row: &str) -> bool {
    let lower = row.to_lowercase();
    let table = row.starts_with('|') && row.ends_with('|');
    let check = ["- [x]", "- [ ]", "* [x]", "* [ ]"].iter().any(|mark| lower.starts_with(mark));
    let stamp =
        row.len() > 10 && row.as_bytes()[..4].iter().all(u8::is_ascii_digit) && row.as_bytes()[4] == b'-';
    let digits = row.chars().filter(char::is_ascii_digit).count();
    let dense = row.len() > 12 && digits * 3 > row.len();
    let log = ["debug ", "trace ", "info ", "[debug]", "[info]", "[trace]", "at "]
        .iter()
        .any(|m| lower.starts_with(m));
    table || check || stamp || dense || (log && !row.ends_with('?'))
}

/// The weight of a row of fenced code.
fn listing_weight(row: &str, places: &Places) -> f32 {
    let lower = row.to_lowercase();
    let names_error =
        ["error", "warning", "fail", "cannot", "could not", "not found", "unable", "invalid", "×", "panic"]
            .iter()
            .any(|word| lower.contains(word));
    match () {
        () if names_error => places.message,
        () if is_noise(row.trim()) => places.noise,
        () => places.listing,
    }
}

/// Hands the sentences of a row of text over, inline code apart.
fn sentences(row: &str, places: &Places, add: &mut impl FnMut(&str, f32)) {
    for (number, piece) in row.split('`').enumerate() {
        if number % 2 == 1 {
            add(piece, places.code);
            continue;
        }
        for sentence in piece.split_inclusive(['?', '!', '。']) {
            let asks = sentence.ends_with('?') || asks(sentence);
            add(sentence, if asks { places.asking } else { places.telling });
        }
    }
}

fn asks(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let words =
        ["how ", "why ", "is there", "can i", "can we", "where ", "what ", "which ", "whether ", "possible"];
    words.iter().any(|word| lower.contains(word))
}
