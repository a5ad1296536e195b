//! Fingerprints: what may be kept of a question. Hashes of stemmed terms with counts; no text.

use std::collections::HashMap;

use crate::prose::Question;
use crate::search::{query, words};

/// Terms that are kept.
const TERMS_MAX: usize = 48;
/// Terms that are kept of a text of the corpus.
const TEXT_TERMS_MAX: usize = 256;

/// Hashed terms of a question with counts, in rising order of the hash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint(Vec<(u32, u8)>);

impl Fingerprint {
    /// The fingerprint of a question: its weightiest terms, at most 48.
    pub fn of(question: &Question) -> Fingerprint {
        let terms: Vec<(u64, f32)> = question.weigh(|text| {
            let terms = query::terms(&text, &query::Places::default()).prose;
            terms.into_iter().take(TERMS_MAX).map(|(term, weight)| (u64::from(hash(&term)), weight)).collect()
        });
        // Weights in tenths, so that a word of the title counts for more than one of a log.
        Fingerprint::from_terms(
            terms.into_iter().map(|(hash, weight)| (hash as u32, (weight * 10.0).min(255.0) as u8)),
        )
    }

    /// The fingerprint of a text of the corpus, comparable with those of questions: its most frequent terms.
    pub fn of_text(text: &str) -> Fingerprint {
        let mut counts: HashMap<u32, u32> = HashMap::new();
        words::each(&mut words::prose(), text, |term| *counts.entry(hash(term)).or_default() += 1);
        let mut counts: Vec<(u32, u32)> = counts.into_iter().collect();
        counts.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        counts.truncate(TEXT_TERMS_MAX);
        // A repeated term counts for more, but not in proportion.
        let tenths = |count: u32| (10.0 * (1.0 + (count as f32).ln())).min(255.0) as u8;
        Fingerprint::from_terms(counts.into_iter().map(|(hash, count)| (hash, tenths(count))))
    }

    fn from_terms(terms: impl Iterator<Item = (u32, u8)>) -> Fingerprint {
        let mut terms: Vec<(u32, u8)> = terms.filter(|(_, count)| *count > 0).collect();
        terms.sort_unstable();
        terms.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(later.1);
            }
            same
        });
        Fingerprint(terms)
    }

    /// Five bytes a term: the hash (little endian) and the count.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|(hash, count)| hash.to_le_bytes().into_iter().chain([*count])).collect()
    }

    /// Reads what [`Fingerprint::to_bytes`] wrote; `None` where the length is wrong or the order is broken.
    pub fn from_bytes(bytes: &[u8]) -> Option<Fingerprint> {
        let (terms, rest) = bytes.as_chunks::<5>();
        let terms: Vec<(u32, u8)> =
            terms.iter().map(|&[a, b, c, d, count]| (u32::from_le_bytes([a, b, c, d]), count)).collect();
        (rest.is_empty() && terms.is_sorted_by(|a, b| a.0 < b.0)).then_some(Fingerprint(terms))
    }

    /// The hashed terms with their counts, in rising order of the hash.
    pub fn terms(&self) -> &[(u32, u8)] {
        &self.0
    }

    /// Whether nothing is left of the question.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// How alike two questions are, from 0 to 1: the cosine of their weighted terms.
pub fn similarity(a: &Fingerprint, b: &Fingerprint) -> f32 {
    let norm =
        |print: &Fingerprint| print.0.iter().map(|(_, count)| f32::from(*count).powi(2)).sum::<f32>().sqrt();
    let (mut left, mut right) = (a.0.iter().peekable(), b.0.iter().peekable());
    let mut product = 0.0;
    while let (Some(x), Some(y)) = (left.peek(), right.peek()) {
        match x.0.cmp(&y.0) {
            std::cmp::Ordering::Less => _ = left.next(),
            std::cmp::Ordering::Greater => _ = right.next(),
            std::cmp::Ordering::Equal => {
                product += f32::from(x.1) * f32::from(y.1);
                left.next();
                right.next();
            }
        }
    }
    let norms = norm(a) * norm(b);
    if norms > 0.0 { (product / norms).min(1.0) } else { 0.0 }
}

/// A hash of a term.
fn hash(term: &str) -> u32 {
    let wide = wide(term);
    (wide ^ (wide >> 32)) as u32
}

/// FNV-1a: stable between builds and machines, which the standard hasher is not.
pub(super) fn wide(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
