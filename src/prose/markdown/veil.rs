//! Bare URLs are found before emphasis: `__init__` in one is no bold text, and `&amp;` in one is read as it is
//! written. The parser knows nothing of that, so the marks it would act on are veiled in its input wherever a
//! URL may stand, and lifted in its output.
//!
//! The veils are Unicode noncharacters, which no text can mean; where one occurs all the same it becomes U+FFFD
//! first, as the parser does with NUL.

use std::borrow::Cow;

use crate::prose::markdown::{bare, entity};

const UNDERSCORE: char = '\u{FDD0}';
const STAR: char = '\u{FDD1}';
const TILDE: char = '\u{FDD2}';
/// The veiled `&`: in a run it stays veiled, so that the end of a URL can still be told by its character
/// references.
pub(super) const AMPERSAND: char = '\u{FDD3}';

/// The first byte of every veil in UTF-8.
const VEIL_BYTE: u8 = 0xEF;

fn is_veil(c: char) -> bool {
    (UNDERSCORE..=AMPERSAND).contains(&c)
}

fn has_veil(text: &str) -> bool {
    memchr::memchr(VEIL_BYTE, text.as_bytes()).is_some_and(|at| text[at..].contains(is_veil))
}

/// Veils `_ * ~ &` within everything that may be a bare URL.
pub(super) fn veil(text: &str) -> Cow<'_, str> {
    if has_veil(text) {
        return Cow::Owned(veil_urls(&text.replace(is_veil, "\u{FFFD}")).into_owned());
    }
    veil_urls(text)
}

fn veil_urls(text: &str) -> Cow<'_, str> {
    let (mut out, mut copied, mut at) = (String::new(), 0, 0);
    while let Some(start) = bare::find(text, at) {
        let reach = reach(text, start);
        at = start + reach.len();
        if reach.contains(['_', '*', '~', '&']) {
            out.push_str(&text[copied..start]);
            veil_url(reach, &mut out);
            copied = at;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

fn veil_url(reach: &str, out: &mut String) {
    let sure = bare::cut(reach).len();
    let mut before = ' ';
    for (at, c) in reach.char_indices() {
        out.push(match c {
            // A backslash has made it ordinary already.
            _ if before == '\\' => c,
            '&' => AMPERSAND,
            '_' if at < sure => UNDERSCORE,
            '*' if at < sure => STAR,
            '~' if at < sure => TILDE,
            other => other,
        });
        before = c;
    }
}

/// How far the URL at `start` may reach, whatever the parser makes of the place: as text, as a destination,
/// in a table cell, beside a code span.
fn reach(text: &str, start: usize) -> &str {
    let before = &text[..start];
    let reach = bare::reach(&text[start..]);
    let reach = up_to(reach, reach.find(['|', '`']));
    let reach = if before.ends_with('<') { up_to(reach, reach.find('>')) } else { reach };
    let reach = up_to(reach, reach.find("](").or_else(|| reach.find("][")));
    if before.ends_with("](") { destination_end(reach) } else { reach }
}

fn up_to(text: &str, end: Option<usize>) -> &str {
    &text[..end.unwrap_or(text.len())]
}

/// The part of `reach` before the parenthesis that ends an inline link.
fn destination_end(reach: &str) -> &str {
    let mut open = 0_usize;
    for (at, byte) in reach.bytes().enumerate() {
        match byte {
            b'(' => open += 1,
            b')' if open == 0 => return &reach[..at],
            b')' => open -= 1,
            _ => {}
        }
    }
    reach
}

/// Lifts the veils of a run; `&` stays veiled.
pub(super) fn lift(text: &str) -> Cow<'_, str> {
    lift_with(text, AMPERSAND)
}

/// Lifts all veils.
pub(super) fn lift_all(text: &str) -> Cow<'_, str> {
    lift_with(text, '&')
}

fn lift_with(text: &str, ampersand: char) -> Cow<'_, str> {
    if !has_veil(text) {
        return Cow::Borrowed(text);
    }
    let lifted = text.chars().map(|c| match c {
        UNDERSCORE => '_',
        STAR => '*',
        TILDE => '~',
        AMPERSAND => ampersand,
        other => other,
    });
    Cow::Owned(lifted.collect())
}

/// Lifts all veils of a URL and resolves the character references that were veiled.
pub(in crate::prose) fn decode(url: &str) -> Cow<'_, str> {
    if !has_veil(url) {
        return Cow::Borrowed(url);
    }
    let lifted = lift(url);
    let mut parts = lifted.split(AMPERSAND);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match entity::after_ampersand(part) {
            Some((text, length)) => {
                out.push_str(&text);
                out.push_str(&part[length..]);
            }
            None => {
                out.push('&');
                out.push_str(part);
            }
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_without_a_url_is_not_copied() {
        assert!(matches!(veil("*a* & __b__ ://"), Cow::Borrowed(_)));
    }

    #[test]
    fn what_is_veiled_is_lifted_again() {
        for text in [
            "see https://a.test/__init__.py?x=1&amp;y=~2* and *more*",
            "[a_b](https://a.test/_b_)*c*",
            "|https://a.test/a_b|*c*|",
        ] {
            let veiled = veil(text);
            assert_ne!(veiled, text);
            assert_eq!(lift_all(&veiled), text);
        }
    }

    #[test]
    fn marks_beside_a_url_keep_their_meaning() {
        for text in
            ["**https://a.test/x**", "<https://a.test/>*b*", "`https://a.test/`*b*", "|https://a.test|*c*|"]
        {
            assert_eq!(veil(text), text);
        }
    }

    #[test]
    fn a_veil_in_the_input_means_nothing() {
        assert_eq!(veil("a\u{FDD0}b"), "a\u{FFFD}b");
    }

    #[test]
    fn veiled_character_references_are_resolved_once() {
        assert_eq!(decode("https://a.test/?a\u{FDD3}amp;amp;b\u{FDD3}c"), "https://a.test/?a&amp;b&c");
    }
}
