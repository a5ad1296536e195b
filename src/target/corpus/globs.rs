//! The patterns of the configuration: `*` stays within a segment, `**` crosses.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

/// A pattern of the configuration that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no pattern")]
pub struct BadPattern(String);

impl BadPattern {
    pub(super) fn new(pattern: &str) -> BadPattern {
        BadPattern(pattern.to_owned())
    }
}

fn glob(pattern: &str, any_case: bool) -> Result<Glob, BadPattern> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .case_insensitive(any_case)
        .build()
        .map_err(|_| BadPattern::new(pattern))
}

fn set(globs: impl Iterator<Item = Result<Glob, BadPattern>>) -> Result<GlobSet, BadPattern> {
    let mut builder = GlobSetBuilder::new();
    for glob in globs {
        builder.add(glob?);
    }
    builder.build().map_err(|_| BadPattern::new("…"))
}

/// Globs over file paths of a repository.
#[derive(Clone, Debug)]
pub(super) struct FileGlobs(GlobSet);

impl FileGlobs {
    pub(super) fn compile(patterns: &[String], any_case: bool) -> Result<FileGlobs, BadPattern> {
        set(patterns.iter().map(|pattern| glob(pattern, any_case))).map(FileGlobs)
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        self.0.is_match(path)
    }
}

/// Globs over project and group paths; one that matches a group matches everything below it.
#[derive(Clone, Debug)]
pub(super) struct ProjectGlobs(GlobSet);

impl ProjectGlobs {
    pub(super) fn compile(patterns: &[String]) -> Result<ProjectGlobs, BadPattern> {
        set(patterns.iter().map(|pattern| match pattern.trim().trim_matches('/') {
            "" => Err(BadPattern::new(pattern)),
            trimmed => glob(trimmed, true),
        }))
        .map(ProjectGlobs)
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.into_iter().any(|end| self.0.is_match(&path[..end]))
    }
}
