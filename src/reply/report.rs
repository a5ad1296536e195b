//! The report issue: the list of what to document next, for those who work in GitLab alone.
//!
//! Its parts are coordinates and numbers, each of a type that no sentence fits in; titles are left to GitLab, which
//! shows them (`group/project#12+`) to those who may read them.

use chrono::NaiveDate;

use crate::reference::{ProjectPath, RepoPath};
use crate::reply::inert;
use crate::reply::marker::FORMAT;

/// Entries that are written out; the rest is counted.
pub const ENTRIES: usize = 50;
/// Issues that are named of one entry.
const ISSUES: usize = 5;

/// One question of the list.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The issues that ask it, by full path of the project and number, newest first, each once.
    pub issues: Vec<(ProjectPath, u64)>,
    /// Distinct people who asked.
    pub askers: usize,
    /// Votes on the issues together.
    pub votes: i64,
    /// The day it was asked last.
    pub last: NaiveDate,
    /// Why the documentation does not answer, in one fixed word.
    pub kind: &'static str,
    /// Where to document it.
    pub page: Option<Page>,
}

/// The page of an entry.
#[derive(Clone, Debug)]
pub struct Page {
    /// The project that holds it.
    pub project: ProjectPath,
    /// Its path in the repository.
    pub path: RepoPath,
    /// Whether people said that it is to be documented there.
    pub assigned: bool,
    /// What it scored and what it takes, where it was judged.
    pub scored: Option<(f64, f64)>,
}

/// The description of the report issue. The same list gives the same bytes, whenever it is written.
///
/// It is not made from a string:
/// ```compile_fail
/// let _ = signpost::reply::Report { markdown: String::from("The supported way is …") };
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    markdown: String,
    waits: bool,
}

impl Report {
    /// The title it is opened with. People may give it another one.
    pub const TITLE: &'static str = "Documentation gaps: what to document next";

    /// The report on `entries`, the most urgent first.
    pub fn on(entries: &[Entry]) -> Report {
        let mut text = String::from(
            "Questions that the documentation does not answer yet, the most urgent first. \
             This list is kept current; what is written into it by hand is lost. \
             Close the issue to stop it.\n\n",
        );
        if entries.is_empty() {
            text.push_str("No question waits.\n");
        }
        for (number, entry) in entries.iter().take(ENTRIES).enumerate() {
            text.push_str(&format!("{}. {}", number + 1, entry.markdown()));
        }
        if let Some(rest @ 1..) = entries.len().checked_sub(ENTRIES) {
            text.push_str(&format!("\nAnd {rest} more.\n"));
        }
        Report { markdown: format!("{text}\n{}", marker()), waits: !entries.is_empty() }
    }

    /// The Markdown, marker included.
    pub fn markdown(&self) -> &str {
        &self.markdown
    }

    /// Whether a question waits at all.
    pub fn waits(&self) -> bool {
        self.waits
    }

    /// Whether a description is that of a report, of this or an earlier format. Anybody can write one that is: it
    /// means something only in an issue whose author is the bot.
    pub fn is_one(description: &str) -> bool {
        let last = description.trim_end().rsplit('\n').next().unwrap_or_default();
        let format = last.strip_prefix("<!-- signpost:").and_then(|rest| rest.strip_suffix(" report -->"));
        format.is_some_and(|format| format.parse::<u32>().is_ok())
    }

    /// Whether an issue with this description says it already. GitLab may end lines otherwise than we do.
    pub fn is_said_by(&self, description: &str) -> bool {
        description.replace('\r', "").trim_end() == self.markdown.trim_end()
    }
}

fn marker() -> String {
    format!("<!-- signpost:{FORMAT} report -->")
}

impl Entry {
    fn markdown(&self) -> String {
        let named: Vec<String> = self.issues.iter().take(ISSUES).map(|(p, iid)| reference(p, *iid)).collect();
        let more = match self.issues.len().checked_sub(ISSUES) {
            Some(rest @ 1..) => format!(" and {rest} more"),
            _ => String::new(),
        };
        let people = if self.askers == 1 { "1 person" } else { &format!("{} people", self.askers) };
        let votes = if self.votes == 1 { "1 vote" } else { &format!("{} votes", self.votes) };
        let page = self.page.as_ref().map(Page::markdown).unwrap_or_default();
        format!(
            "{}{more}\n   - asked by {people}, {votes}, last on {}; {}\n{page}",
            named.join(", "),
            self.last,
            inert::code(self.kind),
        )
    }
}

impl Page {
    fn markdown(&self) -> String {
        let place = format!("{} in {}", inert::code(self.path.as_str()), inert::code(self.project.as_str()));
        let why = self.scored.map(|(best, takes)| format!(", which scored {best:.3} of {takes:.3}"));
        match self.assigned {
            true => format!("   - to be documented in {place}\n"),
            false => format!("   - nearest is {place}{}\n", why.unwrap_or_default()),
        }
    }
}

/// GitLab's own reference with a title. Underscores are escaped for Markdown; references are found after it.
fn reference(project: &ProjectPath, iid: u64) -> String {
    format!("{}#{iid}+", project.as_str().replace('_', "\\_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_known_again_by_its_last_line() {
        let report = Report::on(&[]);
        assert!(Report::is_one(report.markdown()) && report.is_said_by(report.markdown()));
        let stored = report.markdown().replace('\n', "\r\n") + "\r\n";
        assert!(Report::is_one(&stored) && report.is_said_by(&stored));
        assert!(Report::is_one("anything\n\n<!-- signpost:7 report -->"));
        for text in [
            "",
            "<!-- signpost:x report -->",
            "<!-- signpost:1 report -->\n\nmore",
            "<!-- signpost:1 en nothing issue -->",
        ] {
            assert!(!Report::is_one(text), "{text}");
        }
        assert!(!report.is_said_by(&format!("By hand.\n\n{}", report.markdown())));
    }
}
