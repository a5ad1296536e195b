//! Documents cut into sections: pure text in, ranges out.

use std::ops::Range;

use crate::reference::Lines;

/// What a section is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Documentation prose.
    Doc,
    /// A documented item of source code.
    Code,
}

/// A section of a file: text under one heading, or one documented item of code.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Headings from the page's title down to this section's own, as plain text.
    pub heading_path: Vec<String>,
    /// The anchor that GitLab gives the heading; `None` before the first heading, and for code.
    pub anchor: Option<String>,
    /// Explicit `{#id}` or label of the heading, where the source sets one.
    pub explicit_id: Option<String>,
    /// Lines in the file, heading included.
    pub lines: Lines,
    /// Bytes in the file, heading included.
    pub bytes: Range<usize>,
    /// What it is made of.
    pub kind: Kind,
}
