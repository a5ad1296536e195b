//! The list of what to document next.
//!
//! [`list`] is a pure function: the questions that are or were gaps, what people decided by hand, and the time
//! go in; ranked entries come out. `docs/gaps.md` tells how they are made and ranked.

pub mod cluster;
pub mod csv;
mod entry;
pub mod filter;
pub mod likeness;
pub mod load;
pub mod rank;
pub mod report;
#[cfg(test)]
pub(crate) mod testing;
pub mod upkeep;

use std::collections::{BTreeMap, HashMap, HashSet};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;

use crate::clock::Millis;
use crate::gaps::cluster::Names;
use crate::store::corpus::ProjectRow;
use crate::store::gaps::Hand;
use crate::store::question::Record;

use crate::store::queue::Place;
pub use entry::{Closed, Gap, Issue, Kind, Moment, Nearest, State, Why};

/// What the list is drawn against.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// Base URL of the instance.
    pub instance: &'a Url,
    /// The projects as GitLab last described them.
    pub projects: &'a [ProjectRow],
    /// What a passage must score to be quoted, in thousandths.
    pub threshold: i64,
    /// The time.
    pub now: Millis,
}

/// Projects whose issues are nobody's business any more: nothing of them is listed.
const GONE: [&str; 4] = ["outside_group", "excluded", "archived", "deletion_scheduled"];

/// The ranked list: open entries first, the most urgent first. Records that neither are nor were gaps are left
/// out; those without a cluster get one (see [`cluster::join`]; [`load::settle`] writes it down).
pub fn list(mut records: Vec<Record>, hand: &Hand, scene: &Scene<'_>) -> Vec<Gap> {
    let projects: HashMap<u64, &ProjectRow> =
        scene.projects.iter().map(|row| (row.project.id, row)).collect();
    let gone = |id: u64| {
        let refusal = projects.get(&id).and_then(|row| row.refusal.as_deref());
        refusal.is_some_and(|refusal| GONE.contains(&refusal))
    };
    records.retain(|record| State::of(record).is_some() && !gone(record.place.project));
    let names = Names::of(hand);
    let joins: HashMap<(Place, String), String> =
        cluster::join(&records, hand).into_iter().map(|(place, key, id)| ((place, key), id)).collect();
    let mut clusters: BTreeMap<String, Vec<&Record>> = BTreeMap::new();
    for record in &records {
        let joined = || joins.get(&(record.place, record.key.clone())).cloned();
        if let Some(id) = names.cluster(record).or_else(joined) {
            clusters.entry(id).or_default().push(record);
        }
    }
    let drawing = Drawing { scene, projects, decided: Decided::of(hand, &names) };
    let entries = clusters.iter();
    let mut gaps: Vec<(Gap, rank::Demand)> =
        entries.map(|(id, members)| (drawing.entry(id, members), rank::Demand::of(members))).collect();
    let loud =
        rank::Loud::among(gaps.iter().filter(|(gap, _)| gap.state == State::Open).map(|(_, demand)| demand));
    for (gap, demand) in &mut gaps {
        gap.score = demand.score(&loud, scene.now);
    }
    let mut gaps: Vec<Gap> = gaps.into_iter().map(|(gap, _)| gap).collect();
    gaps.sort_by(|a, b| {
        a.state.cmp(&b.state).then(b.score.total_cmp(&a.score)).then_with(|| a.id.cmp(&b.id))
    });
    gaps
}

/// Decisions by hand about whole entries, under the names that are listed.
struct Decided<'a> {
    dismissed: HashMap<&'a str, Millis>,
    pages: HashMap<String, (u64, &'a str, Millis)>,
}

impl<'a> Decided<'a> {
    fn of(hand: &'a Hand, names: &Names<'_>) -> Decided<'a> {
        let mut pages: HashMap<String, (u64, &str, Millis)> = HashMap::new();
        for (id, project, path, at) in &hand.pages {
            // After a merge the younger word holds.
            let page = pages.entry(names.root(id).to_owned()).or_insert((*project, path, *at));
            if page.2 < *at {
                *page = (*project, path, *at);
            }
        }
        let dismissed = hand.dismissals.iter().map(|(id, at)| (id.as_str(), *at)).collect();
        Decided { dismissed, pages }
    }
}

struct Drawing<'a> {
    scene: &'a Scene<'a>,
    projects: HashMap<u64, &'a ProjectRow>,
    decided: Decided<'a>,
}

impl Drawing<'_> {
    fn entry(&self, id: &str, members: &[&Record]) -> Gap {
        let (state, settled_at) = self.state(id, members);
        let waiting: Vec<&Record> =
            members.iter().copied().filter(|r| State::of(r) == Some(State::Open)).collect();
        let telling = if waiting.is_empty() { members } else { &waiting[..] };
        let nearest = self.nearest(id, telling);
        let mut issues: Vec<Issue> = members.iter().filter_map(|record| self.issue(record)).collect();
        issues.sort_by_key(|issue| {
            (std::cmp::Reverse(issue.asked_at), issue.project_id, issue.iid, issue.note)
        });
        let distinct = |of: fn(&Record) -> u64| members.iter().map(|r| of(r)).collect::<HashSet<_>>().len();
        let votes: HashMap<Place, i64> = members.iter().map(|r| (r.place, r.votes.max(0))).collect();
        let wrong = members.iter().filter(|r| is_wrong(r)).map(|r| r.asker).collect::<HashSet<_>>();
        Gap {
            id: id.to_owned(),
            kind: kind(telling),
            state,
            score: 0.0,
            askers: distinct(|r| r.asker),
            votes: votes.values().sum(),
            wrong_answers: wrong.len(),
            projects: distinct(|r| r.place.project),
            first_seen: Moment(members.iter().map(|r| r.asked_at).min().unwrap_or_default()),
            last_seen: Moment(members.iter().map(|r| r.asked_at).max().unwrap_or_default()),
            settled_at,
            closed: if state == State::Closed { self.closed(members) } else { None },
            why: self.why(nearest.as_ref(), telling),
            nearest,
            issues,
        }
    }

    fn state(&self, id: &str, members: &[&Record]) -> (State, Option<Moment>) {
        if let Some(at) = self.decided.dismissed.get(id) {
            return (State::Dismissed, Some(Moment(*at)));
        }
        let states: Vec<State> = members.iter().filter_map(|record| State::of(record)).collect();
        let settled = |record: &&Record| record.closed.as_ref().map_or(record.decided_at, |(_, at)| *at);
        let last = members.iter().map(settled).max().map(Moment);
        match () {
            () if states.contains(&State::Open) => (State::Open, None),
            () if states.contains(&State::Closed) => (State::Closed, last),
            () => (State::Dismissed, last),
        }
    }

    fn closed(&self, members: &[&Record]) -> Option<Closed> {
        let closings = members.iter().filter_map(|r| r.closed.as_ref().map(|closed| (r, closed)));
        let (record, (commit, at)) = closings.max_by_key(|(_, (commit, at))| (*at, commit.clone()))?;
        let target = record.target.as_ref().map(|target| target.project);
        let project = target.and_then(|id| self.readable(id)).map(|row| row.project.path.as_str().to_owned());
        let url = project.as_ref().map(|project| self.url(project, &["-", "commit", commit]));
        Some(Closed { commit: commit.clone(), project, url, at: Moment(*at) })
    }

    /// The page where most of the judge's probability lies, unless people named one.
    fn nearest(&self, id: &str, telling: &[&Record]) -> Option<Nearest> {
        if let Some((project, path, _)) = self.decided.pages.get(id)
            && let Some(row) = self.readable(*project)
        {
            return Some(self.page(row, path, None, true));
        }
        let mut pages: BTreeMap<(u64, &str), i64> = BTreeMap::new();
        let near =
            || telling.iter().filter_map(|r| r.near.as_ref()).filter(|n| self.readable(n.project).is_some());
        for near in near() {
            *pages.entry((near.project, &near.path)).or_default() += near.score.max(1);
        }
        let (&(project, path), _) =
            pages.iter().max_by_key(|(place, sum)| (**sum, std::cmp::Reverse(**place)))?;
        let best = near()
            .filter(|n| n.project == project && n.path == path)
            .max_by_key(|n| (n.score, n.anchor.clone()))?;
        Some(self.page(self.readable(project)?, path, best.anchor.clone(), false))
    }

    fn page(&self, row: &ProjectRow, path: &str, anchor: Option<String>, assigned: bool) -> Nearest {
        let project = row.project.path.as_str().to_owned();
        let branch = row.project.default_branch.as_deref().unwrap_or("HEAD");
        let mut url = self.url(&project, &["-", "blob", branch, path]);
        if let Some(anchor) = &anchor {
            url.push('#');
            url.extend(utf8_percent_encode(anchor, SEGMENT));
        }
        Nearest { project_id: row.project.id, project, path: path.to_owned(), anchor, url, assigned }
    }

    fn why(&self, nearest: Option<&Nearest>, telling: &[&Record]) -> Option<Why> {
        let nearest = nearest?;
        let on_page = telling.iter().filter_map(|r| r.near.as_ref());
        let scores =
            on_page.filter(|n| n.project == nearest.project_id && n.path == nearest.path).map(|n| n.score);
        let share = |thousandths: i64| thousandths as f64 / 1000.0;
        Some(Why { best_score: share(scores.max()?), threshold: share(self.scene.threshold) })
    }

    fn issue(&self, record: &Record) -> Option<Issue> {
        let row = self.projects.get(&record.place.project);
        let project = row.map(|row| row.project.path.as_str().to_owned());
        let iid = record.place.iid.to_string();
        let note = record.key.parse().ok();
        let anchor = note.map(|note: u64| format!("#note_{note}")).unwrap_or_default();
        Some(Issue {
            project_id: record.place.project,
            url: project.as_ref().map(|project| self.url(project, &["-", "issues", &iid]) + &anchor),
            project,
            iid: record.place.iid,
            note,
            state: State::of(record)?,
            asked_at: Moment(record.asked_at),
            votes: record.votes.max(0),
            asker: record.asker,
        })
    }

    /// A project whose pages may be named: known, and refused by nothing.
    fn readable(&self, id: u64) -> Option<&ProjectRow> {
        self.projects.get(&id).copied().filter(|row| row.refusal.is_none())
    }

    fn url(&self, project: &str, parts: &[&str]) -> String {
        let mut url = self.scene.instance.as_str().trim_end_matches('/').to_owned();
        for part in std::iter::once(&project).chain(parts) {
            for segment in part.split('/') {
                url.push('/');
                url.extend(utf8_percent_encode(segment, SEGMENT));
            }
        }
        url
    }
}

/// What stays as it is in a segment of a URL; all else is written in hexadecimal.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

fn is_wrong(record: &Record) -> bool {
    record.gap_kind.as_deref() == Some(Kind::WrongAnswer.word())
}

/// The kind that most of the questions have; of equals the gravest.
fn kind(members: &[&Record]) -> Kind {
    let kinds = members.iter().map(|r| r.gap_kind.as_deref().and_then(Kind::parse).unwrap_or(Kind::Missing));
    let mut counts: BTreeMap<Kind, usize> = BTreeMap::new();
    kinds.for_each(|kind| *counts.entry(kind).or_default() += 1);
    let gravest = counts.into_iter().rev().max_by_key(|(_, count)| *count);
    gravest.map_or(Kind::Missing, |(kind, _)| kind)
}

#[cfg(test)]
mod tests;
