//! Characters that nobody sees (rule 10). At the edge of a word they came along with a copied text; anywhere
//! else they make one thing look like another.

use std::borrow::Cow;

/// Whether `c` is drawn as nothing.
pub(in crate::prose) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
}

/// Whether `text` holds such a character.
pub(super) fn has_invisible(text: &str) -> bool {
    !text.is_ascii() && text.contains(is_invisible)
}

/// `text` without the invisible characters at its two ends.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(is_invisible)
}

/// `text` with spaces in place of the invisible characters at the edges of its words. Its length in bytes
/// stays the same.
pub(in crate::prose) fn blank_edges(text: &str) -> Cow<'_, str> {
    if !has_invisible(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for word in text.split_inclusive(char::is_whitespace) {
        let inner = word.trim_end_matches(char::is_whitespace);
        let start = inner.len() - inner.trim_start_matches(is_invisible).len();
        let seen = trim(inner);
        out.extend(std::iter::repeat_n(' ', start));
        out.push_str(seen);
        out.extend(std::iter::repeat_n(' ', inner.len() - start - seen.len()));
        out.push_str(&word[inner.len()..]);
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_edges_of_words_are_blanked() {
        for (text, expected) in [
            ("a\u{200b} b", "a    b"),
            ("\u{ad}a", "  a"),
            ("a\u{200b}b\u{feff}", "a\u{200b}b   "),
            ("\u{200b}\u{200b}", "      "),
            ("ä ö", "ä ö"),
            ("a\u{2028}\u{200b}b\u{a0}", "a\u{2028}   b\u{a0}"),
        ] {
            assert_eq!(blank_edges(text), expected);
            assert_eq!(blank_edges(text).len(), text.len());
        }
    }
}
