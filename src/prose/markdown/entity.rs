//! HTML character references, as CommonMark reads them: with their semicolon.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

/// HTML's named characters by name, without `&` and `;`.
static NAMED: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    let named = entities::ENTITIES.iter();
    named.filter_map(|e| Some((e.entity.strip_prefix('&')?.strip_suffix(';')?, e.characters))).collect()
});

/// The longest name or number that is looked at, in bytes: HTML's longest name has 31 letters.
const NAME_MAX: usize = 32;

/// Resolves the character references in `text`.
pub(super) fn decode(text: &str) -> Cow<'_, str> {
    let mut parts = text.split('&');
    let first = parts.next().unwrap_or_default();
    if first.len() == text.len() {
        return Cow::Borrowed(text);
    }
    let mut out = first.to_owned();
    for part in parts {
        let (text, length) = after_ampersand(part).unwrap_or((Cow::Borrowed("&"), 0));
        out.push_str(&text);
        out.push_str(&part[length..]);
    }
    Cow::Owned(out)
}

/// What the reference stands for whose `&` was just before `rest`, and how many bytes of `rest` belong to it.
pub(super) fn after_ampersand(rest: &str) -> Option<(Cow<'static, str>, usize)> {
    let end = rest.bytes().take(NAME_MAX + 1).position(|b| b == b';')?;
    let name = &rest[..end];
    let text = match name.strip_prefix('#') {
        Some(number) => Cow::Owned(numbered(number)?.to_string()),
        None => Cow::Borrowed(*NAMED.get(name)?),
    };
    Some((text, end + 1))
}

/// The character with a decimal or `x` hexadecimal number; U+FFFD for numbers that are no character.
fn numbered(number: &str) -> Option<char> {
    let (digits, radix, most) = match number.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16, 6),
        None => (number, 10, 7),
    };
    let plain = (1..=most).contains(&digits.len()) && digits.chars().all(|c| c.is_digit(radix));
    let code = if plain { u32::from_str_radix(digits, radix).ok()? } else { return None };
    Some(char::from_u32(code).filter(|&c| c != '\0').unwrap_or('\u{FFFD}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_resolved_and_nothing_else() {
        for (text, expected) in [
            ("a &amp; b", "a & b"),
            ("&#33;12 &#x21;13", "!12 !13"),
            ("&amp;amp;", "&amp;"),
            ("&nosuch; &amp &; &#; &#xZ; &", "&nosuch; &amp &; &#; &#xZ; &"),
            ("&#0;&#1114112;", "\u{FFFD}\u{FFFD}"),
            ("&CounterClockwiseContourIntegral;", "∳"),
            ("plain", "plain"),
        ] {
            assert_eq!(decode(text), expected);
        }
    }
}
