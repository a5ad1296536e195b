//! `GET /metrics`.

use std::fmt::Write as _;

use axum::extract;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::admin::{Admin, Failure};
use crate::answer::breaker_open;
use crate::gaps::{State, load};
use crate::gitlab::{Count, GitLab};
use crate::telemetry::Levels;

/// The page for Prometheus.
pub(super) async fn page(extract::State(admin): extract::State<Admin>) -> Result<Response, Failure> {
    let levels = levels(&admin).await?;
    let headers = [(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")];
    Ok((headers, admin.metrics.page(&levels, &requests(&admin))).into_response())
}

/// What the gauges show.
async fn levels(admin: &Admin) -> Result<Levels, Failure> {
    let (depth, size) = (admin.store.depth().await?, admin.store.corpus_size().await?);
    let gaps = load::current(&admin.store, &admin.config, admin.clock.now()).await?;
    let count = |state: State| {
        let found = gaps.iter().filter(|gap| gap.state == state).count();
        (state.word().to_owned(), i64::try_from(found).unwrap_or(i64::MAX))
    };
    let mut projects = admin.store.refusals().await?;
    projects.push(("admitted".into(), size.admitted));
    Ok(Levels {
        queue: vec![("ready".into(), depth.ready), ("buried".into(), depth.buried)],
        queue_oldest_seconds: depth.oldest.map_or(0, |at| (admin.clock.now() - at).max(0) / 1000),
        sections: size.sections,
        projects,
        gaps: State::ALL.map(count).to_vec(),
        breaker_open: breaker_open(&admin.store, &admin.config).await?,
    })
}

/// The requests to GitLab since the start, as lines of the page.
fn requests(admin: &Admin) -> String {
    let counts = admin.gitlab.as_ref().map(GitLab::counts).unwrap_or_default();
    let mut lines =
        String::from("# HELP signpost_gitlab_requests Requests to GitLab by what they were answered.\n");
    lines.push_str("# TYPE signpost_gitlab_requests counter\n");
    for Count { endpoint, status, times } in counts {
        let status = if status == 0 { "none".to_owned() } else { status.to_string() };
        // Endpoints are templates of this program: letters, slashes and braces.
        let _ = writeln!(
            lines,
            "signpost_gitlab_requests_total{{endpoint=\"{endpoint}\",status=\"{status}\"}} {times}"
        );
    }
    lines
}
