//! The list from the store.

use crate::clock::Millis;
use crate::config::Config;
use crate::gaps::{Gap, Scene, State, cluster, list};
use crate::store::{Result, Store};

/// The setting in which `serve` leaves what a passage must score to be quoted, in thousandths: the commands that
/// only read the store have no judge to ask.
pub const THRESHOLD: &str = "judge_threshold";

/// The list as it is at `now`. Questions that have no cluster yet get one for good.
///
/// # Errors
/// The database.
pub async fn current(store: &Store, config: &Config, now: Millis) -> Result<Vec<Gap>> {
    settle(store).await?;
    let (records, hand) = (store.all_questions().await?, store.gap_decisions().await?);
    let projects = store.projects().await?;
    let threshold = store.setting(THRESHOLD).await?.and_then(|value| value.parse().ok());
    // Until `serve` has run once: a calibrated judge promises a share of wrong answers with about this score.
    let threshold = threshold.unwrap_or_else(|| ((1.0 - config.answer.max_wrong) * 1000.0).round() as i64);
    Ok(list(records, &hand, &Scene { instance: &config.gitlab.url, projects: &projects, threshold, now }))
}

/// Gives every gap a cluster and writes it down. Called after a question became a gap, and before the list is
/// drawn; cheap when there is nothing to do.
///
/// # Errors
/// The database.
pub async fn settle(store: &Store) -> Result<()> {
    let mut records = store.all_questions().await?;
    records.retain(|record| State::of(record).is_some());
    if records.iter().all(|record| record.cluster.is_some()) {
        return Ok(());
    }
    let joins = cluster::join(&records, &store.gap_decisions().await?);
    store.join_clusters(&joins).await
}
