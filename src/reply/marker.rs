//! The hidden last line of every note: by which the bot knows its own notes again, and `verify` knows what to
//! compare with. Anybody can type one; it means something only in a note whose author is the bot.

use std::fmt;
use std::ops::Range;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::reference::{Lines, RepoPath};
use crate::reply::Language;
use crate::target::ProjectId;

/// The version of the notes' form: layout, sentences, the rendering of quotes and the marker itself.
pub const FORMAT: u32 = 1;

/// What the marker leaves as it is: nothing that could end a comment, least of all `-`.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'_');

/// Which question of a thread a note answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Asked {
    /// The issue itself.
    Issue,
    /// The comment with this note id.
    Note(u64),
}

/// What a note says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// It quotes a passage.
    Answer,
    /// Nothing was found.
    Nothing,
    /// The answer was marked as wrong.
    Withdrawn,
    /// The answer no longer holds.
    Outdated,
}

/// The bytes that a note quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quoted {
    /// The project that holds the file.
    pub project: ProjectId,
    /// The full commit id.
    pub commit: String,
    /// The path at that commit.
    pub path: RepoPath,
    /// The blob's object id.
    pub blob: String,
    /// The bytes of the blob.
    pub bytes: Range<usize>,
    /// The lines that hold these bytes.
    pub lines: Lines,
}

/// The marker of a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    asked: Asked,
    language: Language,
    says: Says,
    quoted: Option<Quoted>,
}

impl Marker {
    /// The marker of a note on the question `asked`; what the note says is added by the
    /// [`Reply`](crate::reply::Reply) that carries it.
    pub fn of(asked: Asked) -> Marker {
        Marker { asked, language: Language::English, says: Says::Nothing, quoted: None }
    }

    /// Reads the marker from a note's Markdown: its last line. `None` when there is none, when it has another
    /// format version, or when a part of it is not what this version writes.
    pub fn parse(markdown: &str) -> Option<Marker> {
        let line = markdown.trim_end().rsplit('\n').next()?;
        let mut words = line.strip_prefix("<!-- signpost:")?.strip_suffix(" -->")?.split(' ');
        if words.next()?.parse::<u32>().ok()? != FORMAT {
            return None;
        }
        let language = words.next()?.parse().ok()?;
        let says = Says::named(words.next()?)?;
        let asked = match words.next()?.split_once('=') {
            None => Asked::Issue,
            Some((_, id)) => Asked::Note(id.parse().ok()?),
        };
        let quoted = if says == Says::Answer { Some(Quoted::parse(&mut words)?) } else { None };
        let marker = Marker { asked, language, says, quoted };
        // One spelling each: what would not be written this way was not written by us.
        (marker.to_string() == line).then_some(marker)
    }

    /// The format version of a note whose last line is a marker of any version.
    pub fn format(markdown: &str) -> Option<u32> {
        let line = markdown.trim_end().rsplit('\n').next()?;
        line.strip_prefix("<!-- signpost:")?.split(' ').next()?.parse().ok()
    }

    /// Which question the note is about.
    pub fn asked(&self) -> Asked {
        self.asked
    }
    /// The language of its sentences.
    pub fn language(&self) -> Language {
        self.language
    }
    /// What it says.
    pub fn says(&self) -> Says {
        self.says
    }
    /// What it quotes; `None` unless it is an answer.
    pub fn quoted(&self) -> Option<&Quoted> {
        self.quoted.as_ref()
    }

    /// The same question's marker under a note that quotes `quoted`.
    pub(crate) fn answer(&self, language: Language, quoted: Quoted) -> Marker {
        Marker { asked: self.asked, language, says: Says::Answer, quoted: Some(quoted) }
    }

    /// The same question's marker under a note of one fixed sentence.
    pub(crate) fn fixed(&self, language: Language, says: Says) -> Marker {
        Marker { asked: self.asked, language, says, quoted: None }
    }
}

impl Says {
    fn name(self) -> &'static str {
        match self {
            Says::Answer => "answer",
            Says::Nothing => "nothing",
            Says::Withdrawn => "withdrawn",
            Says::Outdated => "outdated",
        }
    }

    fn named(name: &str) -> Option<Says> {
        [Says::Answer, Says::Nothing, Says::Withdrawn, Says::Outdated].into_iter().find(|s| s.name() == name)
    }
}

impl Quoted {
    fn parse<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<Quoted> {
        let mut field = |name: &str| words.next()?.strip_prefix(name)?.strip_prefix('=');
        let project = field("project")?.parse().ok()?;
        let commit = object_id(field("commit")?)?;
        let path = percent_decode_str(field("path")?).decode_utf8().ok()?.into_owned();
        let blob = object_id(field("blob")?)?;
        let (start, end) = field("bytes")?.split_once('-')?;
        let (first, last) = field("lines")?.split_once('-')?;
        Some(Quoted {
            project,
            commit,
            path: RepoPath::parse(&path)?,
            blob,
            bytes: start.parse().ok()?..end.parse().ok()?,
            lines: Lines::between(first.parse().ok()?, last.parse().ok()?)?,
        })
    }
}

/// A full object id of either hash.
fn object_id(id: &str) -> Option<String> {
    let valid = matches!(id.len(), 40 | 64) && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    valid.then(|| id.to_owned())
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<!-- signpost:{FORMAT} {} {}", self.language, self.says.name())?;
        match self.asked {
            Asked::Issue => write!(f, " issue")?,
            Asked::Note(id) => write!(f, " note={id}")?,
        }
        if let Some(quoted) = &self.quoted {
            write!(f, " project={} commit={}", quoted.project, quoted.commit)?;
            write!(f, " path={}", utf8_percent_encode(quoted.path.as_str(), PLAIN))?;
            write!(f, " blob={} bytes={}-{}", quoted.blob, quoted.bytes.start, quoted.bytes.end)?;
            write!(f, " lines={}-{}", quoted.lines.first, quoted.lines.last)?;
        }
        write!(f, " -->")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(path: &str) -> Quoted {
        Quoted {
            project: 7,
            commit: "a".repeat(40),
            path: RepoPath::parse(path).unwrap(),
            blob: "b".repeat(40),
            bytes: 10..20,
            lines: Lines { first: 2, last: 3 },
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let answer = Marker::of(Asked::Note(41)).answer(Language::German, quoted("docs/getting-started.md"));
        let nothing = Marker::of(Asked::Issue).fixed(Language::French, Says::Withdrawn);
        for marker in [answer, nothing] {
            assert_eq!(Marker::parse(&format!("text\n\n{marker}\n")), Some(marker));
        }
    }

    #[test]
    fn no_path_ends_the_comment() {
        for path in ["a-->b.md", "--", "a -->\u{2028}<img src=x>.md", "ä/@all #1.md", "-", "a--!>b"] {
            let text = Marker::of(Asked::Issue).answer(Language::English, quoted(path)).to_string();
            assert_eq!(text.matches("--").count(), 2, "{text}");
            assert_eq!(Marker::parse(&text).unwrap().quoted().unwrap().path.as_str(), path);
        }
    }

    #[test]
    fn anything_else_is_no_marker() {
        for text in [
            "",
            "text",
            "<!-- signpost:1 -->",
            "<!-- signpost:2 en nothing issue -->",
            "<!-- signpost:1 en answer issue -->",
            "<!-- signpost:1 en nothing note=x -->",
            "<!-- signpost:1 en nothing issue --> text",
            "<!-- signpost:1 en nothing issue -->\n\nmore",
            "<!-- signpost:1 en nothing topic -->",
            "<!-- signpost:1 en nothing issue extra -->",
        ] {
            assert_eq!(Marker::parse(text), None, "{text}");
        }
    }
}
