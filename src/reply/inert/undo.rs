//! From a rendering back to the bytes of the file.

use super::blocks::{Blocks, Kind};
use super::escape::{SPACE, must_wrap};
use super::inline::code_span;

/// Undoes [`render`](super::render): the kept bytes, from the rendering alone; `None` when it has neither of
/// the two forms. A line end that the file writes as `\r` alone comes back as `\n`.
pub fn unrender(markdown: &str) -> Option<String> {
    if markdown.starts_with('`') {
        let (open, rest) = markdown.split_once('\n')?;
        let fence = "`".repeat(open.len() - open.trim_start_matches('`').len());
        return rest.strip_suffix(&fence)?.strip_suffix('\n').map(str::to_owned);
    }
    let line = |line| if line == ">" { Some("") } else { str::strip_prefix(line, "> ") };
    let flat = markdown.split('\n').map(line).collect::<Option<Vec<_>>>()?.join("\n");
    let blocks = Blocks::of(&flat);
    let mut out = String::with_capacity(flat.len());
    let mut next = 0;
    while let Some(line) = blocks.lines.get(next) {
        if line.kind == Kind::Text {
            let lines = blocks.same_block(next);
            text(&flat[line.bytes.start..blocks.lines[lines.end - 1].end], &mut out);
            next = lines.end;
        } else {
            out.push_str(&flat[line.whole()]);
            next += 1;
        }
    }
    Some(out)
}

/// Takes our backslashes, code spans and spaces out of a block of text.
fn text(block: &str, out: &mut String) {
    let mut at = 0;
    while let Some(c) = block[at..].chars().next() {
        let rest = &block[at..];
        if rest.starts_with(SPACE) {
            at += SPACE.len();
            continue;
        }
        let span = if c == '`' { code_span(rest) } else { None };
        if let Some(span) = span {
            let ours = span.ticks == 1 && must_wrap(&rest[1..span.end - 1]);
            out.push_str(if ours { &rest[1..span.end - 1] } else { &rest[..span.end] });
            at += span.end;
            continue;
        }
        let escaped =
            rest[c.len_utf8()..].chars().next().filter(|next| c == '\\' && next.is_ascii_punctuation());
        out.push(escaped.unwrap_or(c));
        at += c.len_utf8() + escaped.map_or(0, char::len_utf8);
    }
}
