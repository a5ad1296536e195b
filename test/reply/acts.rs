//! What GitLab would do with a note, told by its own parser and by the patterns its filters look for. Written
//! apart from the renderer, so that one error is not made twice.

use std::sync::LazyLock;

use comrak::nodes::{AstNode, NodeValue};
use comrak::{Arena, Options, parse_document};
use regex::Regex;

/// GitLab's switches of the parser.
fn options() -> Options<'static> {
    let mut options = Options::default();
    let extension = &mut options.extension;
    (extension.autolink, extension.table, extension.strikethrough) = (true, true, true);
    (extension.tasklist, extension.footnotes, extension.description_lists) = (true, true, true);
    (extension.alerts, extension.multiline_block_quotes) = (true, true);
    (extension.math_dollars, extension.math_code) = (true, true);
    (extension.wikilinks_title_before_pipe, extension.cjk_friendly_emphasis) = (true, true);
    options.parse.escaped_char_spans = true;
    options.parse.relaxed_autolinks = true;
    options.parse.relaxed_tasklist_matching = true;
    options.parse.tasklist_in_table = true;
    options
}

/// Everything in a note that is more than words. `is_ours` tells the addresses that the note may lead to.
pub fn of(note: &str, is_ours: impl Fn(&str) -> bool) -> Vec<String> {
    let mut acts = Vec::new();
    if let Some(c) = note.chars().find(|&c| c != '\n' && c != '\t' && hidden(c)) {
        acts.push(format!("hidden character {:?}", c));
    }
    let arena = Arena::new();
    let root = parse_document(&arena, note, &options());
    let lines: Vec<&str> = note.split('\n').collect();
    for node in root.descendants() {
        node_acts(node, &lines, &is_ours, &mut acts);
        if !node.ancestors().any(|above| matches!(above.data.borrow().value, NodeValue::Link(_))) {
            text_acts(&text(node), &mut acts);
        }
    }
    acts
}

fn node_acts<'a>(
    node: &'a AstNode<'a>,
    lines: &[&str],
    is_ours: &impl Fn(&str) -> bool,
    acts: &mut Vec<String>,
) {
    let data = node.data.borrow();
    let top = node.parent().is_some_and(|parent| matches!(parent.data.borrow().value, NodeValue::Document));
    match &data.value {
        NodeValue::Paragraph if top => {
            let commands = lines[data.sourcepos.start.line - 1..data.sourcepos.end.line].iter();
            acts.extend(
                commands.filter(|line| line.starts_with('/')).map(|line| format!("command {line:?}")),
            );
        }
        NodeValue::HtmlBlock(html) => {
            let marker = top && html.literal.trim_end() == lines[lines.len() - 1];
            let one = html.literal.matches("<!--").count() == 1 && html.literal.matches("--").count() == 2;
            if !(marker
                && one
                && html.literal.starts_with("<!-- signpost:1 ")
                && html.literal.trim_end().ends_with("-->"))
            {
                acts.push(format!("HTML {:?}", html.literal));
            }
        }
        NodeValue::CodeBlock(code) => {
            let plain = code.info.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+');
            let drawn = [
                "mermaid",
                "plantuml",
                "math",
                "suggestion",
                "dot",
                "graphviz",
                "d2",
                "vega",
                "geojson",
                "glql",
                "ditaa",
                "erd",
                "svgbob",
                "nomnoml",
                "bpmn",
                "stl",
                "kroki",
                "dbml",
                "wavedrom",
                "blockdiag",
                "tikz",
            ];
            if !plain || drawn.contains(&code.info.to_lowercase().as_str()) {
                acts.push(format!("fence {:?}", code.info));
            }
        }
        NodeValue::Link(link) if !is_ours(&link.url) => acts.push(format!("link {:?}", link.url)),
        NodeValue::Image(link) => acts.push(format!("image {:?}", link.url)),
        NodeValue::HtmlInline(html) => acts.push(format!("HTML {html:?}")),
        NodeValue::FrontMatter(_) => acts.push("front matter".into()),
        NodeValue::FootnoteDefinition(_) | NodeValue::FootnoteReference(_) => acts.push("footnote".into()),
        NodeValue::TaskItem(_) => acts.push("task".into()),
        NodeValue::Math(_) => acts.push("math".into()),
        NodeValue::Alert(_) => acts.push("alert".into()),
        NodeValue::WikiLink(_) => acts.push("wiki link".into()),
        _ => {}
    }
}

/// A node's own text. An escaped sigil keeps its own element and reads as a gap; any other escape dissolves.
fn text<'a>(node: &'a AstNode<'a>) -> String {
    let mut out = String::new();
    if matches!(node.data.borrow().value, NodeValue::Escaped) {
        return out;
    }
    for child in node.children() {
        match &child.data.borrow().value {
            NodeValue::Text(text) => out.push_str(text),
            NodeValue::SoftBreak | NodeValue::LineBreak => out.push('\n'),
            NodeValue::Escaped => {
                let inner = child.first_child().map(|inner| inner.data.borrow().value.clone());
                match inner {
                    Some(NodeValue::Text(c)) if "$%#&@!~^:".contains(c.as_ref()) => out.push('\0'),
                    Some(NodeValue::Text(c)) => out.push_str(&c),
                    _ => out.push('\0'),
                }
            }
            _ => out.push('\0'),
        }
    }
    out
}

static PATTERNS: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    [
        ("mention", r"@[A-Za-z0-9_.]"),
        ("issue", r"#\d|(?i)\bGL-\d|\[(issue|work_item|epic|feature_flag|vulnerability|contact|wiki_page):"),
        ("merge request", r"!\d"),
        ("milestone or placeholder", r#"%[A-Za-z0-9_"{]"#),
        ("label", r#"~[A-Za-z0-9_"]"#),
        ("snippet", r"\$\d"),
        ("epic", r"&\d"),
        ("alert", r"\^alert"),
        ("commit", r"(^|[^A-Za-z0-9_])[0-9a-fA-F]{7,64}([^A-Za-z0-9_]|$)"),
        ("project", r"[A-Za-z0-9_.][\w.-]*/[\w.-]+>"),
        ("address", r"[A-Za-z][A-Za-z0-9+.-]+://[^\s>]"),
        ("emoji", r":[a-z0-9_+-]+:"),
        ("inline diff", r"\{\+.*\+\}|\[\+.*\+\]|\{-.*-\}|\[-.*-\]"),
        ("table of contents", r"(?i)\[\[_TOC_\]\]|\[TOC\]"),
    ]
    .map(|(name, pattern)| (name, Regex::new(pattern).unwrap()))
    .into()
});

fn text_acts(text: &str, acts: &mut Vec<String>) {
    let found = PATTERNS.iter().filter_map(|(name, pattern)| Some((name, pattern.find(text)?)));
    acts.extend(found.map(|(name, found)| format!("{name} {:?}", found.as_str())));
}

fn hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[test]
fn the_checker_sees_what_acts() {
    for hostile in [
        "/close",
        "text\n/close",
        "@all",
        "see #12",
        "a !3",
        "%v1",
        "~bug",
        "$12",
        "&5",
        "^alert#1",
        "deadbeef1",
        "https://example.com/a",
        "www.example.com",
        "![a](b)",
        "<b>x</b>",
        "<details>\n</details>",
        "```mermaid\nx\n```",
        "$`a`$",
        "- [ ] x",
        "[x](y)",
        "[[a|b]]",
        "[TOC]",
        ":tada:",
        "{+ a +}",
        "a[^1]\n\n[^1]: b",
        "> [!note]\n> a",
        "%{project_name}",
        "acme/api>",
        "a\u{202e}b",
        "<!-- a -->",
    ] {
        assert!(!of(hostile, |_| false).is_empty(), "{hostile}");
    }
    for calm in [
        "plain text",
        r"\@all \#12 `@all`",
        "```rust\n@all\n```",
        "> /close",
        "- a\n- *b*",
        "| a |\n|---|\n| b |",
    ] {
        assert_eq!(of(calm, |_| false), Vec::<String>::new(), "{calm}");
    }
}
