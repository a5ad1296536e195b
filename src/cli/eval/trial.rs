//! One case, tried: what search and judge said, before any threshold.

use serde_json::{Value, json};

use crate::cli::eval::Set;
use crate::cli::eval::cases::{Case, Label};
use crate::cli::local::DEPTH;
use crate::judge::{Decision, Judged, Policy, decide};

/// What is known of a case after search and judgement.
pub struct Trial {
    /// The case's name.
    pub id: String,
    /// What it is.
    pub label: Label,
    /// The score of the question gate.
    pub kind: f32,
    /// What the judge read, the likeliest first.
    pub judged: Vec<Judged>,
    /// For each of `judged`: the section that holds the quote's first line, and whether it is expected.
    pub targets: Vec<(String, bool)>,
    /// The place, from 0, of the first expected section among the lexical hits.
    pub lexical: Option<usize>,
    /// The same among the fused hits.
    pub fused: Option<usize>,
    /// The same among the judged hits, with what was not read behind them.
    pub ranked: Option<usize>,
}

/// Tries all cases of a set; with `lexical`, by words alone.
pub fn all(set: &Set, lexical: bool) -> anyhow::Result<Vec<Trial>> {
    set.cases.iter().map(|case| if lexical { by_words(set, case) } else { one(set, case) }).collect()
}

fn by_words(set: &Set, case: &Case) -> anyhow::Result<Trial> {
    let found = set.local.lexical(&case.question(), DEPTH)?;
    let lexical = first(set, case, found.iter().map(|hit| hit.id));
    Ok(Trial {
        id: case.id.clone(),
        label: case.kind,
        kind: 0.0,
        judged: Vec::new(),
        targets: Vec::new(),
        lexical,
        fused: lexical,
        ranked: lexical,
    })
}

fn one(set: &Set, case: &Case) -> anyhow::Result<Trial> {
    let question = case.question();
    let lexical = set.local.lexical(&question, DEPTH)?;
    let labels: Vec<&str> = case.labels.iter().map(String::as_str).collect();
    let answer = set.local.ask(&question, &labels, case.issue_type.as_deref().unwrap_or("issue"))?;
    let read: Vec<u64> = answer.judged.iter().map(|judged| judged.key).collect();
    let rest = answer.found.iter().map(|hit| hit.id).filter(|id| !read.contains(id));
    let targets = read.iter().map(|&id| {
        let (file, section) = set.local.place(id);
        let line = set.local.quote(&question, id).map_or(section.lines.first, |quote| quote.lines.first);
        let name = set.names.at(file.path.as_str(), line);
        let right = case.expects(&name);
        (name, right)
    });
    Ok(Trial {
        id: case.id.clone(),
        label: case.kind,
        kind: answer.kind,
        targets: targets.collect(),
        lexical: first(set, case, lexical.iter().map(|hit| hit.id)),
        fused: first(set, case, answer.found.iter().map(|hit| hit.id)),
        ranked: first(set, case, read.iter().copied().chain(rest)),
        judged: answer.judged,
    })
}

/// The place of the first expected section. Sections that the cases do not tell apart count once.
fn first(set: &Set, case: &Case, ids: impl Iterator<Item = u64>) -> Option<usize> {
    let mut seen: Vec<String> = Vec::new();
    for id in ids {
        let (file, section) = set.local.place(id);
        let name = set.names.at(file.path.as_str(), section.lines.first);
        if seen.contains(&name) {
            continue;
        }
        if case.expects(&name) {
            return Some(seen.len());
        }
        seen.push(name);
    }
    None
}

impl Trial {
    /// What happens under a policy.
    pub fn decide(&self, policy: &Policy) -> Decision {
        decide(policy, self.kind, &self.judged)
    }

    /// Whether one of these sections is expected.
    pub fn is_right(&self, keys: &[u64]) -> bool {
        self.judged.iter().zip(&self.targets).any(|(judged, target)| target.1 && keys.contains(&judged.key))
    }

    /// The case as one line.
    pub fn line(&self, policy: &Policy) -> String {
        let (decision, right) = self.verdict(policy);
        let place = |place: Option<usize>| place.map_or("-".to_owned(), |place| (place + 1).to_string());
        let best = self.judged.first().map_or(0.0, |best| best.together);
        let target = self.targets.first().map_or("", |target| target.0.as_str());
        format!(
            "{} {:?}: {decision}{}, question {:.2}, best {best:.3} {target}, places: lexical {}, fused {}, judged {}",
            self.id,
            self.label,
            if right { "" } else { " (wrong)" },
            self.kind,
            place(self.lexical),
            place(self.fused),
            place(self.ranked),
        )
    }

    /// The case as JSON.
    pub fn json(&self, policy: &Policy) -> Value {
        let (decision, right) = self.verdict(policy);
        let targets = self.judged.iter().zip(&self.targets).map(|(judged, (name, expected))| {
            json!({
                "section": name, "expected": expected, "probability": judged.probability, "reader": judged.reader,
                "cosine": judged.cosine, "lexical": judged.lexical, "coverage": judged.coverage,
                "lexical_rank": judged.lexical_rank, "dense_rank": judged.dense_rank,
            })
        });
        json!({
            "id": self.id, "kind": self.label.name(), "decision": decision, "right": right, "question": self.kind,
            "lexical_rank": self.lexical.map(|at| at + 1), "fused_rank": self.fused.map(|at| at + 1),
            "score": self.judged.first().map_or(0.0, |best| best.together), "rank": self.ranked.map(|at| at + 1), "targets": targets.collect::<Vec<_>>(),
        })
    }

    /// The decision's name, and whether it is what the label asks for.
    fn verdict(&self, policy: &Policy) -> (&'static str, bool) {
        match self.decide(policy) {
            Decision::Answer(keys) => ("answer", self.label == Label::Answerable && self.is_right(&keys)),
            Decision::Gap { .. } => ("gap", self.label == Label::Gap),
            Decision::Silent => ("silent", self.label == Label::NotAQuestion),
        }
    }
}
