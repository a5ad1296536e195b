//! Titles of issues, fetched while a page is drawn and gone with it.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::StreamExt as _;
use serde::Deserialize;

use crate::store::queue::Place;

/// How long a page waits for titles in all.
pub const BUDGET: Duration = Duration::from_secs(2);
/// Requests to GitLab at a time.
const TOGETHER: usize = 16;
/// Characters of a title that are shown.
const LONGEST: usize = 200;

/// What somebody called an issue. It can be made and drawn, and nothing else: no `Display`, no `Serialize`; its
/// `Debug` prints a length.
#[derive(Clone, Deserialize)]
#[serde(from = "String")]
pub struct Title(String);

impl From<String> for Title {
    /// Keeps the first 200 characters, without those that control or reorder text.
    fn from(text: String) -> Title {
        let visible = |c: &char| !c.is_control() && !matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        let mut shown: String = text.chars().filter(visible).take(LONGEST + 1).collect();
        if shown.chars().count() > LONGEST {
            shown.pop();
            shown.push('…');
        }
        Title(shown)
    }
}

impl std::fmt::Debug for Title {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Title({} bytes)", self.0.len())
    }
}

impl Title {
    /// For the templates, which escape it.
    pub(super) fn text(&self) -> &str {
        &self.0
    }
}

/// GitLab could not be asked; the issue may or may not be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown;

/// Where titles come from.
#[async_trait::async_trait]
pub trait Titles: Send + Sync {
    /// The title of an issue as it is now; `None` for one that is confidential, hidden or gone, which then is
    /// not shown at all.
    async fn title(&self, place: Place) -> Result<Option<Title>, Unknown>;
}

/// What was found out in time. A place that is not in the map could not be looked at: it is shown by its
/// coordinates.
pub(super) type Found = HashMap<Place, Option<Title>>;

/// Fetches the titles of `places`, several at a time, for at most [`BUDGET`].
pub(super) async fn fetch(source: Option<&dyn Titles>, places: impl IntoIterator<Item = Place>) -> Found {
    let mut found = Found::new();
    let Some(source) = source else { return found };
    let mut seen = std::collections::HashSet::new();
    let places: Vec<Place> = places.into_iter().filter(|place| seen.insert(*place)).collect();
    let requests = places.into_iter().map(|place| async move { (place, source.title(place).await) });
    let mut answers = futures_util::stream::iter(requests).buffer_unordered(TOGETHER);
    let deadline = tokio::time::Instant::now() + BUDGET;
    while let Ok(Some((place, answer))) = tokio::time::timeout_at(deadline, answers.next()).await {
        if let Ok(title) = answer {
            found.insert(place, title);
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
        async fn title(&self, place: Place) -> Result<Option<Title>, Unknown> {
            match place.iid {
                1 => Ok(Some(Title::from("One".to_owned()))),
                2 => Ok(None),
                3 => Err(Unknown),
                _ => std::future::pending().await,
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_known_in_time_is_not_waited_for() {
        let found = fetch(Some(&Slow), (1..=100).map(|iid| Place::thread(1, iid))).await;
        assert_eq!(found.len(), 2);
        assert_eq!(found[&Place::thread(1, 1)].as_ref().unwrap().text(), "One");
        assert!(found[&Place::thread(1, 2)].is_none());
        assert!(fetch(None, [Place::thread(1, 1)]).await.is_empty());
    }

    #[test]
    fn a_title_is_cut_and_cannot_reorder_the_page() {
        let title = Title::from(format!("a\u{202e}b\nc\u{2066}{}", "é".repeat(300)));
        assert!(title.text().starts_with("abcé") && title.text().ends_with('…'));
        assert_eq!(title.text().chars().count(), 201);
        assert_eq!(format!("{title:?}"), format!("Title({} bytes)", title.text().len()));
    }
}
