//! Quoted text that cannot act.
//!
//! A passage of Markdown is quoted in a blockquote, its own bytes in their own order: emphasis, lists, tables
//! and code stay what they are. Three things happen to it, and nothing else:
//!
//! * a character that could act gets a backslash before it; a word that a backslash cannot stop (a commit id)
//!   gets a code span around it; a line break in HTML becomes the character reference of a space;
//! * marks that would lead away or draw something are left out: the address of a link or an image (its text
//!   stays), HTML tags, the name of a diagram language, the file's own backslashes, indentation common to all
//!   lines, characters that cannot be seen;
//! * every line gets `> ` before it.
//!
//! So [`unrender`] gives back, from the note alone, exactly the bytes that were kept. Before a rendering leaves
//! this module it is read with GitLab's own parser: if anything in it could act, or undoing it does not give
//! the kept bytes, the passage is quoted in a code fence instead, where nothing acts. Code, and text that is
//! not Markdown, is always quoted in a fence.

mod blocks;
mod check;
mod cut;
mod escape;
mod fence;
mod html;
mod inline;
mod link;
mod undo;
mod view;

use std::ops::Range;

use crate::reference::RepoPath;
use crate::reply::place;

pub use cut::{Passage, passage};
pub use undo::unrender;
pub(super) use view::visible;

use blocks::{Blocks, Kind};
use view::View;

/// A passage as inert Markdown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The Markdown: a blockquote or a code fence, without a line break at its end.
    pub markdown: String,
    /// The bytes of the file that stand in it, in rising order.
    pub kept: Vec<Range<usize>>,
}

/// Makes bytes of a file inert. `bytes` is what [`passage`] chose; both ends lie between characters.
pub fn render(path: &RepoPath, text: &str, bytes: Range<usize>) -> Rendered {
    let range = |view: &View| view.of_file(bytes.start)..view.of_file(bytes.end);
    let mut view = if place::is_markdown(path) { View::of_markdown(text) } else { View::of(text) };
    let rich = if place::is_markdown(path) { rich(&view, range(&view)) } else { None };
    let draft = rich.unwrap_or_else(|| {
        view = View::of(text);
        fence::draft(path, view.text(), range(&view))
    });
    let kept = draft.kept.into_iter().flat_map(|kept| view.pieces(kept)).collect();
    Rendered { markdown: draft.markdown, kept }
}

/// A rendering, with what it keeps of the view.
struct Draft {
    markdown: String,
    kept: Vec<Range<usize>>,
}

/// The passage as a blockquote; `None` when that could act or could not be undone.
fn rich(view: &View, range: Range<usize>) -> Option<Draft> {
    let text = view.text();
    let blocks = Blocks::of(text);
    let lines = blocks.lines_in(&range);
    if lines.is_empty() || blocks.inside_code(range.start) {
        return None;
    }
    let indent = blocks.indent(text, &lines);
    let mut body = Body { text, range, indent, flat: String::new(), kept: Vec::new() };
    let mut next = lines.start;
    while next < lines.end {
        next = body.block(&blocks, next)?;
    }
    let markdown = quote(&body.flat);
    let kept: String = body.kept.iter().map(|kept| &text[kept.clone()]).collect();
    let shows = !body.flat.trim().is_empty();
    let sound = shows && check::is_inert(&markdown) && unrender(&markdown).as_deref() == Some(&kept);
    sound.then_some(Draft { markdown, kept: body.kept })
}

/// Puts `> ` before every line.
fn quote(flat: &str) -> String {
    let line = |line: &str| if line.is_empty() { ">".to_owned() } else { format!("> {line}") };
    flat.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// What happens at one place of the text, in order; bytes that no `Keep` names are left out.
enum Op {
    /// These bytes stand in the note.
    Keep(Range<usize>),
    /// These characters of ours stand before or after the character at this byte.
    Insert(usize, &'static str),
}

/// The quote's lines while they are written, without the `> `.
struct Body<'a> {
    text: &'a str,
    range: Range<usize>,
    indent: usize,
    flat: String,
    kept: Vec<Range<usize>>,
}

/// Blocks longer than this are quoted as code: no paragraph is as long, and reading one costs more than it gives.
const BLOCK_MAX: usize = 16 * 1024;

impl Body<'_> {
    /// Writes what the passage has of the block that line `first` belongs to; returns the line after it.
    fn block(&mut self, blocks: &Blocks, first: usize) -> Option<usize> {
        let line = &blocks.lines[first];
        match line.kind {
            // After the mark of the quote a tab indents by two columns, and code would be text.
            Kind::Indented if self.text[line.whole()].trim_start_matches(' ').starts_with('\t') => {
                return None;
            }
            Kind::Code | Kind::Indented | Kind::FenceClose | Kind::Rule => self.keep(line.whole()),
            Kind::Hidden => self.keep(line.bytes.end..line.end),
            Kind::FenceOpen => {
                fence::open(self.text, line.bytes.clone()).into_iter().for_each(|op| self.apply(op))
            }
            Kind::Text | Kind::Html => {
                let lines = blocks.same_block(first);
                let bytes = blocks.lines[lines.start].bytes.start..blocks.lines[lines.end - 1].end;
                if bytes.len() > BLOCK_MAX {
                    return None;
                }
                let tokens = match line.kind {
                    Kind::Html => html::tokens(self.text, bytes),
                    _ => inline::tokens(self.text, bytes, &blocks.labels),
                };
                escape::ops(self.text, &tokens).into_iter().for_each(|op| self.apply(op));
                return Some(lines.end);
            }
        }
        if line.kind == Kind::FenceOpen {
            self.keep(line.bytes.end..line.end);
        }
        Some(first + 1)
    }

    fn apply(&mut self, op: Op) {
        match op {
            Op::Keep(bytes) => self.keep(bytes),
            Op::Insert(at, ours) if self.range.contains(&at) => self.flat.push_str(ours),
            Op::Insert(..) => {}
        }
    }

    /// Keeps bytes, as far as they lie in the passage and beyond the common indentation.
    fn keep(&mut self, bytes: Range<usize>) {
        let bytes = bytes.start.max(self.range.start)..bytes.end.min(self.range.end);
        let mut at = bytes.start;
        while at < bytes.end {
            let column = at - self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
            let end = self.text[at..bytes.end].find('\n').map_or(bytes.end, |newline| at + newline + 1);
            let blank = self.text[at..].bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            let from = at + self.indent.saturating_sub(column).min(blank).min(end - at);
            self.flat.push_str(&self.text[from..end]);
            match self.kept.last_mut() {
                Some(last) if last.end == from => last.end = end,
                _ if from < end => self.kept.push(from..end),
                _ => {}
            }
            at = end;
        }
    }
}

/// One line of text as a code span, which shows it as it is and lets nothing act.
pub fn code(text: &str) -> String {
    let text = visible(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// One line of text as the text of a link: every character that could mean something gets a backslash, also
/// the full stop of `www.`, which begins an address.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        let calm = match c {
            '.' => !out.ends_with(['w', 'W']),
            ',' | '-' | '/' | '(' | ')' | '?' | '\'' => true,
            _ => !c.is_ascii_punctuation(),
        };
        if !calm {
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
