//! What the bot says. Every sentence it can say is in this module, and everything else in a note is a byte
//! range of a target or an address of one.
//!
//! A [`Reply`] with content has one constructor, [`Reply::citing`], which asks for a [`Validated`]; the client
//! that posts takes a `&Reply`, never a string. Quoted text is made inert by [`inert`], and [`verify`] proves
//! afterwards, from the note and the blob alone, that nothing was added.

pub mod inert;
mod language;
pub mod layout;
pub mod marker;
mod place;
pub mod report;
mod title;
pub mod verify;
mod wording;

pub use language::Language;
pub use marker::{Asked, Marker, Says};
pub use report::Report;
pub use wording::Wording;

use crate::target::Validated;

/// A note that may be posted.
///
/// It is not made from a string:
/// ```compile_fail
/// let _ = signpost::reply::Reply { markdown: String::from("The supported way is …") };
/// ```
/// ```compile_fail
/// let _ = signpost::reply::Reply::from(String::from("The supported way is …"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    markdown: String,
}

impl Reply {
    /// Quotes the passage that covers the question and links the further places. `marker` says which question
    /// is answered ([`Marker::of`]).
    pub fn citing(validated: &Validated, wording: &Wording, marker: &Marker) -> Reply {
        let further: Vec<layout::Place<'_>> = validated.further().iter().map(layout::Place::from).collect();
        Reply { markdown: layout::answer(&validated.best().into(), &further, wording, marker) }
    }

    /// Says to somebody who mentioned the bot that nothing answers the comment.
    pub fn nothing_found(wording: &Wording, marker: &Marker) -> Reply {
        Reply::fixed(Says::Nothing, wording, marker)
    }

    /// Takes an answer back that was marked as wrong.
    pub fn withdrawn(wording: &Wording, marker: &Marker) -> Reply {
        Reply::fixed(Says::Withdrawn, wording, marker)
    }

    /// Takes an answer back that no longer holds: the question was edited, or the target changed or went.
    pub fn outdated(wording: &Wording, marker: &Marker) -> Reply {
        Reply::fixed(Says::Outdated, wording, marker)
    }

    /// The note's Markdown, marker included.
    pub fn markdown(&self) -> &str {
        &self.markdown
    }

    fn fixed(says: Says, wording: &Wording, marker: &Marker) -> Reply {
        let language = wording.language();
        let marker = marker.fixed(language, says);
        Reply { markdown: layout::fixed(sentence(language, says), &marker) }
    }
}

/// The one sentence of a note that quotes nothing; empty for an answer, which has no such sentence.
fn sentence(language: Language, says: Says) -> &'static str {
    let sentences = language.sentences();
    match says {
        Says::Answer => "",
        Says::Nothing => sentences.nothing,
        Says::Withdrawn => sentences.withdrawn,
        Says::Outdated => sentences.outdated,
    }
}
