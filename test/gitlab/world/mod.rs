//! The state of the fake GitLab, and everything that can happen in it.
//!
//! Methods here are the events themselves, without permissions: a test's people do them directly, the
//! REST interface does them after it has checked who asks. Every event leaves what GitLab would leave:
//! system notes, effects of posted Markdown, deliveries in the outbox.

pub mod acme;
pub mod code;
pub mod hooks;
pub mod issues;
pub mod labels;
pub mod merges;
pub mod notes;
pub mod people;
pub mod projects;

use super::effects::Effect;
use super::hook::Delivery;
use super::time::{Millis, Time};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

pub use hooks::Hook;
pub use issues::{Award, Awardable, Discussion, Issue, IssueType, Note};
pub use labels::Label;
pub use merges::{Merge, MergeRequest};
pub use people::{Level, Token, User};
pub use projects::{Group, Project, Switch, Visibility};

/// A whole GitLab instance.
pub struct World {
    pub time: Time,
    /// Base URL without a slash at its end; set when the world is served.
    pub instance: String,
    /// `19.3.0-ee`, as `GET /version` says. Below 19.0 signing tokens are ignored.
    pub version: String,
    pub groups: BTreeMap<u64, Group>,
    pub projects: BTreeMap<u64, Project>,
    pub users: BTreeMap<u64, User>,
    pub tokens: BTreeMap<String, Token>,
    pub issues: BTreeMap<u64, Issue>,
    pub merge_requests: BTreeMap<u64, MergeRequest>,
    pub labels: BTreeMap<u64, Label>,
    pub awards: BTreeMap<u64, Award>,
    pub hooks: BTreeMap<u64, Hook>,
    /// Old project paths in lower case, and where they lead now.
    pub redirects: BTreeMap<String, u64>,
    /// Whatever posted notes made GitLab do, in order, by anybody.
    pub all_effects: Vec<Effect>,
    /// Deliveries that were not sent yet.
    pub outbox: VecDeque<Delivery>,
    /// Test deliveries of the call being answered: they are sent before its answer.
    pub(super) tests: Vec<Delivery>,
    /// How many events found a hook disabled, and were lost.
    pub dropped_events: usize,
    /// Notes that one user may create in a minute; none: unlimited.
    pub notes_per_minute: Option<usize>,
    /// The delivery chain that the request being answered belongs to.
    pub(super) chain: Option<String>,
    pub(super) chains: HashMap<String, HashSet<u64>>,
    /// Times of limited calls: (limit, user) to moments.
    pub(super) calls: BTreeMap<(&'static str, u64), Vec<Millis>>,
    typed: Vec<String>,
    /// Everything the bot ever posted, what was edited away or deleted since included.
    pub(super) posted: Vec<String>,
    next: BTreeMap<&'static str, u64>,
}

impl Default for World {
    fn default() -> World {
        World::acme()
    }
}

impl World {
    /// An instance without anything in it.
    pub fn empty() -> World {
        World {
            time: Time::seeding(),
            instance: "http://gitlab.invalid".into(),
            version: "19.3.0-ee".into(),
            groups: BTreeMap::new(),
            projects: BTreeMap::new(),
            users: BTreeMap::new(),
            tokens: BTreeMap::new(),
            issues: BTreeMap::new(),
            merge_requests: BTreeMap::new(),
            labels: BTreeMap::new(),
            awards: BTreeMap::new(),
            hooks: BTreeMap::new(),
            redirects: BTreeMap::new(),
            all_effects: Vec::new(),
            outbox: VecDeque::new(),
            tests: Vec::new(),
            dropped_events: 0,
            notes_per_minute: None,
            chain: None,
            chains: HashMap::new(),
            calls: BTreeMap::new(),
            typed: Vec::new(),
            posted: Vec::new(),
            next: BTreeMap::new(),
        }
    }

    /// The next id of a kind; kinds start far apart, so that a mixed-up id is seen.
    pub(super) fn next_id(&mut self, kind: &'static str) -> u64 {
        let first = match kind {
            "user" => 11,
            "token" => 25,
            "group" => 40,
            "hook" => 61,
            "project" => 101,
            "label" => 501,
            "award" => 3301,
            "merge request" => 4001,
            "note" => 7001,
            "issue" => 9001,
            _ => 1,
        };
        let next = self.next.entry(kind).or_insert(first);
        *next += 1;
        *next - 1
    }

    /// Remembers something that a person typed where the bot must not repeat it.
    pub(super) fn typed(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.typed.push(text.to_owned());
        }
    }

    /// Everything people ever typed into titles, descriptions, comments, names, labels, commit messages,
    /// merge requests and branch names, also what was edited away or deleted since.
    pub fn typed_texts(&self) -> &[String] {
        &self.typed
    }

    /// What notes by the bot made GitLab do: quick actions, mentions, cross-references, images …
    pub fn effects(&self) -> Vec<&Effect> {
        self.all_effects.iter().filter(|effect| effect.bot).collect()
    }

    /// Whether this instance knows signing tokens (GitLab 19.0 and later).
    pub fn signs(&self) -> bool {
        let major: u32 = self.version.split('.').next().and_then(|part| part.parse().ok()).unwrap_or(0);
        major >= 19
    }

    /// Counts a call against a limit; false when there were `most` within `window` before it.
    pub(super) fn within_limit(
        &mut self,
        limit: &'static str,
        user: u64,
        most: usize,
        window: Millis,
    ) -> bool {
        let now = self.time.now();
        let calls = self.calls.entry((limit, user)).or_default();
        calls.retain(|at| now - at < window);
        let fits = calls.len() < most;
        if fits {
            calls.push(now);
        }
        fits
    }
}
