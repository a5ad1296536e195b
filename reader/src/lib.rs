//! Reads a question and a passage together.
//!
//! Three things are in this crate, weights included: an encoder that turns questions and passages into vectors to
//! search by ([`Reader::embed_question`], [`Reader::embed_passage`]); a reader that looks at a question and a passage
//! at once and scores whether the passage covers it ([`Reader::cover`], made a probability by [`probability`]); and a
//! gate that tells questions from bug reports, requests and chores ([`Gate`]).
//!
//! There is no input and no output here, nothing is downloaded, and no text leaves: in go strings, out come numbers.
//! The same input gives the same numbers. No input makes it panic; time is bounded whatever the length of the input.
#![forbid(unsafe_code)]

mod bert;
mod calibrate;
mod cover;
mod essence;
mod gate;
mod passage;
mod text;
mod weights;
mod wordpiece;

use ndarray::{Array2, ArrayView2, Axis, concatenate};

pub use calibrate::{Evidence, any_of_best, probability};
pub use essence::essence;
pub use gate::Gate;
pub use passage::best_lines;

use crate::bert::{Embeddings, Layer};
use crate::weights::Weights;
use crate::wordpiece::WordPiece;

static MODEL: &[u8] = include_bytes!("../model/reader.bin");

/// A vector of a question reads this many pieces, that of a passage [`EMBED_PASSAGE`].
const EMBED_QUESTION: usize = 96;
const EMBED_PASSAGE: usize = 128;
/// More threads than these gain little on ten passages and take cores from the rest of the program.
const MOST_THREADS: usize = 4;

/// The loaded model.
///
/// Loading takes some 100 ms and holds about 70 MB; load once and share it between threads.
pub struct Reader {
    pieces: WordPiece,
    embeddings: Embeddings,
    shared: Vec<Layer>,
    dense: Vec<Layer>,
    cover: cover::Cover,
}

impl Reader {
    /// Length of the vectors.
    pub const DIM: usize = bert::HIDDEN;

    /// Loads the embedded model. It cannot fail: a test reads the embedded bytes through.
    pub fn load() -> Reader {
        let weights = Weights::read(MODEL);
        let layers = |name: &str| (0..3).map(|i| Layer::read(&weights, &format!("{name}.{i}"))).collect();
        Reader {
            pieces: WordPiece::load(),
            embeddings: Embeddings::read(&weights),
            shared: layers("layers"),
            dense: layers("dense.layers"),
            cover: cover::Cover::read(&weights),
        }
    }

    /// The dense vector, of length one, of a question: give it the [`essence()`] of title and description.
    pub fn embed_question(&self, text: &str) -> Vec<f32> {
        self.embed(self.pieces.encode(text, EMBED_QUESTION))
    }

    /// The dense vector, of length one, of a passage: its heading path and its Markdown text.
    pub fn embed_passage(&self, heading: &str, text: &str) -> Vec<f32> {
        let joined = format!("{heading}\n{}", text::plain(text));
        self.embed(self.pieces.encode(&joined, EMBED_PASSAGE))
    }

    /// One raw score (a logit) for each passage: does the passage cover the question?
    ///
    /// `title` and `text` are the question's title and description as they are; the [`essence()`] is taken here.
    /// Passages are heading path and Markdown text; of a long one the part that shares most terms with the question
    /// is read. Scores of one question's passages are comparable; [`probability`] makes a decision of them.
    pub fn cover(&self, title: &str, text: &str, passages: &[(&str, &str)]) -> Vec<f32> {
        let essence = essence(title, text);
        let terms = text::terms(&essence);
        let question = self.shared(&[self.pieces.encode(&essence, text::QUESTION)]).0;
        let score = &|part: &[(&str, &str)]| {
            let read = |&(heading, text): &(&str, &str)| {
                text::reading(&self.pieces, heading, text, &terms, text::PASSAGE)
            };
            let (states, lengths) = self.shared(&part.iter().map(read).collect::<Vec<_>>());
            self.cover.score(&question, &cover::split(&states, &lengths))
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        if threads < 2 || passages.len() < 2 {
            return score(passages);
        }
        let share = passages.len().div_ceil(threads);
        std::thread::scope(|scope| {
            let parts: Vec<_> =
                passages.chunks(share).map(|part| (part, scope.spawn(move || score(part)))).collect();
            // A thread that could not finish is done again here, so that one score always stands for one passage.
            parts
                .into_iter()
                .flat_map(|(part, thread)| thread.join().unwrap_or_else(|_| score(part)))
                .collect()
        })
    }

    /// The states of texts after the shared layers, one text below the other, and how many pieces each has.
    fn shared(&self, texts: &[Vec<u32>]) -> (Array2<f32>, Vec<usize>) {
        let embedded: Vec<Array2<f32>> = texts.iter().map(|ids| self.embeddings.apply(ids)).collect();
        let lengths: Vec<usize> = embedded.iter().map(Array2::nrows).collect();
        let parts: Vec<ArrayView2<'_, f32>> = embedded.iter().map(|text| text.view()).collect();
        let states = concatenate(Axis(0), &parts).unwrap_or_else(|_| Array2::zeros((0, bert::HIDDEN)));
        (self.shared.iter().fold(states, |x, layer| layer.apply(&x, &lengths)), lengths)
    }

    fn embed(&self, ids: Vec<u32>) -> Vec<f32> {
        let (states, lengths) = self.shared(&[ids]);
        let states = self.dense.iter().fold(states, |x, layer| layer.apply(&x, &lengths));
        let mut vector = bert::mean(states.view());
        bert::normalise(&mut vector);
        vector
    }
}

/// The pieces given to the encoder: for the recipe and for tests, not for use.
#[doc(hidden)]
pub mod parts {
    pub use crate::gate::features;
    pub use crate::text::{PASSAGE, QUESTION, plain, reading, terms, units};
    pub use crate::wordpiece::WordPiece;
}
