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
    /// An admonition, a tab or a directive with its content.
    Boxed,
    /// A comment of the file's writers, a label, a definition: no reader of the page sees it.
    Hidden,
}

/// A block: bytes of the text it was found in, whole lines, without the blank lines around it.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// What it is.
    pub shape: Shape,
    /// Where it lies.
    pub bytes: Range<usize>,
}

/// Bytes of a comment that parts nothing.
const REMARK: usize = 100;
/// Rows after which the end of a block is not looked for any more; code fences of Markdown have no such limit.
const FAR: usize = 500;

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
        if is_remark(rows[at].text) {
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
    if let Some(next) = hidden(rows, at) {
        return (Shape::Hidden, next);
    }
    if introduces(rows, at) {
        return block_at(rows, at + 1);
    }
    if let Some(end) = delimited(rows, at) {
        return end;
    }
    if opens_box(row) {
        return (Shape::Boxed, indented(rows, at + 1, indent(row) + 1));
    }
    if let Some(content) = item(row) {
        return (Shape::Item, item_end(rows, at, content));
    }
    if is_bare_table(rows, at) {
        let end = (at..rows.len()).find(|&row| rows[row].text.trim().is_empty()).unwrap_or(rows.len());
        return (Shape::Table, end);
    }
    if is_table_row(row) {
        let end = (at..rows.len()).find(|&row| !is_table_row(rows[row].text)).unwrap_or(rows.len());
        return (Shape::Table, end);
    }
    let start = at;
    let mut at = at;
    while at < rows.len() && !(at > start && breaks_paragraph(rows, at)) {
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

fn breaks_paragraph(rows: &[Row<'_>], at: usize) -> bool {
    let row = rows[at].text;
    row.trim().is_empty()
        || delimited(rows, at).is_some()
        || opens_box(row)
        || item(row).is_some()
        || row.starts_with('|')
        || introduces(rows, at)
        || hidden(rows, at).is_some()
}

/// Whether a row is a short comment, such as tools are told by to leave the next lines alone. It is no block, and does not
/// part what stands around it.
fn is_remark(row: &str) -> bool {
    let row = row.trim();
    row.len() <= REMARK && row.starts_with("<!--") && row.ends_with("-->")
}

/// The row after what no reader sees: an HTML comment on lines of its own, AsciiDoc's comment block, a comment,
/// label or substitution of reStructuredText.
fn hidden(rows: &[Row<'_>], at: usize) -> Option<usize> {
    let row = rows[at].text.trim();
    if row.starts_with("<!--") {
        let end = (at..rows.len()).find(|&end| rows[end].text.contains("-->"));
        // As HTML has it, a comment that is not closed goes on to the end.
        let Some(end) = end else { return Some(rows.len()) };
        let shown = rows[end].text.rsplit_once("-->").is_some_and(|(_, after)| !after.trim().is_empty());
        return (!shown).then_some(end + 1);
    }
    if row.len() >= 4 && row.bytes().all(|byte| byte == b'/') {
        return closes_with(rows, at, row).map(|end| end + 1);
    }
    let rest = row.strip_prefix("..").filter(|rest| rest.is_empty() || rest.starts_with(' '))?.trim();
    let shown = rest.starts_with('[') || (rest.contains("::") && !rest.starts_with('|'));
    (!shown).then(|| indented(rows, at + 1, indent(rows[at].text) + 1))
}

/// Whether a row of AsciiDoc belongs to the block in the next one: its attributes, as in `[source,bash]`, or its title.
fn introduces(rows: &[Row<'_>], at: usize) -> bool {
    let attributes = |at: usize| {
        let row = rows.get(at).map_or("", |row| row.text.trim_end());
        row.starts_with('[') && row.ends_with(']') && !row.contains("](")
    };
    let opens = |at: usize| at < rows.len() && delimited(rows, at).is_some();
    let title = rows[at].text.strip_prefix('.');
    let title = title.is_some_and(|title| !title.is_empty() && !title.starts_with(['.', ' ']));
    (attributes(at) && opens(at + 1)) || (title && (opens(at + 1) || (attributes(at + 1) && opens(at + 2))))
}

/// What stands between delimiters in rows of their own, and the row after it: code fences, AsciiDoc's listings and
/// tables, containers of `:::`. An unclosed code fence runs to the end; the others are none without their end.
fn delimited(rows: &[Row<'_>], at: usize) -> Option<(Shape, usize)> {
    let row = rows[at].text.trim();
    let closes = |mark: &str, far: usize| {
        let closing = |row: &Row<'_>| {
            let row = row.text.trim();
            row.starts_with(mark) && row.trim_start_matches(&mark[..1]).is_empty()
        };
        rows[at + 1..].iter().take(far).position(closing).map(|after| at + after + 2)
    };
    if row.starts_with("|===") && row.trim_start_matches(['|', '=']).is_empty() {
        return closes_with(rows, at, row).map(|end| (Shape::Table, end + 1));
    }
    if row.starts_with(":::") {
        let colons = &row[..row.len() - row.trim_start_matches(':').len()];
        return closes(colons, FAR).filter(|_| colons.len() < row.len()).map(|end| (Shape::Boxed, end));
    }
    let fence = fence(rows[at].text)?;
    if fence.starts_with(['`', '~']) {
        return Some((Shape::Code, closes(fence, usize::MAX).unwrap_or(rows.len())));
    }
    // In Markdown the same row is a rule between paragraphs, with blank lines around it.
    let full = |row: usize| rows.get(row).is_some_and(|row| !row.text.trim().is_empty());
    let end = closes_with(rows, at, row).filter(|end| full(at + 1) && full(end - 1))?;
    Some((Shape::Code, end + 1))
}

/// The next row that says exactly this.
fn closes_with(rows: &[Row<'_>], at: usize, row: &str) -> Option<usize> {
    (at + 1..rows.len()).take(FAR).find(|&end| rows[end].text.trim() == row)
}

/// Whether a table of Markdown without bars at its edges begins here.
fn is_bare_table(rows: &[Row<'_>], at: usize) -> bool {
    let below = rows.get(at + 1).map_or("", |row| row.text.trim());
    let rule = below.contains('-') && below.contains('|');
    rule && rows[at].text.contains('|') && below.bytes().all(|byte| matches!(byte, b'-' | b'|' | b':' | b' '))
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
    while end < rows.len() && !breaks_paragraph(rows, end) {
        end += 1;
    }
    // In AsciiDoc a lone `+` attaches the next block.
    while rows.get(end).is_some_and(|row| row.text.trim() == "+")
        && rows.get(end + 1).is_some_and(|row| item(row.text).is_none())
    {
        end = block_at(rows, end + 1).1;
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
    let dots = bare.len() - bare.trim_start_matches('.').len();
    if (1..=5).contains(&dots) && bare[dots..].starts_with(' ') && !bare.starts_with(".. ") {
        return Some(indent(row) + dots + 1);
    }
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
