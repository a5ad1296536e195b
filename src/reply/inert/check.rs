//! The last look at a rendering, with GitLab's own parser.

use std::sync::LazyLock;

use comrak::nodes::{AstNode, NodeValue};
use comrak::{Arena, parse_document};
use regex::RegexSet;

use super::blocks::dialect;

/// What GitLab's filters look for in text, a little wider than they do. A backslashed sigil reads as `\u{1}`.
static ACTS: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new([
        r"@",
        r#"[#!%&][\w"{]"#,
        r"[~$^]",
        r"(?-u:\b)[[:xdigit:]]{7,}(?-u:\b)",
        r"(?i)GL-\d",
        r"://",
        r":[\w+-]+:",
        r"\[[a-z_]+:",
        r"\[\+|\{\+|\[-|\{-",
        r"(?i)\[TOC\]|\[\[_TOC_",
        r"[\w.-]/[\w./-]*>",
    ])
    .expect("the patterns are constants")
});

/// Whether nothing in a rendered quote can act: only the nodes that a quote may have, no text that a filter
/// would take up.
pub(super) fn is_inert(markdown: &str) -> bool {
    let arena = Arena::new();
    let root = parse_document(&arena, markdown, &dialect());
    let top: Vec<_> = root.children().collect();
    let one = matches!(top.as_slice(), [only] if matches!(only.data.borrow().value, NodeValue::BlockQuote));
    one && root
        .descendants()
        .all(|node| harmless(node) && words(node).is_none_or(|text| !ACTS.is_match(&text)))
}

fn harmless<'a>(node: &'a AstNode<'a>) -> bool {
    use NodeValue::{
        BlockQuote, Code, CodeBlock, DescriptionDetails, DescriptionItem, DescriptionList, DescriptionTerm,
        Document, Emph, Escaped, Heading, Item, LineBreak, List, MultilineBlockQuote, Paragraph, SoftBreak,
        Strikethrough, Strong, Table, TableCell, TableRow, Text, ThematicBreak,
    };
    match &node.data.borrow().value {
        CodeBlock(code) => code.info.is_empty() || super::fence::is_highlighted(&code.info),
        Document
        | BlockQuote
        | MultilineBlockQuote(_)
        | List(_)
        | Item(_)
        | Paragraph
        | Heading(_)
        | ThematicBreak
        | Table(_)
        | TableRow(_)
        | TableCell
        | Text(_)
        | Code(_)
        | Escaped
        | Emph
        | Strong
        | Strikethrough
        | SoftBreak
        | LineBreak
        | DescriptionList
        | DescriptionItem(_)
        | DescriptionTerm
        | DescriptionDetails => true,
        _ => false,
    }
}

/// The text of a node's own children, as the filters find it: one string where GitLab may join the pieces.
fn words<'a>(node: &'a AstNode<'a>) -> Option<String> {
    let mut out = String::new();
    for child in node.children() {
        match &child.data.borrow().value {
            NodeValue::Text(text) => out.push_str(text),
            NodeValue::SoftBreak | NodeValue::LineBreak => out.push('\n'),
            NodeValue::Escaped => match child.first_child().map(|text| text.data.borrow().value.clone()) {
                Some(NodeValue::Text(text)) if !"$%#&@!~^:".contains(text.as_ref()) => out.push_str(&text),
                _ => out.push('\u{1}'),
            },
            _ => out.push('\u{2}'),
        }
    }
    let container = !matches!(node.data.borrow().value, NodeValue::Escaped);
    (container && !out.is_empty()).then_some(out)
}
