//! Documents cut into sections: pure text in, ranges out.
//!
//! Documentation is cut at its headings, source code into its documented items. Nothing here fails: a file that
//! follows no rule of its format is one section. All work is linear in the length of the text.

mod asciidoc;
mod blocks;
mod code;
mod heading;
mod lines;
mod markdown;
mod passage;
mod plain;
mod quote;
mod restructured;

use std::ops::Range;

use crate::reference::{Lines, RepoPath};

pub use lines::LineIndex;
pub use passage::passages;
pub use quote::{QUOTE_MAX, Quote, best_quote};

/// What a section is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Documentation prose.
    Doc,
    /// A documented item of source code.
    Code,
}

/// A section of a file: text under one heading, or one documented item of code.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Headings from the page's title down to this section's own, as plain text.
    pub heading_path: Vec<String>,
    /// The anchor that GitLab gives the heading; `None` before the first heading, and for code.
    pub anchor: Option<String>,
    /// Explicit `{#id}` or label of the heading, where the source sets one.
    pub explicit_id: Option<String>,
    /// Lines in the file, heading included.
    pub lines: Lines,
    /// Bytes in the file, heading included.
    pub bytes: Range<usize>,
    /// What it is made of.
    pub kind: Kind,
}

/// How a file is cut, decided by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Markdown and MDX.
    Markdown,
    /// reStructuredText.
    Restructured,
    /// AsciiDoc.
    AsciiDoc,
    /// Text without markup: licences, man pages, notes.
    Plain,
    /// Source code or configuration.
    Code(code::Language),
}

impl Format {
    /// The format of the file at `path`; `None` for names that promise neither documentation nor code.
    pub fn of(path: &RepoPath) -> Option<Format> {
        let name = path.as_str().rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        match extension {
            "md" | "mdx" | "markdown" | "mdown" | "mkd" | "qmd" | "rmd" => Some(Format::Markdown),
            "rst" | "rest" => Some(Format::Restructured),
            "adoc" | "asciidoc" | "asc" => Some(Format::AsciiDoc),
            "txt" | "text" => Some(Format::Plain),
            _ => code::Language::of(&name, extension).map(Format::Code).or_else(|| {
                let bare = matches!(name.as_str(), "readme" | "contributing" | "install" | "faq" | "usage");
                bare.then_some(Format::Plain)
            }),
        }
    }
}

/// Cuts a file into sections, in the order of the file, never overlapping. Blank files have none; a file of an
/// unknown format is cut as plain text.
pub fn cut(path: &RepoPath, text: &str) -> Vec<Section> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    match Format::of(path) {
        Some(Format::Markdown) => markdown::cut(path, text),
        Some(Format::Restructured) => restructured::cut(path, text),
        Some(Format::AsciiDoc) => asciidoc::cut(path, text),
        Some(Format::Code(language)) => code::cut(language, path, text),
        Some(Format::Plain) | None => plain::cut(path, text),
    }
}

/// The bytes of the section without its heading: what can be quoted. `text` is the whole file.
pub fn body(section: &Section, text: &str) -> Range<usize> {
    let Some(own) = text.get(section.bytes.clone()) else { return section.bytes.end..section.bytes.end };
    section.bytes.end - below_heading(section, own).len()..section.bytes.end
}

/// A section's own text without its heading.
pub fn below_heading<'a>(section: &Section, own: &'a str) -> &'a str {
    let skipped = if section.anchor.is_some() { heading::length(own) } else { 0 };
    &own[skipped..]
}

#[cfg(test)]
mod tests;
