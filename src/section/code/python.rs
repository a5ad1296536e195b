//! Python: docstrings stand below the signature.

use crate::reference::RepoPath;
use crate::section::code::{Language, file_name};
use crate::section::{Kind, LineIndex, Section, lines};

/// A signature longer than this is no signature.
const SIGNATURE_ROWS: usize = 40;

/// Cuts a file at its documented functions and classes; the module's docstring describes the file.
pub(super) fn cut(path: &RepoPath, text: &str) -> Vec<Section> {
    let rows: Vec<(usize, &str)> = lines::numbered(text).collect();
    let index = LineIndex::new(text);
    let mut found = Vec::new();
    let mut push = |name: Option<&str>, first: usize, end: usize| {
        let bytes = rows[first].0..rows.get(end).map_or(text.len(), |row| row.0);
        let heading_path = std::iter::once(file_name(path)).chain(name.map(str::to_owned)).collect();
        let lines = index.lines_of(&bytes);
        found.push(Section { heading_path, anchor: None, explicit_id: None, lines, bytes, kind: Kind::Code });
    };
    let top = rows.iter().position(|(_, row)| !row.trim().is_empty() && !row.starts_with('#')).unwrap_or(0);
    let mut at = 0;
    if let Some(end) = docstring_end(&rows, top) {
        push(None, top, end);
        at = end;
    }
    while at < rows.len() {
        let name = Language::Python.declared(rows[at].1);
        let section = name.and_then(|name| Some((name, docstring_end(&rows, signature_end(&rows, at)?)?)));
        if let Some((name, end)) = section {
            push(Some(name), at, end);
            at = end;
        } else {
            at += 1;
        }
    }
    found
}

/// The row after a signature: its last row ends with a colon.
fn signature_end(rows: &[(usize, &str)], at: usize) -> Option<usize> {
    let last = rows.len().min(at + SIGNATURE_ROWS);
    (at..last)
        .find(|&row| rows[row].1.split(" #").next().unwrap_or_default().trim_end().ends_with(':'))
        .map(|row| row + 1)
}

/// The row after the docstring that begins in row `at`; `None` when none does.
fn docstring_end(rows: &[(usize, &str)], at: usize) -> Option<usize> {
    let row = rows.get(at)?.1.trim_start().trim_start_matches(['r', 'R', 'u', 'U']);
    let quotes = ["\"\"\"", "'''"].into_iter().find(|quotes| row.starts_with(quotes))?;
    if row[quotes.len()..].contains(quotes) {
        return Some(at + 1);
    }
    (at + 1..rows.len()).find(|&number| rows[number].1.contains(quotes)).map(|number| number + 1)
}
