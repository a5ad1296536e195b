//! How urgent an entry is.
//!
//! ```text
//! score = (askers + votes + wrong answers) × spread
//! askers        = Σ over distinct people: weight × freshness of their latest question
//! votes         = ½ × ln(1 + votes on all its issues) × freshness of the latest question
//! wrong answers = min(3, Σ over distinct people who got one: weight × freshness)
//! spread        = 1 + ¼ × min(4, projects − 1)
//! freshness     = ½ to the power of (age / 90 days)
//! weight        = min(1, 5 / open entries this person has asked for)
//! ```

use std::collections::{HashMap, HashSet};

use crate::clock::Millis;
use crate::store::question::Record;

/// After this time a question counts half. A quarter: the rhythm in which documentation is planned.
const HALF_LIFE: f64 = 90.0 * 24.0 * 3600.0 * 1000.0;
/// A person may ask for this many open entries at full weight.
const LOUD: f64 = 5.0;
/// What votes count: they are cheap, and the asker may vote too.
const VOTE: f64 = 0.5;
/// Wrong answers count at most like this many people.
const WRONG_MAX: f64 = 3.0;
/// What each further project adds, for at most four of them.
const SPREAD: f64 = 0.25;
const SPREAD_MAX: usize = 4;

/// What speaks for one entry.
#[derive(Clone, Debug, Default)]
pub struct Demand {
    /// Each asker's latest question.
    askers: HashMap<u64, Millis>,
    /// Those who were given a wrong answer.
    wronged: HashMap<u64, Millis>,
    votes: i64,
    projects: usize,
    latest: Millis,
}

/// How many open entries each person has asked for.
#[derive(Clone, Debug, Default)]
pub struct Loud(HashMap<u64, usize>);

impl Loud {
    /// Counts the entries of each person.
    pub fn among<'a>(open: impl Iterator<Item = &'a Demand>) -> Loud {
        let mut entries: HashMap<u64, usize> = HashMap::new();
        open.flat_map(|demand| demand.askers.keys())
            .for_each(|asker| *entries.entry(*asker).or_default() += 1);
        Loud(entries)
    }

    fn weight(&self, asker: u64) -> f64 {
        (LOUD / self.0.get(&asker).copied().unwrap_or(1).max(1) as f64).min(1.0)
    }
}

impl Demand {
    /// Reads the questions of one entry.
    pub fn of(members: &[&Record]) -> Demand {
        let mut demand = Demand::default();
        let mut votes: HashMap<_, i64> = HashMap::new();
        for record in members {
            let latest = |people: &mut HashMap<u64, Millis>| {
                let at = people.entry(record.asker).or_insert(record.asked_at);
                *at = record.asked_at.max(*at);
            };
            latest(&mut demand.askers);
            if super::is_wrong(record) {
                latest(&mut demand.wronged);
            }
            votes.insert(record.place, record.votes.max(0));
            demand.latest = demand.latest.max(record.asked_at);
        }
        demand.votes = votes.values().sum();
        demand.projects = members.iter().map(|record| record.place.project).collect::<HashSet<_>>().len();
        demand
    }

    /// The score at `now`, to three digits.
    pub fn score(&self, loud: &Loud, now: Millis) -> f64 {
        let people = |people: &HashMap<u64, Millis>| -> f64 {
            // Summed in one order: the last digits of a sum must not depend on a map's.
            let mut shares: Vec<f64> =
                people.iter().map(|(asker, at)| loud.weight(*asker) * freshness(*at, now)).collect();
            shares.sort_by(f64::total_cmp);
            shares.iter().sum()
        };
        let votes = VOTE * (1.0 + self.votes as f64).ln() * freshness(self.latest, now);
        let wrong = people(&self.wronged).min(WRONG_MAX);
        let spread = 1.0 + SPREAD * self.projects.saturating_sub(1).min(SPREAD_MAX) as f64;
        ((people(&self.askers) + votes + wrong) * spread * 1000.0).round() / 1000.0
    }
}

fn freshness(at: Millis, now: Millis) -> f64 {
    0.5_f64.powf((now - at).max(0) as f64 / HALF_LIFE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gaps::testing::gap;

    const NOW: Millis = 1_800_000_000_000;
    const DAY: Millis = 24 * 3600 * 1000;

    fn asked(project: u64, iid: u64, asker: u64, days_ago: i64) -> Record {
        let mut record = gap(project, iid, asker, Vec::new());
        record.asked_at = NOW - days_ago * DAY;
        record
    }

    fn score(members: &[Record]) -> f64 {
        let demand = Demand::of(&members.iter().collect::<Vec<_>>());
        demand.score(&Loud::among(std::iter::once(&demand)), NOW)
    }

    #[test]
    fn two_people_outrank_one_who_asks_thirty_times() {
        let loud: Vec<Record> = (0..30).map(|n| asked(1, n, 7, 0)).collect();
        assert_eq!(score(&loud), score(&loud[..1]));
        assert!(score(&[asked(1, 1, 7, 0), asked(1, 2, 8, 0)]) > score(&loud));
    }

    #[test]
    fn who_asks_for_everything_counts_less_everywhere() {
        let theirs: Vec<Demand> = (0..20).map(|n| Demand::of(&[&asked(1, n, 7, 0)])).collect();
        let other = Demand::of(&[&asked(1, 99, 8, 0)]);
        let loud = Loud::among(theirs.iter().chain([&other]));
        assert_eq!(theirs[0].score(&loud, NOW), 0.25);
        assert_eq!(other.score(&loud, NOW), 1.0);
    }

    #[test]
    fn every_signal_lifts_and_age_lowers() {
        let plain = [asked(1, 1, 7, 10), asked(1, 2, 8, 10)];
        let with = |change: fn(&mut Vec<Record>)| {
            let mut members = plain.to_vec();
            change(&mut members);
            score(&members)
        };
        assert!(with(|m| m.push(asked(1, 3, 9, 10))) > score(&plain));
        assert!(with(|m| m[0].votes = 4) > score(&plain));
        assert!(with(|m| m[1].place.project = 2) > score(&plain));
        assert!(with(|m| m[0].gap_kind = Some("wrong-answer".into())) > score(&plain));
        assert!(with(|m| m[0].asked_at -= 90 * DAY) < score(&plain));
        let half = [asked(1, 1, 7, 90)];
        assert_eq!(score(&half), 0.5);
    }

    #[test]
    fn votes_cannot_buy_the_first_place() {
        let mut voted = [asked(1, 1, 7, 0)];
        voted[0].votes = 100;
        let asked_by_five: Vec<Record> = (0..5).map(|n| asked(1, n, n, 0)).collect();
        assert!(score(&asked_by_five) > score(&voted));
    }

    #[test]
    fn a_question_from_the_future_is_only_new() {
        assert_eq!(score(&[asked(1, 1, 7, -30)]), 1.0);
    }
}
