//! An entry of the list, as it is shown and serialised.

use chrono::{DateTime, SecondsFormat};
use serde::{Serialize, Serializer};

use crate::clock::Millis;
use crate::store::question::{self, Record};
use crate::store::queue::Place;

/// Why the documentation does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A reader said that the answer was wrong.
    WrongAnswer,
    /// The answer was there once.
    Outdated,
    /// References led only to other issues.
    ThreadOnly,
    /// The topic is documented, the asked fact was not found.
    Near,
    /// Nothing is near.
    Missing,
}

impl Kind {
    /// Every kind, the gravest first.
    pub const ALL: [Kind; 5] =
        [Kind::WrongAnswer, Kind::Outdated, Kind::ThreadOnly, Kind::Near, Kind::Missing];

    /// The word at rest, in JSON and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Kind::WrongAnswer => "wrong-answer",
            Kind::Outdated => "outdated",
            Kind::ThreadOnly => "thread-only",
            Kind::Near => "near",
            Kind::Missing => "missing",
        }
    }

    /// The kind that `word` names.
    pub fn parse(word: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// Where an entry stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// At least one of its questions waits.
    Open,
    /// People said that it is no gap.
    Dismissed,
    /// The documentation answers it by now.
    Closed,
}

impl State {
    /// Every state.
    pub const ALL: [State; 3] = [State::Open, State::Dismissed, State::Closed];

    /// The word in JSON and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            State::Open => "open",
            State::Dismissed => "dismissed",
            State::Closed => "closed",
        }
    }

    /// The state that `word` names.
    pub fn parse(word: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.word() == word)
    }

    /// Where a question stands; `None` for one that neither is nor was a gap.
    pub fn of(record: &Record) -> Option<State> {
        match record.state {
            question::State::Gap => Some(State::Open),
            question::State::Dismissed => Some(State::Dismissed),
            // Silent: its issue was closed before the documentation came, so nobody was told.
            question::State::Answered | question::State::Silent if record.closed.is_some() => {
                Some(State::Closed)
            }
            _ => None,
        }
    }
}

/// A moment. Serialised as RFC 3339 in UTC, to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub Millis);

impl std::fmt::Display for Moment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = DateTime::from_timestamp_millis(self.0).unwrap_or_default();
        f.write_str(&at.to_rfc3339_opts(SecondsFormat::Secs, true))
    }
}

impl Moment {
    /// The day, as `2026-11-30`.
    pub fn day(self) -> String {
        DateTime::from_timestamp_millis(self.0).unwrap_or_default().format("%Y-%m-%d").to_string()
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

/// The commit whose documentation answers the questions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Closed {
    /// Full commit id.
    pub commit: String,
    /// Full path of the project that holds it, where it is known.
    pub project: Option<String>,
    /// Its page on GitLab.
    pub url: Option<String>,
    /// When the questions were answered.
    pub at: Moment,
}

/// Where to document it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Nearest {
    /// GitLab's project id.
    pub project_id: u64,
    /// Full path of the project.
    pub project: String,
    /// Path in the repository; a page assigned by hand may not exist yet.
    pub path: String,
    /// Anchor of the section.
    pub anchor: Option<String>,
    /// The page at the head of the default branch.
    pub url: String,
    /// Whether people said so, and not the judge.
    pub assigned: bool,
}

/// Why the nearest page did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Why {
    /// The judge's highest probability for it, 0 to 1.
    pub best_score: f64,
    /// What it takes to be quoted, 0 to 1.
    pub threshold: f64,
}

/// One question of an entry: an issue, or a comment in one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Issue {
    /// GitLab's project id.
    pub project_id: u64,
    /// Full path of the project, where it is known.
    pub project: Option<String>,
    /// The number of the issue.
    pub iid: u64,
    /// The id of the comment that asked; none when the issue itself asks.
    pub note: Option<u64>,
    /// Its page on GitLab.
    pub url: Option<String>,
    /// Where this question stands.
    pub state: State,
    /// When it was asked.
    pub asked_at: Moment,
    /// Votes on the issue.
    pub votes: i64,
    /// Who asked: to count people, and for nobody to see.
    #[serde(skip)]
    pub asker: u64,
}

impl Issue {
    /// The thread.
    pub fn place(&self) -> Place {
        Place { project: self.project_id, iid: self.iid }
    }

    /// `acme/api#12`, or `#12 of project 42` where the path is not known.
    pub fn reference(&self) -> String {
        match &self.project {
            Some(project) => format!("{project}#{}", self.iid),
            None => format!("#{} of project {}", self.iid, self.project_id),
        }
    }
}

/// An entry of the list: one question, however many people asked it in whatever words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gap {
    /// Eight characters that never change.
    pub id: String,
    /// Why the documentation does not answer.
    pub kind: Kind,
    /// Where it stands.
    pub state: State,
    /// How urgent it is; see `docs/gaps.md`. Comparable within one list only.
    pub score: f64,
    /// Distinct people who asked.
    pub askers: usize,
    /// Votes on its issues together.
    pub votes: i64,
    /// Distinct people who were given an answer that was wrong.
    pub wrong_answers: usize,
    /// Distinct projects it was asked in.
    pub projects: usize,
    /// When it was asked first.
    pub first_seen: Moment,
    /// When it was asked last.
    pub last_seen: Moment,
    /// When it stopped being open, if it did.
    pub settled_at: Option<Moment>,
    /// What closed it, if it is closed.
    pub closed: Option<Closed>,
    /// Where to document it.
    pub nearest: Option<Nearest>,
    /// Why that page did not answer.
    pub why: Option<Why>,
    /// The questions, newest first.
    pub issues: Vec<Issue>,
}
