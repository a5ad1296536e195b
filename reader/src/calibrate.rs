//! From evidence to a probability.

/// What is known about one candidate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// The reader's raw score.
    pub reader: f32,
    /// Cosine of question and passage vectors.
    pub cosine: f32,
    /// The lexical score, on any scale that is the same for all candidates of the question; 0 if not found that way.
    pub bm25: f32,
    /// Place in the lexical ranking, from 1; 0 if not in it.
    pub bm25_rank: u32,
    /// Place in the dense ranking, from 1; 0 if not in it.
    pub dense_rank: u32,
    /// Share of the question's terms that the passage has, 0 to 1.
    pub term_coverage: f32,
    /// Whether the thread itself refers to the passage.
    pub referenced: bool,
    /// How many similar closed questions refer to the passage.
    pub votes: u32,
}

/// Logistic regression over [`features`]; the last number is the intercept. Fitted by `training/calibrate.py`.
const CANDIDATE: [f32; 10] =
    [0.36176, -0.08388, -0.06360, 0.70323, 0.05877, 1.25504, 0.42541, 0.63272, 0.49091, -4.21476];
/// The same over what [`any_of_best`] looks at.
const ANSWER: [f32; 6] = [0.53140, -0.14923, -0.23588, 0.41528, 0.45699, -0.13772];
/// Log odds that a reference in the thread itself adds, and each of up to [`MOST_VOTES`] similar questions' references.
/// No data set has threads, so these are set by hand, low enough that no reference carries a passage by itself.
const REFERENCED: f32 = 0.7;
const VOTE: f32 = 0.4;
const MOST_VOTES: u32 = 3;

/// The probability that the candidate covers the question, given all candidates of the question.
///
/// Between 0 and 1 for whatever numbers come in; 0 for an index outside. Fitted on candidates that rank fusion of
/// lexical and dense search put among the first ten; calibrated on projects left out of all training.
pub fn probability(all: &[Evidence], index: usize) -> f32 {
    all.get(index).map_or(0.0, |own| sigmoid(candidate(all, index, own)))
}

/// The probability that at least one of the three likeliest candidates covers the question: what an answer that cites
/// up to three places promises.
///
/// Between 0 and 1 for whatever numbers come in; 0 without candidates.
pub fn any_of_best(all: &[Evidence]) -> f32 {
    let mut ranked: Vec<(f32, usize)> =
        all.iter().enumerate().map(|(i, own)| (bound(candidate(all, i, own), 9.21), i)).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let Some(&(_, top)) = ranked.first() else { return 0.0 };
    let best = &all[top];
    let place = |k: usize| ranked.get(k).map_or(-6.0, |(logit, _)| *logit);
    let none: f32 = ranked.iter().take(3).map(|(logit, _)| 1.0 - sigmoid(*logit)).product();
    let any = (1.0 - none).clamp(1e-4, 1.0 - 1e-4);
    let reader = all.iter().map(|e| bound(e.reader, 10.0)).fold(-10.0, f32::max);
    let row = [place(0), place(1), bound(best.reader, 10.0), reader, (any / (1.0 - any)).ln()];
    sigmoid(weigh(&ANSWER, &row))
}

fn candidate(all: &[Evidence], index: usize, own: &Evidence) -> f32 {
    let referenced = if own.referenced { REFERENCED } else { 0.0 };
    weigh(&CANDIDATE, &features(all, index, own)) + referenced + VOTE * own.votes.min(MOST_VOTES) as f32
}

fn features(all: &[Evidence], index: usize, own: &Evidence) -> [f32; 9] {
    let margin = |value: fn(&Evidence) -> f32, most: f32| {
        let others = all.iter().enumerate().filter(|(i, _)| *i != index).map(|(_, e)| value(e));
        others.reduce(f32::max).map_or(0.0, |best| bound(value(own) - best, most))
    };
    let reader = |e: &Evidence| bound(e.reader, 10.0);
    let cosine = |e: &Evidence| bound(e.cosine, 1.0);
    let lexical = all.iter().map(|e| bound(e.bm25, 1e6)).fold(1e-9, f32::max);
    let (by_words, by_vector) = (inverse(own.bm25_rank), inverse(own.dense_rank));
    [
        reader(own),
        margin(reader, 5.0),
        5.0 * cosine(own),
        5.0 * margin(cosine, 0.5),
        bound(own.bm25, 1e6).max(0.0) / lexical,
        by_words,
        by_vector,
        2.0 * bound(own.term_coverage, 1.0),
        fused(own.bm25_rank) + fused(own.dense_rank),
    ]
}

fn inverse(rank: u32) -> f32 {
    if rank == 0 { 0.0 } else { 1.0 / rank as f32 }
}

/// A place as rank fusion weighs it.
fn fused(rank: u32) -> f32 {
    if rank == 0 { 0.0 } else { 50.0 / (20.0 + rank as f32) }
}

/// The value within ±`most`; 0 for what is no number.
fn bound(value: f32, most: f32) -> f32 {
    if value.is_nan() { 0.0 } else { value.clamp(-most, most) }
}

/// The intercept, which stands last, and the weighted sum.
fn weigh(weights: &[f32], row: &[f32]) -> f32 {
    let sum: f32 = weights.iter().zip(row).map(|(w, x)| w * x).sum();
    weights.last().copied().unwrap_or(0.0) + sum
}

fn sigmoid(logit: f32) -> f32 {
    1.0 / (1.0 + (-logit).exp())
}
