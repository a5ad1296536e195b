//! The inline marks of a block: which characters are words, which are marks, and which are left out.

use std::collections::HashSet;
use std::ops::Range;

use super::escape::must_wrap;
use super::{html, link};

/// A piece of a block's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// Stands as it is: a mark, a code span, white space between lines.
    Raw(Range<usize>),
    /// Is left out.
    Skip(Range<usize>),
    /// One character of the text, at this byte; `true` where it must have a backslash before it.
    Char(usize, bool),
    /// Stands in a code span of ours.
    Wrap(Range<usize>),
    /// A space of ours, where a tag separated two words.
    Space(usize),
}

/// Named references to characters that do nothing; all others are shown as they are written.
const ENTITIES: &[&str] = &[
    "&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&nbsp;", "&ndash;", "&mdash;", "&hellip;", "&copy;",
    "&reg;", "&trade;", "&larr;", "&rarr;", "&times;", "&middot;", "&bull;", "&laquo;", "&raquo;", "&le;",
    "&ge;",
];

/// Cuts the bytes of a block into tokens. `labels` are the file's link references.
pub(super) fn tokens(text: &str, bytes: Range<usize>, labels: &HashSet<String>) -> Vec<Token> {
    let mut scanner =
        Scanner { text, at: bytes.start, end: bytes.end, labels, tokens: Vec::new(), open: Vec::new() };
    scanner.marker();
    while scanner.at < scanner.end {
        scanner.step();
    }
    scanner.tokens
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    end: usize,
    labels: &'a HashSet<String>,
    tokens: Vec<Token>,
    /// Brackets that may open a link: the index of their first token, and how many tokens they are.
    open: Vec<(usize, usize)>,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..self.end]
    }

    fn raw(&mut self, length: usize) {
        self.tokens.push(Token::Raw(self.at..self.at + length));
        self.at += length;
    }

    fn skip(&mut self, length: usize) {
        self.tokens.push(Token::Skip(self.at..self.at + length));
        self.at += length;
    }

    fn character(&mut self, backslash: bool) {
        let length = self.rest().chars().next().map_or(1, char::len_utf8);
        self.tokens.push(Token::Char(self.at, backslash));
        self.at += length;
    }

    /// What a line begins with: white space, and the marks of quotes, lists and headings.
    fn marker(&mut self) {
        let length = marker(self.rest());
        if length > 0 {
            self.raw(length);
        }
    }

    fn step(&mut self) {
        let rest = self.rest();
        match rest.as_bytes()[0] {
            b'\n' => {
                self.raw(1);
                self.marker();
            }
            b'\\' => self.backslash(),
            b'`' => self.ticks(),
            b'<' => self.angle(),
            b'!' if rest.starts_with("![") => self.bracket(2),
            b'[' | b'{' => self.bracket(1),
            b']' => self.close(),
            b'&' => self.entity(),
            b'~' => self.tilde(),
            b'*' | b'_' | b'|' => self.raw(1),
            _ => self.character(false),
        }
    }

    /// A backslash of the file that escapes is left out: the character after it gets one of ours. One that
    /// does not is a character.
    fn backslash(&mut self) {
        match self.rest().as_bytes().get(1) {
            Some(next) if next.is_ascii_punctuation() => {
                self.skip(1);
                self.character(true);
            }
            Some(b'\n') => self.raw(1),
            _ => self.character(true),
        }
    }

    fn ticks(&mut self) {
        let rest = self.rest();
        let Some(span) = code_span(rest) else {
            let run = rest.len() - rest.trim_start_matches('`').len();
            return (0..run).for_each(|_| self.character(true));
        };
        let ticks = span.ticks;
        let content = &rest[ticks..span.end - ticks];
        if ticks == 1 && (must_wrap(content) || is_colour(content)) {
            self.skip(1);
            match must_wrap(content) {
                true => self.tokens.push(Token::Wrap(self.at..self.at + content.len())),
                false => self
                    .tokens
                    .extend(content.char_indices().map(|(byte, _)| Token::Char(self.at + byte, false))),
            }
            self.at += content.len();
            self.skip(1);
        } else if is_colour(content.trim()) {
            self.skip(ticks);
            self.tokens.extend(content.char_indices().map(|(byte, _)| Token::Char(self.at + byte, false)));
            self.at += content.len();
            self.skip(ticks);
        } else {
            self.raw(span.end);
        }
    }

    fn angle(&mut self) {
        let rest = self.rest();
        if let Some(length) = link::autolink(rest) {
            self.skip(1);
            let end = self.at + length - 2;
            while self.at < end {
                self.character(false);
            }
            self.skip(1);
        } else if let Some(tag) = html::tag(rest).filter(|tag| tag.known) {
            self.skip(tag.length);
            if tag.breaks {
                self.tokens.push(Token::Space(self.at - 1));
            }
        } else {
            self.character(true);
        }
    }

    /// An opening bracket: perhaps of a link, perhaps of an inline diff or a table of contents.
    fn bracket(&mut self, length: usize) {
        let rest = self.rest();
        let contents = ["[[_TOC_]]", "[TOC]"]
            .into_iter()
            .find(|name| rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)));
        if let Some(name) = contents {
            self.tokens.push(Token::Wrap(self.at..self.at + name.len()));
            self.at += name.len();
        } else if is_diff(rest) {
            self.tokens.push(Token::Wrap(self.at..self.at + 2));
            self.at += 2;
        } else if rest.starts_with('{') {
            self.character(false);
        } else {
            self.open.push((self.tokens.len(), length));
            (0..length).for_each(|_| self.character(true));
        }
    }

    /// A closing bracket: where it ends a link or an image, its marks are left out.
    fn close(&mut self) {
        let Some((opener, length)) = self.open.pop() else { return self.character(false) };
        let Token::Char(start, _) = self.tokens[opener] else { return self.character(false) };
        let inner = &self.text[start + length..self.at];
        let Some(after) = link::target(inner, &self.rest()[1..], self.labels) else {
            return self.character(false);
        };
        self.tokens[opener] = Token::Skip(start..start + 1);
        if length == 2 {
            self.tokens[opener + 1] = Token::Skip(start + 1..start + 2);
        }
        self.skip(1 + after);
    }

    fn entity(&mut self) {
        let rest = self.rest();
        let known = ENTITIES.iter().find(|name| rest.starts_with(**name)).map(|name| name.len());
        match known {
            Some(length) if !rest[length..].starts_with(is_word_or_sigil) => self.raw(length),
            _ => self.character(true),
        }
    }

    /// Two tildes that others answer strike a text out; any other tilde is a character.
    fn tilde(&mut self) {
        let rest = self.rest();
        let run = rest.len() - rest.trim_start_matches('~').len();
        let paired = run == 2 && (rest[2..].contains("~~") || self.struck());
        if paired { self.raw(2) } else { (0..run).for_each(|_| self.character(true)) }
    }

    fn struck(&self) -> bool {
        self.tokens.iter().any(|token| matches!(token, Token::Raw(raw) if &self.text[raw.clone()] == "~~"))
    }
}

fn is_word_or_sigil(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '"' | '#' | '\'')
}

/// Whether a text begins with an inline diff's opening that something later closes.
fn is_diff(rest: &str) -> bool {
    let opens = rest.get(..2).filter(|start| matches!(*start, "{+" | "[+" | "{-" | "[-"));
    let sign = opens.map(|start| &start[1..]);
    sign.is_some_and(|sign| {
        rest[2..].contains(&format!("{sign}]")) || rest[2..].contains(&format!("{sign}}}"))
    })
}

/// Whether GitLab would draw a patch of colour beside a code span with this content.
fn is_colour(content: &str) -> bool {
    let content = content.trim();
    let hex = content.strip_prefix('#').is_some_and(|digits| {
        matches!(digits.len(), 3 | 4 | 6 | 8) && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    });
    let lower = content.to_ascii_lowercase();
    hex || (content.is_ascii()
        && content.ends_with(')')
        && (lower.starts_with("rgb") || lower.starts_with("hsl")))
}

/// A code span at the beginning of a text.
pub(super) struct CodeSpan {
    /// How many backticks fence it.
    pub ticks: usize,
    /// Where it ends, closing fence included.
    pub end: usize,
}

/// The code span that a text which begins with a backtick opens; `None` when nothing closes it.
pub(super) fn code_span(text: &str) -> Option<CodeSpan> {
    let ticks = text.len() - text.trim_start_matches('`').len();
    let mut at = ticks;
    while let Some(found) = text[at..].find('`') {
        let start = at + found;
        let run = text[start..].len() - text[start..].trim_start_matches('`').len();
        at = start + run;
        if run == ticks {
            return Some(CodeSpan { ticks, end: at });
        }
    }
    None
}

/// The length of what a line begins with: white space and the marks of quotes, lists and headings.
fn marker(line: &str) -> usize {
    let bytes = line.as_bytes();
    let mut at = 0;
    let ends = |at: usize| matches!(bytes.get(at), None | Some(b' ' | b'\t' | b'\n'));
    loop {
        let run = |wanted: fn(&u8) -> bool| bytes[at..].iter().take_while(|byte| wanted(byte)).count();
        let length = match bytes.get(at) {
            Some(b' ' | b'\t' | b'>') => 1,
            Some(b'-' | b'+' | b'*') if ends(at + 1) => 1,
            Some(b'#') if run(|&byte| byte == b'#') <= 6 && ends(at + run(|&byte| byte == b'#')) => {
                run(|&byte| byte == b'#')
            }
            Some(b'0'..=b'9') => {
                let digits = run(u8::is_ascii_digit);
                let lists = digits <= 9
                    && matches!(bytes.get(at + digits), Some(b'.' | b')'))
                    && ends(at + digits + 1);
                if lists { digits + 1 } else { 0 }
            }
            _ => 0,
        };
        if length == 0 {
            return at;
        }
        at += length;
    }
}
