//! How Markdown is read: which stretches of it are live text, which are code, and where its links lead.
//!
//! [`read`] walks a document once, from top to bottom, and hands a [`Reader`] three things in the order in
//! which they stand in the source: runs of plain text, code spans, and link destinations. Code blocks,
//! comments, images, the text of links and everything a link definition says without being used never
//! arrive. The walk follows pointers, not the call stack, so nesting costs nothing.

mod bare;
mod elements;
mod entity;
mod html;
mod run;
mod veil;

use comrak::nodes::{Node, NodeValue};
use comrak::{Arena, Options, parse_document};

use crate::prose::markdown::elements::{Element, Elements};
use crate::prose::markdown::html::{Token, Tokens};

pub(super) use bare::{end as url_end, find as find_url, reach_length as url_reach};
pub(super) use run::Run;
pub(super) use veil::decode as decode_url;

/// What a document is read for.
pub(super) trait Reader {
    /// A stretch of plain text between two inline elements; its ends count as whitespace.
    fn run(&mut self, run: &Run);
    /// The content of a code span.
    fn code(&mut self, _span: &str) {}
    /// Where a link leads, character references and escapes resolved.
    fn destination(&mut self, _destination: &str) {}
    /// Whether the rest of the document no longer matters.
    fn satisfied(&self) -> bool {
        false
    }
}

/// Whether quotations belong to what is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotations {
    /// They do: what somebody quotes, they point at.
    Read,
    /// They do not: whoever quotes a call does not call. GitLab's `>>>` fences quote as well then.
    Skip,
}

/// Reads `text` as GitHub-flavoured Markdown.
pub(super) fn read(text: &str, quotations: Quotations, reader: &mut impl Reader) {
    let text = veil::veil(text.strip_prefix('\u{FEFF}').unwrap_or(text));
    let arena = Arena::new();
    let root = parse_document(&arena, &text, &options(quotations));
    let walk = Walk {
        reader,
        quotations,
        run: Run::with_room(text.len()),
        code: String::new(),
        open: Elements::default(),
    };
    walk.through(root);
}

fn options(quotations: Quotations) -> Options<'static> {
    let mut options = Options::default();
    options.extension.table = true;
    options.extension.strikethrough = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    options.extension.multiline_block_quotes = quotations == Quotations::Skip;
    // Footnotes stay where they were written: references come in the order of the source.
    options.parse.leave_footnote_definitions = true;
    options.parse.escaped_char_spans = true;
    options
}

struct Walk<'r, R> {
    reader: &'r mut R,
    quotations: Quotations,
    run: Run,
    /// What an HTML `<code>` element has held so far.
    code: String,
    open: Elements,
}

enum Step {
    Into,
    Over,
}

impl<R: Reader> Walk<'_, R> {
    fn through<'a>(mut self, root: Node<'a>) {
        let (mut node, mut depth) = (root, 0);
        while !self.reader.satisfied() {
            let step = self.enter(node, depth);
            if let (Step::Into, Some(child)) = (step, node.first_child()) {
                (node, depth) = (child, depth + 1);
                continue;
            }
            loop {
                self.leave(node, depth);
                if depth == 0 {
                    return;
                }
                if let Some(next) = node.next_sibling() {
                    node = next;
                    break;
                }
                node = node.parent().expect("a node below the root has a parent");
                depth -= 1;
            }
        }
    }

    fn enter(&mut self, node: Node<'_>, depth: usize) -> Step {
        let data = node.data();
        match &data.value {
            NodeValue::Text(text) => self.text(text),
            NodeValue::SoftBreak | NodeValue::LineBreak => self.text("\n"),
            NodeValue::Escaped => self.escaped(node),
            other => {
                self.end_run();
                return self.enter_element(other, depth);
            }
        }
        Step::Over
    }

    fn enter_element(&mut self, value: &NodeValue, depth: usize) -> Step {
        match value {
            NodeValue::Code(span) => self.code_span(&veil::lift_all(&span.literal)),
            NodeValue::HtmlInline(html) => self.html(html, depth),
            NodeValue::HtmlBlock(block) => self.html(&block.literal, depth),
            NodeValue::Link(link) => self.destination(&veil::decode(&link.url)),
            NodeValue::Image(_) | NodeValue::CodeBlock(_) => {}
            NodeValue::BlockQuote | NodeValue::MultilineBlockQuote(_)
                if self.quotations == Quotations::Skip => {}
            // A footnote that nobody cites is not part of the rendered text.
            NodeValue::FootnoteDefinition(footnote) if footnote.total_references == 0 => {}
            _ => return Step::Into,
        }
        Step::Over
    }

    fn leave(&mut self, node: Node<'_>, depth: usize) {
        let in_run = matches!(
            node.data().value,
            NodeValue::Text(_) | NodeValue::Escaped | NodeValue::SoftBreak | NodeValue::LineBreak
        );
        if !in_run {
            self.end_run();
            self.open.close_below(depth);
            self.end_code();
        }
    }

    /// Whether text here is seen by nobody, or is the text of a link.
    fn is_silent(&self) -> bool {
        self.open.is_silent() || (self.quotations == Quotations::Skip && self.open.has(Element::Quote))
    }

    fn text(&mut self, text: &str) {
        let text = self.open.after_comment(text);
        if self.is_silent() {
        } else if self.open.has(Element::Code) {
            self.code.push_str(&veil::lift_all(text));
        } else {
            self.run.push(&veil::lift(text));
        }
    }

    fn escaped(&mut self, node: Node<'_>) {
        let Some(child) = node.first_child() else { return };
        let NodeValue::Text(text) = &child.data().value else { return };
        if self.is_silent() || self.open.has(Element::Code) {
            self.text(text);
        } else {
            self.run.push_escaped(text);
        }
    }

    fn code_span(&mut self, span: &str) {
        if self.is_silent() {
        } else if self.open.has(Element::Code) {
            self.code.push_str(span);
        } else {
            self.reader.code(span);
        }
    }

    fn destination(&mut self, destination: &str) {
        if !self.is_silent() {
            self.reader.destination(destination);
        }
    }

    fn end_run(&mut self) {
        if !self.run.is_empty() {
            self.reader.run(&self.run);
            self.run.clear();
        }
    }

    fn end_code(&mut self) {
        if !self.code.is_empty() && !self.open.has(Element::Code) {
            let code = std::mem::take(&mut self.code);
            self.reader.code(&code);
        }
    }

    fn html(&mut self, html: &str, depth: usize) {
        let mut tokens = Tokens::of(self.open.after_comment(html));
        loop {
            if let Some(element) = self.open.raw() {
                tokens.skip_to_end_of(element.name());
            }
            let Some(token) = tokens.next() else { break };
            match token {
                Token::Text(text) => self.text(&entity::decode(text)),
                Token::Open { name, href, empty } => self.open_tag(name, href, empty, depth),
                Token::Close { name } => self.close_tag(name),
                Token::OpenComment => self.open.open(Element::Comment, depth),
                Token::Other => self.end_run(),
            }
        }
        self.end_run();
    }

    fn open_tag(&mut self, name: &str, href: Option<&str>, empty: bool, depth: usize) {
        self.end_run();
        let Some(element) = Element::named(name) else { return };
        if element == Element::Anchor {
            // HTML knows no link within a link: the second ends the first.
            self.open.close(Element::Anchor);
            if let Some(href) = href {
                self.destination(&entity::decode(&veil::lift_all(href)));
            }
        }
        if !empty {
            self.open.open(element, depth);
        }
    }

    fn close_tag(&mut self, name: &str) {
        self.end_run();
        if let Some(element) = Element::named(name) {
            self.open.close(element);
            self.end_code();
        }
    }
}
