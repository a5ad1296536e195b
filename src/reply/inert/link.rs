//! Where a link's marks end.

use std::collections::HashSet;

use super::blocks::label;

/// Longer addresses, titles and labels are not looked at: a link that long is shown as it is written.
const MAX: usize = 2048;

/// The length of what follows a closing bracket and belongs to its link: `(address "title")`, `[label]`, `[]`
/// or nothing; `None` when the brackets are no link. `inner` is the text between the brackets.
pub(super) fn target(inner: &str, rest: &str, labels: &HashSet<String>) -> Option<usize> {
    let defined = |name: &str| name.len() < MAX && labels.contains(&label(name));
    if let Some(length) = inline(rest) {
        return Some(length);
    }
    if let Some(after) = rest.strip_prefix('[') {
        let name = after.split(']').next().filter(|name| name.len() < after.len() && name.len() < MAX)?;
        let named = if name.trim().is_empty() { defined(inner) } else { defined(name) };
        return named.then_some(name.len() + 2);
    }
    defined(inner).then_some(0)
}

/// The length of `(address "title")`.
fn inline(rest: &str) -> Option<usize> {
    let mut at = rest.strip_prefix('(').map(|_| 1)?;
    at += blank(&rest[at..]);
    at += address(&rest[at..])?;
    let space = blank(&rest[at..]);
    at += space;
    if space > 0 {
        at += title(&rest[at..]).unwrap_or(0);
        at += blank(&rest[at..]);
    }
    rest[at..].starts_with(')').then_some(at + 1)
}

fn blank(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t', '\n', '>']).len()
}

fn address(text: &str) -> Option<usize> {
    if text.starts_with('<') {
        let end = text.find(['>', '\n']).filter(|&end| end < MAX)?;
        return text[end..].starts_with('>').then_some(end + 1);
    }
    let mut depth = 0usize;
    let mut escaped = false;
    for (at, c) in text.char_indices().take(MAX) {
        match c {
            _ if std::mem::take(&mut escaped) => {}
            '\\' => escaped = true,
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            c if c.is_ascii_whitespace() => return Some(at),
            _ => {}
        }
    }
    None
}

fn title(text: &str) -> Option<usize> {
    let close = match text.chars().next()? {
        '(' => ')',
        quote @ ('"' | '\'') => quote,
        _ => return None,
    };
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1).take(MAX) {
        match c {
            _ if std::mem::take(&mut escaped) => {}
            '\\' => escaped = true,
            c if c == close => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The length of `<https://…>` or `<name@host>`.
pub(super) fn autolink(rest: &str) -> Option<usize> {
    let end = rest.find(['>', ' ', '\n']).filter(|&end| rest[end..].starts_with('>') && end < MAX)?;
    let inner = rest[1..end].strip_prefix('<').map_or(&rest[1..end], |_| "");
    let scheme = inner.split_once(':').is_some_and(|(scheme, _)| {
        scheme.len() >= 2
            && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
    });
    let mail = inner.split_once('@').is_some_and(|(name, host)| {
        !name.is_empty() && !host.is_empty() && !name.contains(['/', '"', '=']) && !host.contains(['@', '/'])
    });
    (scheme || mail).then_some(end + 1)
}
