//! Each fault that `signpost check` knows, seeded and named, with its cure.

use std::time::Duration;

use serde_json::Value;
use signpost::clock::Clock;
use signpost::store::Store;
use signpost::store::question::{Record, State};
use signpost::store::queue::Place;

use crate::gitlab::world::{Hook, World};
use crate::gitlab::{BOT, BOT_TOKEN, Level, OWNER_TOKEN, Switch, hook};
use crate::process::{Output, Site};

const DAY: i64 = 24 * 3_600_000;

/// A site where all is well: installed, its corpus read.
async fn healthy() -> Site {
    let mut site = Site::new(World::acme()).await;
    let token = hook::signing_token();
    site.set("SIGNPOST_INSTALL_TOKEN", OWNER_TOKEN);
    site.set("SIGNPOST_SIGNING_TOKEN", &token);
    let url = site.hook_url();
    let installed = site.run(&["install", "--hook-url", &url, "--keep-token"]).await;
    assert_eq!(installed.code, Some(0), "{installed:?}");
    let synced = site.run(&["sync", "--no-history"]).await;
    assert_eq!(synced.code, Some(0), "{synced:?}");
    site
}

async fn check(site: &Site) -> Output {
    site.run(&["check", "--json"]).await
}

/// What the report says under a name, if it says it at this level.
fn finding(output: &Output, name: &str, level: &str) -> Option<Value> {
    let report = output.json();
    let findings = report["findings"].as_array().expect("findings").clone();
    findings.into_iter().find(|found| found["name"] == name && found["level"] == level)
}

/// The fault is there, with its cure, and the exit code says so.
async fn assert_fault(site: &Site, name: &str) -> String {
    let output = check(site).await;
    assert_eq!(output.code, Some(1), "{name}: {output:?}");
    let found = finding(&output, name, "fault").unwrap_or_else(|| panic!("{name} is not named: {output:?}"));
    assert!(found["cure"].as_str().is_some_and(|cure| cure.len() > 10), "{name} has no cure: {found}");
    assert!(output.json()["faults"].as_u64() >= Some(1), "{output:?}");
    found["what"].as_str().unwrap_or_default().to_owned()
}

async fn assert_well(site: &Site) {
    let output = check(site).await;
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(output.json()["faults"], 0);
}

/// Nothing waits any more.
async fn work_off(store: &Store, now: i64) {
    while let Some(claim) = store.claim("a worker", now).await.expect("the store") {
        store.settle(&claim).await.expect("the store");
    }
}

fn day_in(days: i64) -> String {
    let at = chrono::DateTime::from_timestamp_millis(Clock::System.now() + days * DAY);
    at.expect("a time").format("%Y-%m-%d").to_string()
}

/// Shapes the only hook for one look, and puts it back.
async fn assert_hook_fault(site: &Site, name: &str, shape: impl FnOnce(&mut Hook)) {
    let kept = site.gitlab.world().hooks.clone();
    shape(site.gitlab.world().hooks.values_mut().next().expect("one hook"));
    assert_fault(site, name).await;
    site.gitlab.world().hooks = kept;
}

#[tokio::test]
async fn what_is_wrong_with_the_hook_is_named() {
    let site = healthy().await;
    let well = check(&site).await;
    assert_eq!(well.code, Some(0), "{well:?}");
    for name in [
        "gitlab",
        "scope",
        "expiry",
        "group",
        "role",
        "hook",
        "hook_signed",
        "label",
        "database",
        "corpus",
        "queue",
        "buried",
        "clock",
    ] {
        assert!(finding(&well, name, "ok").is_some(), "{name}: {well:?}");
    }
    let now = Clock::System.now();
    assert_hook_fault(&site, "hook_disabled", |hook| hook.failures = 40).await;
    assert_hook_fault(&site, "hook_paused", |hook| {
        (hook.failures, hook.disabled_until) = (4, Some(now + 120_000));
    })
    .await;
    assert_hook_fault(&site, "hook_signed", |hook| hook.signing_token = None).await;
    assert_hook_fault(&site, "hook_signed", |hook| {
        (hook.signing_token, hook.token) = (None, Some("plain".into()));
    })
    .await;
    assert_hook_fault(&site, "hook_events", |hook| {
        hook.switches.insert("note_events", false);
    })
    .await;
    assert_hook_fault(&site, "hook_tls", |hook| hook.enable_ssl_verification = false).await;
    assert_hook_fault(&site, "hook", |hook| hook.url = "https://elsewhere.example.com/in".into()).await;
    let twin = site.gitlab.install_hook("acme", &site.hook_url(), |_| {});
    assert!(assert_fault(&site, "hook").await.contains(&twin.to_string()), "both are named");
    site.gitlab.world().hooks.remove(&twin);
    let beside = site.gitlab.install_hook("acme/api", &site.hook_url(), |_| {});
    let named = assert_fault(&site, "hook").await;
    assert!(named.contains(&beside.to_string()) && named.contains("acme/api"), "{named}");
    site.gitlab.world().hooks.remove(&beside);
    assert_well(&site).await;
    for hook in site.gitlab.world().hooks.values_mut() {
        hook.custom_webhook_template = Some("{}".into());
    }
    let warned = check(&site).await;
    assert!(warned.code == Some(0) && finding(&warned, "hook_template", "warning").is_some(), "{warned:?}");
}

#[tokio::test]
async fn what_is_wrong_with_token_group_and_label_is_named() {
    let mut site = healthy().await;
    site.set("SIGNPOST_GITLAB__URL", "http://127.0.0.1:1");
    assert_fault(&site, "gitlab").await;
    site.unset("SIGNPOST_GITLAB__URL");
    site.set("SIGNPOST_GITLAB_TOKEN", "glpat-of-somebody-else");
    assert!(!assert_fault(&site, "token").await.contains("glpat"));
    site.set("SIGNPOST_GITLAB_TOKEN", BOT_TOKEN);
    let kept = site.gitlab.world().tokens.clone();
    let token = |site: &Site, shape: &dyn Fn(&mut crate::gitlab::world::Token)| {
        let mut world = site.gitlab.world();
        world.tokens.clone_from(&kept);
        shape(world.tokens.get_mut(BOT_TOKEN).expect("the bot's"));
    };
    token(&site, &|token| token.expires_at = Some(day_in(5)));
    assert!(assert_fault(&site, "expiry").await.contains(&day_in(5)));
    token(&site, &|token| token.expires_at = Some(day_in(-1)));
    assert_fault(&site, "token").await;
    token(&site, &|token| token.revoked = true);
    assert_fault(&site, "token").await;
    token(&site, &|token| token.scopes = vec!["read_api".into()]);
    assert!(assert_fault(&site, "scope").await.contains("read_api"));
    token(&site, &|_| {});
    site.set("SIGNPOST_GITLAB__GROUP", "nobody-of-that-name");
    assert_fault(&site, "group").await;
    site.unset("SIGNPOST_GITLAB__GROUP");
    let doom = |on: Option<&str>| {
        let mut world = site.gitlab.world();
        let group = world.groups.values_mut().find(|group| group.path == "acme").expect("the group");
        group.marked_for_deletion_on = on.map(str::to_owned);
    };
    doom(Some("2026-12-24"));
    assert!(assert_fault(&site, "group").await.contains("scheduled for deletion"));
    doom(None);
    site.gitlab.world().add_member("acme", BOT, Level::Guest);
    assert!(assert_fault(&site, "role").await.contains("Guest"));
    site.gitlab.world().add_member("acme", BOT, Level::Reporter);
    site.gitlab.world().labels.clear();
    assert_fault(&site, "label").await;
    site.gitlab.world().add_project_label("acme/api", "documentation-gap", "#d9534f");
    assert!(assert_fault(&site, "label").await.contains("acme/api"), "a label of one project only");
    site.gitlab.world().add_group_label("acme", "documentation-gap", "#d9534f");
    site.set("SIGNPOST_GAP__REPORT_PROJECT", "acme/infra");
    assert!(assert_fault(&site, "report").await.contains("acme/infra"));
    site.set("SIGNPOST_GAP__REPORT_PROJECT", "acme/docs");
    site.gitlab.world().project_mut("acme/docs").issues_access = Switch::Disabled;
    assert!(assert_fault(&site, "report").await.contains("has no issues"));
    site.gitlab.world().project_mut("acme/docs").issues_access = Switch::Enabled;
    assert!(finding(&check(&site).await, "report", "ok").is_some());
    site.gitlab.set_clock(|| Clock::System.now() + 10 * 60_000);
    assert!(assert_fault(&site, "clock").await.contains('s'));
    site.gitlab.set_clock(|| Clock::System.now());
    assert_well(&site).await;
}

async fn store(site: &Site) -> Store {
    Store::open(&format!("sqlite://{}", site.database().display())).await.expect("the store")
}

/// Notes that were just posted, some of them undone.
async fn post_notes(site: &Site, count: u64, undone: u64) {
    let (store, now) = (store(site).await, Clock::System.now());
    let project = site.gitlab.world().project("acme/api").id;
    for iid in 1..=count {
        let mut record =
            Record::new(Place::thread(project, iid), "issue", 11, now, format!("{iid:064x}"), now);
        (record.state, record.note_id, record.posted_at) = (State::Answered, Some(iid), Some(now - 1000));
        record.undone = iid <= undone;
        store.save_question(&record).await.expect("saved");
    }
    store.close().await;
}

#[tokio::test]
async fn what_is_wrong_with_database_corpus_and_queue_is_named() {
    let mut site = healthy().await;
    site.set("SIGNPOST_DATABASE__URL", "sqlite:///no/such/folder/signpost.db");
    assert_fault(&site, "database").await;
    site.set("SIGNPOST_DATABASE__URL", "postgres://signpost:very-secret@127.0.0.1:1/signpost");
    assert!(!check(&site).await.out.contains("very-secret"));
    site.set("SIGNPOST_DATABASE__URL", "sqlite://empty.db");
    assert_fault(&site, "corpus").await;
    site.unset("SIGNPOST_DATABASE__URL");
    site.configure("[[corpus.docsite]]\nurl = \"https://run.example.com/\"\nproject = \"acme/infra\"\ngenerator = \"mkdocs\"\n");
    assert!(assert_fault(&site, "docsite").await.contains("https://run.example.com/"));
    site.configure("");
    let signing =
        std::mem::take(&mut site.gitlab.world().hooks.values().next().and_then(|h| h.signing_token.clone()));
    site.unset("SIGNPOST_SIGNING_TOKEN");
    assert_fault(&site, "secrets").await;
    site.set("SIGNPOST_SECRET_TOKEN", "put into the wrong variable");
    assert_fault(&site, "hook_signed").await;
    site.unset("SIGNPOST_SECRET_TOKEN");
    site.set("SIGNPOST_SIGNING_TOKEN", &signing.expect("signed"));

    let (open, now) = (store(&site).await, Clock::System.now());
    let place = Place::thread(101, 9);
    work_off(&open, now).await;
    open.want(place, None, now - 20 * 60_000).await.expect("wanted");
    assert!(assert_fault(&site, "queue").await.contains("20 minutes"));
    let mut claim = open.claim("a worker", now).await.expect("the store").expect("a row");
    (claim.attempts, claim.first_failed_at) = (7, Some(now - 2 * 3_600_000));
    assert!(open.retry(&claim, now, (true, false), "defect", now).await.expect("the store"), "buried");
    assert!(assert_fault(&site, "buried").await.contains("defect"));
    open.unbury(now).await.expect("the store");
    work_off(&open, now).await;
    open.set(signpost::store::setting::NOT_JSON, &now.to_string()).await.expect("the store");
    open.set(signpost::store::setting::UNPROVEN, &now.to_string()).await.expect("the store");
    open.close().await;
    let warned = check(&site).await;
    assert_eq!(warned.code, Some(0), "a warning is no fault: {warned:?}");
    assert!(finding(&warned, "hook_body", "warning").is_some(), "{warned:?}");
    assert!(finding(&warned, "hook_proof", "warning").is_some(), "{warned:?}");

    post_notes(&site, 20, 0).await;
    assert!(assert_fault(&site, "budget").await.contains("20 notes"));
    post_notes(&site, 20, 15).await;
    assert_fault(&site, "breaker").await;
}

#[tokio::test]
async fn hooks_of_projects_are_looked_at_where_the_group_has_none() {
    let mut site = healthy().await;
    let url = site.hook_url();
    assert_eq!(site.run(&["uninstall"]).await.code, Some(0));
    assert_eq!(site.run(&["install", "--projects", "--keep-token", "--hook-url", &url]).await.code, Some(0));
    assert_well(&site).await;
    site.gitlab.world().version = "19.3.0".into();
    assert_well(&site).await;
    let first = *site.gitlab.world().hooks.keys().next().expect("hooks");
    site.gitlab.world().hooks.remove(&first);
    assert!(assert_fault(&site, "hook").await.contains("acme/docs"));
    // A bot's own token sees no hooks: that is a warning, and no fault.
    site.unset("SIGNPOST_INSTALL_TOKEN");
    let output = check(&site).await;
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(finding(&output, "hook", "warning").is_some(), "{output:?}");
}

#[tokio::test]
async fn a_gitlab_that_hangs_does_not_hang_the_check() {
    let site = healthy().await;
    site.gitlab.faults().always("*", "*", crate::gitlab::Fault::Hang);
    let began = std::time::Instant::now();
    assert_fault(&site, "gitlab").await;
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[tokio::test]
async fn hooks_that_may_be_of_others_are_not_taken_for_ours() {
    let site = healthy().await;
    let text = std::fs::read_to_string(site.config()).expect("there");
    let without: Vec<&str> = text.lines().filter(|line| !line.starts_with("public_url")).collect();
    std::fs::write(site.config(), without.join("\n")).expect("an own folder");
    assert_well(&site).await;
    site.gitlab.install_hook("acme", "https://elsewhere.example.com/hook", |_| {});
    assert!(assert_fault(&site, "hook").await.contains("is not known"));
}
