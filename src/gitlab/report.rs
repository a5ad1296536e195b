//! The report issue: found again, opened once, kept current. Nothing but a [`Report`] is ever written into it.

use http::Method;
use serde::Deserialize;
use serde_json::json;

use crate::gitlab::GitLab;
use crate::gitlab::endpoint::Own;
use crate::gitlab::error::{Call, Error, absent};
use crate::gitlab::http::Limits;
use crate::gitlab::wire::IssueRow;
use crate::reply::Report;
use crate::target::ProjectId;

/// Pages of our own issues that are looked through: in one project there are hardly two.
const PAGES: usize = 10;

/// A report issue as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported {
    /// The number within the project.
    pub iid: u64,
    /// Whether it is open. Who closes it wants no report.
    pub open: bool,
    /// Whether it says what was asked about already.
    pub current: bool,
}

#[derive(Deserialize)]
struct Opened {
    iid: u64,
}

impl GitLab {
    /// The issue with this number, if it is ours. Its marker is not asked for: somebody may have edited it away.
    pub async fn report_at(
        &self,
        project: ProjectId,
        iid: u64,
        report: &Report,
    ) -> Result<Option<Reported>, Error> {
        let path = format!("projects/{project}/issues/{iid}");
        let Some(row) = absent(self.http.json::<IssueRow>(&Own::get(path)).await)? else { return Ok(None) };
        let ours = self.is_us(row.author.as_ref().map_or(0, |author| author.id)).await?;
        Ok(ours.then(|| reported(&row, report)))
    }

    /// The oldest issue of a project that is ours and carries the marker of a report.
    pub async fn find_report(&self, project: ProjectId, report: &Report) -> Result<Option<Reported>, Error> {
        let me = self.user().await?.id;
        for author in self.former.iter().copied().filter(|id| *id != me).chain([me]) {
            let endpoint = Own::get(format!("projects/{project}/issues"))
                .with("scope", "all")
                .with("author_id", author)
                .with("order_by", "created_at")
                .with("sort", "asc");
            let rows = absent(self.http.pages::<IssueRow>(&endpoint)?.collect(PAGES).await)?;
            let by_author = |row: &&IssueRow| row.author.as_ref().is_some_and(|by| by.id == author);
            let rows = rows.map(|(rows, _)| rows).unwrap_or_default();
            let is_report = |row: &&IssueRow| row.description.as_deref().is_some_and(Report::is_one);
            if let Some(row) = rows.iter().filter(by_author).find(is_report) {
                return Ok(Some(reported(row, report)));
            }
        }
        Ok(None)
    }

    /// Opens the report issue and returns its number. Never tried twice: after a [`Error::Transient`] it may be
    /// there, and the caller looks for it before opening another.
    pub async fn open_report(&self, project: ProjectId, report: &Report) -> Result<u64, Error> {
        let body = json!({ "title": Report::TITLE, "description": report.markdown() });
        let endpoint = Own::send(Method::POST, format!("projects/{project}/issues"), body);
        let answer = self.http.answer(&endpoint, Limits::JSON).await?;
        let call = || Call { status: Some(answer.status().as_u16()), ..Call::new("POST issue") };
        let unclear = |_| Error::Transient { after: None, call: call().because("unexpected shape") };
        serde_json::from_slice(answer.body()).map(|Opened { iid }| iid).map_err(unclear)
    }

    /// Replaces the description of the report issue. Doing it twice is doing it once.
    pub async fn edit_report(&self, project: ProjectId, iid: u64, report: &Report) -> Result<(), Error> {
        let body = json!({ "description": report.markdown() });
        let endpoint = Own::send(Method::PUT, format!("projects/{project}/issues/{iid}"), body);
        self.http.raw(&endpoint, Limits::JSON).await.map(|_| ())
    }
}

fn reported(row: &IssueRow, report: &Report) -> Reported {
    Reported {
        iid: row.iid,
        open: matches!(row.state.as_str(), "opened" | "reopened"),
        current: report.is_said_by(row.description.as_deref().unwrap_or_default()),
    }
}
