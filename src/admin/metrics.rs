//! `GET /metrics`.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::admin::{Admin, Failure};
use crate::store;
use crate::store::question;
use crate::telemetry::Levels;

/// Notes that the breaker looks back on; see `Store::undone_of_last`.
const LAST_NOTES: f32 = 20.0;

/// The page for Prometheus.
pub(super) async fn page(State(admin): State<Admin>) -> Result<Response, Failure> {
    let levels = levels(&admin).await?;
    let headers = [(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")];
    Ok((headers, admin.metrics.page(&levels, "")).into_response())
}

/// What the gauges show.
async fn levels(admin: &Admin) -> store::Result<Levels> {
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
        breaker_open: breaker_open(admin).await?,
    })
}

/// Whether humans undid more of the last notes than the budget allows.
pub(super) async fn breaker_open(admin: &Admin) -> store::Result<bool> {
    let (_, undone) = admin.store.undone_of_last().await?;
    Ok(undone as f32 > admin.config.budget.undo_limit * LAST_NOTES)
}
