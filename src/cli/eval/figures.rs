//! What is counted over cases, and the figures made of it.

use std::fmt;

use serde_json::{Value, json};

use crate::cli::eval::cases::Label;
use crate::cli::eval::trial::Trial;
use crate::judge::{Decision, Policy};

/// Counts over cases.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    answerable: usize,
    gaps: usize,
    others: usize,
    answered: usize,
    right: usize,
    answered_gaps: usize,
    answered_others: usize,
    labelled: usize,
    labelled_gaps: usize,
    labelled_others: usize,
    gate_right: usize,
    lexical: Places,
    fused: Places,
    ranked: Places,
}

/// Places of the first expected section.
#[derive(Clone, Debug, Default)]
struct Places {
    first: usize,
    three: usize,
    ten: usize,
    twenty: usize,
    reciprocal: f64,
}

impl Places {
    fn count(&mut self, place: Option<usize>) {
        let Some(place) = place else { return };
        self.first += usize::from(place < 1);
        self.three += usize::from(place < 3);
        self.ten += usize::from(place < 10);
        self.twenty += usize::from(place < 20);
        if place < 10 {
            self.reciprocal += 1.0 / (place as f64 + 1.0);
        }
    }
}

impl Figures {
    /// Counts one case under a policy.
    pub fn count(&mut self, trial: &Trial, policy: &Policy) {
        let question = trial.label != Label::NotAQuestion;
        self.gate_right += usize::from((trial.kind >= policy.question) == question);
        match trial.label {
            Label::Answerable => {
                self.answerable += 1;
                self.lexical.count(trial.lexical);
                self.fused.count(trial.fused);
                self.ranked.count(trial.ranked);
            }
            Label::Gap => self.gaps += 1,
            Label::NotAQuestion => self.others += 1,
        }
        match trial.decide(policy) {
            Decision::Answer(keys) => {
                self.answered += 1;
                self.right += usize::from(trial.label == Label::Answerable && trial.is_right(&keys));
                self.answered_gaps += usize::from(trial.label == Label::Gap);
                self.answered_others += usize::from(trial.label == Label::NotAQuestion);
            }
            Decision::Gap { .. } => {
                self.labelled += 1;
                self.labelled_gaps += usize::from(trial.label == Label::Gap);
                self.labelled_others += usize::from(trial.label == Label::NotAQuestion);
            }
            Decision::Silent => {}
        }
    }

    /// Right answers among all answers; 1 where none was given.
    pub fn precision(&self) -> f64 {
        if self.answered == 0 { 1.0 } else { share(self.right, self.answered) }
    }

    /// Right answers among all answerable cases.
    pub fn coverage(&self) -> f64 {
        share(self.right, self.answerable)
    }

    /// All figures.
    pub fn json(&self) -> Value {
        let places = |places: &Places| {
            let of = self.answerable;
            json!({
                "hit1": share(places.first, of), "hit3": share(places.three, of), "hit10": share(places.ten, of),
                "hit20": share(places.twenty, of), "mrr10": places.reciprocal / (of.max(1) as f64),
            })
        };
        let mut all = places(&self.ranked);
        let rest = json!({
            "cases": self.answerable + self.gaps + self.others,
            "answered": self.answered,
            "precision": self.precision(),
            "coverage": self.coverage(),
            "gap_recall": share(self.labelled_gaps, self.gaps),
            "gap_precision": share(self.labelled_gaps, self.labelled),
            "false_answers_on_gaps": share(self.answered_gaps, self.gaps),
            "answered_non_questions": share(self.answered_others, self.others),
            "labelled_non_questions": share(self.labelled_others, self.others),
            "question_accuracy": share(self.gate_right, self.answerable + self.gaps + self.others),
            "search": { "lexical": places(&self.lexical), "fused": places(&self.fused) },
        });
        if let (Value::Object(all), Value::Object(rest)) = (&mut all, rest) {
            all.extend(rest);
        }
        all
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = |f: &mut fmt::Formatter<'_>, name: &str, places: &Places| {
            let of = self.answerable;
            let mrr = places.reciprocal / (of.max(1) as f64);
            let shares =
                [places.first, places.three, places.ten, places.twenty].map(|count| share(count, of));
            let [one, three, ten, twenty] = shares;
            writeln!(
                f,
                "  {name:8} hit1 {one:.3}  hit3 {three:.3}  hit10 {ten:.3}  hit20 {twenty:.3}  mrr10 {mrr:.3}"
            )
        };
        places(f, "lexical", &self.lexical)?;
        places(f, "fused", &self.fused)?;
        places(f, "judged", &self.ranked)?;
        writeln!(
            f,
            "  answered {}: precision {:.3}, coverage {:.3}, false answers on gaps {:.3}, on non-questions {:.3}",
            self.answered,
            self.precision(),
            self.coverage(),
            share(self.answered_gaps, self.gaps),
            share(self.answered_others, self.others),
        )?;
        write!(
            f,
            "  labelled {}: gap recall {:.3}, gap precision {:.3}, labelled non-questions {:.3}; question gate {:.3}",
            self.labelled,
            share(self.labelled_gaps, self.gaps),
            share(self.labelled_gaps, self.labelled),
            share(self.labelled_others, self.others),
            share(self.gate_right, self.answerable + self.gaps + self.others),
        )
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
