//! The standing check at the end of every walk can fail: each of the ways in which a stranger's words, a secret or
//! an act could get out is taken here on purpose. (How words are compared is tested beside `gitlab::strangers`.)

use crate::app::{Database, TestApp};
use crate::gitlab::{BOT, BOT_TOKEN, World};

/// Words that no document, no other test and no fixed sentence has.
const WORDS: &str =
    "Peculiar ultramarine herons quietly audit seventeen forgotten turnstiles before breakfast.";

/// What the standing check says after `break_it`, in a world where a stranger wrote [`WORDS`]; nothing when it is
/// content.
async fn said(break_it: impl AsyncFnOnce(&TestApp, u64)) -> Option<String> {
    let app = TestApp::start_with(Database::Sqlite, World::acme(), |_| {}).await;
    let iid = app.ask("acme/api", "eve", "Weekly notes", WORDS).await;
    break_it(&app, iid).await;
    let failed = tokio::spawn(app.finish()).await.err()?.into_panic();
    Some(
        failed
            .downcast_ref::<String>()
            .cloned()
            .or(failed.downcast_ref::<&str>().map(|s| (*s).to_owned()))
            .unwrap_or_default(),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sound_run_passes_and_words_posted_or_stored_do_not() {
    assert_eq!(said(async |_, _| ()).await, None);
    let posted = said(async |app, iid| {
        app.gitlab
            .comment(
                "acme/api",
                iid,
                BOT,
                "They say that ultramarine HERONS, quietly, audit seventeen things",
            )
            .await;
    });
    assert!(posted.await.is_some_and(|why| why.contains("posted")));
    let stored = said(async |app, _| app.store().set("note to self", WORDS).await.expect("the database"));
    assert!(stored.await.is_some_and(|why| why.contains("stored")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_note_that_acts_or_proves_nothing_and_an_address_that_is_none_do_not_pass() {
    let unproved = said(async |app, iid| {
        app.gitlab.comment("acme/api", iid, BOT, "Thank you.").await;
    });
    assert!(unproved.await.is_some_and(|why| why.contains("without a marker")));
    let acts = said(async |app, iid| {
        app.gitlab.comment("acme/api", iid, BOT, "Thank you, @mara").await;
    });
    assert!(acts.await.is_some_and(|why| why.contains("acts")));
    let address = said(async |app, _| {
        let url = format!("{}/api/v4/projects/102/no_such_thing", app.gitlab.url());
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        client.get(url).header("private-token", BOT_TOKEN).send().await.expect("an answer");
    });
    assert!(address.await.is_some_and(|why| why.contains("no such address")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn words_and_secrets_that_are_logged_do_not_pass() {
    // Words of their own: the log is one for all tests of a process.
    const LOGGED: &str = "Nineteen vermilion pelicans mislaid the county auditor's theodolite again.";
    let words = said(async |app, iid| {
        app.gitlab.comment("acme/api", iid, "eve", LOGGED).await;
        tracing::info!(sentence = LOGGED, "something went wrong");
    });
    assert!(words.await.is_some_and(|why| why.contains("logged")));
    let secret = said(async |app, _| tracing::info!(token = app.signing_token(), "something went wrong"));
    assert!(secret.await.is_some_and(|why| why.contains("a secret is logged")));
}
