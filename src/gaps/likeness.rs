//! How alike two questions are, by what is kept of them: fingerprints, no text.
//!
//! The cosine of [`crate::search::similarity`] with one thing added: a term that many questions share says
//! little about any of them ("server", "configure"), so terms are weighed by their rarity among the questions.

use std::collections::HashMap;

use crate::search::Fingerprint;

/// Among fewer questions than these a term that two of them share would pass for a common one.
const POPULATION: usize = 200;

/// The terms of all questions, by how many questions have them.
#[derive(Debug, Default)]
pub struct Lexicon {
    questions: usize,
    holders: HashMap<u32, usize>,
}

/// A question's terms, weighed and of length one, in rising order of the hash.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Print(Vec<(u32, f32)>);

impl Lexicon {
    /// Counts the terms of `questions`.
    pub fn of<'a>(questions: impl Iterator<Item = &'a Fingerprint>) -> Lexicon {
        let mut lexicon = Lexicon::default();
        for question in questions {
            lexicon.questions += 1;
            for (term, _) in question.terms() {
                *lexicon.holders.entry(*term).or_default() += 1;
            }
        }
        lexicon
    }

    /// Weighs a question's terms. A fingerprint's counts already weigh a title above
    /// a description and a description above a log.
    pub fn print(&self, question: &Fingerprint) -> Print {
        let weigh = |&(term, count): &(u32, u8)| (term, f32::from(count) * self.rarity(term));
        let mut terms: Vec<(u32, f32)> = question.terms().iter().map(weigh).collect();
        let length = terms.iter().map(|(_, weight)| weight * weight).sum::<f32>().sqrt();
        if length > 0.0 {
            terms.iter_mut().for_each(|(_, weight)| *weight /= length);
        }
        Print(terms)
    }

    fn rarity(&self, term: u32) -> f32 {
        let holders = self.holders.get(&term).copied().unwrap_or(1) as f32;
        (1.0 + self.questions.max(POPULATION) as f32 / holders).ln()
    }
}

impl Print {
    /// The terms with their weights.
    pub fn terms(&self) -> &[(u32, f32)] {
        &self.0
    }

    /// The cosine of two prints, from 0 to 1.
    pub fn cosine(&self, other: &Print) -> f32 {
        let (mut left, mut right, mut product) = (self.0.iter().peekable(), other.0.iter().peekable(), 0.0);
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            match a.0.cmp(&b.0) {
                std::cmp::Ordering::Less => _ = left.next(),
                std::cmp::Ordering::Greater => _ = right.next(),
                std::cmp::Ordering::Equal => {
                    product += a.1 * b.1;
                    left.next();
                    right.next();
                }
            }
        }
        product.min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprint(terms: &[(u32, u8)]) -> Fingerprint {
        let bytes: Vec<u8> =
            terms.iter().flat_map(|(hash, count)| hash.to_le_bytes().into_iter().chain([*count])).collect();
        Fingerprint::from_bytes(&bytes).unwrap()
    }

    #[test]
    fn a_question_is_like_itself_and_unlike_one_without_a_common_term() {
        let (a, b) = (fingerprint(&[(1, 20), (5, 10)]), fingerprint(&[(2, 20), (9, 10)]));
        let lexicon = Lexicon::of([&a, &b].into_iter());
        assert!((lexicon.print(&a).cosine(&lexicon.print(&a)) - 1.0).abs() < 1e-5);
        assert_eq!(lexicon.print(&a).cosine(&lexicon.print(&b)), 0.0);
        assert_eq!(lexicon.print(&Fingerprint::default()).cosine(&lexicon.print(&a)), 0.0);
    }

    #[test]
    fn a_rare_common_term_joins_more_than_a_frequent_one() {
        let frequent: Vec<Fingerprint> = (0..300).map(|n| fingerprint(&[(1, 10), (1000 + n, 10)])).collect();
        let rare = [fingerprint(&[(7, 10), (5000, 10)]), fingerprint(&[(7, 10), (5001, 10)])];
        let lexicon = Lexicon::of(frequent.iter().chain(&rare));
        let like = |a: &Fingerprint, b: &Fingerprint| lexicon.print(a).cosine(&lexicon.print(b));
        assert!(like(&rare[0], &rare[1]) > 4.0 * like(&frequent[0], &frequent[1]));
    }
}
