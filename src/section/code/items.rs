//! Languages that document an item above its declaration.

use std::ops::Range;

use crate::reference::RepoPath;
use crate::section::code::{Language, file_name};
use crate::section::{Kind, LineIndex, Section, lines};

/// Lines of the body that belong to an item's section, after its signature.
const BODY_ROWS: usize = 12;
/// Comments of a section with fewer letters than this say nothing (`// ---`, `// nolint`).
const COMMENT_MIN: usize = 12;

/// Cuts a file at its documented items. A comment at the top of the file, with no item below it, describes the
/// file (a module or package comment).
pub(super) fn cut(language: Language, path: &RepoPath, text: &str) -> Vec<Section> {
    let rows: Vec<(usize, &str)> = lines::numbered(text).collect();
    let index = LineIndex::new(text);
    let last_close = rows.iter().rposition(|(_, row)| row.contains("*/"));
    let mut found = Vec::new();
    let mut at = 0;
    while at < rows.len() {
        let closes = last_close.is_some_and(|last| at <= last);
        let Some(end) = comment_end(language, &rows, at, closes) else {
            at += 1;
            continue;
        };
        let letters =
            rows[at..end].iter().flat_map(|(_, row)| row.chars()).filter(|c| c.is_alphabetic()).count();
        let legal =
            rows[at..end].iter().any(|(_, row)| row.contains("SPDX-License") || row.contains("Copyright"));
        let item = if letters < COMMENT_MIN || legal {
            None
        } else {
            item(language, &rows, at, end, found.is_empty())
        };
        let Some((name, span)) = item else {
            at = end;
            continue;
        };
        let bytes = rows[span.start].0..rows.get(span.end).map_or(text.len(), |row| row.0);
        let mut heading_path = vec![file_name(path)];
        heading_path.extend(name.map(str::to_owned));
        let lines = index.lines_of(&bytes);
        found.push(Section { heading_path, anchor: None, explicit_id: None, lines, bytes, kind: Kind::Code });
        at = span.end.max(end);
    }
    found
}

/// The item documented by the comment in rows `at..end`: its name and the rows of its section.
fn item<'a>(
    language: Language,
    rows: &[(usize, &'a str)],
    at: usize,
    end: usize,
    first: bool,
) -> Option<(Option<&'a str>, Range<usize>)> {
    let row = |number: usize| rows.get(number).map_or("", |&(_, row): &(usize, &'a str)| row.trim());
    let inner = row(at).starts_with("//!");
    let mut declaration = end;
    while declaration < rows.len() && language.is_attribute(row(declaration)) {
        declaration += 1;
    }
    if let Some(name) = language.declared(row(declaration)).filter(|_| !inner) {
        let name = Some(name).filter(|name| !name.is_empty());
        return Some((name, at..body_end(language, rows, declaration)));
    }
    let of_file = inner || (first && row(end).is_empty());
    of_file.then_some((None, at..end))
}

/// The row after the comment that begins in row `at`; `None` when none does. `closes` tells whether a block
/// comment that begins here can end at all.
fn comment_end(language: Language, rows: &[(usize, &str)], at: usize, closes: bool) -> Option<usize> {
    let row = |number: usize| rows[number].1.trim();
    if closes && language.has_block_comments() && row(at).starts_with("/*") {
        let close = (at..rows.len()).find(|&number| row(number).contains("*/"));
        return close.map(|close| close + 1);
    }
    language.line_comment(row(at))?;
    (at..rows.len()).find(|&number| language.line_comment(row(number)).is_none()).or(Some(rows.len()))
}

/// The row after the part of the item's body that is shown: until it dedents, at most [`BODY_ROWS`] rows, and
/// never into the next comment.
fn body_end(language: Language, rows: &[(usize, &str)], declaration: usize) -> usize {
    let own = crate::section::blocks::indent(rows[declaration].1);
    let mut end = declaration + 1;
    while end < rows.len() && end <= declaration + BODY_ROWS {
        let row = rows[end].1;
        if row.trim().is_empty() {
            break;
        }
        let closes =
            matches!(row.trim_start().as_bytes().first(), Some(b'}' | b')' | b']')) || row.trim() == "end";
        if crate::section::blocks::indent(row) <= own {
            return if closes { end + 1 } else { end };
        }
        if language.line_comment(row.trim()).is_some() && end > declaration + BODY_ROWS / 2 {
            break;
        }
        end += 1;
    }
    end
}
