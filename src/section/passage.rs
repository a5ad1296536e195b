//! Long sections cut into passages of a size that retrieval and the judge read well.

use std::ops::Range;

use crate::section::blocks::{self, Block, Shape};
use crate::section::{Kind, Section, body};

/// A passage is closed when the next block would take it over this many words.
const WORDS_MAX: usize = 250;
/// Below this many words a passage takes in the next block whatever its size, up to [`WORDS_MAX`].
const WORDS_AIM: usize = 200;

/// Cuts the section's body into passages of some 200 to 250 words: byte ranges of `text`, in order. Code blocks
/// and tables are never cut, so a passage may be longer than that; paragraphs are cut at the ends of sentences.
/// A section without a body has none.
pub fn passages(section: &Section, text: &str) -> Vec<Range<usize>> {
    let body = body(section, text);
    if section.kind == Kind::Code {
        let blank = text.get(body.clone()).is_none_or(|own| own.trim().is_empty());
        return if blank { Vec::new() } else { vec![body] };
    }
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut words = 0;
    for block in blocks::of_document(text, body) {
        if block.shape == Shape::Hidden {
            // What no reader sees is neither found nor judged, and no passage goes across it.
            words = WORDS_MAX;
            continue;
        }
        for piece in pieces(text, block) {
            add(text, piece, &mut found, &mut words);
        }
    }
    found
}

/// Puts a piece to the open passage, or begins another with it.
fn add(text: &str, piece: Range<usize>, found: &mut Vec<Range<usize>>, words: &mut usize) {
    let count = text[piece.clone()].split_whitespace().count();
    match found.last_mut() {
        Some(open)
            if *words + count <= WORDS_MAX && (*words < WORDS_AIM || count < WORDS_MAX - WORDS_AIM) =>
        {
            open.end = piece.end;
            *words += count;
        }
        _ => {
            found.push(piece);
            *words = count;
        }
    }
}

/// A block, or the runs of sentences that a long paragraph or list item falls into.
fn pieces(text: &str, block: Block) -> Vec<Range<usize>> {
    let whole = &text[block.bytes.clone()];
    let divisible = matches!(block.shape, Shape::Paragraph) && whole.split_whitespace().count() > WORDS_MAX;
    if !divisible {
        return vec![block.bytes];
    }
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut words = 0;
    for sentence in sentences(whole) {
        let range = block.bytes.start + sentence.start..block.bytes.start + sentence.end;
        let count = text[range.clone()].split_whitespace().count();
        match found.last_mut() {
            Some(open) if words + count <= WORDS_AIM => {
                open.end = range.end;
                words += count;
            }
            _ => {
                found.push(range);
                words = count;
            }
        }
    }
    found
}

/// The sentences of a paragraph, as byte ranges that touch the text between them on neither side. A sentence
/// ends at `.`, `!`, `?` or their wide forms before white space.
pub(super) fn sentences(paragraph: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = None;
    let mut chars = paragraph.char_indices().peekable();
    let mut in_code = false;
    while let Some((at, c)) = chars.next() {
        if c.is_whitespace() {
            continue;
        }
        let from = *start.get_or_insert(at);
        in_code ^= c == '`';
        let wide = matches!(c, '。' | '\u{ff01}' | '\u{ff1f}');
        let narrow =
            matches!(c, '.' | '!' | '?') && chars.peek().is_none_or(|(_, next)| next.is_whitespace());
        if !in_code && (wide || narrow) {
            found.push(from..at + c.len_utf8());
            start = None;
        }
    }
    if let Some(from) = start {
        found.push(from..paragraph.trim_end().len());
    }
    found
}
