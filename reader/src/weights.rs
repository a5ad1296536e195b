//! The model file: named tensors, rows of bytes with a scale each, or plain numbers.
//!
//! Layout, little-endian: `SPR1`, a count, then for each tensor: length of the name (u8), the name, kind (u8: 0 plain
//! f32, 1 rows of i8 with one f32 scale a row before all rows), rows (u32), columns (u32), data. Nothing here can fail
//! at run time on the embedded file, which a test reads through; a tensor that is not there reads as zeros.

use std::collections::HashMap;

use ndarray::Array2;

/// One tensor, still as bytes of the file.
#[derive(Clone, Copy)]
pub struct Tensor<'a> {
    quantised: bool,
    pub rows: usize,
    pub columns: usize,
    data: &'a [u8],
}

/// All tensors by name.
pub struct Weights<'a> {
    by_name: HashMap<&'a str, Tensor<'a>>,
}

impl<'a> Weights<'a> {
    /// Reads the directory of a model file; what is cut off is left out.
    pub fn read(bytes: &'a [u8]) -> Self {
        let mut by_name = HashMap::new();
        let mut rest = Bytes(bytes);
        if rest.take(4) == Some(b"SPR1") {
            let count = rest.number().unwrap_or(0);
            for _ in 0..count {
                match rest.tensor() {
                    Some((name, tensor)) => by_name.insert(name, tensor),
                    None => break,
                };
            }
        }
        Self { by_name }
    }

    /// A tensor of this shape as numbers.
    pub fn matrix(&self, name: &str, rows: usize, columns: usize) -> Array2<f32> {
        match self.tensor(name, rows, columns) {
            Some(tensor) => Array2::from_shape_fn((rows, columns), |(r, c)| tensor.at(r, c)),
            None => Array2::zeros((rows, columns)),
        }
    }

    /// A tensor of this shape as numbers, its columns as rows.
    pub fn transposed(&self, name: &str, rows: usize, columns: usize) -> Array2<f32> {
        self.matrix(name, rows, columns).t().as_standard_layout().into_owned()
    }

    /// A tensor of one row as numbers.
    pub fn vector(&self, name: &str, columns: usize) -> Vec<f32> {
        self.matrix(name, 1, columns).into_raw_vec_and_offset().0
    }

    /// A tensor left as bytes, for tables of which few rows are read.
    pub fn tensor(&self, name: &str, rows: usize, columns: usize) -> Option<Tensor<'a>> {
        self.by_name.get(name).copied().filter(|t| t.rows == rows && t.columns == columns)
    }
}

impl Tensor<'_> {
    /// Adds one row to `out`; a row that is not there adds nothing.
    pub fn add_row(&self, row: usize, out: &mut [f32]) {
        if row < self.rows {
            for (c, o) in out.iter_mut().enumerate().take(self.columns) {
                *o += self.at(row, c);
            }
        }
    }

    fn at(&self, row: usize, column: usize) -> f32 {
        let index = row * self.columns + column;
        if self.quantised {
            let byte = self.data.get(4 * self.rows + index).copied().unwrap_or(0);
            f32::from(byte as i8) * self.float(row)
        } else {
            self.float(index)
        }
    }

    fn float(&self, index: usize) -> f32 {
        self.data.get(4 * index..4 * index + 4).map_or(0.0, |b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }
}

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<usize> {
        let b = self.take(4)?;
        usize::try_from(u32::from_le_bytes([b[0], b[1], b[2], b[3]])).ok()
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|b| b[0])
    }

    fn tensor(&mut self) -> Option<(&'a str, Tensor<'a>)> {
        let length = self.byte()?;
        let name = std::str::from_utf8(self.take(usize::from(length))?).ok()?;
        let quantised = self.byte()? == 1;
        let (rows, columns) = (self.number()?, self.number()?);
        let cells = rows.checked_mul(columns)?;
        let size = if quantised { rows.checked_mul(4)?.checked_add(cells)? } else { cells.checked_mul(4)? };
        Some((name, Tensor { quantised, rows, columns, data: self.take(size)? }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_file_is_whole() {
        let file = crate::MODEL;
        let weights = Weights::read(file);
        let count = u32::from_le_bytes([file[4], file[5], file[6], file[7]]);
        assert_eq!(weights.by_name.len(), usize::try_from(count).unwrap());
        assert!(weights.tensor("emb.word.weight", 30_522, 384).is_some());
        for (name, tensor) in &weights.by_name {
            let step = (tensor.rows / 40).max(1);
            assert!(
                (0..tensor.rows).step_by(step).all(|r| tensor.at(r, tensor.columns - 1).is_finite()),
                "{name}"
            );
        }
        for branch in ["layers", "dense.layers", "cover.upper.layers"] {
            for layer in 0..3 {
                for (part, rows, columns) in [
                    ("qkv", 1152, 384),
                    ("out", 384, 384),
                    ("up", 1536, 384),
                    ("down", 384, 1536),
                    ("ln1", 1, 384),
                    ("ln2", 1, 384),
                ] {
                    let name = format!("{branch}.{layer}.{part}");
                    assert!(weights.tensor(&format!("{name}.weight"), rows, columns).is_some(), "{name}");
                    assert!(
                        weights
                            .tensor(&format!("{name}.bias"), 1, if rows == 1 { 384 } else { rows })
                            .is_some(),
                        "{name}"
                    );
                }
            }
        }
        assert!(file.len() < 30_000_000);
    }

    #[test]
    fn a_cut_file_reads_as_zeros_and_never_panics() {
        let file = crate::MODEL;
        for end in (0..600).chain([file.len() / 2, file.len() - 1]) {
            let weights = Weights::read(&file[..end]);
            assert_eq!(weights.matrix("nothing", 2, 2), Array2::<f32>::zeros((2, 2)));
        }
    }
}
