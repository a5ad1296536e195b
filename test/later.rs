//! What becomes of answers and gaps later on: readers change, comments go, issues are closed, the bot is told to speak.

use std::time::Duration;

use signpost::config::Mode;
use signpost::gaps;
use signpost::store::question::State;
use signpost::store::queue::Place;

use crate::app::{TestApp, on_both};
use crate::gitlab::{BOT, Fault, Visibility, World};
use crate::life::{
    API, AUDIT, BUG, BUG_MORE, HOW, HOW_MORE, NOTHING, NOWHERE, NOWHERE_MORE, OUTDATED, with_internal_docs,
};

const DOCS: &str = "acme/docs";
const PAGE: &str = "docs/guide/audit.md";
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

impl TestApp {
    /// A bug report in which somebody asks the bot something. Returns issue and comment.
    pub(crate) async fn mentioned(&self, title: &str, text: &str) -> (u64, u64) {
        let iid = self.ask(API, "mara", BUG, BUG_MORE).await;
        let note = self.gitlab.comment(API, iid, "tom", &format!("@{BOT} {title} {text}")).await;
        self.drain().await;
        (iid, note)
    }

    /// How often a thread was fetched.
    fn looks(&self, iid: u64) -> usize {
        self.gitlab.requests_to("GET", &format!("/projects/*/issues/{iid}")).len()
    }
}

on_both! {
    async fn an_answer_to_a_mention_is_taken_back_like_any_other(app: TestApp) {
        let (iid, _) = app.mentioned(HOW, HOW_MORE).await;
        assert!(app.note(API, iid).contains("keys.md"));
        app.gitlab.delete_file(DOCS, "docs/guide/keys.md").await;
        app.drain().await;
        assert!(app.note(API, iid).contains(OUTDATED) && app.labelled(API, iid), "{}", app.note(API, iid));
    }
}

on_both! {
    async fn a_mention_waits_for_documentation_longer_than_a_week(app: TestApp) {
        let (iid, _) = app.mentioned(NOWHERE, NOWHERE_MORE).await;
        assert!(app.note(API, iid).contains(NOTHING) && app.labelled(API, iid));
        app.after(8 * DAY).await;
        app.gitlab.edit_file(DOCS, PAGE, AUDIT).await;
        app.drain().await;
        assert!(app.note(API, iid).contains("audit.md") && !app.labelled(API, iid), "{:#?}", app.trail(API, iid).await);
    }
}

on_both! {
    async fn a_comment_that_is_deleted_is_no_gap_any_more(app: TestApp) {
        let (iid, note) = app.mentioned(NOWHERE, NOWHERE_MORE).await;
        assert!(app.labelled(API, iid));
        app.gitlab.delete_note(note).await;
        app.after(25 * HOUR).await;
        app.swept().await;
        assert!(!app.labelled(API, iid), "{:#?}", app.records(API, iid).await);
    }
}

on_both! {
    async fn a_label_that_could_not_be_taken_off_is_not_taken_for_a_humans(app: TestApp) {
        let iid = app.gap().await;
        app.gitlab.faults().next(1, "PUT", "/projects/*/issues/*", Fault::Json(500));
        app.gitlab.edit_issue(API, iid, "mara", Some(BUG), Some(BUG_MORE)).await;
        app.drain().await;
        assert!(app.labelled(API, iid), "it could not be taken off");
        app.after(HOUR).await;
        app.is_untouched(iid);
    }
}

on_both! {
    async fn a_gap_whose_issue_was_closed_leaves_the_list_when_it_is_documented(app: TestApp) {
        let iid = app.gap().await;
        app.gitlab.close_issue(API, iid, "tom").await;
        app.drain().await;
        app.after(25 * HOUR).await;
        app.swept().await;
        app.gitlab.forget_requests();
        for _ in 0..3 {
            app.after(Duration::from_secs(600)).await;
            app.swept().await;
        }
        assert_eq!(app.looks(iid), 0, "once a day is enough");
        let commit = app.gitlab.edit_file(DOCS, PAGE, AUDIT).await;
        app.drain().await;
        let record = app.record(iid).await;
        assert_eq!(gaps::State::of(&record), Some(gaps::State::Closed));
        assert_eq!(record.closed.map(|(closed, _)| closed), Some(commit));
        app.is_gap(iid);
        // Somebody waits there again.
        app.gitlab.reopen_issue(API, iid, "tom").await;
        app.drain().await;
        assert!(app.note(API, iid).contains("audit.md") && !app.labelled(API, iid), "{:#?}", app.trail(API, iid).await);
    }
}

on_both! {
    async fn what_not_every_reader_may_read_any_more_is_taken_back(app: TestApp) {
        let iid = app.answered().await;
        app.unheard(|world| world.project_mut(DOCS).visibility = Visibility::Internal).await;
        app.swept().await;
        assert!(app.note(API, iid).contains(OUTDATED) && app.labelled(API, iid), "{}", app.note(API, iid));
    }
}

on_both! {
    async fn internal_words_go_when_everybody_may_read_the_thread(app: TestApp, with_internal_docs()) {
        let gateway = "acme/platform/gateway";
        let iid = app.ask(gateway, "tom", NOWHERE, NOWHERE_MORE).await;
        assert!(app.note(gateway, iid).contains("acme/platform/tools/-/blob"));
        app.unheard(|world| world.project_mut(gateway).visibility = Visibility::Public).await;
        app.swept().await;
        let note = app.note(gateway, iid);
        assert!(note.contains(OUTDATED) && !note.contains("acmectl audit export"), "{note}");
    }
}

on_both! {
    async fn nothing_is_kept_of_the_threads_of_a_project_that_is_excluded_later(app: TestApp) {
        let iid = app.gap().await;
        let place = Place::thread(app.gitlab.world().project(API).id, iid);
        app.config.corpus.exclude.push(API.to_owned());
        app.restart().await;
        assert!(app.store().questions(place).await.expect("the store").is_empty());
        assert!(app.store().trail(place).await.expect("the store").is_empty());
        let list = gaps::load::current(app.store(), &app.config, app.clock.now()).await.expect("the list");
        assert!(list.is_empty(), "{list:?}");
        app.drain().await;
        assert!(app.store().questions(place).await.expect("the store").is_empty());
    }
}

on_both! {
    async fn who_begins_by_observing_does_not_answer_last_months_questions(app: TestApp, World::acme(), |config| config.answer.mode = Mode::Observe) {
        let old = app.ask(API, "mara", NOWHERE, NOWHERE_MORE).await;
        app.after(6 * DAY).await;
        let young = app.ask(API, "eve", NOWHERE, NOWHERE_MORE).await;
        app.after(2 * DAY).await;
        app.config.answer.mode = Mode::Reply;
        app.restart().await;
        app.gitlab.edit_file(DOCS, PAGE, AUDIT).await;
        app.drain().await;
        app.is_untouched(old);
        assert!(app.note(API, young).contains("audit.md"), "{:#?}", app.trail(API, young).await);
        assert_eq!(app.record(old).await.state, State::Silent);
    }
}

on_both! {
    async fn references_that_gitlab_is_too_slow_for_are_followed_later(app: TestApp) {
        let link = format!("{}/acme/docs/-/blob/main/docs/guide/limits.md", app.gitlab.url());
        app.gitlab.faults().always("GET", "/projects/*/repository/*", Fault::Slow(Duration::from_millis(500)));
        let iid = app.gitlab.open_issue(API, "mara", NOWHERE, &format!("{NOWHERE_MORE} I read {link} already.")).await;
        app.gitlab.forget_requests();
        let hours = async {
            while app.gitlab.requests_to("GET", "/projects/acme*").is_empty() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            app.advance(Duration::from_secs(60));
        };
        let ((), ()) = tokio::join!(app.drain(), hours);
        app.is_untouched(iid);
        app.gitlab.faults().clear();
        app.after(HOUR).await;
        app.is_gap(iid);
    }
}
