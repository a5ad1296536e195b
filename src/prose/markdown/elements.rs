//! The HTML elements that are open at a place in a document, as far as they change what is read.

/// An element that changes how its content is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    /// `<a>`: a link, with or without destination; its text counts for nothing.
    Anchor,
    /// `<code>`: a code span.
    Code,
    /// `<blockquote>`.
    Quote,
    /// `<pre>`: a code block.
    Pre,
    /// `<style>`.
    Style,
    /// `<script>`.
    Script,
    /// A comment.
    Comment,
}

const ELEMENTS: usize = 7;

impl Element {
    /// The element with this tag name, in any letter case.
    pub(super) fn named(name: &str) -> Option<Element> {
        use Element::{Anchor, Code, Pre, Quote, Script, Style};
        let known = [Anchor, Code, Quote, Pre, Style, Script];
        known.into_iter().find(|element| element.name().eq_ignore_ascii_case(name))
    }

    /// The tag name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Element::Anchor => "a",
            Element::Code => "code",
            Element::Quote => "blockquote",
            Element::Pre => "pre",
            Element::Style => "style",
            Element::Script => "script",
            Element::Comment => "!--",
        }
    }
}

/// The open elements, innermost last. An element ends with its closing tag, or where the Markdown block ends
/// that it was opened in.
#[derive(Debug, Default)]
pub(super) struct Elements {
    open: Vec<(Element, usize)>,
    /// How many of each kind are open: asking must not cost more in a deeper document.
    counts: [usize; ELEMENTS],
}

impl Elements {
    /// Opens an element in a node at `depth`.
    pub(super) fn open(&mut self, element: Element, depth: usize) {
        self.open.push((element, depth));
        self.counts[element as usize] += 1;
    }

    /// Closes the innermost such element and all within it; nothing where none is open.
    pub(super) fn close(&mut self, element: Element) {
        while self.has(element) && self.pop() != Some(element) {}
    }

    /// Closes what was opened in the children of a node at `depth`.
    pub(super) fn close_below(&mut self, depth: usize) {
        while self.open.last().is_some_and(|&(_, opened)| opened > depth) {
            self.pop();
        }
    }

    fn pop(&mut self) -> Option<Element> {
        let (element, _) = self.open.pop()?;
        self.counts[element as usize] -= 1;
        Some(element)
    }

    /// Whether such an element is open.
    pub(super) fn has(&self, element: Element) -> bool {
        self.counts[element as usize] > 0
    }

    /// The open element whose content is nothing but text up to its closing tag.
    pub(super) fn raw(&self) -> Option<Element> {
        let last = self.open.last().map(|&(element, _)| element)?;
        matches!(last, Element::Pre | Element::Style | Element::Script).then_some(last)
    }

    /// Whether text here counts for nothing.
    pub(super) fn is_silent(&self) -> bool {
        self.has(Element::Anchor) || self.has(Element::Comment) || self.raw().is_some()
    }

    /// What of `text` is left behind the end of an open comment; all of it where none is open.
    pub(super) fn after_comment<'t>(&mut self, text: &'t str) -> &'t str {
        if !self.has(Element::Comment) {
            return text;
        }
        let Some((_, rest)) = text.split_once("-->") else { return "" };
        self.close(Element::Comment);
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_ends_with_its_tag_or_with_its_block() {
        let mut open = Elements::default();
        open.open(Element::Anchor, 1);
        open.open(Element::Code, 3);
        open.close_below(2);
        assert!(open.has(Element::Anchor) && !open.has(Element::Code));
        open.open(Element::Code, 1);
        open.close(Element::Anchor);
        assert!(!open.has(Element::Anchor) && !open.has(Element::Code));
        open.close(Element::Pre);
    }

    #[test]
    fn a_comment_ends_where_it_says() {
        let mut open = Elements::default();
        assert_eq!(open.after_comment("a --> b"), "a --> b");
        open.open(Element::Comment, 1);
        assert_eq!(open.after_comment("a"), "");
        assert_eq!(open.after_comment("a --> b"), " b");
        assert!(!open.is_silent());
    }
}
