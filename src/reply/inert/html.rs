//! HTML in Markdown: tags are left out, their text stays.

use std::ops::Range;

use super::inline::Token;

/// A tag, comment or instruction at the beginning of a text.
pub(super) struct Tag {
    /// Its length.
    pub length: usize,
    /// Whether it is HTML: `<project-id>` in a sentence is a word.
    pub known: bool,
    /// Whether it separates the words around it.
    pub breaks: bool,
}

const INLINE: &[&str] = &[
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "del", "dfn", "em", "font", "i", "img",
    "ins", "kbd", "mark", "q", "rp", "rt", "ruby", "s", "samp", "small", "span", "strike", "strong", "sub",
    "sup", "tt", "u", "var", "wbr", "picture", "source", "video", "audio", "track", "iframe", "object",
    "embed", "svg", "path", "g", "script", "style", "link", "meta", "base", "noscript", "template", "label",
    "input", "button", "select", "option", "textarea",
];
const BREAKING: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "br",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "legend",
    "li",
    "main",
    "menu",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
];

/// The tag that a text which begins with `<` opens with.
pub(super) fn tag(text: &str) -> Option<Tag> {
    let until = |end: &str| text.find(end).map(|at| at + end.len());
    let mark = |length: usize| Tag { length, known: true, breaks: false };
    if let Some(comment) = text.strip_prefix("<!--") {
        return comment.find("-->").map(|at| mark(at + 7));
    }
    if text.starts_with("<?") {
        return until("?>").map(mark);
    }
    if text.starts_with("<![CDATA[") {
        return until("]]>").map(mark);
    }
    if text.starts_with("<!") && text[2..].starts_with(|c: char| c.is_ascii_alphabetic()) {
        return until(">").map(mark);
    }
    let name = text[1..].strip_prefix('/').unwrap_or(&text[1..]);
    let name = &name[..name.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'-').count()];
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    let breaks = BREAKING.contains(&lower.as_str());
    let length = close(text)?;
    // A component of a documentation site, not a word in angle brackets.
    let component = text.starts_with("</")
        || text[..length].ends_with("/>")
        || text[..length].contains("=\"")
        || text[length..].contains(&format!("</{name}>"));
    let known = breaks || component || INLINE.contains(&lower.as_str());
    Some(Tag { length, known, breaks })
}

/// Where a tag ends: at the first `>` outside quotes.
fn close(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match (byte, quote) {
            (b'"' | b'\'', None) => quote = Some(byte),
            (byte, Some(open)) if byte == open => quote = None,
            (b'>', None) => return Some(at + 1),
            (b'<', None) => return None,
            _ => {}
        }
    }
    None
}

/// Cuts the bytes of an HTML block into tokens: no mark in it means anything.
pub(super) fn tokens(text: &str, bytes: Range<usize>) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = bytes.start;
    let mut fresh = true;
    while at < bytes.end {
        let rest = &text[at..bytes.end];
        let c = rest.chars().next().unwrap_or_default();
        let length = match c {
            '<' => silent(rest).or_else(|| tag(rest).map(|tag| tag.length)),
            ' ' | '\t' if fresh => Some(1),
            _ => None,
        };
        fresh = c == '\n' || (fresh && length.is_some());
        match length {
            Some(length) => tokens.push(Token::Skip(at..at + length)),
            None if c == '\n' => tokens.push(Token::Raw(at..at + 1)),
            None => tokens.push(Token::Char(at, matches!(c, '*' | '_' | '`' | '\\' | '<' | '[' | '~' | '|'))),
        }
        at += length.unwrap_or(c.len_utf8());
    }
    tokens
}

/// The length of an element or comment that shows nothing, to the end where nothing closes it.
fn silent(rest: &str) -> Option<usize> {
    if rest.starts_with("<!--") {
        return Some(rest.find("-->").map_or(rest.len(), |at| at + 3));
    }
    let lower = rest.get(..8).unwrap_or(rest).to_ascii_lowercase();
    let end = ["script", "style"]
        .into_iter()
        .find(|name| lower[1..].starts_with(name))
        .map(|name| format!("</{name}"))?;
    let close = rest.to_ascii_lowercase().find(&end).unwrap_or(rest.len());
    Some(rest[close..].find('>').map_or(rest.len(), |at| close + at + 1))
}
