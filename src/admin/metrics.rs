//! `GET /metrics`.

use std::fmt::Write as _;

use axum::extract;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::admin::{Admin, Failure};
use crate::answer::breaker_open;
use crate::gaps::{State, load};
use crate::gitlab::{Count, GitLab, TIMES, Times};
use crate::telemetry::Levels;

/// The page for Prometheus.
pub(super) async fn page(extract::State(admin): extract::State<Admin>) -> Result<Response, Failure> {
    let levels = levels(&admin).await?;
    let headers = [(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")];
    let further = admin.gitlab.as_ref().map(requests).unwrap_or_default();
    Ok((headers, admin.metrics.page(&levels, &further)).into_response())
}

/// The requests to GitLab. The endpoints are templates of this program's own requests, so that there are few;
/// a request without an answer has the status `none`.
fn requests(gitlab: &GitLab) -> String {
    let mut page = String::from(
        "# HELP signpost_gitlab_requests Requests to GitLab by what was answered.\n\
         # TYPE signpost_gitlab_requests counter\n",
    );
    for Count { endpoint, status, times } in gitlab.counts() {
        let status = if status == 0 { "none".to_owned() } else { status.to_string() };
        let _ = writeln!(
            page,
            "signpost_gitlab_requests_total{{endpoint=\"{endpoint}\",status=\"{status}\"}} {times}"
        );
    }
    page.push_str(
        "# HELP signpost_gitlab_seconds Time of one request to GitLab.\n\
         # TYPE signpost_gitlab_seconds histogram\n",
    );
    let (times, mut up_to) = (gitlab.times(), 0);
    for (end, count) in TIMES.iter().zip(times.buckets) {
        up_to += count;
        let _ = writeln!(page, "signpost_gitlab_seconds_bucket{{le=\"{end:?}\"}} {up_to}");
    }
    let Times { count, sum, .. } = times;
    let _ = writeln!(page, "signpost_gitlab_seconds_bucket{{le=\"+Inf\"}} {count}");
    let _ = writeln!(page, "signpost_gitlab_seconds_sum {sum:?}\nsignpost_gitlab_seconds_count {count}");
    page
}

/// What the gauges show.
async fn levels(admin: &Admin) -> Result<Levels, Failure> {
    let (depth, size) = (admin.store.depth().await?, admin.store.corpus_size().await?);
    let hour_ago = admin.clock.now() - 3_600_000;
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
        budget_remaining: i64::from(
            admin.config.budget.per_project_hour.saturating_sub(admin.store.busiest_since(hour_ago).await?),
        ),
    })
}
