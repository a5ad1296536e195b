//! From evidence to a probability.

/// What is known about one candidate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// The reader's raw score.
    pub reader: f32,
    /// Cosine of question and passage vectors.
    pub cosine: f32,
    /// The lexical score, on any scale that is the same for all candidates of the question; 0 if not found that way.
    pub bm25: f32,
    /// Place in the lexical ranking, from 1; 0 if not in it.
    pub bm25_rank: u32,
    /// Place in the dense ranking, from 1; 0 if not in it.
    pub dense_rank: u32,
    /// Share of the question's terms that the passage has, 0 to 1.
    pub term_coverage: f32,
    /// Whether the thread itself refers to the passage.
    pub referenced: bool,
    /// How many similar closed questions refer to the passage.
    pub votes: u32,
}

/// The probability that the candidate covers the question, given all candidates of the question.
///
/// Between 0 and 1 for whatever numbers come in; 0 for an index outside.
pub fn probability(all: &[Evidence], index: usize) -> f32 {
    let Some(own) = all.get(index) else { return 0.0 };
    let logit = own.reader + 4.0 * (own.cosine - 0.6);
    let p = 1.0 / (1.0 + (-logit).exp());
    if p.is_finite() { p } else { 0.0 }
}
