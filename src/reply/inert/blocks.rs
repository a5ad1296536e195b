//! Which line of a Markdown file belongs to which block, as GitLab's own parser sees it.

use std::collections::HashSet;
use std::ops::Range;

use comrak::nodes::NodeValue;
use comrak::{Arena, Options, parse_document};

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text with inline marks: a line of a paragraph, heading, table row, or a blank line.
    Text,
    /// A line of an HTML block.
    Html,
    /// A line of a fenced code block.
    Code,
    /// A line of an indented code block.
    Indented,
    /// The line that opens a fenced code block.
    FenceOpen,
    /// The line that closes one.
    FenceClose,
    /// The line under a table's head.
    Rule,
    /// A link reference definition or front matter: shows nothing.
    Hidden,
}

/// A line of the text.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// Its bytes without the line break.
    pub bytes: Range<usize>,
    /// The end of its line break.
    pub end: usize,
    /// What it is.
    pub kind: Kind,
    /// Lines of one block have one number.
    block: usize,
}

impl Line {
    /// Its bytes with the line break.
    pub(super) fn whole(&self) -> Range<usize> {
        self.bytes.start..self.end
    }
}

/// The lines of a text.
pub(super) struct Blocks {
    /// Every line.
    pub lines: Vec<Line>,
    /// The labels of all link reference definitions, as [`label`] writes them.
    pub labels: HashSet<String>,
}

/// GitLab's settings of the parser (`lib/banzai/filter/markdown_engines/glfm_markdown.rb`).
pub(super) fn dialect() -> Options<'static> {
    let mut options = Options::default();
    let extension = &mut options.extension;
    extension.alerts = true;
    extension.autolink = true;
    extension.cjk_friendly_emphasis = true;
    extension.description_lists = true;
    extension.footnotes = true;
    extension.math_code = true;
    extension.math_dollars = true;
    extension.multiline_block_quotes = true;
    extension.strikethrough = true;
    extension.table = true;
    extension.tasklist = true;
    extension.wikilinks_title_before_pipe = true;
    options.parse.escaped_char_spans = true;
    options.parse.relaxed_autolinks = true;
    options.parse.relaxed_tasklist_matching = true;
    options.parse.tasklist_in_table = true;
    options
}

impl Blocks {
    /// Reads a text whose line ends are all `\n`.
    pub(super) fn of(text: &str) -> Blocks {
        let mut blocks = Blocks { lines: split(text), labels: HashSet::new() };
        let mut options = dialect();
        options.extension.front_matter_delimiter = Some("---".to_owned());
        let arena = Arena::new();
        let root = parse_document(&arena, text, &options);
        let mut covered = vec![false; blocks.lines.len()];
        let count = blocks.lines.len();
        for (number, node) in root.descendants().enumerate() {
            let ast = node.data.borrow();
            let (start, end) = (ast.sourcepos.start.line.max(1) - 1, ast.sourcepos.end.line.min(count));
            if start >= end {
                continue;
            }
            let number = count + number;
            blocks.mark(&ast.value, start..end, number);
            if !matches!(ast.value, NodeValue::Table(_)) && Blocks::is_leaf(&ast.value) {
                covered[start..end].fill(true);
            }
        }
        blocks.hide_definitions(text, &covered);
        blocks
    }

    fn is_leaf(value: &NodeValue) -> bool {
        matches!(
            value,
            NodeValue::Paragraph
                | NodeValue::Heading(_)
                | NodeValue::TableRow(_)
                | NodeValue::CodeBlock(_)
                | NodeValue::HtmlBlock(_)
                | NodeValue::Table(_)
                | NodeValue::FrontMatter(_)
                | NodeValue::ThematicBreak
        )
    }

    fn mark(&mut self, value: &NodeValue, lines: Range<usize>, number: usize) {
        if !Blocks::is_leaf(value) {
            return;
        }
        let last = lines.end - 1;
        for at in lines.clone() {
            let line = &mut self.lines[at];
            line.block = number;
            line.kind = match value {
                NodeValue::CodeBlock(code) if code.fenced && at == lines.start => Kind::FenceOpen,
                NodeValue::CodeBlock(code) if code.fenced && code.closed && at == last => Kind::FenceClose,
                NodeValue::CodeBlock(code) if code.fenced => Kind::Code,
                NodeValue::CodeBlock(_) => Kind::Indented,
                NodeValue::HtmlBlock(_) => Kind::Html,
                NodeValue::Table(_) => Kind::Rule,
                NodeValue::FrontMatter(_) => Kind::Hidden,
                _ => Kind::Text,
            };
        }
    }

    /// Hides the definitions, which have no node: lines of their form that no block covers, or that a
    /// paragraph begins with. An address on the line after its label goes with it.
    fn hide_definitions(&mut self, text: &str, covered: &[bool]) {
        let (mut begins, mut awaits) = (true, false);
        for (at, line) in self.lines.iter_mut().enumerate() {
            let bytes = &text[line.bytes.clone()];
            let blank = bytes.trim_matches([' ', '\t', '>']).is_empty();
            let may = line.kind == Kind::Text && (!covered[at] || begins);
            let defines = if may { definition(bytes) } else { None };
            let hidden = defines.is_some() || (awaits && !covered[at] && !blank);
            awaits = defines.is_some() && bytes.trim_end().ends_with(':');
            self.labels.extend(defines);
            begins = hidden || blank;
            if hidden {
                line.kind = Kind::Hidden;
            }
        }
    }

    /// The lines that a range of bytes touches.
    pub(super) fn lines_in(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.lines.partition_point(|line| line.end <= range.start);
        let end = self.lines.partition_point(|line| line.bytes.start < range.end);
        start..end.max(start)
    }

    /// The lines of the block that line `at` belongs to.
    pub(super) fn same_block(&self, at: usize) -> Range<usize> {
        let same = |line: &Line| line.block == self.lines[at].block && line.kind == self.lines[at].kind;
        let before = self.lines[..at].iter().rev().take_while(|line| same(line)).count();
        let after = self.lines[at..].iter().take_while(|line| same(line)).count();
        at - before..at + after
    }

    /// Whether the byte `at` lies within a code block, after its first line's beginning.
    pub(super) fn inside_code(&self, at: usize) -> bool {
        let line = self.lines_in(&(at..at + 1)).start;
        let Some(here) = self.lines.get(line) else { return false };
        match here.kind {
            Kind::Code | Kind::Indented | Kind::FenceClose => {
                line > 0 && self.lines[line - 1].block == here.block
            }
            Kind::FenceOpen => at > here.bytes.start,
            _ => false,
        }
    }

    /// How many bytes of white space all of `lines` begin with; none where the first of them is code.
    pub(super) fn indent(&self, text: &str, lines: &Range<usize>) -> usize {
        if self.lines[lines.start].kind == Kind::Indented {
            return 0;
        }
        common_indent(self.lines[lines.clone()].iter().map(|line| &text[line.bytes.clone()]))
    }
}

/// The length of the white space that all lines begin with, blank ones left aside.
pub(super) fn common_indent<'a>(lines: impl Iterator<Item = &'a str>) -> usize {
    let mut common: Option<&str> = None;
    for line in lines.filter(|line| !line.trim().is_empty()) {
        let blank = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        let shared = match common {
            Some(before) => before.bytes().zip(blank.bytes()).take_while(|(a, b)| a == b).count(),
            None => blank.len(),
        };
        common = Some(&blank[..shared]);
    }
    common.map_or(0, str::len)
}

fn split(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let bytes = start..end - usize::from(line.ends_with('\n'));
        lines.push(Line { bytes, end, kind: Kind::Text, block: lines.len() });
        start = end;
    }
    lines
}

/// The label of a line that defines a link reference.
fn definition(line: &str) -> Option<String> {
    let line = line.trim_start_matches([' ', '\t', '>']).strip_prefix('[')?;
    let (name, rest) = line.split_once("]:")?;
    let valid = !name.starts_with('^') && !name.contains(['[', ']']) && leads_away(rest.trim());
    valid.then(|| label(name)).filter(|name| !name.is_empty())
}

/// Whether this is what follows the label in a definition: nothing yet, or one address and perhaps a title. Anything else
/// is a paragraph that begins with brackets.
fn leads_away(rest: &str) -> bool {
    let after = match rest.strip_prefix('<') {
        Some(address) => address.split_once('>').map(|(_, after)| after),
        None => Some(rest.find([' ', '\t']).map_or("", |at| &rest[at..])),
    };
    let Some(title) = after.map(str::trim) else { return false };
    let quoted =
        |open: char, close: char| title.len() > 1 && title.starts_with(open) && title.ends_with(close);
    title.is_empty() || quoted('"', '"') || quoted('\'', '\'') || quoted('(', ')')
}

/// A label as labels are compared: white space collapsed, lower case.
pub(super) fn label(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}
