//! Vectors kept in a file between runs, so that tuning does not embed the same text again.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use sha2::{Digest, Sha256};

use crate::search::{DIM, Vector};

const KEY: usize = 32;
const ROW: usize = KEY + 4 + DIM;

/// A file of vectors by the hash of what was embedded. It holds no text.
pub struct Cache {
    path: PathBuf,
    rows: HashMap<[u8; KEY], Vector>,
    changed: bool,
}

impl Cache {
    /// Opens a cache; a missing file is an empty one.
    pub fn open(path: &Path) -> anyhow::Result<Cache> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let row = |row: &[u8]| Some((row[..KEY].try_into().ok()?, Vector::from_bytes(&row[KEY..])?));
        let rows = bytes.chunks_exact(ROW).filter_map(row).collect();
        Ok(Cache { path: path.to_owned(), rows, changed: false })
    }

    /// The vector of a passage, where it is known.
    pub fn get(&self, heading: &str, text: &str) -> Option<Vector> {
        self.rows.get(&key(heading, text)).cloned()
    }

    /// Remembers the vector of a passage.
    pub fn put(&mut self, heading: &str, text: &str, vector: &Vector) {
        self.rows.insert(key(heading, text), vector.clone());
        self.changed = true;
    }

    /// Writes the file, if anything is new.
    pub fn save(&self) -> anyhow::Result<()> {
        if !self.changed {
            return Ok(());
        }
        let row = |(key, vector): (&[u8; KEY], &Vector)| [key.as_slice(), &vector.to_bytes()].concat();
        let bytes: Vec<u8> = self.rows.iter().flat_map(row).collect();
        std::fs::write(&self.path, bytes).with_context(|| format!("cannot write {}", self.path.display()))
    }
}

fn key(heading: &str, text: &str) -> [u8; KEY] {
    Sha256::new().chain_update(heading).chain_update([0]).chain_update(text).finalize().into()
}
