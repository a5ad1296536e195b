//! Which questions are the same question in other words.
//!
//! A question joins the cluster that it is most like, or founds one; once said, that stays. So ids never jump:
//! what arrives later can only join, and the decisions of people are laid over it ([`Hand`]).

use std::collections::{BTreeMap, HashMap, HashSet};

use sha2::{Digest, Sha256};

use crate::gaps::likeness::{Lexicon, Print};
use crate::search::Fingerprint;
use crate::store::gaps::Hand;
use crate::store::question::{Near, Record};
use crate::store::queue::Place;

/// A question joins a cluster from this mean likeness to its members on. Chosen on the 65 rewordings of
/// `test/gaps/rewordings.txt` (pairwise precision 1.00, recall 0.87) and on the same among 189 real questions of
/// four other projects (0.98 and 0.83): there 0.30 gives 0.92 and 0.87, 0.40 gives 0.96 and 0.69.
pub const JOIN: f32 = 0.36;
/// The same where the judge found the same section nearest to the question and to a member: an independent
/// witness that they are about one thing.
pub const JOIN_NEAR: f32 = 0.26;

/// The names of clusters after merges by hand.
#[derive(Debug, Default)]
pub struct Names<'a> {
    merges: HashMap<&'a str, &'a str>,
    members: HashMap<(Place, &'a str), &'a str>,
}

impl<'a> Names<'a> {
    /// Reads the decisions made by hand.
    pub fn of(hand: &'a Hand) -> Names<'a> {
        Names {
            merges: hand.merges.iter().map(|(from, into)| (from.as_str(), into.as_str())).collect(),
            members: hand
                .members
                .iter()
                .map(|(place, key, id)| ((*place, key.as_str()), id.as_str()))
                .collect(),
        }
    }

    /// The id under which a cluster is listed. A circle of merges, which no command makes, ends where it began.
    pub fn root<'b>(&self, id: &'b str) -> &'b str
    where
        'a: 'b,
    {
        let mut at = id;
        for _ in 0..=self.merges.len() {
            match self.merges.get(at) {
                Some(next) => at = next,
                None => return at,
            }
        }
        id
    }

    /// The cluster of a question, if it has one: what a hand said, else what was written down.
    pub fn cluster(&self, record: &Record) -> Option<String> {
        let by_hand = self.members.get(&(record.place, record.key.as_str())).copied();
        by_hand.or(record.cluster.as_deref()).map(|id| self.root(id).to_owned())
    }
}

/// The order in which questions without a cluster take their places, whatever order they are handed in.
fn arrival(record: &Record) -> (i64, u64, u64, &str) {
    (record.asked_at, record.place.project, record.place.iid, &record.key)
}

/// The clusters for those of `records` that have none: thread, key, cluster. The same records and decisions
/// give the same clusters, in whatever order they come.
pub fn join(records: &[Record], hand: &Hand) -> Vec<(Place, String, String)> {
    let names = Names::of(hand);
    if records.iter().all(|record| names.cluster(record).is_some()) {
        return Vec::new();
    }
    let mut taken: HashSet<String> = records.iter().filter_map(|record| record.cluster.clone()).collect();
    taken.extend(hand.members.iter().map(|(_, _, id)| id.clone()));
    taken.extend(hand.merges.iter().flat_map(|(from, into)| [from.clone(), into.clone()]));

    let mut crowd = Crowd::of(records);
    let mut waiting = Vec::new();
    for (at, record) in records.iter().enumerate() {
        match names.cluster(record) {
            Some(id) => crowd.settle(at, &id),
            None => waiting.push(at),
        }
    }
    waiting.sort_by(|a, b| arrival(&records[*a]).cmp(&arrival(&records[*b])));
    let mut joins = Vec::with_capacity(waiting.len());
    for at in waiting {
        let id = crowd.nearest(at, records).unwrap_or_else(|| found(&records[at], &taken));
        taken.insert(id.clone());
        crowd.settle(at, &id);
        joins.push((records[at].place, records[at].key.clone(), id));
    }
    joins
}

/// A new id that none of `taken` is: eight characters made of the founder's coordinates.
pub fn found(record: &Record, taken: &HashSet<String>) -> String {
    (0_u32..)
        .map(|salt| name(&format!("gap/{}/{}/{}/{salt}", record.place.project, record.place.iid, record.key)))
        .find(|id| !taken.contains(id))
        .expect("fewer ids are taken than there are numbers")
}

/// Forty bits of a hash, in letters and digits that cannot be mistaken for each other.
fn name(founder: &str) -> String {
    const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let hash = Sha256::digest(founder);
    let bits = hash[..5].iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
    (0..8).map(|at| char::from(ALPHABET[(bits >> (35 - 5 * at) & 31) as usize])).collect()
}

/// The questions with their clusters, and an index from terms to settled questions.
struct Crowd {
    prints: Vec<Print>,
    clusters: BTreeMap<String, Vec<usize>>,
    /// Settled questions by term, with the weight of the term in them.
    holders: HashMap<u32, Vec<(usize, f32)>>,
    of: Vec<Option<String>>,
}

impl Crowd {
    fn of(records: &[Record]) -> Crowd {
        let read = |record: &Record| record.fingerprint.as_deref().and_then(Fingerprint::from_bytes);
        let fingerprints: Vec<Option<Fingerprint>> = records.iter().map(read).collect();
        let lexicon = Lexicon::of(fingerprints.iter().flatten());
        let prints =
            fingerprints.iter().map(|print| print.as_ref().map_or_else(Print::default, |p| lexicon.print(p)));
        Crowd {
            prints: prints.collect(),
            clusters: BTreeMap::new(),
            holders: HashMap::new(),
            of: vec![None; records.len()],
        }
    }

    fn settle(&mut self, at: usize, id: &str) {
        for &(term, weight) in self.prints[at].terms() {
            self.holders.entry(term).or_default().push((at, weight));
        }
        self.clusters.entry(id.to_owned()).or_default().push(at);
        self.of[at] = Some(id.to_owned());
    }

    /// The cluster that question `at` is like enough to join: the one with the highest mean likeness.
    fn nearest(&self, at: usize, records: &[Record]) -> Option<String> {
        let mut sums: BTreeMap<&str, f32> = BTreeMap::new();
        for &(term, weight) in self.prints[at].terms() {
            for &(other, held) in self.holders.get(&term).into_iter().flatten() {
                *sums.entry(self.of[other].as_deref().unwrap_or_default()).or_default() += weight * held;
            }
        }
        let mean = |id: &str, sum: f32| {
            // A member without a fingerprint says nothing for or against.
            let members = self.clusters.get(id).map_or(&[][..], Vec::as_slice);
            let printed = members.iter().filter(|&&member| !self.prints[member].terms().is_empty()).count();
            sum / printed.max(1) as f32
        };
        let beside = |id: &str| {
            let members = self.clusters.get(id).map_or(&[][..], Vec::as_slice);
            members.iter().any(|&member| same_section(&records[at], &records[member]))
        };
        let candidates = sums.into_iter().map(|(id, sum)| (id, mean(id, sum)));
        let joined = candidates.filter(|&(id, mean)| mean >= JOIN || (mean >= JOIN_NEAR && beside(id)));
        // Of equals the first id, so that the outcome does not depend on a map's order.
        joined.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(id, _)| id.to_owned())
    }
}

fn same_section(a: &Record, b: &Record) -> bool {
    let place = |near: &Near| (near.project, near.path.clone(), near.anchor.clone());
    match (&a.near, &b.near) {
        (Some(a), Some(b)) => place(a) == place(b),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
