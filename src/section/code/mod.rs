//! Source code and configuration, cut into documented items by a light scan of lines.

mod config;
mod items;
mod language;
mod python;

use crate::reference::RepoPath;
use crate::section::Section;

pub use language::Language;

/// Cuts source code into its documented items: comment, signature and the first lines of the body. Code without
/// a comment has no section: nothing in it tells a reader what it is for.
pub(super) fn cut(language: Language, path: &RepoPath, text: &str) -> Vec<Section> {
    match language {
        Language::Python => python::cut(path, text),
        Language::Config => config::cut(path, text),
        _ => items::cut(language, path, text),
    }
}

/// The name that heads the sections of a file: its last path segment.
fn file_name(path: &RepoPath) -> String {
    path.as_str().rsplit('/').next().unwrap_or_default().to_owned()
}
