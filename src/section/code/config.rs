//! Commented configuration: a comment and the keys below it.

use std::ops::Range;

use crate::reference::RepoPath;
use crate::section::code::{Language, file_name};
use crate::section::{Kind, LineIndex, Section, lines};

/// Rows of a section; longer runs without a blank line are cut here.
const ROWS_MAX: usize = 40;
/// Comments with fewer letters than this, all together, say nothing.
const COMMENT_MIN: usize = 20;

/// Cuts a file at blank lines and keeps the parts that hold a comment.
pub(super) fn cut(path: &RepoPath, text: &str) -> Vec<Section> {
    let rows: Vec<(usize, &str)> = lines::numbered(text).collect();
    let index = LineIndex::new(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < rows.len() {
        if rows[at].1.trim().is_empty() {
            at += 1;
            continue;
        }
        let end = (at..rows.len().min(at + ROWS_MAX)).find(|&row| rows[row].1.trim().is_empty());
        let end = end.unwrap_or(rows.len().min(at + ROWS_MAX));
        if comments(&rows, at..end) >= COMMENT_MIN {
            let bytes = rows[at].0..rows.get(end).map_or(text.len(), |row| row.0);
            let heading_path = std::iter::once(file_name(path)).chain(key(&rows, at..end)).collect();
            let lines = index.lines_of(&bytes);
            found.push(Section {
                heading_path,
                anchor: None,
                explicit_id: None,
                lines,
                bytes,
                kind: Kind::Code,
            });
        }
        at = end;
    }
    found
}

/// The number of letters in the comments of these rows.
fn comments(rows: &[(usize, &str)], span: Range<usize>) -> usize {
    let comments = rows[span].iter().filter_map(|(_, row)| Language::Config.line_comment(row.trim_start()));
    comments.flat_map(str::chars).filter(|c| c.is_alphabetic()).count()
}

/// The first key or table header of these rows.
fn key(rows: &[(usize, &str)], span: Range<usize>) -> Option<String> {
    let row =
        rows[span].iter().map(|(_, row)| row.trim()).find(|row| !row.is_empty() && !row.starts_with('#'))?;
    let key = row.split(['=', ':', '{']).next()?.trim().trim_matches(['[', ']', '"', '-', ' ']);
    (!key.is_empty() && key.len() <= 80).then(|| key.to_owned())
}
