//! Which folder of a project is cheaper to fetch whole than file by file.

use std::collections::HashMap;

use crate::clock::{Clock, Millis};

/// Files from which on an archive is worth its packing; each would be a request of its own.
const FILES: usize = 50;
/// GitLab's own limit on archives: so many within a minute.
const ARCHIVES: usize = 5;
const MINUTE: Millis = 60_000;

/// What a walk through a tree saw of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// The predicate does not list it: what holds it is not fetched.
    Unlisted,
    /// It is known as it is.
    Known,
    /// It is to be read.
    Wanted,
}

/// The folders of a tree with what lies in them, however deep.
#[derive(Debug, Default)]
pub(super) struct Folders(HashMap<String, Folder>);

#[derive(Clone, Copy, Debug, Default)]
struct Folder {
    all: usize,
    wanted: usize,
    unlisted: bool,
}

impl Folders {
    pub(super) fn saw(&mut self, path: &str, seen: Seen) {
        let above = path.char_indices().filter(|(_, c)| *c == '/').map(|(at, _)| &path[..at]);
        for folder in std::iter::once("").chain(above) {
            let folder = self.0.entry(folder.to_owned()).or_default();
            folder.all += 1;
            folder.wanted += usize::from(seen == Seen::Wanted);
            folder.unlisted |= seen == Seen::Unlisted;
        }
    }

    /// The folder in whose place an archive is cheapest: many files in it are wanted, few known already, and none is
    /// unlisted.
    pub(super) fn cheapest(&self) -> Option<&str> {
        let pays =
            |folder: &Folder| !folder.unlisted && folder.wanted >= FILES && 2 * folder.wanted >= folder.all;
        let paying = self.0.iter().filter(|(_, folder)| pays(folder));
        let best = paying.max_by_key(|(name, folder)| (folder.wanted, std::cmp::Reverse(*name)));
        best.map(|(name, _)| name.as_str())
    }
}

/// When archives were asked for within the last minute.
#[derive(Debug, Default)]
pub(super) struct Archives(std::sync::Mutex<Vec<Millis>>);

impl Archives {
    /// Whether GitLab lets us have another one now.
    pub(super) fn ask(&self, clock: &Clock) -> bool {
        let now = clock.now();
        let mut asked = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        asked.retain(|at| now - at < MINUTE);
        let free = asked.len() < ARCHIVES;
        if free {
            asked.push(now);
        }
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(files: &[(&str, usize, Seen)]) -> Folders {
        let mut folders = Folders::default();
        for (folder, count, seen) in files {
            (0..*count).for_each(|at| folders.saw(&format!("{folder}/{at}.md"), *seen));
        }
        folders
    }

    #[test]
    fn a_folder_is_fetched_whole_where_nothing_in_it_is_unlisted() {
        use Seen::{Known, Unlisted, Wanted};
        let cheapest = |files: &[(&str, usize, Seen)]| folders(files).cheapest().map(str::to_owned);
        assert_eq!(cheapest(&[("docs", 60, Wanted)]).as_deref(), Some(""), "there is nothing else");
        assert_eq!(cheapest(&[("docs/a", 60, Wanted), ("src", 1, Unlisted)]).as_deref(), Some("docs"));
        assert_eq!(
            cheapest(&[("docs/a", 60, Wanted), ("docs/b", 55, Wanted), ("docs/x", 1, Unlisted)]).as_deref(),
            Some("docs/a")
        );
        assert_eq!(cheapest(&[("docs", 49, Wanted)]), None, "few files are read by themselves");
        assert_eq!(cheapest(&[("docs", 60, Wanted), ("docs", 61, Known)]), None, "most is known");
    }

    #[test]
    fn five_archives_a_minute_and_no_more() {
        let (clock, archives) = (Clock::manual(0), Archives::default());
        let asked = |clock: &Clock| (0..9).filter(|_| archives.ask(clock)).count();
        assert_eq!(asked(&clock), 5);
        clock.advance(std::time::Duration::from_secs(59));
        assert_eq!(asked(&clock), 0);
        clock.advance(std::time::Duration::from_secs(1));
        assert_eq!(asked(&clock), 5);
    }
}
