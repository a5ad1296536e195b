//! A run of text as bare URLs and *atoms*: the longest stretches of the characters that paths, projects and
//! hashes are made of, without the dots that end a sentence. What an atom means, its own text and its two
//! neighbours decide; none is ever cut short to mean something.

use std::ops::Range;

use crate::prose::markdown::{Run, find_url, url_end, url_reach};
use crate::prose::references::invisible::{blank_edges, is_invisible};

/// A stretch of atom characters, or the empty one before a `!`, `#` or `&`.
#[derive(Clone, Copy, Debug)]
pub(in crate::prose) struct Atom<'t> {
    /// The character before it.
    pub(in crate::prose) before: Option<char>,
    /// The stretch.
    pub(in crate::prose) text: &'t str,
    /// Everything behind it in the run.
    pub(in crate::prose) rest: &'t str,
    /// Whether one of its `@`, or the character behind it, was written with a backslash.
    pub(in crate::prose) escaped: bool,
}

/// What a run of text is made of.
#[derive(Clone, Copy, Debug)]
pub(in crate::prose) enum Piece<'t> {
    /// A bare URL, its end cut by rule 3; `apart` tells that nothing invisible touches it and no backslash is in it.
    Url { url: &'t str, apart: bool },
    /// An atom.
    Atom(Atom<'t>),
}

/// Visits the pieces of `run` from left to right. `visit` returns how many bytes behind the piece belong to it.
pub(in crate::prose) fn pieces(run: &Run, mut visit: impl FnMut(Piece<'_>) -> usize) {
    let text = &*blank_edges(run.text());
    let mut at = 0;
    while let Some(start) = find_url(text, at) {
        atoms(run, text, at..start, &mut visit);
        at = start + url_end(&text[start..]);
        let touched = text[..start].ends_with(is_invisible);
        // The backslash of an escape is part of the URL, and no URL may hold one.
        let escaped = run.is_escaped(start..start + url_reach(&text[start..]) + 1);
        visit(Piece::Url { url: &text[start..at], apart: !touched && !escaped });
    }
    atoms(run, text, at..text.len(), &mut visit);
}

fn atoms(run: &Run, text: &str, range: Range<usize>, visit: &mut impl FnMut(Piece<'_>) -> usize) {
    let mut at = range.start;
    while let Some(hint) = text.as_bytes()[at..range.end].iter().position(|&byte| HINT[usize::from(byte)]) {
        at += text[at..at + hint].rfind(|c| !is_part(c)).map_or(0, |last| last + 1);
        while !text.is_char_boundary(at) {
            at += 1;
        }
        let reach = atom_reach(&text[at..range.end]);
        let atom = text[at..at + reach].trim_end_matches('.');
        let (end, rest) = (at + atom.len(), &text[at + atom.len()..]);
        let before = text[..at].chars().next_back();
        let escaped = run.is_escaped(end..end + 1) || (atom.contains('@') && run.is_escaped(at..end));
        let used = visit(Piece::Atom(Atom { before, text: atom, rest, escaped }));
        // A tail such as `#heading` may run on into the URL behind this stretch.
        at = if used > 0 { end + used } else { at + reach.max(1) }.min(range.end);
    }
}

/// The bytes without which a stretch of text means nothing: all that is read has a slash, an at sign or a
/// digit, or ends before one of `! # &`.
static HINT: [bool; 256] = {
    let mut hint = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        hint[byte] = matches!(byte as u8, b'/' | b'@' | b'0'..=b'9' | b'!' | b'#' | b'&');
        byte += 1;
    }
    hint
};

/// Whether `c` is an atom character: a letter or digit of any script, or one of `_ - . + @ /`.
fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '@' | '/')
}

/// How many bytes of atom characters begin `text`.
pub(in crate::prose) fn atom_reach(text: &str) -> usize {
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}
