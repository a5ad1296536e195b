//! A folder as a searchable corpus.

use crate::cli::folder::{File, Folder};
use crate::prose::Question;
use crate::search::{Entry, Found, Index, Tuning, Vector};
use crate::section::{self, Section};

/// The project id that a folder's files get.
pub const PROJECT: u64 = 1;

/// A folder, indexed. Sections are numbered in the order of files and lines.
pub struct Local {
    /// What was read.
    pub folder: Folder,
    index: Index,
    places: Vec<(usize, usize)>,
}

impl Local {
    /// Indexes a folder.
    pub fn index(folder: Folder, tuning: Tuning) -> anyhow::Result<Local> {
        let mut local = Local { folder, index: Index::tuned(tuning)?, places: Vec::new() };
        for (number, file) in local.folder.files.iter().enumerate() {
            let mut entries = Vec::new();
            for (at, section) in file.sections.iter().enumerate() {
                let id = local.places.len() as u64;
                local.places.push((number, at));
                let passages = section::passages(section, &file.text);
                entries.push(Entry {
                    id,
                    heading_path: &section.heading_path,
                    passages: passages.into_iter().map(|range| &file.text[range]).collect(),
                    kind: section.kind,
                    vectors: Vec::new(),
                });
            }
            local.index.replace_file(PROJECT, &file.path, entries)?;
        }
        local.index.commit()?;
        anyhow::ensure!(!local.places.is_empty(), "no section in this folder");
        Ok(local)
    }

    /// The number of sections.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Weighs hits in another way from now on.
    pub fn retune(&mut self, tuning: Tuning) {
        self.index.retune(tuning);
    }

    /// The file and the section with this number.
    pub fn place(&self, id: u64) -> Option<(&File, &Section)> {
        let &(file, section) = self.places.get(usize::try_from(id).ok()?)?;
        let file = self.folder.files.get(file)?;
        Some((file, file.sections.get(section)?))
    }

    /// The best sections, best first.
    pub fn find(&self, question: &Question, vector: Option<&Vector>, k: usize) -> anyhow::Result<Vec<Found>> {
        Ok(self.index.find(question, vector, k, &|_| true)?)
    }
}
