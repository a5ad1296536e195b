//! What happens in an unlucky order: each of these went wrong once.

use std::time::Duration;

use signpost::config::Mode;
use signpost::store::question::State;
use signpost::store::queue::Place;

use crate::app::{Database, TestApp, on_both};
use crate::gitlab::{BOT, FakeGitLab, Fault, Visibility, World};
use crate::life::{
    API, AUDIT, BUG, BUG_MORE, HOW, HOW_MORE, NOWHERE, NOWHERE_MORE, OUTDATED, with_internal_docs,
};

const DOCS: &str = "acme/docs";
const KEYS: &str = "docs/guide/keys.md";
const PAGE: &str = "docs/guide/audit.md";
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);
/// Less clearly a question than one that gets a label.
const HALF: &str = "Audit trail export";
const HALF_MORE: &str =
    "I want to export the audit trail to a spreadsheet. Auditors got nothing after I tried it.";

impl TestApp {
    async fn opts_out(&self, iid: u64) {
        self.gitlab.add_labels(API, iid, "mara", &["signpost::off"]).await;
        self.drain().await;
    }

    async fn opts_in(&self, iid: u64) {
        self.gitlab.remove_labels(API, iid, "mara", &["signpost::off"]).await;
        self.drain().await;
    }

    /// Files change, and no hook tells.
    async fn quietly(&self, change: impl AsyncFnOnce(&FakeGitLab)) {
        self.gitlab.send_at_once(false);
        change(&self.gitlab).await;
        self.gitlab.drain_outbox();
        self.gitlab.send_at_once(true);
    }
}

on_both! {
    async fn an_issue_whose_hook_was_lost_is_judged_though_a_mention_came_in_before(app: TestApp) {
        app.after(HOUR).await;
        let iid = app.unheard(|world| world.open_issue(API, "mara", NOWHERE, NOWHERE_MORE)).await;
        app.gitlab.comment(API, iid, "tom", &format!("@{BOT} {HOW} {HOW_MORE}")).await;
        app.drain().await;
        assert!(app.note(API, iid).contains("keys.md") && !app.labelled(API, iid));
        app.swept().await;
        assert!(app.note(API, iid).contains("keys.md") && app.labelled(API, iid));
    }
}

on_both! {
    async fn what_asks_less_clearly_is_answered_and_never_labelled(app: TestApp) {
        let iid = app.ask(API, "mara", HALF, HALF_MORE).await;
        app.is_untouched(iid);
        // It stays open: what is documented later answers it.
        app.gitlab.edit_file(DOCS, PAGE, AUDIT).await;
        app.drain().await;
        assert!(app.note(API, iid).contains("audit.md"), "{:#?}", app.trail(API, iid).await);
        let late = app.ask(API, "eve", HALF, HALF_MORE).await;
        assert!(app.note(API, late).contains("audit.md") && !app.labelled(API, late));
    }
}

on_both! {
    async fn where_another_bot_points_nobody_pointed(app: TestApp) {
        app.gitlab.edit_file(DOCS, "notes/audit.md", AUDIT).await;
        app.drain().await;
        let iid = app.gap().await;
        let link = format!("{}/acme/docs/-/blob/main/notes/audit.md", app.gitlab.url());
        app.gitlab.comment(API, iid, "renovate", &format!("See {link}")).await;
        app.drain().await;
        app.is_gap(iid);
        app.gitlab.close_issue(API, iid, "tom").await;
        app.drain().await;
        assert!(app.store().history(10).await.expect("history").is_empty());
    }
}

on_both! {
    async fn what_a_human_deleted_stays_away_when_the_thread_comes_back(app: TestApp) {
        let answered = app.answered().await;
        let (called, _) = app.mentioned(HOW, HOW_MORE).await;
        let dismissed = app.gap().await;
        for iid in [answered, called] {
            app.gitlab.delete_note(app.note_id(iid)).await;
        }
        app.gitlab.remove_labels(API, dismissed, "tom", &["documentation-gap"]).await;
        app.drain().await;
        for iid in [answered, called, dismissed] {
            app.opts_out(iid).await;
            assert!(app.records(API, iid).await.is_empty());
            app.advance(Duration::from_secs(60));
            app.opts_in(iid).await;
            app.swept().await;
            app.is_untouched(iid);
        }
    }
}

on_both! {
    async fn a_thread_that_is_locked_leaves_nothing_behind(app: TestApp) {
        let iid = app.gap().await;
        app.gitlab.lock_issue(API, iid, "tom", true).await;
        app.drain().await;
        assert!(app.records(API, iid).await.is_empty() && app.trail(API, iid).await.is_empty());
    }
}

on_both! {
    async fn what_a_push_changed_is_asked_about_though_somebody_else_read_it(app: TestApp) {
        let (gap, answered) = (app.gap().await, app.answered().await);
        app.quietly(async |gitlab| {
            gitlab.edit_file(DOCS, PAGE, AUDIT).await;
            gitlab.delete_file(DOCS, KEYS).await;
        }).await;
        // `signpost sync`, or a process that died at this moment.
        let docs = app.gitlab.world().project(DOCS).id;
        app.app().worker.syncer.sync_project(docs).await.expect("it is read");
        app.swept().await;
        assert!(app.note(API, gap).contains("audit.md") && !app.labelled(API, gap));
        assert!(app.note(API, answered).contains(OUTDATED));
        assert!(app.store().unasked(docs).await.expect("the store").is_empty());
    }
}

on_both! {
    async fn an_answer_whose_question_was_deleted_is_taken_back_like_any_other(app: TestApp) {
        let (hidden, comment) = app.mentioned(HOW, HOW_MORE).await;
        let (wrong, other) = app.mentioned(HOW, HOW_MORE).await;
        for note in [comment, other] {
            app.gitlab.delete_note(note).await;
        }
        app.gitlab.award_note(app.note_id(wrong), "tom", "thumbsdown").await;
        app.drain().await;
        assert!(app.note(API, wrong).contains("was marked as wrong") && !app.labelled(API, wrong));
        app.unheard(|world| world.project_mut(DOCS).visibility = Visibility::Private).await;
        app.swept().await;
        assert!(app.note(API, hidden).contains(OUTDATED), "{}", app.note(API, hidden));
        assert!(!app.labelled(API, hidden));
    }
}

on_both! {
    async fn last_months_mention_is_not_answered_when_the_bot_begins_to_speak(app: TestApp, World::acme(), |config| config.answer.mode = Mode::Observe) {
        let (iid, _) = app.mentioned(HOW, HOW_MORE).await;
        app.after(30 * DAY).await;
        app.config.answer.mode = Mode::Reply;
        app.restart().await;
        app.gitlab.comment(API, iid, "eve", "This still happens.").await;
        app.drain().await;
        app.swept().await;
        assert!(app.notes(API, iid).is_empty(), "{:#?}", app.notes(API, iid));
    }
}

on_both! {
    async fn no_passage_that_was_called_wrong_comes_again_whatever_came_between(app: TestApp) {
        let iid = app.answered().await;
        app.gitlab.award_note(app.note_id(iid), "mara", "thumbsdown").await;
        app.drain().await;
        app.advance(Duration::from_secs(60));
        app.gitlab.edit_file(DOCS, PAGE, AUDIT).await;
        app.gitlab.edit_issue(API, iid, "mara", Some(NOWHERE), Some(NOWHERE_MORE)).await;
        app.drain().await;
        assert!(app.note(API, iid).contains("audit.md"));
        app.gitlab.edit_issue(API, iid, "mara", Some(HOW), Some(HOW_MORE)).await;
        app.drain().await;
        assert!(!app.note(API, iid).contains("keys.md#"), "{}", app.note(API, iid));
        assert_eq!(app.record(iid).await.state, State::Gap);
    }
}

on_both! {
    async fn a_label_that_is_needed_again_while_it_is_taken_off_is_no_dismissal(app: TestApp) {
        let iid = app.gap().await;
        app.gitlab.faults().next(1, "PUT", "/projects/*/issues/*", Fault::Json(500));
        app.gitlab.edit_issue(API, iid, "mara", Some(BUG), Some(BUG_MORE)).await;
        app.drain().await;
        app.quietly(async |gitlab| gitlab.edit_issue(API, iid, "mara", Some(NOWHERE), Some(NOWHERE_MORE)).await).await;
        app.after(HOUR).await;
        app.swept().await;
        app.is_gap(iid);
        assert_eq!(app.record(iid).await.state, State::Gap);
    }
}

on_both! {
    async fn closed_threads_that_quote_what_left_are_looked_at_once(app: TestApp) {
        let iid = app.answered().await;
        app.gitlab.close_issue(API, iid, "mara").await;
        app.drain().await;
        app.after(20 * DAY).await;
        app.unheard(|world| world.archive_project(DOCS, true)).await;
        app.swept().await;
        app.gitlab.forget_requests();
        for _ in 0..3 {
            app.after(Duration::from_secs(300)).await;
            app.swept().await;
        }
        assert!(app.gitlab.requests_to("GET", &format!("/projects/*/issues/{iid}")).is_empty());
        app.gitlab.reopen_issue(API, iid, "mara").await;
        app.drain().await;
        assert!(app.note(API, iid).contains(OUTDATED));
    }
}

on_both! {
    async fn a_vector_of_the_words_before_is_not_kept_for_the_words_after(app: TestApp) {
        let docs = app.gitlab.world().project(DOCS).id;
        let before = app.store().sections_of_file(docs, KEYS).await.expect("the store");
        app.gitlab.edit_file(DOCS, KEYS, "# Rotating signing keys\n\nOther words stand here now.\n").await;
        app.drain().await;
        let after = app.store().sections_of_file(docs, KEYS).await.expect("the store");
        let late: Vec<_> = before.into_iter().map(|row| (row, vec![7u8; 8])).collect();
        app.store().save_vectors(&late, app.clock.now()).await.expect("the store");
        let kept = app.store().sections_of_file(docs, KEYS).await.expect("the store");
        assert_eq!(kept[0].vector, after[0].vector);
    }
}

on_both! {
    async fn fixed_sentences_are_in_the_language_of_the_quote_and_never_of_the_question(app: TestApp, World::acme(), |config| config.answer.language = "auto".into()) {
        let plain = app.answered().await;
        let mixed = app.ask(API, "mara", "Rotate a signing key without downtime?", "Replace signing key, gateway clients keep working. Wie kann ich das machen?").await;
        let text = |iid: u64| app.note(API, iid);
        assert_eq!(text(plain), text(mixed), "the words around a question do not show");
        assert!(text(plain).contains("Quoted word for word"));
        app.gitlab.edit_file(DOCS, PAGE, "# Prüfprotokoll\n\n## Das Audit in eine Tabelle ausgeben (export the audit trail to a spreadsheet)\n\nDer Befehl `acmectl audit export` schreibt \
            das Audit (audit trail) in eine Tabelle (spreadsheet). Die Tabelle (spreadsheet) hat eine Zeile (one row) für jeden Login (each login) und wird mit dem Befehl (command) \
            `acmectl audit export --format csv` für das Quartal (past quarter) auf die Platte geschrieben.\n").await;
        app.drain().await;
        let iid = app.ask(API, "mara", NOWHERE, NOWHERE_MORE).await;
        assert!(app.note(API, iid).contains("Wörtlich aus dieser Datei"), "{:#?}", app.trail(API, iid).await);
        app.gitlab.award_note(app.note_id(iid), "mara", "thumbsdown").await;
        app.drain().await;
        assert!(app.note(API, iid).contains("als falsch markiert"), "{}", app.note(API, iid));
    }
}

/// One replica reads where the documentation site is; the other follows a link to it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_documentation_site_that_one_replica_reads_is_known_to_all() {
    let app = TestApp::start_with(Database::Postgres, World::acme(), |_| {}).await;
    let other = app.another().await;
    let docs = Place::repository(app.gitlab.world().project(DOCS).id);
    let manifest = "site_name: Acme\nsite_url: https://handbook.example.com/\ndocs_dir: docs\n";
    app.quietly(async |gitlab| {
        gitlab.edit_file(DOCS, "mkdocs.yml", manifest).await;
    })
    .await;
    app.store().want(docs, None, app.clock.now()).await.expect("wanted");
    other.drain().await.expect("it is read");
    app.app().world.follow().await.expect("it follows");
    let iid = app.ask(API, "mara", HOW, HOW_MORE).await;
    assert!(app.note(API, iid).contains("https://handbook.example.com/"), "{}", app.note(API, iid));
    app.finish().await;
}

on_both! {
    async fn a_changed_configuration_loses_neither_the_index_nor_what_was_decided(app: TestApp, with_internal_docs()) {
        let private = app.ask("acme/vault", "tom", NOWHERE, NOWHERE_MORE).await;
        let deleted = app.answered().await;
        app.gitlab.delete_note(app.note_id(deleted)).await;
        app.drain().await;
        let place = Place::thread(app.gitlab.world().project("acme/vault").id, private);
        let known = app.store().questions(place).await.expect("the store");
        assert!(!known.is_empty());
        app.config.corpus.exclude.push("acme/nothing-of-this-name".to_owned());
        app.restart().await;
        assert_eq!(app.store().questions(place).await.expect("the store").len(), known.len());
        app.swept().await;
        app.answered().await;
        app.is_untouched(deleted);
        // And an excluded project's threads stay decided when it comes back.
        app.config.corpus.exclude.push(API.to_owned());
        app.restart().await;
        app.drain().await;
        app.config.corpus.exclude.pop();
        app.restart().await;
        app.swept().await;
        app.gitlab.comment(API, deleted, "mara", "Still the same here.").await;
        app.drain().await;
        app.is_untouched(deleted);
    }
}

on_both! {
    async fn a_group_that_was_renamed_costs_nothing_that_was_known(app: TestApp) {
        let (gap, answered) = (app.gap().await, app.answered().await);
        app.unheard(|world| {
            let id = world.group("acme").id;
            "acme-corp".clone_into(&mut world.groups.get_mut(&id).expect("the group").path);
        }).await;
        let api = app.gitlab.world().project("acme-corp/api").id;
        let records = async |app: &TestApp| {
            let of = async |iid| app.store().questions(Place::thread(api, iid)).await.expect("the store").len();
            (of(gap).await, of(answered).await)
        };
        app.gitlab.comment("acme-corp/api", gap, "mara", "Anybody?").await;
        app.gitlab.edit_file("acme-corp/docs", PAGE, AUDIT).await;
        app.drain().await;
        let _ = app.app().sweep().await;
        app.drain().await;
        assert_eq!(records(app).await, (1, 1));
        assert_eq!(app.store().depth().await.expect("the queue").buried, 0);
        app.config.gitlab.group = "acme-corp".to_owned();
        app.restart().await;
        app.after(HOUR).await;
        app.swept().await;
        assert_eq!(records(app).await, (1, 1));
        let note = app.note("acme-corp/api", gap);
        assert!(note.contains("audit.md"), "{note}");
    }
}

on_both! {
    async fn another_gap_label_in_the_configuration_is_no_dismissal(app: TestApp) {
        let gap = app.gap().await;
        app.config.gap.label = "docs::missing".to_owned();
        app.restart().await;
        app.gitlab.comment(API, gap, "eve", "I would like to know that as well.").await;
        app.drain().await;
        assert_eq!(app.record(gap).await.state, State::Gap);
        assert_eq!(app.gitlab.labels(API, gap), ["docs::missing"]);
        app.gitlab.remove_labels(API, gap, "tom", &["docs::missing"]).await;
        app.drain().await;
        assert_eq!(app.record(gap).await.state, State::Dismissed);
    }
}

on_both! {
    async fn what_nobody_reads_as_documentation_is_not_searched(app: TestApp) {
        let docs = app.gitlab.world().project(DOCS).id;
        let text = "Export the audit trail to a spreadsheet with one row for each login of the past quarter.\n";
        for (path, read) in [
            ("docs/locale/de/guide.po", false),
            ("docs/drawing.svg", false),
            ("docs/HOWTO", true),
            ("docs/page.html", true),
            ("docs/notes.txt", true),
        ] {
            app.gitlab.edit_file(DOCS, path, text).await;
            app.drain().await;
            let sections = app.store().sections_of_file(docs, path).await.expect("the store");
            assert_eq!(!sections.is_empty(), read, "{path}");
        }
    }
}
