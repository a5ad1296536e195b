//! Which lines of a section to quote.

use std::ops::Range;

use crate::reference::Lines;
use crate::section::blocks::{self, Block, Shape};
use crate::section::{Kind, LineIndex, Section, body, passage};

/// A quotation is at most this many bytes.
pub const QUOTE_MAX: usize = 1200;
/// A neighbour joins the quotation when it scores at least this share of the best block.
const NEIGHBOUR: f32 = 0.45;

/// What to quote of a section.
#[derive(Clone, Debug, PartialEq)]
pub struct Quote {
    /// Bytes of the file: one contiguous piece.
    pub bytes: Range<usize>,
    /// The lines these bytes lie on.
    pub lines: Lines,
}

/// The best piece of the section's body to quote: the block that scores highest, with the code it introduces
/// or the words that introduce it, and neighbours that score well too, within [`QUOTE_MAX`] bytes. Whole blocks
/// only; paragraphs and blocks longer than that are cut at ends of sentences or lines. `score` weighs the texts
/// of all blocks at once and returns one number each. `None` when the section has no body, or none but lines over
/// the limit.
pub fn best_quote(section: &Section, text: &str, score: impl FnOnce(&[&str]) -> Vec<f32>) -> Option<Quote> {
    let units = units(section, text);
    let texts: Vec<&str> = units.iter().map(|unit| &text[unit.bytes.clone()]).collect();
    let mut scores = score(&texts);
    scores.resize(units.len(), 0.0);
    let shown = |at: &usize| units[*at].shape != Shape::Hidden;
    let best = (0..units.len()).rev().filter(shown).max_by(|&a, &b| scores[a].total_cmp(&scores[b]))?;
    // What nobody sees is quoted nowhere, and no quotation goes across it.
    let from = (0..best).rev().find(|at| !shown(at)).map_or(0, |at| at + 1);
    let to = (best..units.len()).find(|at| !shown(at)).unwrap_or(units.len());
    let leads: Vec<bool> = texts[from..to].iter().map(|text| text.trim_end().ends_with(':')).collect();
    let span = grow(&units[from..to], &scores[from..to], &leads, best - from);
    let span = from + span.start..from + span.end;
    let bytes = units[span.start].bytes.start..units[span.end - 1].bytes.end;
    let bytes = trimmed(text, bytes)?;
    let lines = LineIndex::new(text).lines_of(&bytes);
    Some(Quote { bytes, lines })
}

/// The blocks of the section's body, those over the limit broken into sentences or lines.
fn units(section: &Section, text: &str) -> Vec<Block> {
    let body = body(section, text);
    let blocks = match section.kind {
        Kind::Doc => blocks::of_document(text, body),
        Kind::Code => vec![Block { shape: Shape::Code, bytes: body }],
    };
    blocks
        .into_iter()
        .flat_map(|block| broken(text, block))
        .filter(|unit| (1..=QUOTE_MAX).contains(&unit.bytes.len()))
        .collect()
}

fn broken(text: &str, block: Block) -> Vec<Block> {
    if block.bytes.len() <= QUOTE_MAX {
        return vec![block];
    }
    let whole = &text[block.bytes.clone()];
    let parts = match block.shape {
        Shape::Paragraph => passage::sentences(whole),
        _ => rows(whole),
    };
    let parts = if parts.iter().any(|part| part.len() > QUOTE_MAX) { rows(whole) } else { parts };
    let mut packed: Vec<Range<usize>> = Vec::new();
    for part in parts {
        match packed.last_mut() {
            Some(open) if part.end - open.start <= QUOTE_MAX => open.end = part.end,
            _ => packed.push(part),
        }
    }
    let start = block.bytes.start;
    packed
        .into_iter()
        .map(|part| Block { shape: block.shape, bytes: start + part.start..start + part.end })
        .collect()
}

/// The lines of a block, blank ones left out.
fn rows(whole: &str) -> Vec<Range<usize>> {
    let rows = crate::section::lines::numbered(whole);
    rows.filter(|(_, row)| !row.trim().is_empty()).map(|(start, row)| start..start + row.len()).collect()
}

/// Grows from the best unit to what belongs to it, as a range of units. `leads` says which end in a colon.
fn grow(units: &[Block], scores: &[f32], leads: &[bool], best: usize) -> Range<usize> {
    let mut span = best..best + 1;
    let fits =
        |span: &Range<usize>| units[span.end - 1].bytes.end - units[span.start].bytes.start <= QUOTE_MAX;
    let solid = |at: usize| matches!(units[at].shape, Shape::Code | Shape::Table | Shape::Boxed);
    // Code needs the words before it; words that end before code need the code.
    if solid(best) && best > 0 {
        take(&mut span, best - 1..best + 1, &fits);
    } else if best + 1 < units.len() && solid(best + 1) {
        take(&mut span, best..best + 2, &fits);
    }
    // Words that end in a colon need what they lead to.
    if leads[best] {
        while span.end < units.len() && units[span.end].shape != Shape::Paragraph {
            let wider = span.start..span.end + 1;
            if !fits(&wider) {
                break;
            }
            span = wider;
        }
    }
    let whole = 0..units.len();
    if units[whole.end - 1].bytes.end - units[0].bytes.start <= QUOTE_MAX / 2 {
        return whole;
    }
    loop {
        let worth = |at: usize| if scores[best] > 0.0 { scores[at] / scores[best] } else { 0.0 };
        let before = span.start.checked_sub(1).map(|at| (worth(at), at..span.end));
        let after = (span.end < units.len()).then(|| (worth(span.end), span.start..span.end + 1));
        let mut sides: Vec<(f32, Range<usize>)> = before.into_iter().chain(after).collect();
        sides.sort_by(|a, b| b.0.total_cmp(&a.0));
        let next = sides.into_iter().find(|(worth, wider)| *worth >= NEIGHBOUR && fits(wider));
        match next {
            Some((_, wider)) => span = wider,
            None => return span,
        }
    }
}

fn take(span: &mut Range<usize>, wider: Range<usize>, fits: &impl Fn(&Range<usize>) -> bool) {
    if fits(&wider) {
        *span = wider;
    }
}

/// The range without white space at its end and without blank lines at its beginning.
fn trimmed(text: &str, bytes: Range<usize>) -> Option<Range<usize>> {
    let piece = text.get(bytes.clone())?;
    let end = bytes.start + piece.trim_end().len();
    let lead = piece.len() - piece.trim_start().len();
    let start = piece[..lead].rfind('\n').map_or(bytes.start, |at| bytes.start + at + 1);
    (start < end).then_some(start..end)
}
