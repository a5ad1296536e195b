//! Addresses of places, built from resolved values alone.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::reference::{Lines, RepoPath};

/// RFC 3986's unreserved characters; everything else is encoded.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What an address must not hold to stand between `<` and `>` and start nothing.
const ADDRESS: &AsciiSet = &percent_encoding::CONTROLS
    .add(b' ')
    .add(b'<')
    .add(b'>')
    .add(b'"')
    .add(b'\'')
    .add(b'`')
    .add(b'\\')
    .add(b'[')
    .add(b']')
    .add(b'(')
    .add(b')')
    .add(b'{')
    .add(b'}')
    .add(b'|')
    .add(b'^')
    .add(b'@');

/// Endings of files that GitLab shows rendered, where `#L10` needs `?plain=1` to mean a line
/// (`Gitlab::MarkupHelper::EXTENSIONS`).
const RENDERED: &[&str] = &[
    "md",
    "markdown",
    "mdown",
    "mkd",
    "mkdn",
    "rst",
    "adoc",
    "ad",
    "asciidoc",
    "textile",
    "rdoc",
    "org",
    "creole",
    "wiki",
    "mediawiki",
    "ipynb",
];

/// The lower-case ending of a path's file name; empty when it has none.
pub(crate) fn extension(path: &RepoPath) -> String {
    let name = path.as_str().rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').map_or(String::new(), |(_, ending)| ending.to_ascii_lowercase())
}

/// Whether a path's file is Markdown.
pub(crate) fn is_markdown(path: &RepoPath) -> bool {
    matches!(extension(path).as_str(), "md" | "markdown" | "mdown" | "mkd" | "mkdn" | "mdx")
}

/// The address of lines of a file at a commit: `{web}/{project}/-/blob/{commit}/{path}#L{a}-{b}`.
pub(crate) fn blob_url(web: &str, project: &str, commit: &str, path: &RepoPath, lines: Lines) -> String {
    format!("{web}/{project}{}", within_project(commit, path, lines))
}

/// The part of a file's address that follows the project's: `/-/blob/{commit}/{path}#L{a}-{b}`.
pub(crate) fn within_project(commit: &str, path: &RepoPath, lines: Lines) -> String {
    let segments: Vec<String> = path.as_str().split('/').map(segment).collect();
    let plain = if RENDERED.contains(&extension(path).as_str()) { "?plain=1" } else { "" };
    let range = match lines {
        Lines { first, last } if first == last => format!("#L{first}"),
        Lines { first, last } => format!("#L{first}-{last}"),
    };
    format!("/-/blob/{commit}/{}{plain}{range}", segments.join("/"))
}

/// Takes an address that [`blob_url`] made apart: the project's address, commit, path, lines.
pub(crate) fn parse(url: &str) -> Option<(&str, &str, RepoPath, Lines)> {
    let (project, rest) = url.split_once("/-/blob/")?;
    let (commit, rest) = rest.split_once('/')?;
    let (path, range) = rest.rsplit_once("#L")?;
    let path = percent_encoding::percent_decode_str(path.strip_suffix("?plain=1").unwrap_or(path));
    let path = RepoPath::parse(&path.decode_utf8().ok()?)?;
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let lines = Lines::between(first.parse().ok()?, last.parse().ok()?)?;
    let same = is_project_url(project) && url[project.len()..] == within_project(commit, &path, lines);
    same.then_some((project, commit, path, lines))
}

/// Whether an address can be a project's: a web address with at least two segments that need no encoding.
fn is_project_url(url: &str) -> bool {
    let rest = ["https://", "http://"].into_iter().find_map(|scheme| url.strip_prefix(scheme));
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':' | b'[' | b']');
    rest.is_some_and(|rest| {
        let mut segments = rest.split('/');
        segments.clone().count() >= 3
            && segments.all(|segment| !segment.is_empty() && segment != "-" && segment.bytes().all(plain))
    })
}

/// One segment of a path, encoded. A folder called `-` would read as GitLab's own separator.
fn segment(name: &str) -> String {
    if name == "-" { "%2D".to_owned() } else { utf8_percent_encode(name, SEGMENT).to_string() }
}

/// The address of a documentation page, as it may stand in a note; `None` when it is no plain web address, or
/// is one of GitLab's own under `web`, where a link can notify somebody.
pub(crate) fn page_url(web: &str, page: &str) -> Option<String> {
    let scheme = ["https://", "http://"].into_iter().find(|scheme| page.starts_with(scheme))?;
    let address = utf8_percent_encode(page, ADDRESS).to_string();
    let hidden = page.contains('?') || page.contains("/-/") || page.len() == scheme.len();
    let ours = page.get(..web.len()).is_some_and(|start| start.eq_ignore_ascii_case(web));
    (!hidden && !ours).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(path: &str, first: u32, last: u32) -> String {
        let path = RepoPath::parse(path).unwrap();
        blob_url("https://gitlab.example.com", "acme/api", "c0ffee", &path, Lines { first, last })
    }

    #[test]
    fn lines_of_markdown_need_the_plain_view() {
        assert_eq!(
            url("docs/a.md", 3, 9),
            "https://gitlab.example.com/acme/api/-/blob/c0ffee/docs/a.md?plain=1#L3-9"
        );
        assert_eq!(url("src/a.rs", 3, 3), "https://gitlab.example.com/acme/api/-/blob/c0ffee/src/a.rs#L3");
    }

    #[test]
    fn a_hostile_path_stays_one_path() {
        let url = url("a b/-/issues/1 (x)<y>[z]?q#f%'\"`é>.md", 1, 1);
        assert!(
            url.ends_with(
                "/a%20b/%2D/issues/1%20%28x%29%3Cy%3E%5Bz%5D%3Fq%23f%25%27%22%60%C3%A9%3E.md?plain=1#L1"
            ),
            "{url}"
        );
    }

    #[test]
    fn a_page_is_a_plain_web_address() {
        let web = "https://gitlab.example.com";
        assert_eq!(
            page_url(web, "https://docs.example.com/a/#b-c").as_deref(),
            Some("https://docs.example.com/a/#b-c")
        );
        assert_eq!(
            page_url(web, "https://docs.example.com/ü(<x>").as_deref(),
            Some("https://docs.example.com/%C3%BC%28%3Cx%3E")
        );
        for page in [
            "javascript:alert(1)",
            "https://gitlab.example.com/acme/api/-/issues/1",
            "https://",
            "/a",
            "https://x.example.com/a?b=c",
            "https://other.example.com/acme/api/-/merge_requests/1",
        ] {
            assert_eq!(page_url(web, page), None, "{page}");
        }
    }
}
