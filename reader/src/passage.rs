//! Which lines of a section to quote.

use std::collections::HashMap;

use crate::text::terms;

/// A passage is looked at up to this many blocks.
const MOST_BLOCKS: usize = 400;

/// A paragraph, list or code block: its lines, its length, and whether it is code.
struct Block {
    from: usize,
    to: usize,
    chars: usize,
    code: bool,
    text: String,
}

/// The lines (first and last, counted from 0, both included) of the passage's best paragraphs with their code block.
///
/// `title` and `text` are the question (its essence will do), `passage` the section's Markdown. The run of whole blocks
/// that shares most with the question is taken, at most `max_chars` long where blocks allow it; a code block is never
/// cut off from the paragraph that introduces it unless it does not fit. A code block or paragraph longer than
/// `max_chars` is returned whole if it alone is best: cutting it is the caller's choice. Empty text gives `(0, 0)`.
pub fn best_lines(title: &str, text: &str, passage: &str, max_chars: usize) -> (usize, usize) {
    let blocks = blocks(passage);
    let mut question = terms(text);
    for (term, weight) in terms(title) {
        *question.entry(term).or_insert(0.0) += weight;
    }
    let rarity = rarity(&blocks, &question);
    let mut best = (f32::MIN, 0, 0);
    for from in 0..blocks.len() {
        let mut chars = 0;
        let mut seen: HashMap<String, f32> = HashMap::new();
        for to in from..blocks.len() {
            chars += blocks[to].chars;
            if chars > max_chars && to > from {
                break;
            }
            for term in terms(&blocks[to].text).into_keys() {
                if let Some(weight) = rarity.get(&term) {
                    seen.insert(term, *weight);
                }
            }
            // Words in common, less a little for length, so that a tie goes to the shorter and then the earlier run.
            let next_is_code = blocks.get(to + 1).is_some_and(|b| b.code && chars + b.chars <= max_chars);
            let torn = u8::from(blocks[from].code && from > 0) + u8::from(next_is_code);
            let worth = seen.values().sum::<f32>()
                - 0.3 * chars as f32 / max_chars.max(1) as f32
                - 0.25 * f32::from(torn);
            if worth > best.0 {
                best = (worth, from, to);
            }
        }
    }
    blocks.get(best.1).zip(blocks.get(best.2)).map_or((0, 0), |(a, b)| (a.from, b.to))
}

/// What a term of the question is worth: less if many blocks have it.
fn rarity(blocks: &[Block], question: &HashMap<String, f32>) -> HashMap<String, f32> {
    let mut count: HashMap<String, f32> = HashMap::new();
    for block in blocks {
        for term in terms(&block.text).into_keys().filter(|t| question.contains_key(t)) {
            *count.entry(term).or_insert(0.0) += 1.0;
        }
    }
    let all = blocks.len() as f32;
    count
        .into_iter()
        .map(|(t, n)| {
            let w = question.get(&t).copied().unwrap_or(0.0);
            (t, w * (1.0 + all / n).ln())
        })
        .collect()
}

fn blocks(passage: &str) -> Vec<Block> {
    let mut out: Vec<Block> = Vec::new();
    let mut fence: Option<&str> = None;
    let mut open = false;
    for (number, line) in passage.lines().enumerate() {
        let trimmed = line.trim();
        let mark = ["```", "~~~"].into_iter().find(|f| trimmed.starts_with(f));
        if fence.is_none() && trimmed.is_empty() {
            open = false;
            continue;
        }
        let starts = fence.is_none() && (!open || mark.is_some());
        if starts {
            if out.len() == MOST_BLOCKS {
                break;
            }
            out.push(Block { from: number, to: number, chars: 0, code: mark.is_some(), text: String::new() });
            open = true;
        }
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(a), Some(b)) if a == b => {
                fence = None;
                open = false;
            }
            _ => {}
        }
        if let Some(block) = out.last_mut() {
            block.to = number;
            block.chars += line.chars().count() + 1;
            block.text.push_str(line);
            block.text.push('\n');
        }
    }
    out
}
