//! What is fitted on cases, fitted on all sets but the one that is measured.

use crate::cli::eval::Set;
use crate::cli::eval::cases::Label;
use crate::cli::eval::figures::Figures;
use crate::cli::eval::trial::{self, Trial};
use crate::judge::Policy;
use crate::search::Tuning;

/// For each set the weights of the search that rank best on the other sets, by words alone. The weights tried are
/// the shipped ones with one of them changed.
pub fn tunings(sets: &mut [Set]) -> anyhow::Result<Vec<Tuning>> {
    let tried = variants();
    // worth[variant][set]
    let mut worth: Vec<Vec<f64>> = Vec::new();
    for tuning in &tried {
        let mut row = Vec::new();
        for set in sets.iter_mut() {
            set.local.retune(tuning.clone());
            row.push(trial::all(set, true)?.iter().map(reciprocal).sum());
        }
        worth.push(row);
    }
    let best = (0..sets.len()).map(|left_out| {
        let others = |row: &Vec<f64>| row.iter().sum::<f64>() - row[left_out];
        let best = (0..tried.len()).rev().max_by(|&a, &b| others(&worth[a]).total_cmp(&others(&worth[b])));
        best.map(|at| tried[at].clone()).unwrap_or_default()
    });
    Ok(best.collect())
}

fn reciprocal(trial: &Trial) -> f64 {
    trial.lexical.filter(|_| trial.label == Label::Answerable).map_or(0.0, |place| 1.0 / (place as f64 + 1.0))
}

fn variants() -> Vec<Tuning> {
    let changes: [fn(&mut Tuning, f32); 9] = [
        |tuning, by| tuning.places.title *= by,
        |tuning, by| tuning.places.asking *= by,
        |tuning, by| tuning.places.telling *= by,
        |tuning, by| tuning.places.code *= by,
        |tuning, by| tuning.places.listing *= by,
        |tuning, by| tuning.boosts.title *= by,
        |tuning, by| tuning.boosts.path *= by,
        |tuning, by| tuning.boosts.file *= by,
        |tuning, by| tuning.boosts.page *= by,
    ];
    let changed = changes.into_iter().flat_map(|change| {
        [0.6, 1.6].map(|by| {
            let mut tuning = Tuning::default();
            change(&mut tuning, by);
            tuning
        })
    });
    std::iter::once(Tuning::default()).chain(changed).collect()
}

/// For each set the thresholds that keep the promise on the other sets with the most right answers.
pub fn policies(trials: &[Vec<Trial>], max_wrong: f32) -> Vec<Policy> {
    let shipped = Policy::promising(max_wrong);
    (0..trials.len())
        .map(|left_out| {
            let others: Vec<&Trial> = trials
                .iter()
                .enumerate()
                .filter(|(at, _)| *at != left_out)
                .flat_map(|(_, set)| set)
                .collect();
            cover(&others, shipped, f64::from(max_wrong))
        })
        .collect()
}

/// The lowest threshold at which the share of wrong answers is still within the promise.
fn cover(trials: &[&Trial], shipped: Policy, max_wrong: f64) -> Policy {
    let mut tried: Vec<f32> =
        trials.iter().filter_map(|trial| Some(trial.judged.first()?.together)).collect();
    tried.sort_by(f32::total_cmp);
    let scale = |cover: f32| Policy { cover, ..shipped };
    let keeps = |policy: &Policy| {
        let mut figures = Figures::default();
        for trial in trials {
            figures.count(trial, policy);
        }
        figures.precision() >= 1.0 - max_wrong
    };
    tried.into_iter().map(scale).find(keeps).unwrap_or(shipped)
}
