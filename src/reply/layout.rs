//! Where everything stands in a note. The same pieces, in the same order, are what `verify` walks through.

use std::ops::Range;

use crate::reference::{Lines, RepoPath};
use crate::reply::marker::{Marker, Quoted};
use crate::reply::place::{blob_url, page_url};
use crate::reply::wording::{Sentences, Wording};
use crate::reply::{inert, title};
use crate::target::{Citation, ProjectId};

/// A place as a note speaks of it. Everything in it comes from GitLab's answers and the file.
#[derive(Clone, Debug)]
pub struct Place<'a> {
    /// The project's id.
    pub project: ProjectId,
    /// The project's canonical path.
    pub project_path: &'a str,
    /// The full commit id.
    pub commit: &'a str,
    /// The path at that commit.
    pub path: &'a RepoPath,
    /// The blob's object id.
    pub blob: &'a str,
    /// The file's text.
    pub text: &'a str,
    /// The bytes that cover the question.
    pub bytes: Range<usize>,
    /// Headings from the page's title down.
    pub headings: &'a [String],
    /// The documentation site's address of the section.
    pub page: Option<&'a str>,
}

impl<'a> From<&'a Citation> for Place<'a> {
    fn from(citation: &'a Citation) -> Place<'a> {
        let place = citation.blob.place();
        Place {
            project: place.project().id,
            project_path: place.project().path.as_str(),
            commit: place.commit(),
            path: place.path(),
            blob: place.blob(),
            text: citation.blob.text(),
            bytes: citation.bytes.clone(),
            headings: &citation.section.heading_path,
            page: citation.page.as_deref(),
        }
    }
}

/// The note that quotes `best` and links `further`. It is text only: what may be posted is a
/// [`Reply`](crate::reply::Reply), and that is made from a [`Validated`](crate::target::Validated).
pub fn answer(best: &Place<'_>, further: &[Place<'_>], wording: &Wording, marker: &Marker) -> String {
    let sentences = wording.language().sentences();
    let passage = inert::passage(best.path, best.text, best.bytes.clone());
    let quote = inert::render(best.path, best.text, passage.bytes.clone()).markdown;
    let lines = lines(best.text, &passage.bytes);
    let url = blob_url(wording.web(), best.project_path, best.commit, best.path, lines);
    let mut note =
        format!("{}\n\n{quote}\n\n", heading(&title::of(best.text, best.headings, best.path), &url));
    if passage.cut {
        note.push_str(&format!("{}\n\n", cut(sentences)));
    }
    note.push_str(&source(sentences, best.path, lines, best.commit));
    if let Some(page) = best.page.and_then(|page| page_url(wording.web(), page)) {
        note.push_str(&format!("{SEPARATOR}[{}](<{page}>)", sentences.page));
    }
    let also: Vec<String> = further.iter().take(2).map(|place| also(best, place, wording)).collect();
    if !also.is_empty() {
        note.push_str(&format!("\n\n{}{}", see_also(sentences), also.join(SEPARATOR)));
    }
    let quoted = Quoted {
        project: best.project,
        commit: best.commit.to_owned(),
        path: best.path.clone(),
        blob: best.blob.to_owned(),
        bytes: passage.bytes,
        lines,
    };
    note.push_str(&closing(sentences, &marker.answer(wording.language(), quoted)));
    note
}

/// Between things that stand on one line.
pub(crate) const SEPARATOR: &str = " · ";

/// The first line: the heading path as a link.
pub(crate) fn heading(title: &str, url: &str) -> String {
    format!("**[{title}](<{url}>)**")
}

/// The line after a passage that was cut.
pub(crate) fn cut(sentences: &Sentences) -> String {
    format!("*{}*", sentences.cut)
}

/// File, lines and short commit.
pub(crate) fn source(sentences: &Sentences, path: &RepoPath, lines: Lines, commit: &str) -> String {
    let short = commit.get(..8).unwrap_or(commit);
    let lines = sentences.lines(lines);
    format!("{}{SEPARATOR}{lines}{SEPARATOR}{} `{short}`", inert::code(path.as_str()), sentences.commit)
}

/// What leads to the further places.
pub(crate) fn see_also(sentences: &Sentences) -> String {
    format!("{}: ", sentences.also)
}

/// A further place as a link: by its headings when they stand in the quoted file, which `verify` has in hand;
/// by file and lines otherwise.
fn also(best: &Place<'_>, place: &Place<'_>, wording: &Wording) -> String {
    let passage = inert::passage(place.path, place.text, place.bytes.clone());
    let lines = lines(place.text, &passage.bytes);
    let url = blob_url(wording.web(), place.project_path, place.commit, place.path, lines);
    let same = (place.project, place.commit, place.path) == (best.project, best.commit, best.path);
    let text = match same {
        true => title::of(place.text, place.headings, place.path),
        false => file_and_lines(wording.language().sentences(), place.path, lines),
    };
    format!("[{text}](<{url}>)")
}

/// `docs/install.md, lines 3–9`, as the text of a link.
pub(crate) fn file_and_lines(sentences: &Sentences, path: &RepoPath, lines: Lines) -> String {
    format!("{}, {}", inert::plain(path.as_str()), sentences.lines(lines))
}

/// The last two things of an answer.
pub(crate) fn closing(sentences: &Sentences, marker: &Marker) -> String {
    format!("\n\n*{}*\n\n{marker}", sentences.source)
}

/// A note of one fixed sentence.
pub(crate) fn fixed(sentence: &str, marker: &Marker) -> String {
    format!("{sentence}\n\n{marker}")
}

/// The lines of `text` that hold `bytes`.
pub(crate) fn lines(text: &str, bytes: &Range<usize>) -> Lines {
    let count = |end: usize| text.as_bytes()[..end].iter().filter(|&&byte| byte == b'\n').count() as u32 + 1;
    let first = count(bytes.start);
    Lines { first, last: count(bytes.end.max(bytes.start + 1) - 1).max(first) }
}
