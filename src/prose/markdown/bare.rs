//! Bare URLs: where one begins in text, and where it ends.

use crate::prose::markdown::veil::AMPERSAND;
use crate::prose::references::invisible::is_invisible;
use crate::prose::references::marks::is_stop;

/// The longest character reference that is looked for at the end of a URL, in bytes: HTML's longest name has
/// 31 letters.
const CHARACTER_REFERENCE_MAX: usize = 40;

/// The first place at or after `from` where a bare URL begins: `http://` or `https://` in any letter case,
/// not behind an ASCII letter or digit.
pub(in crate::prose) fn find(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b':', &bytes[from..]).map(|colon| from + colon).find_map(|colon| {
        bytes[colon..].starts_with(b"://").then_some(())?;
        let start = from + scheme_start(&bytes[from..colon])?;
        let glued = bytes[..start].last().is_some_and(u8::is_ascii_alphanumeric);
        (!glued).then_some(start)
    })
}

/// Where the `http` or `https` that ends `text` begins.
fn scheme_start(text: &[u8]) -> Option<usize> {
    ["https", "http"].iter().find_map(|scheme| {
        let start = text.len().checked_sub(scheme.len())?;
        text[start..].eq_ignore_ascii_case(scheme.as_bytes()).then_some(start)
    })
}

/// How far the URL that begins `text` reaches before its end is cut.
pub(super) fn reach(text: &str) -> &str {
    let ends = |c: char| c.is_whitespace() || c.is_control() || c == '<' || is_stop(c);
    &text[..text.find(ends).unwrap_or(text.len())]
}

/// The length of the bare URL that begins `text` before its end is cut.
pub(in crate::prose) fn reach_length(text: &str) -> usize {
    reach(text).len()
}

/// The length of the bare URL that begins `text`.
pub(in crate::prose) fn end(text: &str) -> usize {
    cut(reach(text)).len()
}

/// Cuts from the end of `url` what belongs to the sentence around it: punctuation, character references,
/// brackets without a partner, and invisible characters.
pub(super) fn cut(url: &str) -> &str {
    let mut lonely = lonely_brackets(url);
    let mut url = url;
    while let Some(last) = url.chars().next_back() {
        let keep = url.len() - last.len_utf8();
        let cut = match last {
            ';' => character_reference_start(url).unwrap_or(keep),
            '?' | '!' | '.' | ',' | ':' | '*' | '_' | '~' | '\'' | '"' => keep,
            ')' | ']' | '}' if lonely.last() == Some(&keep) => {
                lonely.pop();
                keep
            }
            invisible if is_invisible(invisible) => keep,
            _ => break,
        };
        url = &url[..cut];
    }
    url
}

/// Where the closing brackets stand that no bracket of their kind opened before them.
fn lonely_brackets(url: &str) -> Vec<usize> {
    let (mut round, mut square, mut curly) = (0_usize, 0_usize, 0_usize);
    let mut lonely = Vec::new();
    for (at, byte) in url.bytes().enumerate() {
        let open = match byte {
            b'(' | b')' => &mut round,
            b'[' | b']' => &mut square,
            b'{' | b'}' => &mut curly,
            _ => continue,
        };
        match byte {
            b'(' | b'[' | b'{' => *open += 1,
            _ if *open == 0 => lonely.push(at),
            _ => *open -= 1,
        }
    }
    lonely
}

/// Where the character reference begins that ends `url`, which ends in a semicolon.
fn character_reference_start(url: &str) -> Option<usize> {
    let body = &url[..url.len() - 1];
    let name = body.bytes().rev().take(CHARACTER_REFERENCE_MAX).take_while(u8::is_ascii_alphanumeric).count();
    let before = &body[..body.len() - name];
    let before = before.strip_suffix('#').unwrap_or(before);
    let before = before.strip_suffix(['&', AMPERSAND])?;
    (name > 0).then_some(before.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Option<&str> {
        find(text, 0).map(|start| &text[start..start + end(&text[start..])])
    }

    #[test]
    fn a_url_begins_at_its_scheme_and_not_within_a_word() {
        assert_eq!(url("at HTTPS://a.test/x"), Some("HTTPS://a.test/x"));
        assert_eq!(url("=http://a.test"), Some("http://a.test"));
        assert_eq!(url("看https://a.test"), Some("https://a.test"));
        assert_eq!(url("xhttps://a.test"), None);
        assert_eq!(url("1http://a.test ftp://b.test ://"), None);
        assert_eq!(url("xhttp://a.test http://b.test"), Some("http://b.test"));
    }

    #[test]
    fn a_url_ends_before_what_belongs_to_the_sentence() {
        for (text, expected) in [
            ("https://a.test/x).", "https://a.test/x"),
            ("https://a.test/x_(y))", "https://a.test/x_(y)"),
            ("https://a.test/x)(y)", "https://a.test/x)(y)"),
            ("https://a.test/x[1]]}", "https://a.test/x[1]"),
            ("https://a.test/?a=1&gt;&#39;", "https://a.test/?a=1"),
            ("https://a.test/?a=1&b;c", "https://a.test/?a=1&b;c"),
            ("https://a.test/x;", "https://a.test/x"),
            ("https://a.test/x\u{200b}.", "https://a.test/x"),
            ("https://a.test/x。y", "https://a.test/x"),
            ("https://a.test/x<br>", "https://a.test/x"),
            ("https://a.test/x\u{a0}y", "https://a.test/x"),
            ("https://a.test/__x__", "https://a.test/__x"),
        ] {
            assert_eq!(url(text), Some(expected), "{text}");
        }
    }
}
