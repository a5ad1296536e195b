//! Quoted text that cannot act.

use std::ops::Range;

use crate::reference::RepoPath;

/// What of a citation is quoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The bytes of the file.
    pub bytes: Range<usize>,
    /// Whether the citation goes on after them.
    pub cut: bool,
}

/// The part of `bytes` that is quoted.
pub fn passage(_path: &RepoPath, text: &str, bytes: Range<usize>) -> Passage {
    let mut end = bytes.end.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1
    }
    let mut start = bytes.start.min(end);
    while !text.is_char_boundary(start) {
        start -= 1
    }
    Passage { bytes: start..end, cut: false }
}

/// A passage as inert Markdown.
pub fn render(_path: &RepoPath, text: &str, bytes: Range<usize>) -> String {
    let body = &text[bytes];
    let longest = body.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}", body.trim_end_matches('\n'))
}

/// One line of text as a code span.
pub fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// One line of text as inert text, every ASCII punctuation character escaped that could mean something.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_punctuation() && !matches!(c, '.' | ',' | '-' | '/' | '(' | ')' | '?' | '\'') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Undoes [`plain`]; `None` when it could not have made this.
pub fn unplain(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        out.push(if c == '\\' { characters.next()? } else { c });
    }
    (plain(&out) == text).then_some(out)
}
