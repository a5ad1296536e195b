//! Which characters of a text get a backslash, and which words a code span.

use super::Op;
use super::inline::Token;

/// Turns tokens into what is kept and what is put in.
pub(super) fn ops(text: &str, tokens: &[Token]) -> Vec<Op> {
    let mut ops = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            Token::Raw(bytes) => ops.push(Op::Keep(bytes.clone())),
            Token::Skip(_) => {}
            Token::Space(place) => ops.push(Op::Insert(*place, SPACE)),
            Token::Wrap(bytes) => {
                ops.push(Op::Insert(bytes.start, "`"));
                ops.push(Op::Keep(bytes.clone()));
                ops.push(Op::Insert(bytes.end - 1, "`"));
            }
            Token::Char(..) => {
                let run = Run::of(text, &tokens[at..]);
                run.write(&mut ops);
                at += run.tokens;
                continue;
            }
        }
        at += 1;
    }
    ops
}

/// A space of ours. Nothing else in a quote is a numeric reference: the file's own have a backslash.
pub(super) const SPACE: &str = "&#32;";

/// Characters that follow each other in the note, whatever was left out between them.
struct Run {
    characters: Vec<(usize, char, bool)>,
    tokens: usize,
}

impl Run {
    fn of(text: &str, tokens: &[Token]) -> Run {
        let mut run = Run { characters: Vec::new(), tokens: 0 };
        for token in tokens {
            match token {
                Token::Char(at, backslash) => {
                    let c = text[*at..].chars().next().unwrap_or_default();
                    run.characters.push((*at, c, *backslash));
                }
                Token::Skip(_) => {}
                _ => break,
            }
            run.tokens += 1;
        }
        run
    }

    fn write(&self, ops: &mut Vec<Op>) {
        let mut index = 0;
        while index < self.characters.len() {
            let word = self.wrapped(index);
            if word > 0 {
                let last = self.characters[index + word - 1].0;
                ops.push(Op::Insert(self.characters[index].0, "`"));
                self.characters[index..index + word].iter().for_each(|&(at, c, _)| ops.push(keep(at, c)));
                ops.push(Op::Insert(last, "`"));
                index += word;
                continue;
            }
            let (at, c, backslash) = self.characters[index];
            if (backslash && c.is_ascii_punctuation()) || self.acts(index) {
                ops.push(Op::Insert(at, "\\"));
            }
            ops.push(keep(at, c));
            index += 1;
        }
    }

    fn character(&self, index: usize) -> Option<char> {
        self.characters.get(index).map(|&(_, c, _)| c)
    }

    /// Whether the character at `index` acts together with what stands beside it.
    fn acts(&self, index: usize) -> bool {
        let Some(c) = self.character(index) else { return false };
        let next = self.character(index + 1);
        let before = |wanted: &str| {
            wanted.chars().rev().enumerate().all(|(back, c)| {
                let at = index.checked_sub(back + 1).and_then(|at| self.character(at));
                at.is_some_and(|at| at.eq_ignore_ascii_case(&c))
            })
        };
        match c {
            '\\' | '`' | '<' | '[' | '@' | '$' | '^' | '~' => true,
            '#' | '!' | '%' | '&' | ':' => {
                !next.is_none_or(|c| c.is_whitespace() || matches!(c, '.' | ',' | ')'))
            }
            '.' => before("www"),
            _ => false,
        }
    }

    /// The length of the word at `index` that only a code span stops; 0 when there is none.
    fn wrapped(&self, index: usize) -> usize {
        let word = |c: char| c.is_ascii_alphanumeric();
        let inside = index > 0 && self.character(index - 1).is_some_and(word);
        if self.character(index) == Some('>') && self.is_project(index) {
            return 1;
        }
        if inside {
            return 0;
        }
        let length = |from: usize| {
            self.characters[from.min(self.characters.len())..].iter().take_while(|(_, c, _)| word(*c)).count()
        };
        let mut end = index + length(index);
        if self.text(index, end).eq_ignore_ascii_case("GL") && self.character(end) == Some('-') {
            end += 1 + length(end + 1);
        }
        if must_wrap(&self.text(index, end)) { end - index } else { 0 }
    }

    /// Whether the `>` at `index` ends `group/project>`.
    fn is_project(&self, index: usize) -> bool {
        let path = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '.');
        let before: Vec<char> =
            self.characters[..index].iter().rev().map(|&(_, c, _)| c).take_while(path).take(256).collect();
        before.contains(&'/') && before.first() != Some(&'/')
    }

    fn text(&self, start: usize, end: usize) -> String {
        self.characters[start..end].iter().map(|&(_, c, _)| c).collect()
    }
}

fn keep(at: usize, c: char) -> Op {
    Op::Keep(at..at + c.len_utf8())
}

/// Whether a word stands in a code span of ours wherever it stands: what GitLab takes for a commit, an issue
/// or a project, opens an inline diff, or asks for a table of contents, and a backslash does not stop.
pub(super) fn must_wrap(word: &str) -> bool {
    let hex = word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let issue = word.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("GL-"))
        && word.len() > 3
        && word[3..].bytes().all(|byte| byte.is_ascii_digit());
    let contents = word.eq_ignore_ascii_case("[TOC]") || word.eq_ignore_ascii_case("[[_TOC_]]");
    hex || issue || contents || matches!(word, "{+" | "[+" | "{-" | "[-" | ">")
}
