//! What GitLab does by itself, and what goes wrong on the way.

use super::{acme, get, post, put};
use crate::gitlab::{Act, Effect, Fault};
use std::time::{Duration, Instant};

fn named(effects: &[Effect]) -> Vec<&Act> {
    effects.iter().map(|effect| &effect.act).collect()
}

#[tokio::test]
async fn quick_actions_in_a_bots_note_run_and_are_told() {
    let gitlab = acme().await;
    gitlab.world().add_group_label("acme", "urgent", "#ff0000");
    gitlab.open_issue("acme/api", "mara", "How?", "").await;
    let only = post(&gitlab, "/projects/102/issues/1/notes", &[("body", "/close\n/label ~urgent")]).await;
    assert_eq!((only.status, gitlab.notes("acme/api", 1).len()), (202, 0));
    assert_eq!(gitlab.world().issue("acme/api", 1).state(), "closed");
    assert_eq!(gitlab.labels("acme/api", 1), ["urgent"]);
    assert_eq!(named(&gitlab.effects()).len(), 2);
    let mixed = post(&gitlab, "/projects/102/issues/1/notes", &[("body", "Words\n/reopen\n\nmore")]).await;
    assert_eq!((mixed.status, mixed.body["body"].as_str()), (201, Some("Words\n\nmore")));
    assert_eq!(gitlab.world().issue("acme/api", 1).state(), "opened");
    let note = mixed.body["id"].clone();
    put(&gitlab, &format!("/projects/102/issues/1/notes/{note}"), &[("body", "Other words\n/close")]).await;
    assert_eq!(gitlab.world().issue("acme/api", 1).state(), "closed");
}

#[tokio::test]
async fn references_leave_notes_elsewhere_and_quoted_ones_do_not() {
    let gitlab = acme().await;
    gitlab.open_issue("acme/api", "mara", "One", "").await;
    gitlab.open_issue("acme/docs", "mara", "Two", "").await;
    let safe = "> ```text\n> @mara #1 /close ![x](y)\n> ```\n\n[keys](<http://gitlab.invalid/acme/docs/-/blob/main/a.md#L1>) `#1`";
    assert_eq!(post(&gitlab, "/projects/102/issues/1/notes", &[("body", safe)]).await.status, 201);
    assert!(gitlab.effects().is_empty(), "{:?}", gitlab.effects());
    let url = format!("see {}/acme/docs/-/issues/1 and @mara", gitlab.url());
    post(&gitlab, "/projects/102/issues/1/notes", &[("body", &url)]).await;
    assert_eq!(gitlab.effects().len(), 2);
    assert_eq!(gitlab.all_notes("acme/docs", 1)[0].body, "mentioned in issue acme/api#1");
    gitlab.comment("acme/api", 1, "tom", "@mara look at #1").await;
    assert_eq!(gitlab.effects().len(), 2);
}

#[tokio::test]
async fn calls_go_wrong_as_often_as_they_were_told_to() {
    let gitlab = acme().await;
    gitlab.faults().next(1, "GET", "/projects/*", Fault::TooMany { retry_after: Some(7) });
    gitlab.faults().next(1, "GET", "/projects/*", Fault::TooMany { retry_after: None });
    gitlab.faults().next(1, "*", "*", Fault::Html(502));
    gitlab.faults().next(1, "GET", "/user", Fault::Garbled);
    gitlab.faults().next(1, "GET", "/user", Fault::Redirect("http://elsewhere.invalid/".into()));
    let first = get(&gitlab, "/projects/102").await;
    assert_eq!(
        (first.status, first.header("retry-after"), first.header("ratelimit-remaining")),
        (429, "7", "0")
    );
    let second = get(&gitlab, "/projects/102").await;
    assert_eq!((second.status, second.headers.contains_key("retry-after")), (429, false));
    assert_eq!(get(&gitlab, "/version").await.status, 502);
    let garbled = get(&gitlab, "/user").await;
    assert!(garbled.status == 200 && garbled.body.is_null() && !garbled.text.is_empty());
    assert_eq!(get(&gitlab, "/user").await.header("location"), "http://elsewhere.invalid/");
    assert_eq!((get(&gitlab, "/user").await.status, gitlab.faults().left()), (200, 0));
}

#[tokio::test]
async fn a_connection_is_reset_before_or_after_the_effect() {
    let gitlab = acme().await;
    gitlab.open_issue("acme/api", "mara", "How?", "").await;
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let note = async |text: &str| {
        let url = format!("{}/api/v4/projects/102/issues/1/notes", gitlab.url());
        client
            .post(url)
            .header("PRIVATE-TOKEN", crate::gitlab::BOT_TOKEN)
            .json(&serde_json::json!({ "body": text }))
            .send()
            .await
    };
    gitlab.faults().next(1, "POST", "*/notes", Fault::ResetBefore);
    assert!(note("before").await.is_err());
    assert_eq!(gitlab.notes("acme/api", 1).len(), 0);
    gitlab.faults().next(1, "POST", "*/notes", Fault::ResetAfter);
    assert!(note("after").await.is_err());
    assert_eq!(gitlab.notes("acme/api", 1).len(), 1);
    gitlab.faults().next(1, "POST", "*/notes", Fault::Cut);
    assert!(note("cut").await.expect("headers come").bytes().await.is_err());
    assert_eq!(gitlab.notes("acme/api", 1).len(), 2);
}

#[tokio::test]
async fn slow_calls_take_their_time_and_hanging_ones_forever() {
    let gitlab = acme().await;
    gitlab.faults().next(1, "*", "/user", Fault::Slow(Duration::from_millis(80)));
    let began = Instant::now();
    get(&gitlab, "/user").await;
    assert!(began.elapsed() >= Duration::from_millis(80));
    gitlab.faults().always("*", "/version", Fault::Hang);
    assert!(tokio::time::timeout(Duration::from_millis(80), get(&gitlab, "/version")).await.is_err());
    gitlab.faults().clear();
    gitlab.faults().set_latency(Duration::from_millis(30));
    let began = Instant::now();
    assert_eq!(get(&gitlab, "/version").await.status, 200);
    assert!(began.elapsed() >= Duration::from_millis(30));
}

#[tokio::test]
async fn strangers_words_in_a_bots_note_are_found_out() {
    let gitlab = acme().await;
    gitlab.open_issue("acme/api", "mara", "How?", "The supported way is to store them as literals.").await;
    post(&gitlab, "/projects/102/issues/1/notes", &[("body", "Two keys may be active at the same time.")])
        .await;
    assert!(gitlab.strangers().leaks(&gitlab.posted_by_the_bot()).is_empty());
    post(&gitlab, "/projects/102/issues/1/notes", &[("body", "Answer: the supported way is TO store …")])
        .await;
    assert_eq!(gitlab.strangers().leaks(&gitlab.posted_by_the_bot()).len(), 2);
    gitlab.edit_issue("acme/api", 1, "mara", None, Some("Never mind.")).await;
    assert_eq!(gitlab.strangers().leaks(&gitlab.posted_by_the_bot()).len(), 2);
}

#[tokio::test]
async fn a_doomed_project_leaves_its_path_and_a_moved_issue_its_copy() {
    let gitlab = acme().await;
    gitlab.open_issue("acme/api", "mara", "How?", "Words").await;
    let there = gitlab.move_issue("acme/api", 1, "tom", "acme/docs").await;
    let moved = get(&gitlab, "/projects/102/issues/1").await.body;
    assert_eq!((moved["state"].as_str(), moved["moved_to_id"].is_u64()), (Some("closed"), true));
    assert_eq!(get(&gitlab, &format!("/projects/101/issues/{there}")).await.body["title"], "How?");
    gitlab.act(|world| world.delete_project("acme/api")).await;
    let doomed = get(&gitlab, "/projects/102").await.body;
    assert_eq!(doomed["path_with_namespace"], "acme/api-deletion_scheduled-102");
    assert!(doomed["marked_for_deletion_on"].is_string());
    assert_eq!(get(&gitlab, "/projects/acme%2Fapi").await.status, 404);
}
