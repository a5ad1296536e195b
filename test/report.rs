//! The report issue: opened once, kept current, left alone by those who are not asked.

use std::time::Duration;

use signpost::config::{Config, Mode};
use signpost::store::setting::REPORT;

use crate::app::{Database, TestApp, on_both};
use crate::gitlab::{BOT, Fault, World};
use crate::life::{API, AUDIT, NOWHERE, NOWHERE_MORE};

const DOCS: &str = "acme/docs";
const PAGE: &str = "docs/guide/audit.md";
const TITLE: &str = "Documentation gaps: what to document next";
const MARKER: &str = "<!-- signpost:1 report -->";
const OTHER: &str = "How do I move the audit log to cold storage?";
const OTHER_MORE: &str = "It grows by a gigabyte a day. Which setting moves it elsewhere?";

fn reporting(config: &mut Config) {
    config.gap.report_project = Some(DOCS.to_owned());
}

/// The bot's issues, with what they say.
fn reports(app: &TestApp) -> Vec<(u64, String)> {
    let world = app.gitlab.world();
    let bot = world.user(BOT).id;
    let issues = world.issues.values().filter(|issue| issue.author == bot);
    issues.map(|issue| (issue.iid, issue.description.clone().unwrap_or_default())).collect()
}

/// The one report.
#[track_caller]
fn report(app: &TestApp) -> (u64, String) {
    let found = reports(app);
    assert_eq!(found.len(), 1, "{found:?}");
    found.into_iter().next().expect("one")
}

fn opened(app: &TestApp) -> usize {
    app.gitlab.requests_to("POST", "/projects/*/issues").len()
}

/// Edits of a description; labels are put on otherwise.
fn edited(app: &TestApp, iid: u64) -> usize {
    let project = app.gitlab.world().project(DOCS).id;
    app.gitlab.requests_to("PUT", &format!("/projects/{project}/issues/{iid}")).len()
}

on_both! {
    async fn it_is_opened_with_the_first_gap_and_edited_when_the_list_changes_and_only_then(app: TestApp, World::acme(), reporting) {
        app.swept().await;
        assert_eq!(reports(app), Vec::new(), "nothing waits, nothing is reported");
        let first = app.gap().await;
        app.swept().await;
        let (iid, text) = report(app);
        assert_eq!(app.gitlab.world().issue(DOCS, iid).title, TITLE);
        assert!(text.contains(&format!("1. acme/api#{first}+\n   - asked by 1 person, 0 votes, last on ")), "{text}");
        assert!(text.ends_with(MARKER), "{text}");
        // A bot's issue asks nothing, and people may talk about it.
        app.gitlab.comment(DOCS, iid, "tom", "I would start with the first one.").await;
        app.drain().await;
        for _ in 0..2 {
            app.advance(Duration::from_secs(300));
            app.swept().await;
        }
        assert_eq!((opened(app), edited(app, iid)), (1, 0), "nothing changed");
        let second = app.ask(API, "eve", OTHER, OTHER_MORE).await;
        app.is_gap(second);
        app.swept().await;
        assert_eq!(edited(app, iid), 1);
        let (same, text) = report(app);
        assert!(same == iid && text.contains(&format!("acme/api#{first}+")) && text.contains(&format!("acme/api#{second}+")), "{text}");
        app.gitlab.edit_file(DOCS, PAGE, AUDIT).await;
        app.drain().await;
        app.swept().await;
        let (_, text) = report(app);
        assert!(!text.contains(&format!("acme/api#{first}+")) && text.contains(&format!("acme/api#{second}+")), "{text}");
        app.gitlab.remove_labels(API, second, "tom", &["documentation-gap"]).await;
        app.drain().await;
        app.swept().await;
        assert!(report(app).1.contains("No question waits."));
        assert_eq!((opened(app), edited(app, iid)), (1, 3));
        assert!(app.notes(DOCS, iid).is_empty() && app.gitlab.labels(DOCS, iid).is_empty());
    }
}

on_both! {
    async fn it_is_known_again_by_its_author_and_its_marker_and_by_nothing_that_others_write(app: TestApp, World::acme(), reporting) {
        let imitation = app.ask(DOCS, "eve", "Documentation gaps", &format!("Mine is the true list.\n\n{MARKER}")).await;
        app.gap().await;
        // The answer is lost on its way: it is there, and nobody wrote down where.
        app.gitlab.faults().next(1, "POST", "/projects/*/issues", Fault::ResetAfter);
        app.swept().await;
        app.after(Duration::from_secs(60)).await;
        let (iid, _) = report(app);
        assert_eq!(opened(app), 1);
        // So it is after a start on an empty database.
        app.store().set(REPORT, "").await.expect("the store");
        app.ask(API, "eve", OTHER, OTHER_MORE).await;
        app.swept().await;
        assert!(report(app).1.contains("\n2. "));
        assert_eq!((opened(app), edited(app, iid)), (1, 1));
        assert!(app.gitlab.world().issue(DOCS, imitation).description.as_deref().is_some_and(|text| text.starts_with("Mine")));
        assert_eq!(edited(app, imitation), 0);
    }
}

on_both! {
    async fn what_is_written_into_it_by_hand_is_lost_and_its_title_is_theirs(app: TestApp, World::acme(), reporting) {
        app.gap().await;
        app.swept().await;
        let (iid, text) = report(app);
        app.gitlab.edit_issue(DOCS, iid, "tom", Some("What the writers do next"), Some("Without any marker.")).await;
        app.drain().await;
        app.swept().await;
        assert_eq!(report(app), (iid, text));
        assert_eq!(app.gitlab.world().issue(DOCS, iid).title, "What the writers do next");
    }
}

on_both! {
    async fn who_closes_it_wants_none_and_a_deleted_one_is_opened_anew(app: TestApp, World::acme(), reporting) {
        app.gap().await;
        app.swept().await;
        let (iid, before) = report(app);
        app.gitlab.close_issue(DOCS, iid, "tom").await;
        app.ask(API, "eve", OTHER, OTHER_MORE).await;
        app.swept().await;
        assert_eq!(report(app), (iid, before));
        assert!(app.gitlab.world().issue(DOCS, iid).closed_at.is_some());
        app.gitlab.reopen_issue(DOCS, iid, "tom").await;
        app.swept().await;
        assert!(report(app).1.contains("\n2. "));
        app.unheard(|world| world.delete_issue(DOCS, iid)).await;
        app.swept().await;
        assert_ne!(report(app).0, iid);
        app.swept().await;
        assert_eq!(opened(app), 2);
    }
}

on_both! {
    async fn it_names_nothing_that_not_everybody_there_may_read(app: TestApp, World::acme(), reporting) {
        let open = app.gap().await;
        let hidden = app.ask(API, "eve", OTHER, OTHER_MORE).await;
        let inside = app.ask("acme/platform/gateway", "tom", "How do I rename a gateway?", "Ours has the wrong name since we bought it. Which command renames it?").await;
        assert!(app.labelled("acme/platform/gateway", inside));
        app.unheard(|world| world.set_confidential(API, hidden, "eve", true)).await;
        // The hook was lost, and the sweep has not come to it: the list still has it, the report never.
        app.store().want(signpost::store::queue::Place::REPORT, None, app.clock.now()).await.expect("the store");
        app.drain().await;
        let (iid, text) = report(app);
        assert!(text.contains(&format!("acme/api#{open}+")), "{text}");
        assert!(!text.contains(&format!("acme/api#{hidden}+")) && !text.contains("gateway"), "{text}");
        // That others ask the same where these readers may not look is not told by a number either.
        let counted = text.clone();
        app.ask("acme/platform/gateway", "tom", NOWHERE, NOWHERE_MORE).await;
        app.swept().await;
        assert_eq!(report(app).1, counted);
        app.gitlab.world().issue_mut(API, open).confidential = true;
        app.swept().await;
        assert!(report(app).1.contains("No question waits."), "{}", report(app).1);
        assert_eq!(report(app).0, iid);
    }
}

on_both! {
    async fn there_is_none_where_the_bot_only_observes(app: TestApp, World::acme(), |config: &mut Config| { reporting(config); config.answer.mode = Mode::Observe; }) {
        app.ask(API, "mara", NOWHERE, NOWHERE_MORE).await;
        app.swept().await;
        assert_eq!((reports(app), opened(app)), (Vec::new(), 0));
    }
}

on_both! {
    async fn there_is_none_in_a_project_that_is_not_served(app: TestApp, World::acme(), |config: &mut Config| config.gap.report_project = Some("acme/infra".to_owned())) {
        app.gap().await;
        app.swept().await;
        assert_eq!((reports(app), opened(app)), (Vec::new(), 0));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_replicas_open_one() {
    let app = TestApp::start_with(Database::Postgres, World::acme(), reporting).await;
    let other = app.another().await;
    app.gap().await;
    app.gitlab.faults().set_latency(Duration::from_millis(20));
    let both = async |app: &signpost::app::App| {
        app.sweep().await.expect("a sweep");
        app.drain().await.expect("the queue");
    };
    for _ in 0..3 {
        tokio::join!(both(app.app()), both(&other));
    }
    let (iid, _) = report(&app);
    assert_eq!((opened(&app), edited(&app, iid)), (1, 0));
    other.world.store.close().await;
    app.finish().await;
}
