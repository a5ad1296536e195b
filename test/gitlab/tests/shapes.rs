//! Deliveries have exactly the fields of the recorded bodies in `payloads/`.

use super::acme;
use crate::gitlab::{Awardable, Change, FakeGitLab, Merge};
use serde_json::Value;

fn recorded(name: &str) -> Value {
    let path = format!("{}/test/gitlab/payloads/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).expect("a recorded body")).expect("JSON")
}

/// Fields that say something else each time.
const FREE: [&str; 3] = ["changes", "merge_params", "push_options"];
/// Fields that are there only sometimes.
const SOMETIMES: [&str; 1] = ["assignees"];

fn differences(path: &str, wanted: &Value, got: &Value, found: &mut Vec<String>) {
    match (wanted, got) {
        (Value::Object(a), Value::Object(b)) => {
            for key in a.keys().filter(|key| !b.contains_key(*key) && !SOMETIMES.contains(&key.as_str())) {
                found.push(format!("{path}.{key} is missing"));
            }
            for key in b.keys().filter(|key| !a.contains_key(*key) && !SOMETIMES.contains(&key.as_str())) {
                found.push(format!("{path}.{key} is too much"));
            }
            for (key, value) in a.iter().filter(|(key, _)| !FREE.contains(&key.as_str())) {
                if let Some(other) = b.get(key) {
                    differences(&format!("{path}.{key}"), value, other, found);
                }
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            if let (Some(a), Some(b)) = (a.first(), b.first()) {
                differences(&format!("{path}[]"), a, b, found);
            }
        }
        (Value::String(a), Value::String(b)) => {
            // The same way of writing times.
            let times = |text: &str| (text.ends_with(" UTC"), text.len() == 20 && text.ends_with('Z'));
            if times(a) != times(b) {
                found.push(format!("{path}: {a:?} and {b:?}"));
            }
        }
        (Value::Null, _) | (_, Value::Null) => {}
        _ if std::mem::discriminant(wanted) == std::mem::discriminant(got) => {}
        _ => found.push(format!("{path}: {wanted} and {got}")),
    }
}

/// The last delivery's body has the shape of the recorded one, and its event the recorded name.
fn held(gitlab: &FakeGitLab, name: &str) {
    let delivery = gitlab.drain_outbox().pop().unwrap_or_else(|| panic!("{name}: nothing was sent"));
    let mut found = Vec::new();
    differences("", &recorded(name), &delivery.json(), &mut found);
    assert!(found.is_empty(), "{name}: {found:#?}");
    let event = &recorded("headers")["x_gitlab_event_by_file"][format!("{name}.json")];
    assert_eq!(event.as_str(), Some(delivery.event), "{name}");
    assert!(!String::from_utf8_lossy(&delivery.body).contains(['<', '>', '&']), "{name} is escaped");
}

async fn listened_to() -> FakeGitLab {
    let gitlab = acme().await;
    gitlab.send_at_once(false);
    gitlab.install_hook("acme", "http://127.0.0.1:9/hook", |hook| {
        hook.switches.values_mut().for_each(|on| *on = true)
    });
    gitlab
}

#[tokio::test]
async fn issue_deliveries_have_the_recorded_shape() {
    let gitlab = listened_to().await;
    gitlab.world().add_group_label("acme", "documentation-gap", "#d9534f");
    let iid = gitlab.open_issue("acme/api", "mara", "A <title> & more", "Words").await;
    held(&gitlab, "issue-open");
    gitlab.add_labels("acme/api", iid, "tom", &["documentation-gap"]).await;
    held(&gitlab, "issue-update-bot-label");
    gitlab.edit_issue("acme/api", iid, "mara", None, Some("Other words")).await;
    held(&gitlab, "issue-update");
    gitlab.close_issue("acme/api", iid, "tom").await;
    held(&gitlab, "issue-close");
    gitlab.reopen_issue("acme/api", iid, "tom").await;
    held(&gitlab, "issue-reopen");
    gitlab.set_confidential("acme/api", iid, "tom", true).await;
    held(&gitlab, "issue-update-made-confidential");
    gitlab.open_issue_with("acme/api", "mara", ("Secret", "Words"), |issue| issue.confidential = true).await;
    held(&gitlab, "issue-confidential-open");
    let task = crate::gitlab::world::IssueType::Task;
    gitlab.open_issue_with("acme/api", "mara", ("Do", ""), |issue| issue.issue_type = task).await;
    held(&gitlab, "work-item-task-open");
}

#[tokio::test]
async fn note_and_emoji_deliveries_have_the_recorded_shape() {
    let gitlab = listened_to().await;
    let iid = gitlab.open_issue("acme/api", "mara", "Title", "Words").await;
    let note = gitlab.comment("acme/api", iid, "tom", "A comment").await;
    held(&gitlab, "note-issue");
    gitlab.edit_note(note, "tom", "Another comment").await;
    held(&gitlab, "note-issue-update");
    gitlab.reply(note, "mara", "A reply").await;
    held(&gitlab, "note-issue-reply");
    gitlab.comment_internally("acme/api", iid, "tom", "Among us").await;
    held(&gitlab, "note-issue-internal");
    let award = gitlab.award_note(note, "mara", "thumbsdown").await;
    held(&gitlab, "emoji-award");
    gitlab.revoke(award).await;
    held(&gitlab, "emoji-revoke");
    gitlab.award_issue("acme/api", iid, "tom", "eyes").await;
    held(&gitlab, "emoji-award-issue");
    gitlab.set_confidential("acme/api", iid, "tom", true).await;
    gitlab.comment("acme/api", iid, "tom", "Quietly").await;
    held(&gitlab, "note-confidential-issue");
    assert!(gitlab.world().awards.values().all(|award| award.on != Awardable::Note(note)));
}

#[tokio::test]
async fn code_and_group_deliveries_have_the_recorded_shape() {
    let gitlab = listened_to().await;
    gitlab.edit_file("acme/docs", "docs/new.md", "# New").await;
    held(&gitlab, "push");
    let change = || vec![Change::Write("docs/more.md".into(), b"# More".to_vec())];
    gitlab.push_to("acme/docs", Some("side"), "tom", "Side", change()).await;
    gitlab.drain_outbox();
    gitlab.act(|world| world.delete_branch("acme/docs", "side", "tom")).await;
    held(&gitlab, "push-branch-delete");
    let iid = gitlab.propose(("acme/docs", "acme/docs"), "tom", "more", "More", change()).await;
    gitlab.merge("acme/docs", iid, "ines", Merge::Commit).await;
    held(&gitlab, "merge-request-merge");
    gitlab.act(|world| world.add_project("acme/logbooks").private().id).await;
    held(&gitlab, "project-create");
    gitlab.act(|world| world.delete_project("acme/logbooks")).await;
    held(&gitlab, "project-destroy");
    gitlab.act(|world| world.add_group("acme/quay").id).await;
    held(&gitlab, "subgroup-create");
    gitlab.act(|world| world.token_expires_soon("acme", crate::gitlab::BOT_TOKEN)).await;
    held(&gitlab, "access-token-expiring");
}

#[tokio::test]
async fn the_test_button_sends_no_action() {
    let gitlab = listened_to().await;
    gitlab.open_issue("acme/api", "mara", "Title", "Words").await;
    gitlab.drain_outbox();
    let hook = *gitlab.world().hooks.keys().next().expect("a hook");
    let delivery = gitlab.world().test_delivery(hook, "issues_events").expect("there is an issue");
    let mut found = Vec::new();
    differences("", &recorded("issue-open-no-action"), &delivery.json(), &mut found);
    assert!(!delivery.json()["object_attributes"].as_object().expect("an object").contains_key("action"));
    found.retain(|line| !line.contains("color") && !line.contains("closed_at"));
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn signatures_are_those_of_the_recorded_vectors() {
    let vectors = recorded("signing-vector");
    let token = vectors["signing_token"].as_str().expect("a token");
    for vector in vectors["vectors"].as_array().expect("a list") {
        let text = |key: &str| vector[key].as_str().expect("text");
        let seconds = text("webhook-timestamp").parse().expect("a number");
        let signature =
            crate::gitlab::hook::sign(token, text("webhook-id"), seconds, text("raw_body").as_bytes());
        assert!(text("webhook-signature").split(' ').any(|entry| entry == signature), "{vector}");
    }
}
