//! A little Git: real object ids, trees as maps of paths, commits with parents, branches, tags and the
//! refs that GitLab keeps for merge requests.

pub mod archive;
pub mod diff;
pub mod revision;

use super::time::Millis;
use sha1::{Digest, Sha1};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;

/// The id of an object: 40 lower-case hex digits.
pub type Sha = String;

/// The id that stands for "no commit" in push events.
pub const ZERO: &str = "0000000000000000000000000000000000000000";

/// What a path of a tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    File,
    Executable,
    Symlink,
    Submodule,
}

impl Mode {
    /// The mode as the REST interface writes it: six digits.
    pub fn digits(self) -> &'static str {
        match self {
            Mode::File => "100644",
            Mode::Executable => "100755",
            Mode::Symlink => "120000",
            Mode::Submodule => "160000",
        }
    }
}

/// One path of a tree: what it is, and the id of its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub mode: Mode,
    pub id: Sha,
}

/// A whole tree, flat: every path with its entry. Folders exist only through their files.
pub type Tree = BTreeMap<String, Entry>;

/// A commit.
#[derive(Clone, Debug)]
pub struct Commit {
    pub id: Sha,
    pub tree: Arc<Tree>,
    pub parents: Vec<Sha>,
    pub author_name: String,
    pub author_email: String,
    pub at: Millis,
    pub message: String,
}

impl Commit {
    /// The first line of the message.
    pub fn title(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }

    /// The first eight digits of the id.
    pub fn short(&self) -> &str {
        &self.id[..8]
    }
}

/// One change that a commit makes.
#[derive(Clone, Debug)]
pub enum Change {
    /// Adds or overwrites a file.
    Write(String, Vec<u8>),
    /// Adds or overwrites a file that may be run.
    Script(String, Vec<u8>),
    /// Moves a file, content unchanged.
    Rename(String, String),
    /// Removes a file.
    Delete(String),
    /// A symbolic link (path, target).
    Symlink(String, String),
    /// A submodule (path, commit of the other repository).
    Submodule(String, Sha),
}

/// Who commits, when, and why.
#[derive(Clone, Debug)]
pub struct Signature {
    pub name: String,
    pub email: String,
    pub at: Millis,
    pub message: String,
}

/// A repository.
#[derive(Clone, Default)]
pub struct Repository {
    pub(super) blobs: HashMap<Sha, Arc<[u8]>>,
    pub(super) commits: HashMap<Sha, Commit>,
    /// Branch name to head.
    pub branches: BTreeMap<String, Sha>,
    /// Tag name to commit.
    pub tags: BTreeMap<String, Sha>,
    /// Other refs (`refs/merge-requests/7/head`, `refs/keep-around/<sha>`): readable by id, in no branch.
    pub refs: BTreeMap<String, Sha>,
}

impl Repository {
    /// Stores content and returns its id.
    pub fn blob(&mut self, content: Vec<u8>) -> Sha {
        let id = object_id("blob", &content);
        self.blobs.entry(id.clone()).or_insert_with(|| content.into());
        id
    }

    /// The content of a blob.
    pub fn read(&self, id: &str) -> Option<&Arc<[u8]>> {
        self.blobs.get(id)
    }

    /// The commit of an id.
    pub fn commit(&self, id: &str) -> Option<&Commit> {
        self.commits.get(id)
    }

    /// Applies `changes` to the first parent's tree and records the commit; moves no branch.
    pub fn record(&mut self, parents: &[Sha], changes: Vec<Change>, by: Signature) -> Sha {
        let mut tree = parents.first().map(|id| (*self.commits[id].tree).clone()).unwrap_or_default();
        for change in changes {
            self.apply(&mut tree, change);
        }
        self.record_tree(parents, tree, by)
    }

    /// Records a commit of a whole tree; moves no branch.
    pub fn record_tree(&mut self, parents: &[Sha], tree: Tree, by: Signature) -> Sha {
        let Signature { name, email, at, message } = by;
        let mut text = format!("tree {}\n", tree_id(&tree, ""));
        for parent in parents {
            let _ = writeln!(text, "parent {parent}");
        }
        let seconds = at.div_euclid(1000);
        let _ = write!(
            text,
            "author {name} <{email}> {seconds} +0000\ncommitter {name} <{email}> {seconds} +0000\n\n"
        );
        text.push_str(&message);
        let id = object_id("commit", text.as_bytes());
        let commit = Commit {
            id: id.clone(),
            tree: Arc::new(tree),
            parents: parents.to_vec(),
            author_name: name,
            author_email: email,
            at,
            message,
        };
        self.commits.insert(id.clone(), commit);
        id
    }

    fn apply(&mut self, tree: &mut Tree, change: Change) {
        let mut put = |path: String, mode, id| drop(tree.insert(path, Entry { mode, id }));
        match change {
            Change::Write(path, content) => put(path, Mode::File, self.blob(content)),
            Change::Script(path, content) => put(path, Mode::Executable, self.blob(content)),
            Change::Symlink(path, target) => put(path, Mode::Symlink, self.blob(target.into_bytes())),
            Change::Submodule(path, id) => put(path, Mode::Submodule, id),
            Change::Rename(from, to) => {
                let entry = tree.remove(&from).unwrap_or_else(|| panic!("no file {from} to rename"));
                tree.insert(to, entry);
            }
            Change::Delete(path) => {
                tree.remove(&path).unwrap_or_else(|| panic!("no file {path} to delete"));
            }
        }
    }

    /// Every object that another repository has (a fork shares its upstream's objects).
    pub fn borrow_objects(&mut self, other: &Repository) {
        self.blobs.extend(other.blobs.iter().map(|(id, blob)| (id.clone(), blob.clone())));
        self.commits.extend(other.commits.iter().map(|(id, commit)| (id.clone(), commit.clone())));
    }
}

/// The id Git gives an object of this kind and content.
pub fn object_id(kind: &str, content: &[u8]) -> Sha {
    let mut hash = Sha1::new();
    hash.update(format!("{kind} {}\0", content.len()));
    hash.update(content);
    hex(&hash.finalize())
}

/// The id Git gives the folder `folder` of a tree (`""` is the root; otherwise it ends in a slash).
pub fn tree_id(tree: &Tree, folder: &str) -> Sha {
    let mut rows: Vec<(String, Vec<u8>)> = Vec::new();
    for child in children(tree, folder) {
        let (mode, id, name, key) = match child {
            Child::Folder(name) => {
                let id = tree_id(tree, &format!("{folder}{name}/"));
                ("40000", id, name.clone(), format!("{name}/"))
            }
            Child::Entry(name, entry) => (entry.mode.digits(), entry.id.clone(), name.clone(), name),
        };
        let mut row = format!("{mode} {name}\0").into_bytes();
        row.extend(bytes_of_hex(&id));
        rows.push((key, row));
    }
    rows.sort();
    object_id("tree", &rows.into_iter().flat_map(|(_, row)| row).collect::<Vec<u8>>())
}

/// A direct child of a folder.
pub enum Child<'t> {
    /// A folder, by name.
    Folder(String),
    /// A file, link or submodule, by name.
    Entry(String, &'t Entry),
}

/// The direct children of a folder (`""` or ending in a slash), in the order of their paths.
pub fn children<'t>(tree: &'t Tree, folder: &str) -> Vec<Child<'t>> {
    let mut found: Vec<Child<'t>> = Vec::new();
    for (path, entry) in tree.range(folder.to_owned()..).take_while(|(path, _)| path.starts_with(folder)) {
        let rest = &path[folder.len()..];
        match rest.split_once('/') {
            None => found.push(Child::Entry(rest.to_owned(), entry)),
            Some((name, _)) => {
                match found.iter().any(|child| matches!(child, Child::Folder(last) if last == name)) {
                    true => {}
                    false => found.push(Child::Folder(name.to_owned())),
                }
            }
        }
    }
    found
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn bytes_of_hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|at| u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_ids_are_those_of_git() {
        assert_eq!(object_id("blob", b"hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
        assert_eq!(tree_id(&Tree::new(), ""), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
    }
}
