//! A run of plain text.

/// A stretch of plain text between two inline elements, escapes and character references resolved.
#[derive(Clone, Debug, Default)]
pub(in crate::prose) struct Run {
    text: String,
    /// Where the characters stand that a backslash made ordinary, in rising order.
    escaped: Vec<usize>,
}

impl Run {
    /// An empty run with room for `length` bytes.
    pub(super) fn with_room(length: usize) -> Run {
        Run { text: String::with_capacity(length), escaped: Vec::new() }
    }

    /// The text.
    pub(in crate::prose) fn text(&self) -> &str {
        &self.text
    }

    /// Whether a backslash stood before one of the characters in `range`.
    pub(in crate::prose) fn is_escaped(&self, range: std::ops::Range<usize>) -> bool {
        let first = self.escaped.partition_point(|&at| at < range.start);
        self.escaped.get(first).is_some_and(|&at| at < range.end)
    }

    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn push_escaped(&mut self, text: &str) {
        self.escaped.push(self.text.len());
        self.text.push_str(text);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.escaped.clear();
    }
}
