//! The decision trail of one look: places, names of checks, numbers.

use serde_json::{Map, Value, json};

/// Collects what was considered.
#[derive(Default)]
pub(super) struct Trail {
    questions: Vec<Value>,
    acts: Vec<Value>,
    would_post: Option<String>,
}

impl Trail {
    /// A question that was judged.
    pub(super) fn question(&mut self, entry: Value) {
        self.questions.push(entry);
    }

    /// Something that was done or left.
    pub(super) fn act(&mut self, what: &'static str, note: Option<u64>) {
        self.acts.push(json!({ "did": what, "note": note }));
    }

    /// The note that observe mode would have posted: fixed sentences and bytes of the target.
    pub(super) fn would_post(&mut self, note: &str) {
        self.would_post = Some(note.to_owned());
    }

    /// The entry; `None` when nothing was considered and nothing done.
    pub(super) fn body(self, outcome: &'static str) -> Option<Value> {
        if self.questions.is_empty() && self.acts.is_empty() {
            return None;
        }
        let mut body = Map::new();
        body.insert("outcome".into(), outcome.into());
        body.insert("questions".into(), self.questions.into());
        body.insert("acts".into(), self.acts.into());
        if let Some(note) = self.would_post {
            body.insert("would_post".into(), note.into());
        }
        Some(Value::Object(body))
    }
}
