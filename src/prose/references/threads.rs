//! Pointers at threads: issues, epics and work items. They are no references; that a text holds nothing else
//! is all that is ever said about them.

use crate::prose::markdown::{Reader, Run, decode_url};
use crate::prose::references::ExtractContext;
use crate::prose::references::marks::{admits_project, is_word};
use crate::prose::references::shorthand::{Named, leading_digits};
use crate::prose::references::url::{Place, Segments, locate};
use crate::prose::references::words::{Atom, Piece, pieces};

/// Counts the pointers at threads.
pub(super) struct Threads<'c> {
    pub(super) context: &'c ExtractContext,
    pub(super) count: usize,
}

impl Reader for Threads<'_> {
    fn run(&mut self, run: &Run) {
        pieces(run, |piece| {
            self.count += usize::from(match piece {
                Piece::Url { url, apart } => apart && is_thread_url(&decode_url(url), self.context),
                Piece::Atom(atom) => is_thread(atom, self.context),
            });
            0
        });
    }

    fn destination(&mut self, destination: &str) {
        self.count += usize::from(is_thread_url(destination.trim(), self.context));
    }
}

/// `#12`, `project#12`, `group/project#12`, `GL-12`, `&5`, `group&5`.
fn is_thread(atom: Atom<'_>, context: &ExtractContext) -> bool {
    if atom.escaped || !admits_project(atom.before) {
        return false;
    }
    if let Some(number) = atom.text.strip_prefix("GL-") {
        return !number.is_empty() && leading_digits(number) == number;
    }
    let Some(behind) = atom.rest.strip_prefix(['#', '&']) else { return false };
    let digits = leading_digits(behind);
    let ends = !digits.is_empty() && !behind[digits.len()..].starts_with(is_word);
    ends && (atom.text.is_empty() || Named::parse(atom.text, context).is_some())
}

/// A URL of the instance with `issues`, `work_items` or `epics` behind the project or group.
fn is_thread_url(url: &str, context: &ExtractContext) -> bool {
    let Some(Place::Instance { path, .. }) = locate(url, context) else { return false };
    let Some(segments) = Segments::parse(path) else { return false };
    let dash = segments.all.iter().position(|segment| segment == "-").map(|dash| dash + 1);
    let route = dash.or_else(|| segments.all.iter().skip(2).position(|s| s == "issues").map(|at| at + 2));
    match route.and_then(|route| segments.all.get(route..)) {
        Some([kind, rest @ ..]) if matches!(&**kind, "issues" | "work_items" | "epics") => {
            rest.iter().take(2).any(|id| !id.is_empty() && leading_digits(id) == id)
        }
        _ => false,
    }
}
