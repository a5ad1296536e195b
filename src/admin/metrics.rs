//! `GET /metrics`.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::admin::{Admin, Failure};
use crate::answer::breaker_open;
use crate::store::question;
use crate::telemetry::Levels;

/// The page for Prometheus.
pub(super) async fn page(State(admin): State<Admin>) -> Result<Response, Failure> {
    let levels = levels(&admin).await?;
    let headers = [(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")];
    Ok((headers, admin.metrics.page(&levels, "")).into_response())
}

/// What the gauges show.
async fn levels(admin: &Admin) -> Result<Levels, Failure> {
    let (depth, size) = (admin.store.depth().await?, admin.store.corpus_size().await?);
    let counted = admin.store.count_questions().await?;
    // A state that nothing is in any more must show 0, not what it showed last.
    let count = |state: question::State| {
        let found = counted.iter().find(|(word, _)| word == state.word());
        (state.word().to_owned(), found.map_or(0, |(_, count)| *count))
    };
    Ok(Levels {
        queue: vec![("ready".into(), depth.ready), ("buried".into(), depth.buried)],
        queue_oldest_seconds: depth.oldest.map_or(0, |at| (admin.clock.now() - at).max(0) / 1000),
        sections: size.sections,
        projects: vec![("admitted".into(), size.admitted), ("refused".into(), size.refused)],
        gaps: [
            question::State::Answered,
            question::State::Gap,
            question::State::Silent,
            question::State::Dismissed,
            question::State::Deleted,
        ]
        .map(count)
        .to_vec(),
        breaker_open: breaker_open(&admin.store, &admin.config).await?,
    })
}
