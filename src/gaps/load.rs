//! The list from the store.

use crate::clock::Millis;
use crate::config::Config;
use crate::gaps::{Gap, Scene, cluster, list};
use crate::judge::Policy;
use crate::store::{Result, Store};

/// The list as it is at `now`. Questions that have no cluster yet get one for good.
///
/// # Errors
/// The database.
pub async fn current(store: &Store, config: &Config, now: Millis) -> Result<Vec<Gap>> {
    settle(store).await?;
    let (records, hand) = (store.gap_questions().await?, store.gap_decisions().await?);
    let projects = store.projects().await?;
    let threshold = (Policy::promising(config.answer.max_wrong).cover * 1000.0).round() as i64;
    Ok(list(records, &hand, &Scene { instance: &config.gitlab.url, projects: &projects, threshold, now }))
}

/// Gives every gap a cluster and writes it down. Called after a question became a gap, and before the list is
/// drawn; cheap when there is nothing to do.
///
/// # Errors
/// The database.
pub async fn settle(store: &Store) -> Result<()> {
    if store.unsettled_gaps().await? == 0 {
        return Ok(());
    }
    let records = store.gap_questions().await?;
    let joins = cluster::join(&records, &store.gap_decisions().await?);
    store.join_clusters(&joins).await
}
