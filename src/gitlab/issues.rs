//! Lists of issues: what changed since, what is closed, and what the gap page shows.

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;

use crate::clock::Millis;
use crate::gitlab::GitLab;
use crate::gitlab::endpoint::{Own, segment};
use crate::gitlab::error::{Error, absent};
use crate::gitlab::labels::GapLabel;
use crate::gitlab::pages::Pages;
use crate::gitlab::thread::Issue;
use crate::gitlab::wire::{IssueRow, or_default};
use crate::target::ProjectId;

/// Rows a page.
const PER_PAGE: usize = 100;

/// Whose issues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IssuesOf {
    /// Those of all projects below a group, by its path.
    Group(String),
    /// Those of one project.
    Project(ProjectId),
}

impl IssuesOf {
    fn list(&self) -> Own {
        match self {
            IssuesOf::Group(path) => Own::get(format!("groups/{}/issues", segment(path))),
            IssuesOf::Project(id) => Own::get(format!("projects/{id}/issues")),
        }
        .with("scope", "all")
    }
}

/// Where an issue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IssueAt {
    /// The project's id.
    pub project: ProjectId,
    /// The number within the project.
    pub iid: u64,
}

/// Issues that changed since a moment, the longest unchanged first.
pub struct Updated<'a> {
    gitlab: &'a GitLab,
    of: IssuesOf,
    since: Millis,
    page: usize,
    seen: BTreeSet<(u64, Millis)>,
    done: bool,
}

impl Updated<'_> {
    /// The next issues; `None` when there are no more. The list is followed by time, not by page number: an
    /// issue that changes meanwhile would push another one off its page, unseen.
    pub async fn next(&mut self) -> Result<Option<Vec<Issue>>, Error> {
        if self.done {
            return Ok(None);
        }
        let endpoint = self
            .of
            .list()
            .with("updated_after", rfc3339(self.since))
            .with("order_by", "updated_at")
            .with("sort", "asc")
            .with("page", self.page);
        let rows: Vec<IssueRow> = self.gitlab.http.pages(&endpoint)?.next().await?.unwrap_or_default();
        self.done = rows.len() < PER_PAGE;
        let issues: Vec<Issue> = rows.into_iter().map(Issue::from).collect();
        let last = issues.last().map_or(self.since, |issue| issue.updated_at);
        (self.since, self.page) = if last > self.since { (last, 1) } else { (self.since, self.page + 1) };
        let new = |issue: &Issue| self.seen.insert((issue.id, issue.updated_at));
        Ok(Some(issues.into_iter().filter(new).collect()))
    }
}

fn rfc3339(at: Millis) -> String {
    let time = chrono::DateTime::from_timestamp_millis(at).unwrap_or_default();
    time.to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
}

/// Closed issues, the last closed first.
pub struct Listed<'a>(Pages<'a, IssueRow>);

impl Listed<'_> {
    /// The next page; `None` after the last.
    pub async fn next(&mut self) -> Result<Option<Vec<Issue>>, Error> {
        Ok(self.0.next().await?.map(|rows| rows.into_iter().map(Issue::from).collect()))
    }
}

/// A title, for a page and nothing else: shown, it is escaped HTML. It is fetched when
/// the page is drawn and never kept.
#[derive(Clone)]
pub struct TitleHtml(String);

impl TitleHtml {
    fn of(title: &str) -> TitleHtml {
        TitleHtml(title.chars().take(255).collect())
    }
}

impl fmt::Display for TitleHtml {
    /// Escaped already; a template marks it as safe.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                // Direction overrides would turn the rest of the page around.
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => f.write_str("\u{fffd}")?,
                c if c.is_control() => f.write_str(" ")?,
                c => write!(f, "{c}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for TitleHtml {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TitleHtml({} bytes)", self.0.len())
    }
}

/// How an issue shows itself on the gap page.
#[derive(Clone, Debug)]
pub struct Face {
    /// The number within the project.
    pub iid: u64,
    /// The title.
    pub title: TitleHtml,
    /// How many thumbs are up.
    pub upvotes: u64,
    /// Whether it is open.
    pub open: bool,
    /// Whether only reporters and above see it.
    pub confidential: bool,
}

impl From<IssueRow> for Face {
    fn from(row: IssueRow) -> Face {
        Face {
            iid: row.iid,
            title: TitleHtml::of(row.title.as_deref().unwrap_or_default()),
            upvotes: row.upvotes,
            open: row.state == "opened",
            confidential: row.confidential.unwrap_or(true),
        }
    }
}

/// How many issues there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct IssueCounts {
    /// In all.
    #[serde(default, deserialize_with = "or_default")]
    pub all: u64,
    /// Open ones.
    #[serde(default, deserialize_with = "or_default")]
    pub opened: u64,
    /// Closed ones.
    #[serde(default, deserialize_with = "or_default")]
    pub closed: u64,
}

#[derive(Deserialize)]
struct StatisticsRow {
    statistics: CountsRow,
}

#[derive(Deserialize)]
struct CountsRow {
    counts: IssueCounts,
}

impl GitLab {
    /// The issues that changed at `since` or later, in any state.
    pub fn issues_updated_since(&self, of: IssuesOf, since: Millis) -> Updated<'_> {
        Updated { gitlab: self, of, since, page: 1, seen: BTreeSet::new(), done: false }
    }

    /// The closed issues, in the order of their last change, newest first.
    pub fn closed_issues(&self, of: &IssuesOf) -> Result<Listed<'_>, Error> {
        let endpoint = of.list().with("state", "closed").with("order_by", "updated_at").with("sort", "desc");
        Ok(Listed(self.http.pages(&endpoint)?))
    }

    /// What the gap page shows of these issues of one project; those that are gone are left out.
    pub async fn faces(&self, project: ProjectId, iids: &[u64]) -> Result<Vec<Face>, Error> {
        let mut faces = Vec::new();
        for some in iids.chunks(PER_PAGE) {
            let list = IssuesOf::Project(project).list();
            let endpoint = some.iter().fold(list, |list, iid| list.with("iids[]", iid));
            let rows = absent(self.http.pages::<IssueRow>(&endpoint)?.collect(2).await)?;
            let rows = rows.map(|(rows, _)| rows).unwrap_or_default();
            faces.extend(rows.into_iter().filter(|row| some.contains(&row.iid)).map(Face::from));
        }
        Ok(faces)
    }

    /// The title of one issue, for a page; `None` when the issue is gone.
    pub async fn title_for_display(&self, at: IssueAt) -> Result<Option<TitleHtml>, Error> {
        let path = format!("projects/{}/issues/{}", at.project, at.iid);
        let row: Option<IssueRow> = absent(self.http.json(&Own::get(path)).await)?;
        Ok(row.map(|row| Face::from(row).title))
    }

    /// How many issues there are, all or with the label; `None` when the group or project is gone.
    pub async fn issue_counts(
        &self,
        of: &IssuesOf,
        label: Option<&GapLabel>,
    ) -> Result<Option<IssueCounts>, Error> {
        let path = match of {
            IssuesOf::Group(path) => format!("groups/{}/issues_statistics", segment(path)),
            IssuesOf::Project(id) => format!("projects/{id}/issues_statistics"),
        };
        let endpoint = Own::get(path).with("scope", "all");
        let endpoint = label.map_or(endpoint.clone(), |label| endpoint.with("labels", label.name()));
        let row: Option<StatisticsRow> = absent(self.http.json(&endpoint).await)?;
        Ok(row.map(|row| row.statistics.counts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_shows_nothing_but_text() {
        let title = TitleHtml::of("<img src=x onerror='a()'> & \u{202e}\n\"x\"");
        assert_eq!(title.to_string(), "&lt;img src=x onerror=&#39;a()&#39;&gt; &amp; \u{fffd} &quot;x&quot;");
        assert_eq!(TitleHtml::of(&"x".repeat(999)).to_string().len(), 255);
        assert_eq!(format!("{:?}", TitleHtml::of("secret")), "TitleHtml(6 bytes)");
    }

    #[test]
    fn a_moment_is_asked_for_to_the_millisecond() {
        assert_eq!(rfc3339(1_768_542_982_123), "2026-01-16T05:56:22.123Z");
    }
}
