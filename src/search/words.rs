//! Words and identifiers: how text is taken apart, for indexing, for queries and for fingerprints alike.

use tantivy::tokenizer::{
    Language, LowerCaser, RemoveLongFilter, Stemmer, StopWordFilter, TextAnalyzer, Token, TokenStream,
    Tokenizer,
};

/// Tokens of more bytes than this are data, not words.
const LONGEST: usize = 60;

/// Words of a question that say nothing about its subject, beside those that tantivy's English list knows.
const STOP: &[&str] = &[
    "a",
    "about",
    "after",
    "again",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "anybody",
    "anyone",
    "are",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "but",
    "by",
    "can",
    "cannot",
    "could",
    "did",
    "do",
    "does",
    "doing",
    "don",
    "done",
    "each",
    "etc",
    "every",
    "for",
    "from",
    "get",
    "give",
    "go",
    "got",
    "had",
    "has",
    "have",
    "he",
    "hello",
    "help",
    "her",
    "here",
    "hi",
    "his",
    "how",
    "however",
    "i",
    "if",
    "in",
    "instead",
    "into",
    "is",
    "it",
    "its",
    "just",
    "know",
    "let",
    "like",
    "ll",
    "look",
    "m",
    "make",
    "many",
    "may",
    "maybe",
    "me",
    "might",
    "more",
    "most",
    "must",
    "my",
    "need",
    "no",
    "nor",
    "not",
    "now",
    "of",
    "on",
    "only",
    "or",
    "other",
    "our",
    "out",
    "own",
    "please",
    "possible",
    "re",
    "really",
    "same",
    "say",
    "see",
    "seem",
    "shall",
    "she",
    "should",
    "so",
    "some",
    "somebody",
    "someone",
    "something",
    "still",
    "such",
    "t",
    "tell",
    "than",
    "thank",
    "thanks",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "thing",
    "think",
    "this",
    "those",
    "though",
    "to",
    "too",
    "understand",
    "up",
    "us",
    "use",
    "using",
    "ve",
    "very",
    "want",
    "was",
    "way",
    "we",
    "well",
    "were",
    "what",
    "when",
    "where",
    "whether",
    "which",
    "while",
    "who",
    "why",
    "will",
    "with",
    "without",
    "wonder",
    "would",
    "yes",
    "you",
    "your",
    "s",
    "d",
    "anything",
    "everything",
    "nothing",
    "even",
    "ever",
    "much",
    "wrong",
];

/// The analyser of running text: words, and identifiers whole and in parts; lower case, no stop words, stemmed.
pub(super) fn prose() -> TextAnalyzer {
    TextAnalyzer::builder(Splitter::new(split_prose))
        .filter(RemoveLongFilter::limit(LONGEST))
        .filter(LowerCaser)
        .filter(StopWordFilter::remove(STOP.iter().map(|&word| word.to_owned())))
        .filter(Stemmer::new(Language::English))
        .build()
}

/// The analyser of names: options, dotted paths, environment variables, camel case; whole, lower case.
pub(super) fn names() -> TextAnalyzer {
    TextAnalyzer::builder(Splitter::new(split_names))
        .filter(RemoveLongFilter::limit(LONGEST))
        .filter(LowerCaser)
        .build()
}

/// Runs `analyser` over `text` and hands every token to `each`.
pub(super) fn each(analyser: &mut TextAnalyzer, text: &str, mut each: impl FnMut(&str)) {
    let mut stream = analyser.token_stream(text);
    while stream.advance() {
        each(&stream.token().text);
    }
}

/// The terms of running text, in order, repeats included.
pub(crate) fn terms(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    each(&mut prose(), text, |term| found.push(term.to_owned()));
    found
}

type Piece = (usize, usize);

/// A tokenizer made of a function that splits a whole text.
#[derive(Clone)]
struct Splitter {
    split: fn(&str) -> Vec<Piece>,
}

impl Splitter {
    fn new(split: fn(&str) -> Vec<Piece>) -> Splitter {
        Splitter { split }
    }
}

impl Tokenizer for Splitter {
    type TokenStream<'a> = Pieces<'a>;
    fn token_stream<'a>(&'a mut self, text: &'a str) -> Pieces<'a> {
        Pieces { text, pieces: (self.split)(text).into_iter(), token: Token::default() }
    }
}

struct Pieces<'a> {
    text: &'a str,
    pieces: std::vec::IntoIter<Piece>,
    token: Token,
}

impl TokenStream for Pieces<'_> {
    fn advance(&mut self) -> bool {
        let Some((from, to)) = self.pieces.next() else { return false };
        self.token.position = self.token.position.wrapping_add(1);
        self.token.offset_from = from;
        self.token.offset_to = to;
        self.token.text.clear();
        self.token.text.push_str(&self.text[from..to]);
        true
    }
    fn token(&self) -> &Token {
        &self.token
    }
    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

/// Runs of letters, digits and `_`; those with inner marks or changes of case also in parts.
fn split_prose(text: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    for (from, run) in runs(text, |c| c.is_alphanumeric() || c == '_') {
        let before = found.len();
        parts(from, run, &mut found);
        let whole = (from, from + run.len());
        if found.len() > before + 1 || found.get(before).is_some_and(|part| *part != whole) {
            found.push(whole);
        }
    }
    found
}

/// Splits at `_` and where lower case turns into upper case; CJK characters stand alone.
fn parts(from: usize, run: &str, found: &mut Vec<Piece>) {
    let mut start = None;
    let mut last = ' ';
    for (at, c) in run.char_indices() {
        let at = from + at;
        let boundary = c == '_' || (last.is_lowercase() && c.is_uppercase()) || is_cjk(c) || is_cjk(last);
        if let Some(open) = start.filter(|_| boundary) {
            found.push((open, at));
            start = None;
        }
        if c != '_' && start.is_none() {
            start = Some(at);
        }
        last = c;
    }
    if let Some(open) = start {
        found.push((open, from + run.len()));
    }
}

fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// Names that are more than a word: with an inner `_`, `-`, `.`, `:` or `/`, a leading `--`, or camel case.
fn split_names(text: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    for (from, run) in runs(text, |c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '$')) {
        let bare = run.trim_start_matches(['-', '.', ':', '$']);
        let start = from + run.len() - bare.len();
        let bare = bare.trim_end_matches(['-', '.', ':', '$', '_']);
        let option = run.starts_with("--") && !bare.is_empty();
        let joined = bare.contains(['_', '-', '.', ':']) && bare.chars().any(char::is_alphabetic);
        let camel = bare.chars().zip(bare.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
        if option || joined || camel {
            found.push((start, start + bare.len()));
        }
    }
    found
}

/// The maximal runs of characters for which `holds`, with their offsets.
fn runs(text: &str, holds: impl Fn(char) -> bool) -> impl Iterator<Item = (usize, &str)> {
    let mut offset = 0;
    text.split(move |c: char| !holds(c)).filter_map(move |run| {
        let from = offset;
        offset = from + run.len();
        // The separator that ended this run is skipped by the next one's start.
        offset += text[offset..].chars().next().map_or(0, char::len_utf8);
        (!run.is_empty()).then_some((from, run))
    })
}
