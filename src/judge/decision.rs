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
    /// The probability that one of the three likeliest sections covers the question, from which there is an answer.
    pub cover: f32,
    /// The probability that the quoted section must have by itself.
    pub quote: f32,
    /// The probability from which a further section is linked beside the quoted one.
    pub agree: f32,
    /// The probability from which a topic counts as documented.
    pub near: f32,
}

/// Shares of wrong answers, and the probability asked for each: what was wrong of the answers given from there up, by the
/// recipe and by the whole program together, on projects that the reader had not seen (`docs/judgement.md`).
const COVER: &[(f32, f32)] = &[
    (0.0, 1.01),
    (0.02, 0.92),
    (0.05, 0.88),
    (0.1, 0.82),
    (0.15, 0.75),
    (0.2, 0.7),
    (0.25, 0.62),
    (0.3, 0.5),
    (0.4, 0.3),
    (1.0, 0.0),
];
/// What is quoted must be likely by itself, not only together with what is linked beside it.
const QUOTE: f32 = 0.4;
/// A link costs the reader little, and one of the links is the right place in every sixth answer.
const AGREE: f32 = 0.05;
/// A topic counts as documented where a section is as likely as this.
const NEAR: f32 = 0.2;

impl Policy {
    /// The policy that aims at a share of wrong answers of `max_wrong` or below; a smaller share asks for more.
    pub fn promising(max_wrong: f32) -> Policy {
        let wrong = if max_wrong.is_nan() { 0.0 } else { max_wrong.clamp(0.0, 1.0) };
        let above = COVER.partition_point(|(known, _)| *known < wrong).clamp(1, COVER.len() - 1);
        let ((low, from), (high, to)) = (COVER[above - 1], COVER[above]);
        let cover = from + (to - from) * (wrong - low) / (high - low);
        let (quote, agree, near) = (QUOTE.min(cover), AGREE.min(cover), NEAR.min(cover));
        Policy { question: 0.5, label: 0.6, cover, quote, agree, near }
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
    if best.is_some_and(|best| best.together >= policy.cover && best.probability >= policy.quote) {
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

    const POLICY: Policy =
        Policy { question: 0.5, label: 0.7, cover: 0.9, quote: 0.8, agree: 0.6, near: 0.3 };

    #[test]
    fn answers_need_a_question_and_a_cover() {
        let decide = |kind, probabilities: &[f32]| super::decide(&POLICY, kind, &judged(probabilities));
        assert_eq!(decide(0.8, &[0.95, 0.7, 0.65, 0.64]), Decision::Answer(vec![0, 1, 2]));
        assert_eq!(decide(0.8, &[0.95, 0.5]), Decision::Answer(vec![0]));
        let unsure = [Judged { together: 0.95, ..Judged::sample(0, 0.75, "") }];
        assert!(
            matches!(super::decide(&POLICY, 0.8, &unsure), Decision::Gap { .. }),
            "what is quoted must stand alone"
        );
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
