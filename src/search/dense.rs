//! Vectors of sections, held in memory and compared one by one.

use std::collections::HashMap;

use crate::target::ProjectId;

/// The number of components of a vector.
pub const DIM: usize = 384;

/// A unit vector, one byte a component.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    scale: f32,
    values: Box<[i8]>,
}

impl Vector {
    /// Quantises a vector of any length; the result points the same way and has length one.
    pub fn quantise(values: &[f32]) -> Vector {
        let largest = values.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        if !largest.is_finite() || largest == 0.0 {
            return Vector { scale: 0.0, values: vec![0; values.len()].into() };
        }
        let values: Box<[i8]> = values.iter().map(|value| (value / largest * 127.0).round() as i8).collect();
        let norm = values.iter().map(|&value| f32::from(value).powi(2)).sum::<f32>().sqrt();
        Vector { scale: 1.0 / norm, values }
    }

    /// Four bytes of scale (little endian) and one byte a component.
    pub fn to_bytes(&self) -> Vec<u8> {
        let values = self.values.iter().map(|&value| value as u8);
        self.scale.to_le_bytes().into_iter().chain(values).collect()
    }

    /// Reads what [`Vector::to_bytes`] wrote; `None` for another length than [`DIM`] components.
    pub fn from_bytes(bytes: &[u8]) -> Option<Vector> {
        let (scale, values) = bytes.split_first_chunk::<4>()?;
        let scale = f32::from_le_bytes(*scale);
        let valid = values.len() == DIM && scale.is_finite();
        valid.then(|| Vector { scale, values: values.iter().map(|&value| value as i8).collect() })
    }

    /// The cosine of the angle between two vectors; 0 where the lengths differ.
    pub fn cosine(&self, other: &Vector) -> f32 {
        if self.values.len() != other.values.len() {
            return 0.0;
        }
        self.scale * other.scale * dot(&self.values, &other.values) as f32
    }
}

fn dot(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(&a, &b)| i32::from(i16::from(a) * i16::from(b))).sum()
}

/// The vectors of all sections, in one piece of memory.
#[derive(Default)]
pub(super) struct Vectors {
    values: Vec<i8>,
    rows: Vec<Row>,
    files: HashMap<(ProjectId, String), Vec<u64>>,
    places: HashMap<u64, Vec<usize>>,
    /// Rows that are forgotten but still take memory.
    dead: usize,
}

#[derive(Clone, Copy)]
struct Row {
    section: u64,
    project: ProjectId,
    scale: f32,
}

impl Vectors {
    /// Adds a vector of a section; vectors of another length than [`DIM`] are left out.
    pub(super) fn add(&mut self, project: ProjectId, path: &str, section: u64, vector: &Vector) {
        if vector.values.len() != DIM {
            return;
        }
        self.places.entry(section).or_default().push(self.rows.len());
        let file = self.files.entry((project, path.to_owned())).or_default();
        if file.last() != Some(&section) {
            file.push(section);
        }
        self.rows.push(Row { section, project, scale: vector.scale });
        self.values.extend_from_slice(&vector.values);
    }

    /// Whether a section has a vector.
    pub(super) fn knows(&self, section: u64) -> bool {
        self.places.contains_key(&section)
    }

    /// Forgets the sections of a file.
    pub(super) fn remove_file(&mut self, project: ProjectId, path: &str) {
        let sections = self.files.remove(&(project, path.to_owned())).unwrap_or_default();
        self.forget(&sections);
        self.compact();
    }

    /// Forgets the sections of a project.
    pub(super) fn remove_project(&mut self, project: ProjectId) {
        let gone: Vec<u64> =
            self.files.extract_if(|key, _| key.0 == project).flat_map(|(_, ids)| ids).collect();
        self.forget(&gone);
        self.compact();
    }

    fn forget(&mut self, sections: &[u64]) {
        for section in sections {
            for place in self.places.remove(section).unwrap_or_default() {
                self.rows[place].section = u64::MAX;
                self.dead += 1;
            }
        }
    }

    /// Gives back the memory of forgotten rows once they are a quarter of all.
    fn compact(&mut self) {
        if self.dead < 256.max(self.rows.len() / 4) {
            return;
        }
        self.dead = 0;
        let mut kept = 0;
        self.places.clear();
        for at in 0..self.rows.len() {
            let row = self.rows[at];
            if row.section == u64::MAX {
                continue;
            }
            self.values.copy_within(at * DIM..(at + 1) * DIM, kept * DIM);
            self.rows[kept] = row;
            self.places.entry(row.section).or_default().push(kept);
            kept += 1;
        }
        self.rows.truncate(kept);
        self.values.truncate(kept * DIM);
        self.rows.shrink_to_fit();
        self.values.shrink_to_fit();
    }

    /// The best cosine of each of the `k` sections nearest to `question`, best first.
    pub(super) fn nearest(
        &self,
        question: &Vector,
        k: usize,
        allowed: impl Fn(ProjectId) -> bool,
    ) -> Vec<(u64, ProjectId, f32)> {
        if question.values.len() != DIM || k == 0 {
            return Vec::new();
        }
        let mut best: Vec<(u64, ProjectId, f32)> = Vec::new();
        let mut floor = f32::NEG_INFINITY;
        for (row, values) in self.rows.iter().zip(self.values.chunks_exact(DIM)) {
            if row.section == u64::MAX {
                continue;
            }
            let cosine = row.scale * question.scale * dot(values, &question.values) as f32;
            if cosine <= floor || !allowed(row.project) {
                continue;
            }
            match best.iter_mut().find(|known| known.0 == row.section) {
                Some(known) => known.2 = known.2.max(cosine),
                None => best.push((row.section, row.project, cosine)),
            }
            if best.len() >= 4 * k {
                floor = keep(&mut best, k);
            }
        }
        keep(&mut best, k);
        best
    }

    /// The best cosine of one section; `None` where it has no vector.
    pub(super) fn cosine(&self, section: u64, question: &Vector) -> Option<f32> {
        let places = self.places.get(&section)?;
        let cosine = |&at: &usize| {
            let values = self.values.get(at * DIM..(at + 1) * DIM)?;
            Some(self.rows[at].scale * question.scale * dot(values, &question.values) as f32)
        };
        places.iter().filter_map(cosine).reduce(f32::max)
    }
}

/// Keeps the `k` best, best first, and returns the cosine of the last.
fn keep(best: &mut Vec<(u64, ProjectId, f32)>, k: usize) -> f32 {
    best.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0)));
    best.truncate(k);
    best.last().filter(|_| best.len() == k).map_or(f32::NEG_INFINITY, |last| last.2)
}
