//! A folder of files that stands for the corpus, without GitLab: what `ask` and `eval` read.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;

use crate::reference::RepoPath;
use crate::section::{self, Format, Section};

/// Files of more bytes than this are data.
const FILE_MAX: u64 = 2 * 1024 * 1024;

/// A file of the folder, cut.
pub struct File {
    /// The path below the folder.
    pub path: RepoPath,
    /// The content.
    pub text: Arc<str>,
    /// Its sections.
    pub sections: Vec<Section>,
}

/// Why a file was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Skipped {
    /// A symbolic link.
    Symlink,
    /// The file's name promises neither documentation nor code.
    Format,
    /// More than two megabytes.
    Big,
    /// Not UTF-8 text.
    Binary,
    /// A pointer of Git LFS.
    LfsPointer,
    /// Generated, vendored or hidden.
    Ignored,
    /// Nothing in it that could be quoted.
    Empty,
    /// The path holds characters that no repository path may hold.
    Path,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Skipped::Symlink => "symbolic link",
            Skipped::Format => "neither documentation nor code",
            Skipped::Big => "larger than 2 MiB",
            Skipped::Binary => "binary",
            Skipped::LfsPointer => "Git LFS pointer",
            Skipped::Ignored => "generated, vendored or hidden",
            Skipped::Empty => "no section in it",
            Skipped::Path => "unusable path",
        })
    }
}

/// The files of a folder, and those that were left out.
pub struct Folder {
    /// What was read, in the order of paths.
    pub files: Vec<File>,
    /// What was not, and why.
    pub skipped: Vec<(String, Skipped)>,
}

impl Folder {
    /// Reads a folder with everything below it; symbolic links are not followed.
    pub fn read(root: &Path) -> anyhow::Result<Folder> {
        let mut folder = Folder { files: Vec::new(), skipped: Vec::new() };
        let mut open = vec![root.to_owned()];
        while let Some(directory) = open.pop() {
            let entries = std::fs::read_dir(&directory)
                .with_context(|| format!("cannot read {}", directory.display()))?;
            let mut paths: Vec<PathBuf> =
                entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
            paths.sort();
            for path in paths {
                folder.visit(root, &path, &mut open)?;
            }
        }
        folder.files.sort_by(|a, b| a.path.cmp(&b.path));
        folder.skipped.sort();
        Ok(folder)
    }

    fn visit(&mut self, root: &Path, path: &Path, open: &mut Vec<PathBuf>) -> anyhow::Result<()> {
        let below = path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/");
        let about =
            std::fs::symlink_metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
        let skipped = if about.is_symlink() {
            Some(Skipped::Symlink)
        } else if is_ignored(&below) {
            Some(Skipped::Ignored)
        } else if about.is_dir() {
            open.push(path.to_owned());
            return Ok(());
        } else if about.len() > FILE_MAX {
            Some(Skipped::Big)
        } else {
            self.file(path, &below)?
        };
        self.skipped.extend(skipped.map(|why| (below, why)));
        Ok(())
    }

    /// Reads and cuts one file, or says why not.
    fn file(&mut self, path: &Path, below: &str) -> anyhow::Result<Option<Skipped>> {
        let Some(name) = RepoPath::parse(below) else { return Ok(Some(Skipped::Path)) };
        if Format::of(&name).is_none() {
            return Ok(Some(Skipped::Format));
        }
        let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let Ok(text) = String::from_utf8(bytes) else { return Ok(Some(Skipped::Binary)) };
        if text.contains('\0') {
            return Ok(Some(Skipped::Binary));
        }
        if text.starts_with("version https://git-lfs.github.com/spec/") {
            return Ok(Some(Skipped::LfsPointer));
        }
        let sections = section::cut(&name, &text);
        if sections.is_empty() {
            return Ok(Some(Skipped::Empty));
        }
        self.files.push(File { path: name, text: text.into(), sections });
        Ok(None)
    }
}

/// Trees and files that repeat or contradict the documentation.
fn is_ignored(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let tree =
        ["vendor", "node_modules", "third_party", "testdata", "fixtures", "dist", "target"].contains(&name);
    let file = name.starts_with("CHANGELOG") || name.ends_with(".lock") || name.ends_with(".min.js");
    let lock = matches!(name, "package-lock.json" | "pnpm-lock.yaml");
    tree || file || lock || (name.starts_with('.') && name != ".")
}
