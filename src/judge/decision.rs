//! From probabilities to what happens.

use crate::judge::Judged;

/// Targets of one answer: one is quoted, the others are linked.
pub const TARGETS_MAX: usize = 3;

/// When to answer and when to label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// Issues that score less on the question gate get no answer.
    pub question: f32,
    /// Issues that score less on the question gate get no gap label.
    pub label: f32,
    /// The probability from which a section answers.
    pub cover: f32,
    /// The probability from which a further section is linked beside one that answers.
    pub agree: f32,
    /// The probability from which a topic counts as documented.
    pub near: f32,
}

/// Shares of wrong answers that are aimed at, and the probability asked for each. What was measured is worse than the
/// aim: see `docs/judgement.md`.
const COVER: &[(f32, f32)] =
    &[(0.0, 1.01), (0.02, 0.8), (0.05, 0.7), (0.08, 0.65), (0.12, 0.6), (0.3, 0.5), (0.5, 0.35), (1.0, 0.0)];

impl Policy {
    /// The policy that aims at a share of wrong answers of `max_wrong` or below; a smaller share asks for more.
    pub fn promising(max_wrong: f32) -> Policy {
        let wrong = if max_wrong.is_nan() { 0.0 } else { max_wrong.clamp(0.0, 1.0) };
        let above = COVER.partition_point(|(known, _)| *known < wrong).clamp(1, COVER.len() - 1);
        let ((low, from), (high, to)) = (COVER[above - 1], COVER[above]);
        let cover = from + (to - from) * (wrong - low) / (high - low);
        Policy { question: 0.5, label: 0.6, cover, agree: cover * 0.6, near: cover * 0.3 }
    }
}

/// What kind of gap a question is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapKind {
    /// Nothing near it is documented.
    Missing,
    /// The topic is documented, the asked fact was not found.
    Near,
}

/// What happens to a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Quote the first of these sections, link the others: at most three keys.
    Answer(Vec<u64>),
    /// Label a documentation gap. `nearest` is the section where it might be documented.
    Gap {
        /// The kind of gap.
        kind: GapKind,
        /// The section that scored best.
        nearest: Option<u64>,
    },
    /// Do nothing.
    Silent,
}

/// Decides. `kind` is the score of the question gate; `judged` is in falling order of probability.
pub fn decide(policy: &Policy, kind: f32, judged: &[Judged]) -> Decision {
    let best = judged.first();
    if kind < policy.question {
        return Decision::Silent;
    }
    if best.is_some_and(|best| best.probability >= policy.cover) {
        let further = judged.iter().skip(1).filter(|other| other.probability >= policy.agree);
        return Decision::Answer(
            best.into_iter().chain(further).take(TARGETS_MAX).map(|one| one.key).collect(),
        );
    }
    if kind < policy.label {
        return Decision::Silent;
    }
    let near = best.is_some_and(|best| best.probability >= policy.near);
    Decision::Gap {
        kind: if near { GapKind::Near } else { GapKind::Missing },
        nearest: best.map(|best| best.key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(probabilities: &[f32]) -> Vec<Judged> {
        probabilities.iter().enumerate().map(|(key, &p)| Judged::sample(key as u64, p, "")).collect()
    }

    const POLICY: Policy = Policy { question: 0.5, label: 0.7, cover: 0.9, agree: 0.6, near: 0.3 };

    #[test]
    fn answers_need_a_question_and_a_cover() {
        let decide = |kind, probabilities: &[f32]| super::decide(&POLICY, kind, &judged(probabilities));
        assert_eq!(decide(0.8, &[0.95, 0.7, 0.65, 0.64]), Decision::Answer(vec![0, 1, 2]));
        assert_eq!(decide(0.8, &[0.95, 0.5]), Decision::Answer(vec![0]));
        assert_eq!(decide(0.4, &[0.99]), Decision::Silent);
        assert_eq!(decide(0.6, &[0.5]), Decision::Silent);
        assert_eq!(decide(0.8, &[0.5]), Decision::Gap { kind: GapKind::Near, nearest: Some(0) });
        assert_eq!(decide(0.8, &[0.1]), Decision::Gap { kind: GapKind::Missing, nearest: Some(0) });
        assert_eq!(decide(0.8, &[]), Decision::Gap { kind: GapKind::Missing, nearest: None });
    }

    #[test]
    fn a_smaller_error_asks_for_more() {
        let covers: Vec<f32> =
            [0.0, 0.01, 0.05, 0.07, 0.3, 1.0].map(|wrong| Policy::promising(wrong).cover).to_vec();
        assert!(covers.is_sorted_by(|a, b| a > b), "{covers:?}");
        assert!(Policy::promising(0.0).cover > 1.0, "no error allowed: no answer given");
        assert!(Policy::promising(f32::NAN).cover > 1.0);
    }
}
