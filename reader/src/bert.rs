//! The encoder's arithmetic: embeddings, attention, the layers.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, Slice};

use crate::weights::{Tensor, Weights};

/// Width of a state.
pub const HIDDEN: usize = 384;
const HEADS: usize = 12;
const HEAD: usize = HIDDEN / HEADS;
const INNER: usize = 4 * HIDDEN;
const EPSILON: f32 = 1e-12;
const POSITIONS: usize = 512;
const VOCABULARY: usize = 30_522;

/// `x · weightᵀ + bias`.
pub struct Linear {
    /// Inputs by outputs, row by row: a multiplication copies the right side in rows, and columns would cost it more
    /// than the arithmetic does.
    weight: Array2<f32>,
    bias: Vec<f32>,
}

impl Linear {
    pub fn read(weights: &Weights<'_>, name: &str, inputs: usize, outputs: usize) -> Self {
        Self {
            weight: weights.transposed(&format!("{name}.weight"), outputs, inputs),
            bias: weights.vector(&format!("{name}.bias"), outputs),
        }
    }

    pub fn apply(&self, x: ArrayView2<'_, f32>) -> Array2<f32> {
        let mut y = Array2::zeros((x.nrows(), self.bias.len()));
        for mut row in y.rows_mut() {
            for (o, b) in row.iter_mut().zip(&self.bias) {
                *o = *b;
            }
        }
        general_mat_mul(1.0, &x, &self.weight, 1.0, &mut y);
        y
    }
}

struct Norm {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl Norm {
    fn read(weights: &Weights<'_>, name: &str) -> Self {
        Self {
            weight: weights.vector(&format!("{name}.weight"), HIDDEN),
            bias: weights.vector(&format!("{name}.bias"), HIDDEN),
        }
    }

    fn apply(&self, x: &mut Array2<f32>) {
        for mut row in x.rows_mut() {
            let mean = row.sum() / HIDDEN as f32;
            let variance = row.iter().map(|v| (v - mean) * (v - mean)).sum::<f32>() / HIDDEN as f32;
            let scale = 1.0 / (variance + EPSILON).sqrt();
            for ((v, w), b) in row.iter_mut().zip(&self.weight).zip(&self.bias) {
                *v = (*v - mean) * scale * w + b;
            }
        }
    }
}

/// One transformer layer.
pub struct Layer {
    qkv: Linear,
    out: Linear,
    norm1: Norm,
    up: Linear,
    down: Linear,
    norm2: Norm,
}

impl Layer {
    pub fn read(weights: &Weights<'_>, name: &str) -> Self {
        Self {
            qkv: Linear::read(weights, &format!("{name}.qkv"), HIDDEN, 3 * HIDDEN),
            out: Linear::read(weights, &format!("{name}.out"), HIDDEN, HIDDEN),
            norm1: Norm::read(weights, &format!("{name}.ln1")),
            up: Linear::read(weights, &format!("{name}.up"), HIDDEN, INNER),
            down: Linear::read(weights, &format!("{name}.down"), INNER, HIDDEN),
            norm2: Norm::read(weights, &format!("{name}.ln2")),
        }
    }

    /// The next states of several texts, one below the other, of `lengths` pieces each. They do not see each other;
    /// together they need the weights brought from memory only once. No padding is ever in them.
    pub fn apply(&self, x: &Array2<f32>, lengths: &[usize]) -> Array2<f32> {
        let mut y = self.out.apply(attend(&self.qkv.apply(x.view()), lengths).view());
        y += x;
        self.norm1.apply(&mut y);
        let mut h = self.up.apply(y.view());
        h.iter_mut().for_each(|v| *v = gelu(*v));
        let mut z = self.down.apply(h.view());
        z += &y;
        self.norm2.apply(&mut z);
        z
    }
}

fn attend(qkv: &Array2<f32>, lengths: &[usize]) -> Array2<f32> {
    let mut context = Array2::zeros((qkv.nrows(), HIDDEN));
    let mut first = 0;
    for length in lengths {
        let rows = Slice::from(first..first + length);
        attend_within(qkv.slice_axis(Axis(0), rows), context.slice_axis_mut(Axis(0), rows));
        first += length;
    }
    context
}

fn attend_within(qkv: ArrayView2<'_, f32>, mut context: ArrayViewMut2<'_, f32>) {
    let scale = 1.0 / (HEAD as f32).sqrt();
    let mut scores = Array2::zeros((qkv.nrows(), qkv.nrows()));
    for head in 0..HEADS {
        let columns = |first: usize| Slice::from(first + head * HEAD..first + (head + 1) * HEAD);
        let part = |which: usize| qkv.slice_axis(Axis(1), columns(which * HIDDEN));
        general_mat_mul(scale, &part(0), &part(1).t(), 0.0, &mut scores);
        for mut row in scores.rows_mut() {
            if let Some(row) = row.as_slice_mut() {
                softmax(row);
            }
        }
        let mut target = context.slice_axis_mut(Axis(1), columns(0));
        general_mat_mul(1.0, &scores, &part(2), 0.0, &mut target);
    }
}

/// Turns scores into shares.
pub fn softmax(row: &mut [f32]) {
    let top = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    row.iter_mut().for_each(|v| *v = exp(*v - top));
    let sum: f32 = row.iter().sum();
    row.iter_mut().for_each(|v| *v /= sum);
}

/// eˣ by a polynomial of degree six on [-½ln2, ½ln2], which compilers vectorise; relative error below 3e-7.
pub fn exp(x: f32) -> f32 {
    const MAGIC: f32 = 12_582_912.0; // 1.5 · 2²³: adding it rounds to the nearest integer
    let x = x.clamp(-87.0, 88.0);
    let shifted = x * std::f32::consts::LOG2_E + MAGIC;
    let n = shifted - MAGIC;
    let r = x - n * 0.693_359_4 + n * 2.121_944_4e-4;
    let p = 1.0
        + r * (1.0
            + r * (0.5
                + r * (1.666_666_6e-1 + r * (4.166_666_6e-2 + r * (8.333_334e-3 + r * 1.388_889e-3)))));
    p * f32::from_bits(shifted.to_bits().wrapping_add(127) << 23)
}

/// x · Φ(x), the error function after Abramowitz and Stegun 7.1.26 (absolute error below 2e-7).
pub fn gelu(x: f32) -> f32 {
    let a = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * a);
    let p =
        t * (0.254_829_6 + t * (-0.284_496_74 + t * (1.421_413_8 + t * (-1.453_152_1 + t * 1.061_405_4))));
    let tail = 0.5 * p * exp(-a * a);
    x * if x < 0.0 { tail } else { 1.0 - tail }
}

/// Token, position and segment tables; the token table stays as bytes.
pub struct Embeddings {
    words: Option<Tensor<'static>>,
    positions: Option<Tensor<'static>>,
    kind: Vec<f32>,
    norm: Norm,
}

impl Embeddings {
    pub fn read(weights: &Weights<'static>) -> Self {
        Self {
            words: weights.tensor("emb.word.weight", VOCABULARY, HIDDEN),
            positions: weights.tensor("emb.pos.weight", POSITIONS, HIDDEN),
            kind: weights.vector("emb.kind", HIDDEN),
            norm: Norm::read(weights, "emb.ln"),
        }
    }

    pub fn apply(&self, ids: &[u32]) -> Array2<f32> {
        let ids = &ids[..ids.len().min(POSITIONS)];
        let mut x = Array2::zeros((ids.len(), HIDDEN));
        for ((position, &id), mut row) in ids.iter().enumerate().zip(x.rows_mut()) {
            if let Some(row) = row.as_slice_mut() {
                row.copy_from_slice(&self.kind);
                if let Some(words) = &self.words {
                    words.add_row(id as usize, row);
                }
                if let Some(positions) = &self.positions {
                    positions.add_row(position, row);
                }
            }
        }
        self.norm.apply(&mut x);
        x
    }
}

/// The mean state.
pub fn mean(x: ArrayView2<'_, f32>) -> Vec<f32> {
    x.mean_axis(Axis(0)).map(|m| m.to_vec()).unwrap_or_else(|| vec![0.0; HIDDEN])
}

/// Scales to length one; a vector of zeros stays.
pub fn normalise(v: &mut [f32]) {
    let length = v.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 1e-12 {
        v.iter_mut().for_each(|x| *x /= length);
    }
}
