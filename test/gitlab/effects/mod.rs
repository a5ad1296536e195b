//! What GitLab does with a posted text: quick actions run, people are notified, other issues get notes,
//! images load, diagrams draw.
//!
//! The text is read as GitLab reads it (GitHub-flavoured Markdown with GitLab's additions, `\r` removed
//! first), and everything that is more than words is named as an [`Act`]. HTML comments are inert.

mod references;

use comrak::nodes::{AstNode, NodeValue, Sourcepos};
use comrak::{Arena, Options, parse_document};
use regex::Regex;
use std::sync::LazyLock;

/// Something a posted text made GitLab do, and where.
#[derive(Clone, Debug)]
pub struct Effect {
    /// User name of who posted it.
    pub author: String,
    /// Whether the bot posted it, and nobody else.
    pub bot: bool,
    /// Full path of the project.
    pub project: String,
    pub iid: u64,
    /// The note, once it has an id.
    pub note: Option<u64>,
    pub act: Act,
}

/// One thing that GitLab does with a text, beyond showing its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// A line `/name argument` that ran, or would run in a GitLab that knows the command.
    QuickAction { name: String, argument: String },
    /// `@name` outside code: that user, group or everybody is notified, if there is one of that name.
    Mention { name: String },
    /// A reference to an issue, work item or epic: "mentioned in" appears there.
    Issue { project: Option<String>, iid: u64 },
    /// A reference to a merge request: "mentioned in" appears there.
    MergeRequest { project: Option<String>, iid: u64 },
    /// A commit that exists, by id: it becomes a link, and a note appears on the commit.
    Commit { project: Option<String>, sha: String },
    /// `~name` of a label that exists.
    Label { name: String },
    /// An image, sound or film that every reader's browser fetches.
    Image { url: String },
    /// A raw HTML element.
    Html { html: String },
    /// A fence that is drawn or computed: `mermaid`, `plantuml`, `math`, `json:table` …
    Diagram { language: String },
    /// A formula.
    Math,
    /// `[[_TOC_]]`, `[TOC]`, or a wiki link `[[…]]`.
    Wiki { text: String },
    /// `%{…}`
    Placeholder { name: String },
    /// `> [!note]`
    Alert,
    /// `- [ ]`: a box that readers can tick.
    Task,
    /// `{+ +}`, `[- -]`
    InlineDiff,
    /// `:name:` of an emoji.
    Emoji { name: String },
}

/// A quick action found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub name: String,
    pub argument: String,
}

/// A text, read.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// What is left to be stored.
    pub text: String,
    /// The quick actions, in order.
    pub commands: Vec<Command>,
    /// Everything else.
    pub acts: Vec<Act>,
}

/// Fence languages that GitLab draws or computes instead of showing them.
const DRAWN: [&str; 22] = [
    "mermaid",
    "plantuml",
    "math",
    "json:table",
    "glql",
    "geojson",
    "topojson",
    "stl",
    "suggestion",
    "actdiag",
    "blockdiag",
    "bpmn",
    "bytefield",
    "c4plantuml",
    "d2",
    "dbml",
    "ditaa",
    "dot",
    "graphviz",
    "nomnoml",
    "svgbob",
    "vega",
];

static COMMAND: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^/([A-Za-z_]+)(?:[ \t]+(.*))?$").expect("a valid pattern"));
static COMMENT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?s)<!--.*?-->").expect("a valid pattern"));
static TAG: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?s)</?[A-Za-z!?][^>]*>").expect("a valid pattern"));

/// Reads a text as GitLab does on an instance of this base URL.
pub fn read(body: &str, instance: &str) -> Reading {
    let body = body.replace('\r', "");
    let (text, commands) = take_commands(&body);
    let arena = Arena::new();
    let root = parse_document(&arena, &text, &options());
    let mut acts = Vec::new();
    walk(root, instance, &mut acts);
    Reading { text, commands, acts }
}

/// GitLab's own switches of this parser.
fn options() -> Options<'static> {
    let mut options = Options::default();
    options.extension.autolink = true;
    options.extension.table = true;
    options.extension.strikethrough = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    options.extension.description_lists = true;
    options.extension.multiline_block_quotes = true;
    options.extension.alerts = true;
    options.extension.math_dollars = true;
    options.extension.math_code = true;
    options.extension.wikilinks_title_before_pipe = true;
    options.parse.escaped_char_spans = true;
    options.render.escaped_char_spans = true;
    options
}

/// Cuts the quick actions out: lines that begin with `/` in the first column of a top-level paragraph and
/// are not inside a code span.
fn take_commands(body: &str) -> (String, Vec<Command>) {
    let arena = Arena::new();
    let root = parse_document(&arena, body, &options());
    let lines: Vec<&str> = body.split('\n').collect();
    let mut cut = vec![false; lines.len()];
    let mut commands = Vec::new();
    for paragraph in root.children().filter(|node| matches!(node.data.borrow().value, NodeValue::Paragraph)) {
        let Sourcepos { start, end } = paragraph.data.borrow().sourcepos;
        let code = code_lines(paragraph);
        for number in start.line..=end.line.min(lines.len()) {
            let Some(found) = COMMAND.captures(lines[number - 1]) else { continue };
            if code.iter().any(|(from, to)| *from < number && number <= *to) {
                continue;
            }
            cut[number - 1] = true;
            let argument = found.get(2).map_or("", |text| text.as_str().trim());
            commands.push(Command { name: found[1].to_ascii_lowercase(), argument: argument.to_owned() });
        }
    }
    let kept = lines.iter().zip(&cut).filter(|(_, cut)| !**cut).map(|(line, _)| *line);
    (kept.collect::<Vec<&str>>().join("\n"), commands)
}

/// First and last lines of the code spans in a paragraph.
fn code_lines<'a>(paragraph: &'a AstNode<'a>) -> Vec<(usize, usize)> {
    let spans = paragraph.descendants().filter(|node| matches!(node.data.borrow().value, NodeValue::Code(_)));
    spans.map(|node| node.data.borrow().sourcepos).map(|at| (at.start.line, at.end.line)).collect()
}

/// Names the acts of a node and of all below it.
fn walk<'a>(node: &'a AstNode<'a>, instance: &str, acts: &mut Vec<Act>) {
    let mut words = String::new();
    for child in node.children() {
        match &child.data.borrow().value {
            NodeValue::Text(text) => words.push_str(text),
            NodeValue::SoftBreak | NodeValue::LineBreak => words.push('\n'),
            NodeValue::Link(link) => {
                words.push(references::GAP);
                acts.extend(references::of_url(&link.url, instance));
                words_aside(child, instance, acts);
            }
            NodeValue::Image(image) => {
                words.push(references::GAP);
                acts.push(Act::Image { url: image.url.clone() });
            }
            // An escaped character stands for itself only.
            NodeValue::Escaped | NodeValue::Code(_) => words.push(references::GAP),
            value => {
                words.push(references::GAP);
                named(value, acts);
                words_of_html(value, instance, acts);
                walk(child, instance, acts);
            }
        }
    }
    references::of_words(&words, acts);
}

/// Inside a link only images, elements and formulas count: its words are no references.
fn words_aside<'a>(link: &'a AstNode<'a>, instance: &str, acts: &mut Vec<Act>) {
    let mut inside = Vec::new();
    walk(link, instance, &mut inside);
    let counts = |act: &Act| {
        matches!(act, Act::Image { .. } | Act::Html { .. } | Act::Math | Act::Emoji { .. } | Act::InlineDiff)
    };
    acts.extend(inside.into_iter().filter(counts));
}

/// The act a node is by itself.
fn named(value: &NodeValue, acts: &mut Vec<Act>) {
    match value {
        NodeValue::CodeBlock(block) => {
            let language = block.info.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
            if DRAWN.contains(&language.as_str()) {
                acts.push(Act::Diagram { language });
            }
        }
        NodeValue::HtmlBlock(block) => html(&block.literal, acts),
        NodeValue::HtmlInline(literal) => html(literal, acts),
        NodeValue::Math(_) => acts.push(Act::Math),
        NodeValue::WikiLink(link) => acts.push(Act::Wiki { text: link.url.clone() }),
        NodeValue::Alert(_) => acts.push(Act::Alert),
        NodeValue::TaskItem(_) => acts.push(Act::Task),
        _ => {}
    }
}

fn html(literal: &str, acts: &mut Vec<Act>) {
    let rest = COMMENT.replace_all(literal, "");
    acts.extend(TAG.find_iter(&rest).map(|tag| Act::Html { html: tag.as_str().to_owned() }));
}

/// Words between the tags of an HTML block are read like any others.
fn words_of_html(value: &NodeValue, instance: &str, acts: &mut Vec<Act>) {
    if let NodeValue::HtmlBlock(block) = value {
        let rest = COMMENT.replace_all(&block.literal, "");
        let words = TAG.replace_all(&rest, &references::GAP.to_string()).into_owned();
        references::of_words(&words, acts);
        acts.extend(words.split_whitespace().flat_map(|word| references::of_url(word, instance)));
    }
}
