//! The proof that a note says nothing of its own: every byte is a fixed sentence, an address or name of the
//! place it cites, or a byte range of the blob that its marker names, made inert in the one way there is.
//!
//! The walk follows [`layout`] from the note's first byte to its last and knows at each byte what may stand
//! there. It needs the note and the blob, nothing else; the blob proves itself by its object id.

use std::ops::Range;

use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::reply::marker::{FORMAT, Marker, Quoted};
use crate::reply::{inert, layout, place, sentence, title};

/// What a stretch of a note is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A fixed sentence or fixed marks.
    Fixed,
    /// Headings of the file, or its name.
    Heading,
    /// An address: of the file's lines, of a further place, of the documentation page.
    Address,
    /// Path, lines and commit.
    Place,
    /// These bytes of the blob.
    Quote(Vec<Range<usize>>),
    /// The hidden last line.
    Marker,
}

/// A stretch of a note's bytes and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Bytes of the note.
    pub note: Range<usize>,
    /// What they are.
    pub origin: Origin,
}

/// What was proved of a note.
#[derive(Clone, Debug)]
pub struct Proof {
    /// The note's marker.
    pub marker: Marker,
    /// Every byte of the note, in order.
    pub parts: Vec<Part>,
    /// The project's web address, as the note has it: the proof does not know where the instance is.
    pub project: Option<String>,
    /// The documentation page's address, as the note has it.
    pub page: Option<String>,
}

/// Why a note is not proved.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Finding {
    /// The note has no marker, or a broken one.
    #[error("the note has no marker of this program: its last line is not one that the program writes")]
    NoMarker,
    /// The note was written by a version of the program that writes another form.
    #[error("the note has format {0}, this program knows format {FORMAT}")]
    Format(u32),
    /// The blob is not at hand.
    #[error("the blob {0} is needed")]
    NoBlob(String),
    /// The blob is not text.
    #[error("the blob {0} is not UTF-8 text")]
    NoText(String),
    /// What was given as the blob is another one.
    #[error("the content given is blob {found}, the note names {named}")]
    OtherBlob {
        /// What the note names.
        named: String,
        /// What the content is.
        found: String,
    },
    /// A byte of the note comes from nowhere.
    #[error("byte {at} (line {line}, byte {column} of it) is not {wanted}")]
    Foreign {
        /// The byte of the note, counted from 0.
        at: usize,
        /// Its line, counted from 1.
        line: usize,
        /// Its place in the line in bytes, counted from 1.
        column: usize,
        /// What should stand there.
        wanted: &'static str,
    },
}

impl Finding {
    /// Whether the note could not be checked, rather than being found wrong.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Finding::Format(_) | Finding::NoBlob(_) | Finding::NoText(_))
    }
}

/// Proves a note. `blob` gives the content of a blob by its object id, `None` where it has none.
pub fn check(note: &str, blob: impl FnOnce(&str) -> Option<Vec<u8>>) -> Result<Proof, Finding> {
    let note = note.trim_end_matches(['\n', '\r']);
    let Some(marker) = Marker::parse(note) else {
        let format = Marker::format(note).filter(|&format| format != FORMAT);
        return Err(format.map_or(Finding::NoMarker, Finding::Format));
    };
    let mut walk = Walk { note, at: 0, parts: Vec::new(), project: None, page: None };
    match marker.quoted() {
        Some(quoted) => {
            let content = blob(&quoted.blob).ok_or_else(|| Finding::NoBlob(quoted.blob.clone()))?;
            let found = object_id(&content, quoted.blob.len());
            if found != quoted.blob {
                return Err(Finding::OtherBlob { named: quoted.blob.clone(), found });
            }
            let text = String::from_utf8(content).map_err(|_| Finding::NoText(quoted.blob.clone()))?;
            walk.answer(&marker, quoted, &text)?;
        }
        None => {
            walk.take(sentence(marker.language(), marker.says()), Origin::Fixed, "the fixed sentence")?;
            walk.take("\n\n", Origin::Fixed, "an empty line")?;
        }
    }
    walk.take(&marker.to_string(), Origin::Marker, "the marker")?;
    match walk.at == note.len() {
        true => Ok(Proof { marker, parts: walk.parts, project: walk.project, page: walk.page }),
        false => Err(walk.foreign(walk.at, "the end of the note")),
    }
}

/// The object id that Git gives a blob, in the hash whose ids have `length` digits.
pub fn object_id(content: &[u8], length: usize) -> String {
    let head = format!("blob {}\0", content.len());
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    match length {
        64 => hex(&Sha256::new().chain_update(head).chain_update(content).finalize()),
        _ => hex(&Sha1::new().chain_update(head).chain_update(content).finalize()),
    }
}

/// How far a note has been walked.
struct Walk<'a> {
    note: &'a str,
    at: usize,
    parts: Vec<Part>,
    project: Option<String>,
    page: Option<String>,
}

impl<'a> Walk<'a> {
    fn answer(&mut self, marker: &Marker, quoted: &Quoted, text: &str) -> Result<(), Finding> {
        let sentences = marker.language().sentences();
        let in_text = text.get(quoted.bytes.clone()).is_some_and(|quote| !quote.is_empty());
        if !in_text || layout::lines(text, &quoted.bytes) != quoted.lines {
            let at = self.note.rfind('\n').map_or(0, |newline| newline + 1);
            return Err(self.foreign(at, "a marker whose bytes and lines the blob has"));
        }
        self.title(quoted, text)?;
        let quote = inert::render(&quoted.path, text, quoted.bytes.clone());
        self.take(&quote.markdown, Origin::Quote(quote.kept), "the quoted byte of the blob")?;
        self.fixed("\n\n", "the end of the quote")?;
        let cut = format!("{}\n\n", layout::cut(sentences));
        if self.note[self.at..].starts_with(&cut) {
            self.fixed(&cut, "the fixed sentence")?;
        }
        let source = layout::source(sentences, &quoted.path, quoted.lines, &quoted.commit);
        self.take(&source, Origin::Place, "path, lines and commit of the quote")?;
        self.page(&format!("{}[{}](<", layout::SEPARATOR, sentences.page))?;
        self.also(quoted, text, marker)?;
        let closing = layout::closing(sentences, marker);
        let fixed = &closing[..closing.len() - marker.to_string().len()];
        self.fixed(fixed, "the fixed sentence")
    }

    /// The heading path as a link to the lines.
    fn title(&mut self, quoted: &Quoted, text: &str) -> Result<(), Finding> {
        self.fixed("**[", "the beginning of the title")?;
        let start = self.at;
        let title = self.until("](<", Origin::Heading, "a title")?;
        if !title::holds(text, title, &quoted.path) {
            return Err(self.foreign(start, "a heading of the file"));
        }
        self.fixed("](<", "the beginning of an address")?;
        let start = self.at;
        let url = self.until(">)**", Origin::Address, "an address")?;
        let same = place::parse(url).filter(|(_, commit, path, lines)| {
            (*commit, path, *lines) == (quoted.commit.as_str(), &quoted.path, quoted.lines)
        });
        let Some((project, ..)) = same else {
            return Err(self.foreign(start, "the address of the quoted lines"));
        };
        self.project = Some(project.to_owned());
        self.fixed(">)**\n\n", "the end of the title")
    }

    /// The documentation page, where the note has one.
    fn page(&mut self, opening: &str) -> Result<(), Finding> {
        if !self.note[self.at..].starts_with(opening) {
            return Ok(());
        }
        self.fixed(opening, "the link to the documentation page")?;
        let start = self.at;
        let url = self.until(">)", Origin::Address, "an address")?;
        let project = self.project.as_deref().unwrap_or_default();
        if place::page_url(project, url).as_deref() != Some(url) {
            return Err(self.foreign(start, "the address of a documentation page"));
        }
        self.page = Some(url.to_owned());
        self.fixed(">)", "the end of a link")
    }

    /// The further places, where the note has some.
    fn also(&mut self, quoted: &Quoted, text: &str, marker: &Marker) -> Result<(), Finding> {
        let sentences = marker.language().sentences();
        let mut before = format!("\n\n{}[", layout::see_also(sentences));
        for _ in 0..2 {
            if !self.note[self.at..].starts_with(&before) {
                break;
            }
            self.fixed(&before, "the beginning of a further place")?;
            before = format!("{}[", layout::SEPARATOR);
            let start = self.at;
            let name = self.until("](<", Origin::Place, "the name of a further place")?;
            self.fixed("](<", "the beginning of an address")?;
            let url_start = self.at;
            let url = self.until(">)", Origin::Address, "an address")?;
            let host = |url: &str| url.split('/').take(3).collect::<Vec<_>>().join("/");
            let place = place::parse(url)
                .filter(|(project, ..)| self.project.as_deref().map(host) == Some(host(project)));
            let Some((project, commit, path, lines)) = place else {
                return Err(self.foreign(url_start, "the address of a file's lines on the same instance"));
            };
            let same =
                self.project.as_deref() == Some(project) && (commit, &path) == (&quoted.commit, &quoted.path);
            let named = name == layout::file_and_lines(sentences, &path, lines)
                || (same && title::holds(text, name, &quoted.path));
            if !named {
                return Err(self.foreign(start, "the name of the place that the link leads to"));
            }
            self.fixed(">)", "the end of a link")?;
        }
        Ok(())
    }

    fn fixed(&mut self, expected: &str, wanted: &'static str) -> Result<(), Finding> {
        self.take(expected, Origin::Fixed, wanted)
    }

    /// Walks over exactly these bytes.
    fn take(&mut self, expected: &str, origin: Origin, wanted: &'static str) -> Result<(), Finding> {
        let rest = &self.note.as_bytes()[self.at..];
        let same = rest.iter().zip(expected.as_bytes()).take_while(|(found, wanted)| found == wanted).count();
        if same < expected.len() {
            return Err(self.foreign(self.at + same, wanted));
        }
        self.part(expected.len(), origin);
        Ok(())
    }

    /// Walks up to `end`, on this line.
    fn until(&mut self, end: &str, origin: Origin, wanted: &'static str) -> Result<&'a str, Finding> {
        let note = self.note;
        let line = note[self.at..].split('\n').next().unwrap_or_default();
        let Some(length) = line.find(end) else { return Err(self.foreign(self.at, wanted)) };
        self.part(length, origin);
        Ok(&line[..length])
    }

    fn part(&mut self, length: usize, origin: Origin) {
        let end = self.at + length;
        match self.parts.last_mut() {
            Some(last) if last.origin == origin => last.note.end = end,
            _ => self.parts.push(Part { note: self.at..end, origin }),
        }
        self.at = end;
    }

    fn foreign(&self, at: usize, wanted: &'static str) -> Finding {
        let before = &self.note.as_bytes()[..at];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let column = at - before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1) + 1;
        Finding::Foreign { at, line, column, wanted }
    }
}
