//! Passages as the model reads them: Markdown down to words, terms, and the window worth reading.

use std::collections::{HashMap, HashSet};

use crate::wordpiece::WordPiece;

/// A question is read up to this many pieces.
pub const QUESTION: usize = 72;
/// A passage is read up to this many pieces, its heading path among them.
pub const PASSAGE: usize = 128;

/// Lines beyond these are not looked at: a section this long is a generated table.
const MOST_LINES: usize = 600;
/// A line is cut into units of about this many characters, so that one endless line can be windowed too.
const UNIT: usize = 240;

/// A piece of a passage: its line (counted from 0) and its words.
pub struct Unit {
    pub line: usize,
    pub text: String,
}

/// The words of a Markdown text, line by line: no fences, table rules, link targets or tags.
pub fn units(markdown: &str) -> Vec<Unit> {
    let mut out = Vec::new();
    let mut fenced = false;
    for (line, raw) in markdown.lines().enumerate().take(MOST_LINES) {
        let trimmed = raw.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            fenced = !fenced;
            continue;
        }
        if trimmed.chars().all(|c| "-|:=*_ ".contains(c)) {
            continue;
        }
        let text = if fenced { squeeze(trimmed) } else { squeeze(&strip_markup(trimmed)) };
        for text in split_long(&text) {
            out.push(Unit { line, text: text.to_owned() });
        }
    }
    out
}

/// The same as one text.
pub fn plain(markdown: &str) -> String {
    let units = units(markdown);
    units.iter().map(|u| u.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// One line without link targets, tags and marks.
fn strip_markup(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let skipped = if rest.starts_with("](") {
            rest.find(')').map(|end| end + 1)
        } else if c == '<' && rest[1..].starts_with(|n: char| n.is_ascii_alphabetic() || n == '/' || n == '!')
        {
            rest.find('>').map(|end| end + 1)
        } else {
            None
        };
        match skipped {
            Some(end) => {
                out.push(' ');
                rest = &rest[end..];
            }
            None => {
                out.push(if "[]|*#`".contains(c) { ' ' } else { c });
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    out
}

/// White space to single spaces.
pub fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn split_long(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = text;
    while rest.len() > UNIT + UNIT / 2 {
        let mut at = UNIT;
        while !rest.is_char_boundary(at) {
            at += 1;
        }
        let at = rest[at..].find(' ').map_or(at, |more| if more < UNIT { at + more } else { at });
        out.push(rest[..at].trim());
        rest = rest[at..].trim_start();
    }
    if !rest.is_empty() {
        out.push(rest);
    }
    out
}

const STOP: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because",
    "been", "but", "by", "can", "cannot", "could", "did", "do", "does", "doing", "don", "for", "from", "get",
    "had", "has", "have", "he", "her", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just",
    "like", "me", "my", "no", "not", "now", "of", "on", "one", "only", "or", "our", "out", "s", "should",
    "so", "some", "t", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this",
    "to", "too", "up", "us", "use", "using", "want", "was", "we", "were", "what", "when", "where", "which",
    "while", "who", "why", "will", "with", "would", "you", "your",
];

/// The distinct stems of a text's content words, identifiers also by their parts, with a weight each.
pub fn terms(text: &str) -> HashMap<String, f32> {
    let mut out = HashMap::new();
    for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        if word.is_empty() || word.len() > 60 {
            continue;
        }
        let lower = word.to_lowercase();
        if lower.contains('_') {
            for part in lower.split('_').filter(|p| p.len() > 1 && !STOP.contains(p)) {
                out.entry(stem(part).to_owned()).or_insert(1.0);
            }
            out.insert(lower, 2.0);
        } else if !STOP.contains(&lower.as_str()) {
            out.entry(stem(&lower).to_owned()).or_insert(1.0);
        }
    }
    out
}

/// A light stem: enough to bring "caches", "cached" and "caching" together.
fn stem(word: &str) -> &str {
    for (suffix, kept) in [("ing", 4), ("ies", 3), ("ed", 3), ("es", 3), ("s", 3), ("e", 4)] {
        if let Some(rest) = word.strip_suffix(suffix)
            && rest.chars().count() >= kept
        {
            return rest;
        }
    }
    word
}

/// The run of units, within a budget of pieces, that holds most of the question's terms: `(first, last + 1)`.
///
/// The earliest wins among equals, so a passage without any term is read from its top.
pub fn window(
    units: &[Unit],
    costs: &[usize],
    question: &HashMap<String, f32>,
    budget: usize,
) -> (usize, usize) {
    let found: Vec<HashSet<String>> = units
        .iter()
        .map(|u| terms(&u.text).into_keys().filter(|t| question.contains_key(t)).collect())
        .collect();
    let mut best = (0, 0, -1.0f32);
    let mut held: HashMap<&str, usize> = HashMap::new();
    let (mut from, mut cost, mut worth) = (0, 0, 0.0f32);
    for to in 0..units.len() {
        cost += costs[to];
        for term in &found[to] {
            let count = held.entry(term).or_insert(0);
            *count += 1;
            if *count == 1 {
                worth += question.get(term).copied().unwrap_or(0.0);
            }
        }
        while cost > budget && from < to {
            for term in &found[from] {
                if let Some(count) = held.get_mut(term.as_str()) {
                    *count -= 1;
                    if *count == 0 {
                        worth -= question.get(term).copied().unwrap_or(0.0);
                    }
                }
            }
            cost -= costs[from];
            from += 1;
        }
        // Within a window that started here already, later units come for free.
        if worth > best.2 + 1e-4 || (from == best.0 && worth > best.2 - 1e-4) {
            best = (from, to + 1, worth);
        }
    }
    (best.0, best.1)
}

/// What the reader is given of a passage: heading path and the window, as one text.
pub fn reading(
    pieces: &WordPiece,
    heading: &str,
    text: &str,
    question: &HashMap<String, f32>,
    budget: usize,
) -> Vec<u32> {
    let mut ids = pieces.encode(heading, (budget / 4).max(4));
    ids.pop();
    let units = units(text);
    let encoded: Vec<Vec<u32>> = units.iter().map(|u| pieces.pieces(&u.text, budget)).collect();
    let costs: Vec<usize> = encoded.iter().map(Vec::len).collect();
    let room = budget.saturating_sub(ids.len() + 1);
    let (from, to) = window(&units, &costs, question, room);
    ids.extend(encoded[from..to].iter().flatten().take(room));
    ids.push(crate::wordpiece::SEP);
    ids
}
