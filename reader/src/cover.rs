//! The head that scores a question and a passage read together.

use ndarray::{Array2, ArrayView2, Axis, concatenate};

use crate::bert::{HIDDEN, Layer, Linear, exp, gelu, mean, normalise, softmax};
use crate::weights::Weights;

/// Centres of the similarity kernels; the first one catches equal tokens.
const CENTRES: [f32; 11] = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0];
const WIDTHS: [f32; 11] = [0.03, 0.07, 0.07, 0.07, 0.07, 0.07, 0.07, 0.07, 0.07, 0.07, 0.07];
/// Kernels, and two of late interaction.
const FEATURES: usize = CENTRES.len() + 2;
const NEURONS: usize = 96;
/// Pooled states are small numbers; the network was trained on them times this.
const SCALE: f32 = 4.0;

/// Three layers over question and passage together, and what follows them.
pub struct Cover {
    layers: Vec<Layer>,
    side: Array2<f32>,
    weight: Linear,
    hidden: Linear,
    out: Linear,
}

impl Cover {
    pub fn read(weights: &Weights<'_>) -> Self {
        Self {
            layers: (0..3).map(|i| Layer::read(weights, &format!("cover.upper.layers.{i}"))).collect(),
            side: weights.matrix("cover.side", 2, HIDDEN),
            weight: Linear::read(weights, "cover.weight", HIDDEN, 1),
            hidden: Linear::read(weights, "cover.hidden", 4 * HIDDEN, NEURONS),
            out: Linear::read(weights, "cover.out", NEURONS + 2 * FEATURES + 1, 1),
        }
    }

    /// The scores of passages, from the states of both sides after the shared layers.
    pub fn score(&self, question: &Array2<f32>, passages: &[ArrayView2<'_, f32>]) -> Vec<f32> {
        let asked = question.nrows();
        let q = question + &self.side.row(0);
        let pairs = passages.iter().map(|passage| [q.clone(), passage + &self.side.row(1)]);
        let parts: Vec<Array2<f32>> = pairs.flatten().collect();
        let parts: Vec<ArrayView2<'_, f32>> = parts.iter().map(|text| text.view()).collect();
        let Ok(mut states) = concatenate(Axis(0), &parts) else { return vec![0.0; passages.len()] };
        let lengths: Vec<usize> = passages.iter().map(|passage| asked + passage.nrows()).collect();
        for layer in &self.layers {
            states = layer.apply(&states, &lengths);
        }
        let read = split(&states, &lengths);
        passages.iter().zip(read).map(|(passage, read)| self.conclude(question, *passage, read)).collect()
    }

    /// The score of one passage, from what is known before and after question and passage were read together.
    fn conclude(
        &self,
        question: &Array2<f32>,
        passage: ArrayView2<'_, f32>,
        read: ArrayView2<'_, f32>,
    ) -> f32 {
        let before = similarities(question.clone(), passage.to_owned());
        let (q, p) = read.split_at(Axis(0), question.nrows());
        let after = similarities(q.to_owned(), p.to_owned());
        let mut importance = self.weight.apply(q).into_raw_vec_and_offset().0;
        softmax(&mut importance);

        let (q, p) = (mean(q), mean(p));
        let mut features = self.neurons(&q, &p);
        features.extend(pool(&before, &importance));
        features.extend(pool(&after, &importance));
        features.push(cosine(q, p));
        let features = Array2::from_shape_fn((1, features.len()), |(_, i)| features[i]);
        self.out.apply(features.view())[(0, 0)]
    }

    fn neurons(&self, q: &[f32], p: &[f32]) -> Vec<f32> {
        let input = Array2::from_shape_fn((1, 4 * HIDDEN), |(_, i)| {
            let (a, b) = (q[i % HIDDEN] * SCALE, p[i % HIDDEN] * SCALE);
            match i / HIDDEN {
                0 => a,
                1 => b,
                2 => a * b,
                _ => (a - b).abs(),
            }
        });
        self.hidden.apply(input.view()).iter().map(|v| gelu(*v)).collect()
    }
}

/// The states of each of several texts that lie one below the other.
pub fn split<'s>(states: &'s Array2<f32>, lengths: &[usize]) -> Vec<ArrayView2<'s, f32>> {
    let mut rest = states.view();
    let mut cut = |length: &usize| {
        let (text, after) = rest.split_at(Axis(0), *length);
        rest = after;
        text
    };
    lengths.iter().map(&mut cut).collect()
}

/// Cosines of each question token with each passage token.
fn similarities(mut question: Array2<f32>, mut passage: Array2<f32>) -> Array2<f32> {
    for x in [&mut question, &mut passage] {
        for mut row in x.rows_mut() {
            if let Some(row) = row.as_slice_mut() {
                normalise(row);
            }
        }
    }
    question.dot(&passage.t())
}

/// Kernel pooling and late interaction, weighted over the question's tokens.
fn pool(similarities: &Array2<f32>, importance: &[f32]) -> [f32; FEATURES] {
    let mut out = [0.0; FEATURES];
    for (row, weight) in similarities.rows().into_iter().zip(importance) {
        for ((o, centre), width) in out.iter_mut().zip(CENTRES).zip(WIDTHS) {
            let mass: f32 =
                row.iter().map(|s| exp(-(s - centre) * (s - centre) / (2.0 * width * width))).sum();
            *o += weight * 0.5 * mass.ln_1p();
        }
        let top = row.iter().copied().fold(-1.0, f32::max);
        out[FEATURES - 2] += weight * top;
        out[FEATURES - 1] += weight * top.powi(4);
    }
    out
}

fn cosine(mut a: Vec<f32>, mut b: Vec<f32>) -> f32 {
    normalise(&mut a);
    normalise(&mut b);
    a.iter().zip(&b).map(|(x, y)| x * y).sum()
}
