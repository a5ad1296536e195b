//! reStructuredText, cut at its titles.

use std::collections::HashSet;

use crate::reference::RepoPath;
use crate::section::heading::{self, Heading, is_rule};
use crate::section::{Section, lines};

/// Cuts at section titles: text with a rule of punctuation below it, or above and below. The first kind of rule
/// seen is the highest level, as docutils has it. Labels (`.. _name:`) right above a title are its explicit id.
pub(super) fn cut(path: &RepoPath, text: &str) -> Vec<Section> {
    let rows: Vec<(usize, &str)> = lines::numbered(text).collect();
    let mut kinds: Vec<(char, bool)> = Vec::new();
    let mut ids = Ids::default();
    let mut headings = Vec::new();
    let mut label: Option<(usize, String)> = None;
    let mut at = 0;
    while at < rows.len() {
        let (start, row) = rows[at];
        if let Some(name) = row.strip_prefix(".. _").and_then(|rest| rest.trim_end().strip_suffix(':')) {
            label.get_or_insert((start, name.trim_matches('`').to_owned()));
            at += 1;
            continue;
        }
        let Some(title) = title_at(&rows, at) else {
            label = label.filter(|_| row.trim().is_empty());
            at += 1;
            continue;
        };
        let kind = (title.mark, title.overlined);
        let level = kinds.iter().position(|known| *known == kind).unwrap_or_else(|| {
            kinds.push(kind);
            kinds.len() - 1
        });
        let (start, explicit_id) = label.take().map_or((start, None), |(start, name)| (start, Some(name)));
        let anchor = ids.of(title.text);
        headings.push(Heading { level: level + 1, title: plain(title.text), anchor, explicit_id, start });
        at += title.rows;
    }
    heading::sections(path, text, 0, None, headings)
}

struct Title<'a> {
    text: &'a str,
    mark: char,
    overlined: bool,
    rows: usize,
}

/// The title that begins in row `at`, if one does.
fn title_at<'a>(rows: &[(usize, &'a str)], at: usize) -> Option<Title<'a>> {
    let row = |number: usize| rows.get(number).map_or("", |&(_, row)| row.trim_end());
    let blank_before = at == 0 || rows[at - 1].1.trim().is_empty() || rows[at - 1].1.starts_with(".. ");
    let (over, text, under) = (row(at), row(at + 1), row(at + 2));
    if blank_before && rule(over) && over == under && !text.trim().is_empty() && !rule(text) {
        let mark = over.chars().next()?;
        return Some(Title { text: text.trim(), mark, overlined: true, rows: 3 });
    }
    let (text, under) = (over, text);
    let title =
        blank_before && rule(under) && !text.starts_with([' ', '\t']) && !text.is_empty() && !rule(text);
    // docutils wants the rule as long as the title; it only warns from four characters on.
    if !title || (under.len() < 4 && under.chars().count() < text.chars().count()) {
        return None;
    }
    Some(Title { text, mark: under.chars().next()?, overlined: false, rows: 2 })
}

/// A rule of a title: at least two marks, and no simple-table border.
fn rule(row: &str) -> bool {
    row.len() >= 2 && !row.starts_with([' ', '\t']) && is_rule(row)
}

/// Takes the inline markup from a title.
fn plain(title: &str) -> String {
    let mut text = String::with_capacity(title.len());
    let mut rest = title;
    while let Some(at) = rest.find('`') {
        let (before, after) = rest.split_at(at);
        // A role such as `:ref:` stands right before the backtick.
        let role = before.rfind(" :").map_or(before.starts_with(':').then_some(0), |at| Some(at + 1));
        text.push_str(role.filter(|_| before.ends_with(':')).map_or(before, |at| &before[..at]));
        rest = after.trim_start_matches('`');
    }
    text.push_str(rest);
    text.replace("**", "").trim().to_owned()
}

/// docutils' ids: ASCII letters and digits joined by hyphens; `id1`, `id2` for repeats and for nothing.
#[derive(Default)]
struct Ids {
    taken: HashSet<String>,
    numbered: usize,
}

impl Ids {
    fn of(&mut self, title: &str) -> String {
        let mut id = String::new();
        for c in title.chars().flat_map(char::to_lowercase) {
            if c.is_ascii_alphanumeric() {
                id.push(c);
            } else if !id.ends_with('-') {
                id.push('-');
            }
        }
        let id =
            id.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-').trim_end_matches('-').to_owned();
        if !id.is_empty() && self.taken.insert(id.clone()) {
            return id;
        }
        loop {
            self.numbered += 1;
            let id = format!("id{}", self.numbered);
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }
}
