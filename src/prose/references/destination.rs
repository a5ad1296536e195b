//! Where a link leads: a web address, a short form, or a file beside the text (rule 6).

use crate::prose::references::ExtractContext;
use crate::prose::references::path::{colon_lines, fragment_lines, names_file};
use crate::prose::references::site::{Address, split_fragment, without_query};
use crate::prose::references::url::{Segments, is_clean, on_instance, reference as web_reference};
use crate::prose::references::{invisible, shorthand};
use crate::reference::{Lines, Reference, RepoPath};

/// What a link's destination points at.
pub(super) fn reference(destination: &str, context: &ExtractContext) -> Option<Reference> {
    let destination = destination.trim_matches(|c: char| c.is_ascii_whitespace());
    if Address::is_web(destination) {
        return web_reference(destination, context);
    }
    let destination = invisible::trim(destination);
    if let Some(short) = shorthand::whole(destination, context) {
        return Some(short);
    }
    if destination.is_empty()
        || destination.starts_with(['#', '?'])
        || destination.starts_with("//")
        || has_scheme(destination)
    {
        return None;
    }
    let (path, fragment) = split_fragment(destination);
    let path = without_query(path);
    if has_dash_segment(path) {
        let path = context.instance.below_root(path).unwrap_or(path);
        return if is_clean(destination) { on_instance(path, fragment) } else { None };
    }
    if path.starts_with("/uploads/") { None } else { file(path, fragment, context) }
}

/// A letter, then letters, digits, `+ . -`, then a colon.
fn has_scheme(destination: &str) -> bool {
    destination.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'.' | b'-'))
    })
}

/// Whether `path` begins with a slash and has a segment `-` behind at least two others.
fn has_dash_segment(path: &str) -> bool {
    path.strip_prefix('/').is_some_and(|path| path.split('/').skip(2).any(|segment| segment == "-"))
}

/// A file of the context project.
fn file(path: &str, fragment: Option<&str>, context: &ExtractContext) -> Option<Reference> {
    let path = path.strip_prefix('/').or(path.strip_prefix("./")).unwrap_or(path);
    let (path, lines) = match fragment {
        Some(fragment) => (path, fragment_lines(fragment)),
        None => split_lines(path),
    };
    let segments = Segments::parse(path).filter(|segments| !segments.folder && segments.are_plain(None))?;
    let path = segments.all.join("/");
    if !names_file(&path) {
        return None;
    }
    let path = RepoPath::parse(&path)?;
    Some(Reference::File { project: context.project.clone(), git_ref: None, path, lines })
}

/// `path` without a final `:N`, `:N:C` or `:N-M`, and these lines.
fn split_lines(path: &str) -> (&str, Option<Lines>) {
    let Some(name) = path.rfind('/').map_or(Some(0), |slash| Some(slash + 1)) else { return (path, None) };
    let Some(colon) = path[name..].find(':').map(|at| name + at) else { return (path, None) };
    match colon_lines(&path[colon..]) {
        Some((lines, "")) => (&path[..colon], Some(lines)),
        _ => (path, None),
    }
}
