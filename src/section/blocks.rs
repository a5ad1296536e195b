//! The blocks of a section: paragraphs, code, tables, list items. Whole blocks are what is quoted and weighed.

use std::ops::Range;

use crate::section::lines;

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Running text.
    Paragraph,
    /// One item of a list, with everything indented below it.
    Item,
    /// A fenced or indented code block, or lines of source code.
    Code,
    /// A table.
    Table,
    /// An admonition, a tab or a directive with its indented content.
    Boxed,
}

/// A block: bytes of the text it was found in, whole lines, without the blank lines around it.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// What it is.
    pub shape: Shape,
    /// Where it lies.
    pub bytes: Range<usize>,
}

struct Row<'a> {
    start: usize,
    end: usize,
    text: &'a str,
}

/// The blocks of `text[within]`, in order, with offsets into `text`. Reads Markdown, reStructuredText and
/// AsciiDoc alike: fences, tables, list items, and whatever is indented below a line that opens something.
pub(super) fn of_document(text: &str, within: Range<usize>) -> Vec<Block> {
    let Some(part) = text.get(within.clone()) else { return Vec::new() };
    let rows: Vec<Row<'_>> = lines::numbered(part)
        .map(|(start, row)| Row {
            start: within.start + start,
            end: within.start + start + row.len(),
            text: row,
        })
        .collect();
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < rows.len() {
        if rows[at].text.trim().is_empty() {
            at += 1;
            continue;
        }
        let (shape, next) = block_at(&rows, at);
        let last = (at..next).rev().find(|&row| !rows[row].text.trim().is_empty()).unwrap_or(at);
        blocks.push(Block { shape, bytes: rows[at].start..rows[last].end });
        at = next.max(at + 1);
    }
    blocks
}

/// The shape of the block that begins in row `at`, and the row after it.
fn block_at(rows: &[Row<'_>], at: usize) -> (Shape, usize) {
    let row = rows[at].text;
    if let Some(fence) = fence(row) {
        return (Shape::Code, fenced(rows, at, fence));
    }
    if opens_box(row) {
        return (Shape::Boxed, indented(rows, at + 1, indent(row) + 1));
    }
    if let Some(content) = item(row) {
        return (Shape::Item, item_end(rows, at, content));
    }
    if is_table_row(row) {
        let end = (at..rows.len()).find(|&row| !is_table_row(rows[row].text)).unwrap_or(rows.len());
        return (Shape::Table, end);
    }
    let start = at;
    let mut at = at;
    while at < rows.len() && !(at > start && breaks_paragraph(rows[at].text)) {
        at += 1;
    }
    let literal = rows[at - 1].text.trim_end().ends_with("::")
        && rows.get(at).is_some_and(|r| r.text.trim().is_empty());
    if literal {
        let below = indented(rows, at, indent(rows[start].text) + 1);
        return (Shape::Paragraph, if below > at { below } else { at });
    }
    let all_indented = (start..at).all(|row| indent(rows[row].text) >= 4);
    (if all_indented { Shape::Code } else { Shape::Paragraph }, at)
}

fn breaks_paragraph(row: &str) -> bool {
    row.trim().is_empty()
        || fence(row).is_some()
        || opens_box(row)
        || item(row).is_some()
        || row.starts_with('|')
}

/// The row after the fence's end; an unclosed fence runs to the end.
fn fenced(rows: &[Row<'_>], at: usize, fence: &str) -> usize {
    let mark = &fence[..1];
    let closing = |row: &&Row<'_>| {
        let row = row.text.trim();
        row.starts_with(fence) && row.trim_matches(|c| mark.starts_with(c)).is_empty()
    };
    rows[at + 1..].iter().position(|row| closing(&row)).map_or(rows.len(), |after| at + after + 2)
}

/// The row after the last one that is blank or indented by at least `width`, from `at` on; trailing blanks are
/// left out.
fn indented(rows: &[Row<'_>], at: usize, width: usize) -> usize {
    let mut end = at;
    for (number, row) in rows.iter().enumerate().skip(at) {
        if row.text.trim().is_empty() {
            continue;
        }
        if indent(row.text) < width {
            break;
        }
        end = number + 1;
    }
    end
}

/// The row after a list item: its lazy lines, and what is indented below it.
fn item_end(rows: &[Row<'_>], at: usize, content: usize) -> usize {
    let mut end = at + 1;
    while end < rows.len() && !breaks_paragraph(rows[end].text) {
        end += 1;
    }
    indented(rows, end, content.min(indent(rows[at].text) + 2)).max(end)
}

/// The fence marks that a row opens a code block with, AsciiDoc's listing delimiters included.
fn fence(row: &str) -> Option<&str> {
    let bare = row.trim_start();
    let mark = bare.chars().next().filter(|mark| matches!(mark, '`' | '~' | '-' | '.'))?;
    let length = bare.len() - bare.trim_start_matches(mark).len();
    let fence = match mark {
        '`' => length >= 3 && !bare[length..].contains('`'),
        '~' => length >= 3,
        _ => length >= 4 && bare.trim_end().len() == length,
    };
    fence.then(|| &bare[..length])
}

/// Whether a row opens something whose indented lines belong to it: `!!! note`, `??? tip`, `=== "Tab"`,
/// `.. directive::`.
fn opens_box(row: &str) -> bool {
    let bare = row.trim_start();
    bare.starts_with("!!! ")
        || bare.starts_with("???")
        || bare.starts_with("=== \"")
        || bare.starts_with(".. ")
}

/// The column at which the content of the list item in this row begins.
fn item(row: &str) -> Option<usize> {
    let bare = row.trim_start();
    let digits = bare.len() - bare.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let marker = match bare.as_bytes().get(digits) {
        Some(b'.' | b')') if (1..=9).contains(&digits) => digits + 1,
        Some(b'-' | b'*' | b'+') if digits == 0 => 1,
        _ => return None,
    };
    let rest = &bare[marker..];
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| indent(row) + marker + 1)
}

fn is_table_row(row: &str) -> bool {
    let bare = row.trim();
    bare.starts_with('|') || (bare.starts_with('+') && bare.ends_with('+') && bare.len() > 2)
}

/// The width of a row's indentation; a tab counts four.
pub(super) fn indent(row: &str) -> usize {
    let mut width = 0;
    for byte in row.bytes() {
        match byte {
            b' ' => width += 1,
            b'\t' => width += 4,
            _ => break,
        }
    }
    width
}
