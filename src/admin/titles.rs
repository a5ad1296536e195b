//! Titles of issues, fetched while a page is drawn and gone with it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use futures_util::StreamExt as _;

use crate::gitlab::{GitLab, TitleHtml};
use crate::store::queue::Place;

/// How long a page waits for titles in all.
pub const BUDGET: Duration = Duration::from_secs(2);
/// Requests to GitLab at a time.
const TOGETHER: usize = 8;

/// GitLab could not be asked; the issues may or may not be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown;

/// Where titles come from.
#[async_trait::async_trait]
pub trait Titles: Send + Sync {
    /// The titles of these issues of one project, by number. One that is not in the answer is confidential,
    /// hidden or gone, and is not shown at all.
    async fn titles(&self, project: u64, iids: &[u64]) -> Result<HashMap<u64, TitleHtml>, Unknown>;
}

#[async_trait::async_trait]
impl Titles for GitLab {
    async fn titles(&self, project: u64, iids: &[u64]) -> Result<HashMap<u64, TitleHtml>, Unknown> {
        let faces = self.faces(project, iids).await.map_err(|error| {
            tracing::debug!(%error, project.id = project, "titles could not be fetched");
            Unknown
        })?;
        let shown = faces.into_iter().filter(|face| !face.confidential);
        Ok(shown.map(|face| (face.iid, face.title)).collect())
    }
}

/// What was found out in time. A place that is not in the map could not be looked at: it is shown by its
/// coordinates. `None` is not shown.
pub(super) type Found = HashMap<Place, Option<TitleHtml>>;

/// Fetches the titles of `places`, several projects at a time, for at most [`BUDGET`].
pub(super) async fn fetch(source: Option<&dyn Titles>, places: impl IntoIterator<Item = Place>) -> Found {
    let mut found = Found::new();
    let Some(source) = source else { return found };
    let mut wanted: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for place in places {
        wanted.entry(place.project).or_default().insert(place.iid);
    }
    let requests = wanted.into_iter().map(|(project, iids)| async move {
        let iids: Vec<u64> = iids.into_iter().collect();
        let titles = source.titles(project, &iids).await;
        (project, iids, titles)
    });
    let mut answers = futures_util::stream::iter(requests).buffer_unordered(TOGETHER);
    let deadline = tokio::time::Instant::now() + BUDGET;
    while let Ok(Some((project, iids, titles))) = tokio::time::timeout_at(deadline, answers.next()).await {
        if let Ok(mut titles) = titles {
            found.extend(iids.into_iter().map(|iid| (Place::thread(project, iid), titles.remove(&iid))));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Slow;

    #[async_trait::async_trait]
    impl Titles for Slow {
        async fn titles(&self, project: u64, _: &[u64]) -> Result<HashMap<u64, TitleHtml>, Unknown> {
            match project {
                1 => Ok(HashMap::new()),
                2 => Err(Unknown),
                _ => std::future::pending().await,
            }
        }
    }

    #[tokio::test]
    async fn what_is_not_known_in_time_is_not_waited_for() {
        tokio::time::pause();
        let places = (1..=100).flat_map(|project| [Place::thread(project, 1), Place::thread(project, 2)]);
        let found = fetch(Some(&Slow), places).await;
        assert_eq!(found.len(), 2, "only the first project answered");
        assert!(found[&Place::thread(1, 1)].is_none());
        assert!(fetch(None, [Place::thread(1, 1)]).await.is_empty());
    }
}
