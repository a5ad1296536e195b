//! Which entries are shown, and in which order.

use crate::clock::Millis;
use crate::gaps::{Gap, Kind, State};

/// What an entry must be like to be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The id of one entry.
    pub id: Option<String>,
    /// Full path of a project or of a group above it, in which it was asked.
    pub project: Option<String>,
    /// Its kind.
    pub kind: Option<Kind>,
    /// Its state.
    pub state: Option<State>,
    /// It was asked last within this many milliseconds.
    pub age: Option<Millis>,
}

impl Filter {
    /// Whether `gap` is shown at `now`.
    pub fn matches(&self, gap: &Gap, now: Millis) -> bool {
        self.id.as_ref().is_none_or(|id| *id == gap.id)
            && self.kind.is_none_or(|kind| kind == gap.kind)
            && self.state.is_none_or(|state| state == gap.state)
            && self.age.is_none_or(|age| now - gap.last_seen.0 <= age)
            && self.project.as_ref().is_none_or(|path| asked_below(gap, path))
    }
}

/// Whether it was asked in the project or group `path`: whole segments, without regard to ASCII case.
fn asked_below(gap: &Gap, path: &str) -> bool {
    let path = path.trim_matches('/');
    let below = |project: &str| {
        let head = project.get(..path.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(path))
            && matches!(project.as_bytes().get(path.len()), None | Some(b'/'))
    };
    gap.issues.iter().filter_map(|issue| issue.project.as_deref()).any(below)
}

/// The order of entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// The most urgent first.
    #[default]
    Score,
    /// The most askers first.
    Askers,
    /// The most votes first.
    Votes,
    /// The one asked last first.
    Newest,
    /// The one that waits longest first.
    Oldest,
}

impl Sort {
    /// Every order.
    pub const ALL: [Sort; 5] = [Sort::Score, Sort::Askers, Sort::Votes, Sort::Newest, Sort::Oldest];

    /// The word in a query string.
    pub fn word(self) -> &'static str {
        match self {
            Sort::Score => "score",
            Sort::Askers => "askers",
            Sort::Votes => "votes",
            Sort::Newest => "newest",
            Sort::Oldest => "oldest",
        }
    }

    /// The order that `word` names.
    pub fn parse(word: &str) -> Option<Sort> {
        Sort::ALL.into_iter().find(|sort| sort.word() == word)
    }

    /// Orders entries; equals keep the order of [`crate::gaps::list`].
    pub fn apply<G: std::borrow::Borrow<Gap>>(self, gaps: &mut [G]) {
        match self {
            // The list comes in this order: open entries first, then by score.
            Sort::Score => {}
            Sort::Askers => gaps.sort_by_key(|gap| std::cmp::Reverse(gap.borrow().askers)),
            Sort::Votes => gaps.sort_by_key(|gap| std::cmp::Reverse(gap.borrow().votes)),
            Sort::Newest => gaps.sort_by_key(|gap| std::cmp::Reverse(gap.borrow().last_seen)),
            Sort::Oldest => gaps.sort_by_key(|gap| gap.borrow().first_seen),
        }
    }
}
