//! Text without markup: one section, long ones are cut into passages later.

use crate::reference::RepoPath;
use crate::section::{Kind, LineIndex, Section};

/// The whole file as one section, named after the file.
pub(super) fn cut(path: &RepoPath, text: &str) -> Vec<Section> {
    let name = path.as_str().rsplit('/').next().unwrap_or_default().to_owned();
    let bytes = 0..text.len();
    let lines = LineIndex::new(text).lines_of(&bytes);
    vec![Section { heading_path: vec![name], anchor: None, explicit_id: None, lines, bytes, kind: Kind::Doc }]
}
