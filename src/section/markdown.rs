//! Markdown and MDX, cut at headings with the parser that GitLab itself uses.

use comrak::arena_tree::NodeEdge;
use comrak::nodes::{Node, NodeValue};
use comrak::{Anchorizer, Arena, Options, parse_document};

use crate::reference::RepoPath;
use crate::section::heading::{self, Heading};
use crate::section::{Section, lines};

/// Cuts Markdown at the headings of the document itself; headings inside quotations and lists stay where they
/// are, but count for the numbering of repeated anchors, as they do for GitLab.
pub(super) fn cut(path: &RepoPath, text: &str) -> Vec<Section> {
    let (begin, title) = front_matter(text);
    let arena = Arena::new();
    let root = parse_document(&arena, &text[begin..], &options());
    let starts = line_starts(&text[begin..]);
    let mut anchors = Anchorizer::new();
    let mut headings = Vec::new();
    for node in root.descendants() {
        let data = node.data();
        let NodeValue::Heading(found) = &data.value else { continue };
        let whole = plain(node);
        let anchor = anchors.anchorize(&whole);
        if node.parent().is_none_or(|parent| !matches!(parent.data().value, NodeValue::Document)) {
            continue;
        }
        let Some(start) = starts.get(data.sourcepos.start.line.saturating_sub(1)) else { continue };
        let (title, explicit_id) = attributes(&whole);
        let level = usize::from(found.level);
        headings.push(Heading { level, title, anchor, explicit_id, start: begin + start });
    }
    headings.dedup_by_key(|heading| heading.start);
    heading::sections(path, text, begin, title, headings)
}

/// GitLab's settings for files, as far as they move block boundaries.
fn options() -> Options<'static> {
    let mut options = Options::default();
    options.extension.table = true;
    options.extension.strikethrough = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    options.extension.description_lists = true;
    options.extension.multiline_block_quotes = true;
    options.extension.alerts = true;
    options.extension.math_code = true;
    options
}

/// Where the parser's lines begin: it ends them at `\n`, `\r\n` and a lone `\r`.
fn line_starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut starts = vec![0];
    for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
        if bytes[at] == b'\n' || bytes.get(at + 1) != Some(&b'\n') {
            starts.push(at + 1);
        }
    }
    starts
}

/// The text of a heading without markup; images and raw HTML add nothing.
fn plain<'a>(heading: Node<'a>) -> String {
    let mut text = String::new();
    let mut images = 0_usize;
    for edge in heading.traverse() {
        match edge {
            NodeEdge::Start(node) => match &node.data().value {
                NodeValue::Image(_) => images += 1,
                _ if images > 0 => {}
                NodeValue::Text(piece) => text.push_str(piece),
                NodeValue::Code(code) => text.push_str(&code.literal),
                NodeValue::Math(math) => text.push_str(&math.literal),
                NodeValue::SoftBreak | NodeValue::LineBreak => text.push(' '),
                _ => {}
            },
            NodeEdge::End(node) if matches!(node.data().value, NodeValue::Image(_)) => images -= 1,
            NodeEdge::End(_) => {}
        }
    }
    text.trim().to_owned()
}

/// Splits a trailing `{#id .class key=value}` from a heading.
fn attributes(whole: &str) -> (String, Option<String>) {
    let split = whole.strip_suffix('}').and_then(|inner| inner.rsplit_once('{'));
    let Some((title, list)) = split else { return (whole.to_owned(), None) };
    let marked =
        list.trim_start().trim_start_matches(':').trim_start().starts_with(['#', '.']) || list.contains('=');
    if !marked || title.trim().is_empty() {
        return (whole.to_owned(), None);
    }
    let id = list.split_whitespace().find_map(|word| word.trim_start_matches(':').strip_prefix('#'));
    let id = id.filter(|id| !id.is_empty() && id.chars().all(|c| c.is_alphanumeric() || "_-.:".contains(c)));
    (title.trim_end().to_owned(), id.map(str::to_owned))
}

/// The end of the front matter (0 without one) and the title it sets. YAML stands between `---`, TOML between
/// `+++`.
fn front_matter(text: &str) -> (usize, Option<String>) {
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    let offset = text.len() - bare.len();
    let mut rows = lines::numbered(bare);
    let fence = match rows.next() {
        Some((_, row)) if row.trim_end() == "---" => "---",
        Some((_, row)) if row.trim_end() == "+++" => "+++",
        _ => return (0, None),
    };
    let mut title = None;
    let mut closed = false;
    for (start, row) in rows {
        if closed {
            return (offset + start, title);
        }
        closed = row.trim_end() == fence;
        if !closed && title.is_none() {
            title = entry(row, "title");
        }
    }
    if closed { (text.len(), title) } else { (0, None) }
}

/// The value of `key: value` or `key = value`, quotes taken off.
fn entry(row: &str, key: &str) -> Option<String> {
    let rest = row.strip_prefix(key)?.trim_start();
    let value = rest.strip_prefix([':', '='])?.trim();
    let quoted = |mark: char| value.strip_prefix(mark).and_then(|value| value.strip_suffix(mark));
    let value = quoted('"').or_else(|| quoted('\'')).unwrap_or(value).trim();
    (!value.is_empty()).then(|| value.to_owned())
}
