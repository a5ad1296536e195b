//! The list of gaps on both databases: what is written down once stays.

#![expect(clippy::unwrap_used, reason = "a test whose world cannot be made fails")]

use std::collections::BTreeMap;

use signpost::clock::Millis;
use signpost::config::Config;
use signpost::gaps::{Gap, State, load};
use signpost::prose::{Prose, Question};
use signpost::search::Fingerprint;
use signpost::store::Store;
use signpost::store::question::{Record, State as Standing};
use signpost::store::queue::Place;

const NOW: Millis = 1_796_000_000_000;

fn config() -> Config {
    let text = "[gitlab]\nurl = \"https://gitlab.example.com\"\ngroup = \"acme\"";
    Config::parse(text, "test", &vec![]).unwrap()
}

fn asked(iid: u64, title: &str, text: &str) -> Record {
    let print =
        Fingerprint::of(&Question::new(&Prose::from(title.to_owned()), &Prose::from(text.to_owned())));
    let at = NOW - 1_000_000 + iid as i64;
    let mut record = Record::new(Place::thread(1, iid), "issue", iid, at, String::new(), at);
    record.state = Standing::Gap;
    record.fingerprint = Some(print.to_bytes());
    record
}

/// The id of the entry of each issue.
fn entries(gaps: &[Gap]) -> BTreeMap<u64, String> {
    gaps.iter().flat_map(|gap| gap.issues.iter().map(|issue| (issue.iid, gap.id.clone()))).collect()
}

async fn list(store: &Store) -> Vec<Gap> {
    load::current(store, &config(), NOW).await.unwrap()
}

async fn walk(url: &str) {
    let store = Store::open(url).await.unwrap();
    let questions = [
        asked(1, "How long do API tokens stay valid?", "When does a token expire?"),
        asked(2, "API token lifetime", "For how long is an API token valid before it expires?"),
        asked(3, "Is there a dark theme?", ""),
    ];
    for question in &questions {
        store.save_question(question).await.unwrap();
    }
    let first = entries(&list(&store).await);
    assert_eq!(first[&1], first[&2]);
    assert_ne!(first[&1], first[&3]);

    // Two replicas name a question's entry: the first is right. The pipeline writes back what it read before.
    let other = (questions[2].place, "issue".to_owned(), "another1".to_owned());
    store.join_clusters(&[other]).await.unwrap();
    store.save_question(&questions[2]).await.unwrap();
    assert_eq!(entries(&list(&store).await), first);

    // Decisions by hand.
    store.move_questions(questions[1].place, &["issue".to_owned()], "splitoff", NOW).await.unwrap();
    assert_eq!(entries(&list(&store).await)[&2], "splitoff");
    store.merge_gap("splitoff", &first[&3], NOW).await.unwrap();
    store.merge_gap("splitoff", "elsewhere", NOW).await.unwrap();
    assert_eq!(entries(&list(&store).await)[&2], first[&3], "what was merged once stays where it is");
    store.dismiss_gap(&first[&3], NOW).await.unwrap();
    store.dismiss_gap(&first[&3], NOW + 5).await.unwrap();
    let dismissed = list(&store).await.into_iter().find(|gap| gap.id == first[&3]).unwrap();
    assert_eq!((dismissed.state, dismissed.settled_at.unwrap().0), (State::Dismissed, NOW));
    store.reopen_gap(&first[&3]).await.unwrap();
    assert!(list(&store).await.iter().all(|gap| gap.state == State::Open));
    store.assign_gap(&first[&1], 7, "docs/a.md", NOW).await.unwrap();
    store.assign_gap(&first[&1], 7, "docs/b.md", NOW + 1).await.unwrap();
    let hand = store.gap_decisions().await.unwrap();
    assert_eq!(hand.pages, [(first[&1].clone(), 7, "docs/b.md".to_owned(), NOW + 1)]);

    // A thread that turned confidential leaves nothing behind.
    store.forget_questions(questions[1].place).await.unwrap();
    assert!(store.gap_decisions().await.unwrap().members.is_empty());
    assert!(!entries(&list(&store).await).contains_key(&2));

    // What is asked later joins, and moves nothing.
    store.save_question(&asked(4, "Validity of API tokens", "When do API tokens expire?")).await.unwrap();
    let last = entries(&list(&store).await);
    assert_eq!((&last[&4], &last[&1], &last[&3]), (&first[&1], &first[&1], &first[&3]));
    store.close().await;
}

#[tokio::test]
async fn what_is_written_down_once_stays_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    walk(&format!("sqlite://{}", folder.path().join("s.db").display())).await;
}

#[tokio::test]
async fn what_is_written_down_once_stays_on_postgres() {
    walk(&crate::postgres::create_database()).await;
}
