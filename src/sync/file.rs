//! One file cut into rows.

use sha2::{Digest, Sha256};

use crate::reference::RepoPath;
use crate::section::{Format, Kind, cut};
use crate::store::corpus::SectionRow;
use crate::target::ProjectId;

/// The largest file that is read, in bytes. Documentation beyond a megabyte is generated.
pub const FILE_MAX: usize = 1 << 20;

/// The sections of a file, ready for the database.
pub(super) fn sections(project: ProjectId, path: &RepoPath, text: &str) -> Vec<SectionRow> {
    let cuts = cut(path, text).into_iter().enumerate();
    let rows = cuts.map(|(ordinal, section)| SectionRow {
        id: section_id(project, path, ordinal),
        project,
        path: path.as_str().to_owned(),
        ordinal: ordinal as u32,
        kind: if section.kind == Kind::Code { "code" } else { "doc" }.to_owned(),
        headings: section.heading_path,
        anchor: section.anchor,
        explicit_id: section.explicit_id,
        lines: (section.lines.first, section.lines.last),
        bytes: (section.bytes.start, section.bytes.end),
        body: text[section.bytes].to_owned(),
        vector: None,
    });
    // NUL is no text for Postgres.
    rows.filter(|row| !row.body.trim().is_empty() && !row.body.contains('\0')).collect()
}

/// Whether a file of this name is documentation or code that somebody reads: one of a known format, a page of a site that
/// is written in HTML, or notes with a bare name.
pub(super) fn is_read(path: &RepoPath) -> bool {
    let name = path.as_str().rsplit('/').next().unwrap_or_default();
    Format::of(path).is_some() || name.ends_with(".html") || name.ends_with(".htm") || !name.contains('.')
}

/// A number for project, path and position: 63 bits of a hash, so that replicas agree without a sequence.
fn section_id(project: ProjectId, path: &RepoPath, ordinal: usize) -> u64 {
    let hash = Sha256::digest(format!("{project}\0{}\0{ordinal}", path.as_str()));
    let head: [u8; 8] = std::array::from_fn(|i| hash[i]);
    u64::from_be_bytes(head) >> 1
}
