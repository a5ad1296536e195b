//! The short forms: `group/project!12` for a merge request (rule 7), `group/project@4f7c2e1a` and ranges for
//! a commit (rule 8).

use crate::prose::references::ExtractContext;
use crate::prose::references::invisible::is_invisible;
use crate::prose::references::marks::{admits_project, closes, is_word, opens};
use crate::prose::references::url::is_reserved;
use crate::prose::references::words::Atom;
use crate::reference::{Iid, ProjectPath, Reference, Sha};

/// The length of the shortest hash.
const SHA_MIN: usize = 7;

/// The merge request that `atom` and the `!` behind it name, and how many bytes behind the atom belong to it.
pub(super) fn merge_request(atom: Atom<'_>, context: &ExtractContext) -> Option<(Reference, usize)> {
    let behind = atom.rest.strip_prefix('!')?;
    let digits = leading_digits(behind);
    let ends = !behind[digits.len()..].starts_with(|c| is_word(c) || is_invisible(c));
    if atom.escaped || !ends || !admits_project(atom.before) {
        return None;
    }
    let project = match atom.text {
        "" => context.project.clone(),
        written => Named::parse(written, context)?.path,
    };
    Some((Reference::MergeRequest { project, iid: Iid::parse(digits)? }, 1 + digits.len()))
}

/// The commit that `atom` names.
pub(super) fn commit(atom: Atom<'_>, context: &ExtractContext) -> Option<Reference> {
    if atom.text.len() < SHA_MIN || !atom.text.ends_with(|c: char| c.is_ascii_hexdigit()) {
        return None;
    }
    let begins = if atom.text.contains('@') { admits_project(atom.before) } else { opens(atom.before) };
    if atom.escaped || !begins || !closes(atom.rest) {
        return None;
    }
    commit_expression(atom.text, context)
}

/// What `text`, as a whole, names by a short form.
pub(super) fn whole(text: &str, context: &ExtractContext) -> Option<Reference> {
    let Some((written, number)) = text.split_once('!') else {
        return commit_expression(text, context);
    };
    let number = number.strip_suffix("+s").or(number.strip_suffix('+')).unwrap_or(number);
    let project =
        if written.is_empty() { context.project.clone() } else { Named::parse(written, context)?.path };
    Some(Reference::MergeRequest { project, iid: Iid::parse(number)? })
}

/// `[project@]sha`, `[project@]sha..sha` or `[project@]sha...sha`; a range is its right-hand end.
fn commit_expression(text: &str, context: &ExtractContext) -> Option<Reference> {
    let (named, hashes) = match text.split_once('@') {
        Some((written, hashes)) => (Some(Named::parse(written, context)?), hashes),
        None => (None, text),
    };
    let (first, dots) = hashes.split_at(hashes.find('.').unwrap_or(hashes.len()));
    let last = if dots.is_empty() { first } else { dots.strip_prefix("...").or(dots.strip_prefix(".."))? };
    let plain_digits_do = named.as_ref().is_some_and(|named| named.in_full);
    let is_hash = |sha: &Sha| plain_digits_do || is_mixed(sha.as_str());
    Sha::parse(first).filter(is_hash)?;
    let sha = Sha::parse(last).filter(is_hash)?;
    Some(Reference::Commit {
        project: named.map_or_else(|| context.project.clone(), |named| named.path),
        sha,
    })
}

/// Whether there are both digits and letters: numbers and words in hexadecimal letters are common.
fn is_mixed(hash: &str) -> bool {
    hash.bytes().any(|b| b.is_ascii_digit()) && hash.bytes().any(|b| b.is_ascii_lowercase())
}

pub(super) fn leading_digits(text: &str) -> &str {
    &text[..text.bytes().take_while(u8::is_ascii_digit).count()]
}

/// A project written before a `!` or `@`.
pub(super) struct Named {
    pub(super) path: ProjectPath,
    /// Whether it was written with its group.
    in_full: bool,
}

impl Named {
    /// `group/project`, also with one leading `/`, or the name of a neighbour of the context project.
    pub(super) fn parse(written: &str, context: &ExtractContext) -> Option<Named> {
        if ProjectPath::is_segment(written) {
            let path = ProjectPath::parse(&format!("{}/{written}", context.project.namespace()))?;
            return Some(Named { path, in_full: false });
        }
        let path = ProjectPath::parse(written.strip_prefix('/').unwrap_or(written))?;
        (!is_reserved(&path)).then_some(Named { path, in_full: true })
    }
}
