//! WordPiece, as the uncased BERT models were trained with it.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory as Cat, GeneralCategoryGroup as Group, UnicodeGeneralCategory};

const VOCABULARY: &str = include_str!("../model/vocab.txt");
/// A longer word is unknown as a whole; also what keeps one word's cost bounded.
const LONGEST_WORD: usize = 100;
/// Text is cut here before anything looks at it: nothing downstream reads as far.
const LONGEST_TEXT: usize = 64 * 1024;

pub const CLS: u32 = 101;
pub const SEP: u32 = 102;
const UNKNOWN: u32 = 100;

/// The vocabulary, split into word beginnings and continuations.
pub struct WordPiece {
    begin: HashMap<&'static str, u32>,
    inside: HashMap<&'static str, u32>,
}

impl WordPiece {
    pub fn load() -> Self {
        let mut begin = HashMap::with_capacity(26_000);
        let mut inside = HashMap::with_capacity(6_000);
        for (id, piece) in (0u32..).zip(VOCABULARY.lines()) {
            match piece.strip_prefix("##") {
                Some(rest) if !rest.is_empty() => inside.insert(rest, id),
                _ => begin.insert(piece, id),
            };
        }
        // "##" itself is a piece of the vocabulary, but the splitter never yields it.
        Self { begin, inside }
    }

    /// The ids of a text's pieces, without the marks at both ends, at most `limit`.
    pub fn pieces(&self, text: &str, limit: usize) -> Vec<u32> {
        let mut ids = Vec::new();
        for_each_word(cut(text), |word| {
            if ids.len() < limit {
                self.word(word, &mut ids);
            }
            ids.len() < limit
        });
        ids.truncate(limit);
        ids
    }

    /// The ids with `[CLS]` before and `[SEP]` behind, at most `limit` in all.
    pub fn encode(&self, text: &str, limit: usize) -> Vec<u32> {
        let mut ids = vec![CLS];
        ids.extend(self.pieces(text, limit.saturating_sub(2)));
        ids.push(SEP);
        ids
    }

    /// Longest match first, from the left; a word with an unmatched rest is unknown as a whole.
    fn word(&self, word: &str, ids: &mut Vec<u32>) {
        if word.chars().count() > LONGEST_WORD {
            ids.push(UNKNOWN);
            return;
        }
        let (kept, mut rest) = (ids.len(), word);
        while !rest.is_empty() {
            let table = if ids.len() == kept { &self.begin } else { &self.inside };
            let mut end = rest.len();
            let found = loop {
                match table.get(&rest[..end]) {
                    Some(&id) => break Some(id),
                    None => match rest[..end].char_indices().next_back() {
                        Some((at, _)) if at > 0 => end = at,
                        _ => break None,
                    },
                }
            };
            match found {
                Some(id) => ids.push(id),
                None => {
                    ids.truncate(kept);
                    ids.push(UNKNOWN);
                    return;
                }
            }
            rest = &rest[end..];
        }
    }
}

fn cut(text: &str) -> &str {
    let mut end = text.len().min(LONGEST_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Calls `each` with every normalised word or punctuation mark until it says stop.
fn for_each_word(text: &str, mut each: impl FnMut(&str) -> bool) {
    let mut word = String::new();
    let mut mark = [0u8; 4];
    let lower = text
        .chars()
        .filter(|&c| c != '\0' && c != '\u{fffd}' && !is_control(c))
        .nfd()
        .filter(|c| c.general_category() != Cat::NonspacingMark)
        .flat_map(char::to_lowercase);
    for c in lower {
        let alone = is_punctuation(c) || is_cjk(c);
        if c.is_whitespace() || alone {
            if !word.is_empty() && !each(&word) {
                return;
            }
            word.clear();
            if alone && !each(c.encode_utf8(&mut mark)) {
                return;
            }
        } else {
            word.push(c);
        }
    }
    if !word.is_empty() {
        each(&word);
    }
}

fn is_control(c: char) -> bool {
    !matches!(c, '\t' | '\n' | '\r')
        && matches!(
            c.general_category(),
            Cat::Control | Cat::Format | Cat::Surrogate | Cat::PrivateUse | Cat::Unassigned
        )
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || (!c.is_ascii() && c.general_category_group() == Group::Punctuation)
}

/// The blocks that BERT's own tokenizer sets apart, no more.
fn is_cjk(c: char) -> bool {
    matches!(u32::from(c),
        0x4E00..=0x9FFF | 0x3400..=0x4DBF | 0x20000..=0x2A6DF | 0x2A700..=0x2B73F | 0x2B740..=0x2B81F
        | 0x2B920..=0x2CEAF | 0xF900..=0xFAFF | 0x2F800..=0x2FA1F)
}
