//! What an issue may say: where to look. Typed parts, each parsed by one constructor with an alphabet and a
//! length; there is no variant for issues, epics or work items, so "not an issue" is not a check but an absence.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// The longest project path that is considered, in bytes: GitLab's own limit on a route is 255 a segment.
const PROJECT_PATH_MAX: usize = 1024;
/// The longest repository path that is considered, in bytes (Linux `PATH_MAX`).
const REPO_PATH_MAX: usize = 4096;

/// `group/…/project`: two segments or more of GitLab's alphabet. Compares without regard to ASCII case, as
/// GitLab's routes do; shows the case it was written in.
#[derive(Clone, Debug)]
pub struct ProjectPath(String);

impl ProjectPath {
    /// Parses a full path; `None` when a segment has other characters than ASCII letters, digits, `_`, `-`
    /// and `.`, begins with `-`, or ends in `.`, `.git` or `.atom`, or when there are fewer than two segments.
    pub fn parse(path: &str) -> Option<ProjectPath> {
        let valid = path.len() <= PROJECT_PATH_MAX
            && path.split('/').count() >= 2
            && path.split('/').all(ProjectPath::is_segment);
        valid.then(|| ProjectPath(path.to_owned()))
    }

    /// Whether `segment` can be one segment of a group or project path.
    pub fn is_segment(segment: &str) -> bool {
        !segment.is_empty()
            && segment.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
            && !segment.starts_with('-')
            && !segment.ends_with('.')
            && !segment.ends_with(".git")
            && !segment.ends_with(".atom")
    }

    /// The path as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Everything before the last segment.
    pub fn namespace(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(namespace, _)| namespace)
    }
}

impl PartialEq for ProjectPath {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}
impl Eq for ProjectPath {}

/// A path of a file in a repository: relative, decoded, no `.` or `..` segment, no control character.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct RepoPath(String);

impl RepoPath {
    /// Parses a repository path; `None` when it is empty, absolute, ends in a slash, or has an empty, `.` or
    /// `..` segment, a backslash or a control character.
    pub fn parse(path: &str) -> Option<RepoPath> {
        let valid = !path.is_empty()
            && path.len() <= REPO_PATH_MAX
            && path.split('/').all(|segment| !matches!(segment, "" | "." | ".."))
            && !path.chars().any(|c| c == '\\' || c.is_control());
        valid.then(|| RepoPath(path.to_owned()))
    }

    /// The path, segments joined by `/`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A commit hash as written: 7 to 40 lower-case hex digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Sha(String);

impl Sha {
    /// Parses 7 to 40 characters of `0-9a-f`.
    pub fn parse(sha: &str) -> Option<Sha> {
        let valid =
            (7..=40).contains(&sha.len()) && sha.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        valid.then(|| Sha(sha.to_owned()))
    }

    /// The digits as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The number of a merge request within its project: 1 to 2147483647.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Iid(u32);

impl Iid {
    /// Parses ASCII digits; `None` outside 1 to 2147483647 (GitLab's column is a signed 32-bit integer).
    pub fn parse(digits: &str) -> Option<Iid> {
        let plain = !digits.is_empty() && digits.len() <= 20 && digits.bytes().all(|b| b.is_ascii_digit());
        let number: u64 = if plain { digits.parse().ok()? } else { return None };
        (1..=i32::MAX as u64).contains(&number).then_some(Iid(number as u32))
    }

    /// The number.
    pub fn get(self) -> u32 {
        self.0
    }
}

/// A range of lines, counted from 1, both ends included, in rising order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Lines {
    /// The first line.
    pub first: u32,
    /// The last line.
    pub last: u32,
}

impl Lines {
    /// The range between two line numbers, whichever way round they were written; `None` when one is zero.
    pub fn between(a: u32, b: u32) -> Option<Lines> {
        (a.min(b) >= 1).then_some(Lines { first: a.min(b), last: a.max(b) })
    }
}

/// A place in documentation or code that somebody pointed at. Nothing has been looked up yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// A merge request of a project.
    MergeRequest {
        /// The project as written.
        project: ProjectPath,
        /// Its number there.
        iid: Iid,
    },
    /// A commit of a project.
    Commit {
        /// The project as written.
        project: ProjectPath,
        /// The hash as written.
        sha: Sha,
    },
    /// A file of a project, with lines where some were named.
    File {
        /// The project as written.
        project: ProjectPath,
        /// Branch, tag or commit; `None` means the default branch.
        git_ref: Option<String>,
        /// The decoded path.
        path: RepoPath,
        /// The lines named.
        lines: Option<Lines>,
    },
    /// A page of a documentation site.
    Page {
        /// Origin and path as written, without query and fragment.
        url: String,
        /// The decoded fragment.
        anchor: Option<String>,
    },
}

impl Serialize for Reference {
    /// The form of `extract`'s output: `kind` and the fields of that kind, always all present.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Reference::MergeRequest { project, iid } => {
                map.serialize_entry("kind", "merge_request")?;
                map.serialize_entry("project", project.as_str())?;
                map.serialize_entry("iid", iid)?;
            }
            Reference::Commit { project, sha } => {
                map.serialize_entry("kind", "commit")?;
                map.serialize_entry("project", project.as_str())?;
                map.serialize_entry("sha", sha)?;
            }
            Reference::File { project, git_ref, path, lines } => {
                map.serialize_entry("kind", "file")?;
                map.serialize_entry("project", project.as_str())?;
                map.serialize_entry("ref", git_ref)?;
                map.serialize_entry("path", path)?;
                map.serialize_entry("lines", &lines.map(|l| [l.first, l.last]))?;
            }
            Reference::Page { url, anchor } => {
                map.serialize_entry("kind", "page")?;
                map.serialize_entry("url", url)?;
                map.serialize_entry("anchor", anchor)?;
            }
        }
        map.end()
    }
}
