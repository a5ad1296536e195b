//! The report issue: the open entries as inert Markdown, for everybody who can read the project it lies in.

use std::collections::HashMap;

use crate::gaps::{Gap, Issue, Nearest, State};
use crate::reply::inert;
use crate::store::corpus::ProjectRow;
use crate::target::{Access, Project, Visibility};

/// Entries that are listed; the rest is counted.
const ENTRIES: usize = 50;
/// Issues that are named of one entry.
const ISSUES: usize = 5;

/// The body of the report issue. Its text is made of fixed words, numbers, coordinates and file paths in code
/// spans; titles are left to GitLab, which shows them (`project#12+`) to those who may read them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report(String);

impl Report {
    /// The report on `gaps`, a list in its own order, as an issue of `home`. What not everybody who can read
    /// `home` can read is left out: other private projects, and internal ones unless `home` is internal.
    pub fn on(gaps: &[Gap], home: &Project, projects: &[ProjectRow]) -> Report {
        let projects: HashMap<u64, &Project> =
            projects.iter().map(|row| (row.project.id, &row.project)).collect();
        let audience = Audience { home, projects };
        let open = gaps.iter().filter(|gap| gap.state == State::Open);
        let entries: Vec<String> = open.filter_map(|gap| audience.entry(gap)).collect();
        let mut text = String::from(
            "Questions that the documentation does not answer yet, the most urgent first. \
             This list is kept current; what is written into it by hand is lost.\n\n",
        );
        if entries.is_empty() {
            text.push_str("No question waits.\n");
        }
        for (number, entry) in entries.iter().take(ENTRIES).enumerate() {
            text.push_str(&format!("{}. {entry}", number + 1));
        }
        if let Some(rest @ 1..) = entries.len().checked_sub(ENTRIES) {
            text.push_str(&format!("\nAnd {rest} more.\n"));
        }
        Report(text)
    }

    /// The Markdown. The same list gives the same bytes, whenever it is written.
    pub fn markdown(&self) -> &str {
        &self.0
    }
}

struct Audience<'a> {
    home: &'a Project,
    projects: HashMap<u64, &'a Project>,
}

impl Audience<'_> {
    fn entry(&self, gap: &Gap) -> Option<String> {
        let mut seen = Vec::new();
        let readable = gap.issues.iter().filter(|issue| self.reads_issue(issue));
        let mut references: Vec<String> = readable.filter_map(reference).collect();
        references.retain(|reference| {
            let new = !seen.contains(reference);
            seen.push(reference.clone());
            new
        });
        let more = references.len().saturating_sub(ISSUES);
        references.truncate(ISSUES);
        if references.is_empty() {
            return None;
        }
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let people = if gap.askers == 1 { "1 person" } else { &format!("{} people", gap.askers) };
        let votes = if gap.votes == 1 { "1 vote" } else { &format!("{} votes", gap.votes) };
        let head = format!(
            "{}{more}\n   - asked by {people}, {votes}, last on {}; {}\n",
            references.join(", "),
            gap.last_seen.day(),
            inert::code(gap.kind.word()),
        );
        Some(head + &self.page(gap).unwrap_or_default())
    }

    fn page(&self, gap: &Gap) -> Option<String> {
        let nearest = gap.nearest.as_ref().filter(|nearest| self.reads_page(nearest))?;
        let place = format!("{} in {}", inert::code(&nearest.path), inert::code(&nearest.project));
        let why = gap.why.map(|why| format!(", which scored {:.3} of {:.3}", why.best_score, why.threshold));
        Some(match nearest.assigned {
            true => format!("   - to be documented in {place}\n"),
            false => format!("   - nearest is {place}{}\n", why.unwrap_or_default()),
        })
    }

    fn reads_issue(&self, issue: &Issue) -> bool {
        let Some(project) = self.projects.get(&issue.project_id) else { return false };
        project.id == self.home.id || (project.issues == Some(Access::Enabled) && self.sees(project))
    }

    fn reads_page(&self, nearest: &Nearest) -> bool {
        let project = self.projects.get(&nearest.project_id);
        project.is_some_and(|project| project.repository == Some(Access::Enabled) && self.sees(project))
    }

    fn sees(&self, project: &Project) -> bool {
        match project.visibility {
            Some(Visibility::Public) => true,
            Some(Visibility::Internal) => self.home.visibility == Some(Visibility::Internal),
            _ => false,
        }
    }
}

/// GitLab's own reference with a title. Underscores are escaped for Markdown; references are found after it.
fn reference(issue: &Issue) -> Option<String> {
    let project = issue.project.as_ref()?;
    Some(format!("{}#{}+", project.replace('_', "\\_"), issue.iid))
}
