//! Headings become sections: the tree of headings, and the lengths of heading lines.

use crate::reference::RepoPath;
use crate::section::{Kind, LineIndex, Section, lines};

/// A heading found in a text.
pub(super) struct Heading {
    /// 1 for a page title, rising.
    pub level: usize,
    /// The heading as plain text.
    pub title: String,
    /// The anchor that GitLab gives it.
    pub anchor: String,
    /// The id that the source gives it.
    pub explicit_id: Option<String>,
    /// The byte at which its first line begins.
    pub start: usize,
}

/// Turns the headings of `text`, in rising order of `start`, into sections. Text from `begin` up to the first
/// heading belongs to the page itself. `title` is the page's title where it is set apart from the headings; a page
/// without any title is called after its file.
pub(super) fn sections(
    path: &RepoPath,
    text: &str,
    begin: usize,
    title: Option<String>,
    headings: Vec<Heading>,
) -> Vec<Section> {
    let index = LineIndex::new(text);
    let mut found = Vec::with_capacity(headings.len() + 1);
    let first = headings.first().map_or(text.len(), |heading| heading.start);
    let page = title.or_else(|| main_title(&headings)).or_else(|| file_title(path));
    if text.get(begin..first).is_some_and(|intro| !intro.trim().is_empty()) {
        let path = page.iter().cloned().collect();
        found.push(section(&index, path, None, None, begin..first));
    }
    let ends: Vec<usize> = headings.iter().skip(1).map(|h| h.start).chain([text.len()]).collect();
    let mut open: Vec<(usize, String)> = Vec::new();
    for (heading, end) in headings.into_iter().zip(ends) {
        open.retain(|(level, _)| *level < heading.level);
        open.push((heading.level, heading.title));
        let mut path: Vec<String> = open.iter().map(|(_, title)| title.clone()).collect();
        if let Some(page) = page.as_ref().filter(|page| path.first() != Some(*page)) {
            path.insert(0, page.clone());
        }
        found.push(section(&index, path, Some(heading.anchor), heading.explicit_id, heading.start..end));
    }
    found
}

/// The first heading of the first level.
fn main_title(headings: &[Heading]) -> Option<String> {
    let title = headings.iter().find(|heading| heading.level == 1).map(|heading| heading.title.clone());
    title.filter(|title| !title.is_empty())
}

/// The words of the file's name; those of its folder for an index page.
fn file_title(path: &RepoPath) -> Option<String> {
    let mut segments = path.as_str().rsplit('/');
    let name = segments.next()?;
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let index = ["index", "_index", "readme"].contains(&stem.to_ascii_lowercase().as_str());
    let words = if index { segments.next()? } else { stem };
    Some(words.replace(['-', '_'], " ").trim().to_owned()).filter(|title| !title.is_empty())
}

fn section(
    index: &LineIndex,
    heading_path: Vec<String>,
    anchor: Option<String>,
    explicit_id: Option<String>,
    bytes: std::ops::Range<usize>,
) -> Section {
    let lines = index.lines_of(&bytes);
    Section { heading_path, anchor, explicit_id, lines, bytes, kind: Kind::Doc }
}

/// The length in bytes of the heading that `own`, the text of a section, begins with: `#`, `=` and `.. _label:`
/// lines, a title with its over- and underline. 0 where it begins with none.
pub(super) fn length(own: &str) -> usize {
    let mut rows = lines::numbered(own).peekable();
    let mut end = 0;
    while let Some(&(_, row)) = rows.peek() {
        let label = row.starts_with(".. _")
            || row.starts_with("[[")
            || row.starts_with("[#")
            || row.trim().is_empty();
        if !label {
            break;
        }
        rows.next();
        end = rows.peek().map_or(own.len(), |&(start, _)| start);
    }
    let rest: Vec<(usize, &str)> = rows.take(4).collect();
    let at = |row: usize| rest.get(row).map_or(own.len(), |&(start, _)| start);
    let row = |number: usize| rest.get(number).map_or("", |&(_, row)| row);
    let rule = |number: usize| is_rule(row(number));
    let filled = |number: usize| !row(number).trim().is_empty();
    match () {
        () if rule(0) && rule(2) && filled(1) => at(3),
        () if marks(row(0)) => at(1),
        () if filled(0) && rule(1) => at(2),
        () if filled(0) && filled(1) && rule(2) => at(3),
        () => end,
    }
}

/// Whether a line begins with `#` or `=` marks of a heading.
fn marks(row: &str) -> bool {
    let row = row.trim_start();
    let rest = row.trim_start_matches(['#', '=']);
    rest.len() < row.len() && (rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// Whether a line consists of one punctuation mark, repeated: the rule above or below a title.
pub(super) fn is_rule(row: &str) -> bool {
    let row = row.trim();
    let mut chars = row.chars();
    match chars.next() {
        Some(mark) => mark.is_ascii_punctuation() && chars.all(|c| c == mark),
        None => false,
    }
}
