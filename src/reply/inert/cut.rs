//! Which part of a citation is quoted: without its heading, not too long, ending where a thought ends.

use std::ops::Range;

use crate::reference::RepoPath;
use crate::reply::place;

use super::blocks::{Blocks, Kind};
use super::view::View;

/// So many characters are quoted: what a phone shows in two screens.
const LONGEST: usize = 1200;

/// What of a citation is quoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The bytes of the file.
    pub bytes: Range<usize>,
    /// Whether the citation goes on after them.
    pub cut: bool,
}

/// The part of `bytes` that is quoted: without blank lines around it, without a heading before it (the note's
/// title shows it), cut at the end of a block, sentence, line or word. Bounds outside the text or inside a
/// character are moved inwards.
pub fn passage(path: &RepoPath, text: &str, bytes: Range<usize>) -> Passage {
    let mut end = bytes.end.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut start = bytes.start.min(end);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let mut bytes = trim(text, start..end.max(start));
    if place::is_markdown(path) {
        let body = trim(text, bytes.start.max(front_matter(text))..bytes.end.max(front_matter(text)));
        bytes = if body.is_empty() || body.end > bytes.end { bytes } else { body };
        while let Some(shorter) = without_heading(text, &bytes)
            && !in_code(text, bytes.start)
        {
            bytes = shorter;
        }
    }
    match text[bytes.clone()].char_indices().nth(LONGEST) {
        None => Passage { bytes, cut: false },
        Some((limit, _)) => {
            let end = bytes.start + end_within(path, text, &bytes, limit);
            Passage { bytes: trim(text, bytes.start..end), cut: true }
        }
    }
}

/// Without blank lines before and white space after it. The first line keeps its indentation.
fn trim(text: &str, bytes: Range<usize>) -> Range<usize> {
    let body = &text[bytes.clone()];
    let end = bytes.start + body.trim_end().len();
    let blank = &body[..body.len() - body.trim_start().len()];
    let start = blank.rfind(['\n', '\r']).map_or(bytes.start, |at| bytes.start + at + 1);
    start.min(end)..end
}

/// The length of the front matter that a text begins with.
fn front_matter(text: &str) -> usize {
    let rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let body = ["---\n", "---\r\n"].into_iter().find_map(|open| rest.strip_prefix(open));
    let close = body.and_then(|body| {
        body.split_inclusive('\n').position(|line| line.trim_end() == "---").map(|at| (body, at))
    });
    let Some((body, at)) = close else { return 0 };
    text.len() - body.len() + body.split_inclusive('\n').take(at + 1).map(str::len).sum::<usize>()
}

/// Whether a byte lies in a code block, where `# …` is a comment.
fn in_code(text: &str, at: usize) -> bool {
    let view = View::of_markdown(text);
    Blocks::of(view.text()).inside_code(view.of_file(at))
}

/// The bytes after a first line that is a heading; `None` when it is none or nothing follows it.
fn without_heading(text: &str, bytes: &Range<usize>) -> Option<Range<usize>> {
    let body = &text[bytes.clone()];
    let (line, rest) = body.split_once('\n')?;
    let marks = line.len() - line.trim_start_matches('#').len();
    let heading = (1..=6).contains(&marks) && line[marks..].starts_with([' ', '\t']);
    let rest = trim(text, bytes.end - rest.len()..bytes.end);
    (heading && !rest.is_empty()).then_some(rest)
}

/// Where to cut, at most `limit` bytes in: at the last block's end if that is not far, else at the last
/// sentence's, line's or word's.
fn end_within(path: &RepoPath, text: &str, bytes: &Range<usize>, limit: usize) -> usize {
    let body = &text[bytes.start..bytes.start + limit];
    let within = |ends: Vec<usize>, least: usize| ends.into_iter().rfind(|&end| end >= limit * least / 10);
    let lines: Vec<usize> = body.match_indices('\n').map(|(at, _)| at).collect();
    if place::is_markdown(path) {
        let (blocks, sentences) = natural_ends(text, bytes.start, limit);
        if let Some(end) = within(blocks, 5).or_else(|| within(sentences, 3)) {
            return end;
        }
    }
    let words = body.match_indices([' ', '\t']).map(|(at, _)| at).collect();
    within(lines, 3).or_else(|| within(words, 3)).unwrap_or(limit)
}

/// Where blocks end, and where sentences do, within `limit` bytes from `start`.
fn natural_ends(text: &str, start: usize, limit: usize) -> (Vec<usize>, Vec<usize>) {
    let view = View::of_markdown(text);
    let blocks = Blocks::of(view.text());
    let range = view.of_file(start)..view.of_file(start + limit);
    let (mut after_blocks, mut after_sentences) = (Vec::new(), Vec::new());
    let (mut ticks, mut brackets) = (0usize, 0isize);
    for index in blocks.lines_in(&range) {
        let line = &blocks.lines[index];
        if line.kind != Kind::Text {
            continue;
        }
        let first = line.bytes.start.max(range.start);
        let content = &view.text()[first..line.bytes.end.clamp(first, range.end)];
        if view.text()[line.bytes.clone()].trim().is_empty() {
            (ticks, brackets) = (0, 0);
            after_blocks.push(line.bytes.start);
            continue;
        }
        // `3.` begins an item of a list and ends nothing.
        let mut numbers = true;
        for (at, c) in content.char_indices() {
            numbers &= c.is_ascii() && !c.is_ascii_alphabetic();
            ticks += usize::from(c == '`');
            brackets += isize::from(matches!(c, '[' | '(')) - isize::from(matches!(c, ']' | ')'));
            let after = at + c.len_utf8();
            let ends = matches!(c, '.' | '!' | '?' | '…') && !numbers;
            let stops = matches!(c, '。' | '！' | '？')
                || (ends && content[after..].chars().next().is_none_or(char::is_whitespace));
            if stops && ticks.is_multiple_of(2) && brackets <= 0 {
                after_sentences.push(first + after);
            }
        }
    }
    let inside = |ends: Vec<usize>| -> Vec<usize> {
        ends.into_iter()
            .filter(|end| range.contains(end) && *end > range.start)
            .map(|end| view.to_file(end) - start)
            .collect()
    };
    (inside(after_blocks), inside(after_sentences))
}
