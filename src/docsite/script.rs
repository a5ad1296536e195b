//! JavaScript configuration, looked at without being run: literals that stand beside a key.

/// The text with comments blanked out; strings stay.
pub(super) fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let end = match c {
            '/' if rest.starts_with("//") => {
                rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
                continue;
            }
            '/' if rest.starts_with("/*") => {
                rest = rest.find("*/").map_or("", |end| &rest[end + 2..]);
                continue;
            }
            '"' | '\'' | '`' => string_end(rest, c),
            c => c.len_utf8(),
        };
        kept.push_str(&rest[..end]);
        rest = &rest[end..];
    }
    kept
}

/// The length of the string literal that `text` begins with, quotes included.
fn string_end(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            // Only a template spans lines; anything else with a line end in it is no string after all.
            '\n' if quote != '`' => return 1,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    1
}

/// What stands behind `name:`, outside of strings.
fn value<'a>(script: &'a str, name: &str) -> Option<&'a str> {
    let mut at = 0;
    while at < script.len() {
        let rest = &script[at..];
        let c = rest.chars().next()?;
        if matches!(c, '"' | '\'' | '`') {
            let end = string_end(rest, c);
            let key = end > 2 && &rest[1..end - 1] == name;
            if let Some(value) = rest[end..].trim_start().strip_prefix(':').filter(|_| key) {
                return Some(value.trim_start());
            }
            at += end;
        } else if c.is_alphanumeric() || matches!(c, '_' | '$') {
            let end =
                rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$'))).unwrap_or(rest.len());
            if let Some(value) = rest[end..].trim_start().strip_prefix(':').filter(|_| &rest[..end] == name) {
                return Some(value.trim_start());
            }
            at += end;
        } else {
            at += c.len_utf8();
        }
    }
    None
}

/// The string literal behind `name:`; `None` when something else stands there, or text is put into it.
pub(super) fn literal(script: &str, name: &str) -> Option<String> {
    let value = value(script, name)?;
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let end = string_end(value, quote);
    let text = value.get(1..end.checked_sub(1)?)?;
    // A literal that goes on (`'a' + b`) or has holes (`${…}`) or escapes is no literal of ours.
    let alone = value[end..].trim_start().starts_with([',', '}', ')', ']', ';', '\n'])
        || value[end..].trim().is_empty();
    (alone && !text.contains("${") && !text.contains('\\')).then(|| text.to_owned())
}

/// Whether `true` stands behind `name:`.
pub(super) fn flag(script: &str, name: &str) -> bool {
    value(script, name).is_some_and(|value| value.starts_with("true"))
}

/// What stands between the braces behind `name:`.
pub(super) fn block<'a>(script: &'a str, name: &str) -> Option<&'a str> {
    let body = value(script, name)?.strip_prefix('{')?;
    let (mut depth, mut at) = (1, 0);
    while let Some(c) = body[at..].chars().next() {
        match c {
            '"' | '\'' | '`' => {
                at += string_end(&body[at..], c);
                continue;
            }
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&body[..at]);
        }
        at += c.len_utf8();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_literals_count() {
        let script = "{ a: 'one', \"b\": `two`, c: 'x' + y, d: `v${n}`, e: f('z'), g: 'last' }";
        assert_eq!(literal(script, "a").as_deref(), Some("one"));
        assert_eq!(literal(script, "b").as_deref(), Some("two"));
        assert_eq!(literal(script, "g").as_deref(), Some("last"));
        for name in ["c", "d", "e", "missing"] {
            assert_eq!(literal(script, name), None, "{name}");
        }
    }

    #[test]
    fn comments_go_and_strings_that_look_like_them_stay() {
        let script = without_comments("a: 'http://x', // b: 'no'\n/* c: 'no' */ d: \"/* yes */\"");
        assert_eq!(literal(&script, "a").as_deref(), Some("http://x"));
        assert_eq!((literal(&script, "b"), literal(&script, "c")), (None, None));
        assert_eq!(literal(&script, "d").as_deref(), Some("/* yes */"));
    }

    #[test]
    fn a_block_ends_at_its_own_brace() {
        assert_eq!(block("docs: { a: { b: '}' }, c: 1 }, d: 2", "docs"), Some(" a: { b: '}' }, c: 1 "));
        assert_eq!(block("docs: false", "docs"), None);
    }

    #[test]
    fn unclosed_strings_and_comments_end_somewhere() {
        for text in ["'", "`abc", "/*", "//", "a: '", "docs: {", "'\n'"] {
            let script = without_comments(text);
            let _ = (literal(&script, "a"), block(&script, "docs"));
        }
    }
}
