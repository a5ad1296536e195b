//! The only code that may read what strangers typed.
//!
//! [`Prose`] has no `Display`, no `Serialize` and no accessor; its `Debug` prints a length. Two things come out
//! of it: [`Reference`](crate::reference::Reference)s, which say where to look, and a [`Question`], which weighs
//! passages and gives numbers.

mod markdown;
mod mention;
pub mod question;
pub mod references;

use std::fmt;

use serde::Deserialize;

pub use question::Question;

/// Text that somebody outside typed: an issue's title or description, a comment.
///
/// It cannot be printed:
/// ```compile_fail
/// println!("{}", signpost::prose::Prose::from(String::new()));
/// ```
/// nor taken apart:
/// ```compile_fail
/// let _ = signpost::prose::Prose::from(String::new()).0;
/// ```
/// nor stored:
/// ```compile_fail
/// let _ = serde_json::to_string(&signpost::prose::Prose::from(String::new()));
/// ```
#[derive(Clone, Default, Deserialize)]
#[serde(from = "Option<String>")]
pub struct Prose(String);

impl From<String> for Prose {
    fn from(text: String) -> Prose {
        Prose(text)
    }
}

impl From<Option<String>> for Prose {
    fn from(text: Option<String>) -> Prose {
        Prose(text.unwrap_or_default())
    }
}

impl fmt::Debug for Prose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Prose({} bytes)", self.0.len())
    }
}
