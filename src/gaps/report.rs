//! What the report issue may say: the open entries, for everybody who can read the project it lies in.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, NaiveDate};

use crate::gaps::{Gap, Issue, Nearest, State};
use crate::reference::{ProjectPath, RepoPath};
use crate::reply::report::{Entry, Page, Report};
use crate::store::corpus::ProjectRow;
use crate::store::queue::Place;
use crate::target::{Access, Project, Visibility};

/// Those who can read the project that the report lies in.
pub struct Audience<'a> {
    home: &'a Project,
    projects: HashMap<u64, &'a Project>,
}

impl<'a> Audience<'a> {
    /// The readers of an issue of `home`.
    pub fn of(home: &'a Project, projects: &'a [ProjectRow]) -> Audience<'a> {
        Audience { home, projects: projects.iter().map(|row| (row.project.id, &row.project)).collect() }
    }

    /// The report on `gaps`, a list in its own order. What not everybody here can read is left out: other private
    /// projects, and internal ones unless the home is internal.
    pub fn report(&self, gaps: &[Gap]) -> Report {
        let open = gaps.iter().filter(|gap| gap.state == State::Open);
        Report::on(&open.filter_map(|gap| self.entry(gap)).collect::<Vec<_>>())
    }

    /// Whether all of them can read an issue that is not confidential.
    pub fn reads_issue(&self, issue: &Issue) -> bool {
        let Some(project) = self.projects.get(&issue.project_id) else { return false };
        project.id == self.home.id || (project.issues == Some(Access::Enabled) && self.sees(project))
    }

    fn entry(&self, gap: &Gap) -> Option<Entry> {
        // What is counted is counted here, too: that others asked elsewhere is not for these readers.
        let readable: Vec<&Issue> = gap.issues.iter().filter(|issue| self.reads_issue(issue)).collect();
        let askers: HashSet<u64> = readable.iter().map(|issue| issue.asker).collect();
        let votes: HashMap<Place, i64> = readable.iter().map(|issue| (issue.place(), issue.votes)).collect();
        let last = readable.iter().map(|issue| issue.asked_at).max()?;
        let mut issues: Vec<(ProjectPath, u64)> = Vec::new();
        for issue in readable {
            let named = issue.project.as_deref().and_then(ProjectPath::parse).map(|path| (path, issue.iid));
            issues.extend(named.filter(|named| !issues.contains(named)));
        }
        (!issues.is_empty()).then(|| Entry {
            issues,
            askers: askers.len(),
            votes: votes.values().sum(),
            last: day(last.0),
            kind: gap.kind.word(),
            page: self.page(gap),
        })
    }

    fn page(&self, gap: &Gap) -> Option<Page> {
        let nearest = gap.nearest.as_ref().filter(|nearest| self.reads_page(nearest))?;
        Some(Page {
            project: ProjectPath::parse(&nearest.project)?,
            path: RepoPath::parse(&nearest.path)?,
            assigned: nearest.assigned,
            scored: gap.why.map(|why| (why.best_score, why.threshold)),
        })
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

fn day(at: i64) -> NaiveDate {
    DateTime::from_timestamp_millis(at).unwrap_or_default().date_naive()
}
