//! URLs of the instance and of documentation sites (rules 4 to 6).

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use crate::prose::references::ExtractContext;
use crate::prose::references::invisible::{has_invisible, is_invisible};
use crate::prose::references::path::fragment_lines;
use crate::prose::references::site::{Address, Site};
use crate::reference::{Iid, ProjectPath, Reference, RepoPath, Sha};

/// First segments of GitLab's own routes, which no group can be named.
const RESERVED: [&str; 25] = [
    "admin",
    "api",
    "assets",
    "dashboard",
    "explore",
    "files",
    "groups",
    "health_check",
    "help",
    "import",
    "jwt",
    "login",
    "oauth",
    "profile",
    "projects",
    "public",
    "s",
    "search",
    "sitemap",
    "snippets",
    "u",
    "unsubscribes",
    "uploads",
    "users",
    "v2",
];

/// What may follow the project where no `-` segment does (links from before 2019).
const OLD_ROUTES: [&str; 11] = [
    "blob",
    "raw",
    "blame",
    "tree",
    "commit",
    "commits",
    "compare",
    "merge_requests",
    "issues",
    "snippets",
    "wikis",
];

/// Whether the project's first segment belongs to GitLab itself.
pub(super) fn is_reserved(project: &ProjectPath) -> bool {
    let first = project.as_str().split('/').next().unwrap_or_default();
    RESERVED.iter().any(|word| word.eq_ignore_ascii_case(first))
}

/// What a web address points at.
pub(super) fn reference(url: &str, context: &ExtractContext) -> Option<Reference> {
    match locate(url, context)? {
        Place::Instance { path, fragment } => on_instance(path, fragment),
        Place::Docsite { origin, path, fragment } => page(origin, path, fragment),
    }
}

/// Where a web address leads.
pub(super) enum Place<'u> {
    /// To the instance; the path is the one below its root.
    Instance { path: &'u str, fragment: Option<&'u str> },
    /// To a documentation site; the path is the one below the host.
    Docsite { origin: &'u str, path: &'u str, fragment: Option<&'u str> },
}

/// Where `url` leads, if to one of the sites that count. Of two sites on one host the longer root decides.
pub(super) fn locate<'u>(url: &'u str, context: &'u ExtractContext) -> Option<Place<'u>> {
    if !is_clean(url) {
        return None;
    }
    let address = Address::parse(url)?;
    let has = |site: &&Site| site.path_of(&address).is_some();
    let docsite = context.docsites.iter().filter(has).max_by_key(|site| site.root_length());
    let fragment = address.fragment;
    match (context.instance.path_of(&address), docsite) {
        (Some(path), None) => Some(Place::Instance { path, fragment }),
        (Some(path), Some(site)) if site.root_length() <= context.instance.root_length() => {
            Some(Place::Instance { path, fragment })
        }
        (_, Some(site)) => Some(Place::Docsite { origin: site.origin(), path: address.path, fragment }),
        (None, None) => None,
    }
}

/// Whether nothing in `url` could be read in two ways: no backslash, whitespace, control or invisible character.
pub(super) fn is_clean(url: &str) -> bool {
    !url.contains(|c: char| c == '\\' || c.is_whitespace() || c.is_control() || is_invisible(c))
}

/// The decoded segments of a path that is empty or begins with a slash.
pub(super) struct Segments<'u> {
    pub(super) all: Vec<Cow<'u, str>>,
    /// Whether the path ends in a slash.
    pub(super) folder: bool,
}

impl<'u> Segments<'u> {
    /// Splits and decodes `path`; `None` where a segment is empty, `.` or `..`, is no UTF-8, or holds a
    /// backslash, a control character or an invisible one. Segments may hold an encoded slash.
    pub(super) fn parse(path: &'u str) -> Option<Segments<'u>> {
        let path = path.strip_prefix('/').unwrap_or(path);
        let folder = path.ends_with('/');
        let path = path.strip_suffix('/').unwrap_or(path);
        let all = if path.is_empty() && !folder {
            Vec::new()
        } else {
            path.split('/').map(decode_segment).collect::<Option<_>>()?
        };
        Some(Segments { all, folder })
    }

    /// Whether no segment but the one at `except` holds a slash.
    pub(super) fn are_plain(&self, except: Option<usize>) -> bool {
        self.all.iter().enumerate().all(|(at, segment)| Some(at) == except || !segment.contains('/'))
    }
}

fn decode_segment(segment: &str) -> Option<Cow<'_, str>> {
    let decoded = percent_decode_str(segment).decode_utf8().ok()?;
    let valid = !matches!(&*decoded, "" | "." | "..")
        && !decoded.contains(|c: char| c == '\\' || c.is_control())
        && !has_invisible(&decoded);
    valid.then_some(decoded)
}

/// Project and route of a path on the instance: where the project ends, and where the route begins.
pub(super) fn split_route(segments: &[Cow<'_, str>]) -> Option<(usize, usize)> {
    if let Some(dash) = segments.iter().position(|segment| segment == "-") {
        return (dash >= 2).then_some((dash, dash + 1));
    }
    let old = segments.iter().skip(2).position(|segment| OLD_ROUTES.contains(&&**segment))?;
    Some((old + 2, old + 2))
}

/// The reference that a path on the instance is (rule 5).
pub(super) fn on_instance(path: &str, fragment: Option<&str>) -> Option<Reference> {
    let segments = Segments::parse(path)?;
    let (project_end, route) = split_route(&segments.all)?;
    let is_file = matches!(segments.all.get(route).map(|s| &**s), Some("blob" | "raw" | "blame"));
    if !segments.are_plain(is_file.then_some(route + 1)) {
        return None;
    }
    let project = ProjectPath::parse(&segments.all[..project_end].join("/"))?;
    if is_reserved(&project) {
        return None;
    }
    let folder = segments.folder;
    match &segments.all[route..] {
        [_, git_ref, path @ ..] if is_file => {
            let path = RepoPath::parse(&path.join("/")).filter(|_| !folder)?;
            let lines = fragment.and_then(fragment_lines);
            Some(Reference::File { project, git_ref: Some(git_ref.to_string()), path, lines })
        }
        [word, iid, rest @ ..] if word == "merge_requests" => {
            let iid = Iid::parse(without_suffix(iid, &[".diff", ".patch", "+", "+s"], rest, folder))?;
            Some(Reference::MergeRequest { project, iid })
        }
        [word, sha, rest @ ..] if word == "commit" => {
            let sha = Sha::parse(without_suffix(sha, &[".diff", ".patch"], rest, folder))?;
            Some(Reference::Commit { project, sha })
        }
        [word, range @ ..] if word == "compare" && !folder => compare(project, &range.join("/")),
        _ => None,
    }
}

/// `id` without one of the suffixes, which are allowed only at the very end of the path.
fn without_suffix<'s>(id: &'s str, suffixes: &[&str], rest: &[Cow<'_, str>], folder: bool) -> &'s str {
    let ends = rest.is_empty() && !folder;
    suffixes.iter().filter(|_| ends).find_map(|suffix| id.strip_suffix(suffix)).unwrap_or(id)
}

/// The newer end of `from..to` or `from...to`.
fn compare(project: ProjectPath, range: &str) -> Option<Reference> {
    let (from, to) = range.rsplit_once("..")?;
    let from = from.strip_suffix('.').unwrap_or(from);
    let sha = Sha::parse(to).filter(|_| !from.is_empty())?;
    Some(Reference::Commit { project, sha })
}

/// The page of a documentation site (rule 6): its path as written, without query.
fn page(origin: &str, path: &str, fragment: Option<&str>) -> Option<Reference> {
    Segments::parse(path)?.are_plain(None).then_some(())?;
    let path = if path.is_empty() { "/" } else { path };
    Some(Reference::Page { url: format!("{origin}{path}"), anchor: fragment.and_then(anchor) })
}

/// The heading that a fragment names, without a browser's text fragment.
fn anchor(fragment: &str) -> Option<String> {
    let fragment = fragment.split(":~:").next().unwrap_or(fragment);
    let decoded = percent_decode_str(fragment).decode_utf8().ok()?;
    (!decoded.is_empty()).then(|| decoded.into_owned())
}
