//! AsciiDoc, cut at its section titles.

use std::collections::HashMap;

use crate::reference::RepoPath;
use crate::section::heading::{self, Heading};
use crate::section::{Section, lines};

/// Cuts at `=` titles (and their Markdown twin `#`), outside delimited blocks. `[#id]` or `[[id]]` right above a
/// title is its explicit id.
pub(super) fn cut(path: &RepoPath, text: &str) -> Vec<Section> {
    let mut headings = Vec::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut fence: Option<&str> = None;
    let mut label: Option<(usize, Option<String>)> = None;
    for (start, row) in lines::numbered(text) {
        let row = row.trim_end();
        if let Some(open) = fence {
            fence = fence.filter(|_| row != open);
            continue;
        }
        if delimits(row) {
            // "```bash" is closed by "```".
            fence = Some(if row.starts_with("```") { &row[..3] } else { row });
            label = None;
        } else if row.starts_with('[') && row.ends_with(']') {
            let id = id_of(row);
            let (first, known) = label.take().unwrap_or((start, None));
            label = Some((first, known.or(id)));
        } else if let Some((level, title)) = title(row) {
            let (start, explicit_id) = label.take().unwrap_or((start, None));
            let anchor = explicit_id.clone().unwrap_or_else(|| anchor(title, &mut seen));
            headings.push(Heading { level, title: plain(title), anchor, explicit_id, start });
        } else {
            label = None;
        }
    }
    heading::sections(path, text, 0, None, headings)
}

/// Whether a row opens a block whose content is no markup of the page: listing, literal, passthrough, comment,
/// table, Markdown fence. Example, sidebar and quotation blocks may not hold sections either.
fn delimits(row: &str) -> bool {
    let block = row.len() >= 4
        && ["-", ".", "+", "/", "=", "*", "_"].iter().any(|mark| row.replace(mark, "").is_empty());
    block || row == "--" || row.starts_with("```") || matches!(row, "|===" | ",===" | ":===" | "!===")
}

fn title(row: &str) -> Option<(usize, &str)> {
    let mark = row.chars().next().filter(|mark| matches!(mark, '=' | '#'))?;
    let rest = row.trim_start_matches(mark);
    let level = row.len() - rest.len();
    let title = rest.strip_prefix(' ')?.trim();
    (level <= 6 && !title.is_empty()).then_some((level, title))
}

/// The id in `[#id]`, `[#id.role]`, `[[id]]` or `[[id,reftext]]`.
fn id_of(row: &str) -> Option<String> {
    let double = row.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]"));
    let single = row.strip_prefix("[#").and_then(|rest| rest.strip_suffix(']'));
    let id = double.or(single)?.split([',', '.', '%']).next()?.trim();
    (!id.is_empty()).then(|| id.to_owned())
}

/// GitLab's anchors: Asciidoctor's with an empty prefix and `-` between words; repeats from `-2`.
fn anchor(title: &str, seen: &mut HashMap<String, usize>) -> String {
    let mut id = String::new();
    for c in title.chars().flat_map(char::to_lowercase) {
        match c {
            ' ' | '.' | '-' if !id.ends_with('-') => id.push('-'),
            c if c.is_alphanumeric() || c == '_' => id.push(c),
            _ => {}
        }
    }
    let id = id.trim_matches('-').to_owned();
    let count = seen.entry(id.clone()).and_modify(|count| *count += 1).or_insert(1);
    if *count == 1 { id } else { format!("{id}-{count}") }
}

fn plain(title: &str) -> String {
    title.replace(['`', '*'], "").trim().to_owned()
}
