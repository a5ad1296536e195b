//! What changed between two trees: file by file, with rename detection and unified hunks.

use super::{Entry, Mode, Repository, Tree};
use similar::TextDiff;

/// Half of the lines in common makes a removed and an added file one renamed file (Git's own default).
const RENAME_LIKENESS: f32 = 0.5;

/// How one file differs between two trees.
#[derive(Clone, Debug)]
pub struct FileDiff {
    pub old_path: String,
    pub new_path: String,
    pub a_mode: &'static str,
    pub b_mode: &'static str,
    pub new_file: bool,
    pub renamed_file: bool,
    pub deleted_file: bool,
    /// Unified hunks without file headers; empty for a pure rename.
    pub diff: String,
}

impl Repository {
    /// Every file that differs, in the order of the new paths.
    pub fn diff(&self, old: &Tree, new: &Tree) -> Vec<FileDiff> {
        let mut removed: Vec<(&String, &Entry)> =
            old.iter().filter(|(path, _)| !new.contains_key(*path)).collect();
        let mut files = Vec::new();
        for (path, entry) in new {
            match old.get(path) {
                Some(before) if before == entry => {}
                Some(before) => files.push(self.file_diff((path, Some(before)), (path, Some(entry)))),
                None => match self.origin(&removed, entry) {
                    Some(at) => {
                        let (from, before) = removed.remove(at);
                        files.push(self.file_diff((from, Some(before)), (path, Some(entry))));
                    }
                    None => files.push(self.file_diff((path, None), (path, Some(entry)))),
                },
            }
        }
        files.extend(
            removed.into_iter().map(|(path, entry)| self.file_diff((path, Some(entry)), (path, None))),
        );
        files.sort_by(|a, b| a.new_path.cmp(&b.new_path));
        files
    }

    /// Which of the removed files an added one came from.
    fn origin(&self, removed: &[(&String, &Entry)], added: &Entry) -> Option<usize> {
        if let Some(same) = removed.iter().position(|(_, entry)| entry.id == added.id) {
            return Some(same);
        }
        let likeness = |entry: &Entry| TextDiff::from_lines(&*self.text(entry), &*self.text(added)).ratio();
        let scored = removed.iter().enumerate().map(|(at, (_, entry))| (at, likeness(entry)));
        scored
            .filter(|(_, score)| *score >= RENAME_LIKENESS)
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(at, _)| at)
    }

    fn file_diff(&self, old: (&String, Option<&Entry>), new: (&String, Option<&Entry>)) -> FileDiff {
        let text = |entry: Option<&Entry>| entry.map(|entry| self.text(entry)).unwrap_or_default();
        let mode = |entry: Option<&Entry>| entry.map_or("0", |entry| entry.mode.digits());
        FileDiff {
            old_path: old.0.clone(),
            new_path: new.0.clone(),
            a_mode: mode(old.1),
            b_mode: mode(new.1),
            new_file: old.1.is_none(),
            renamed_file: old.0 != new.0,
            deleted_file: new.1.is_none(),
            diff: hunks(&text(old.1), &text(new.1)),
        }
    }

    fn text(&self, entry: &Entry) -> String {
        match entry.mode {
            Mode::Submodule => format!("Subproject commit {}\n", entry.id),
            _ => self
                .read(&entry.id)
                .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
                .unwrap_or_default(),
        }
    }
}

fn hunks(old: &str, new: &str) -> String {
    match old.contains('\0') || new.contains('\0') {
        true => "Binary files differ\n".to_owned(),
        false => TextDiff::from_lines(old, new).unified_diff().context_radius(3).to_string(),
    }
}
