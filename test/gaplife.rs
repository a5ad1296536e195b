//! The life of a gap: how it closes, reopens, is dismissed and adopted; its label; and what closed issues teach.

use std::time::Duration;

use signpost::store::question::State;
use signpost::store::queue::Place;

use crate::app::{Database, TestApp, on_both};
use crate::gitlab::{Change, Fault, Merge, World};
use crate::life::{API, AUDIT, BUG, BUG_MORE, HOW, HOW_MORE, NOWHERE, NOWHERE_MORE};

const DOCS: &str = "acme/docs";
const PAGE: &str = "docs/guide/audit.md";
const LABEL: &str = "documentation-gap";
fn write() -> Vec<Change> {
    vec![Change::Write(PAGE.to_owned(), AUDIT.into())]
}

impl TestApp {
    /// The documentation is written, and no hook tells.
    async fn documented_unheard(&self) -> String {
        self.unheard(|world| world.commit(DOCS, None, "ines", "Document the audit trail", write())).await
    }

    /// Comments on a gap, and expects the answer in the same discussion.
    async fn points(&self, iid: u64, body: &str) {
        let comment = self.gitlab.comment(API, iid, "tom", body).await;
        self.drain().await;
        let notes = self.gitlab.notes(API, iid);
        let discussion = |id: u64| notes.iter().find(|n| n.id == id).expect("there").discussion.clone();
        assert_eq!(self.notes(API, iid).len(), 1, "{:#?}", self.trail(API, iid).await);
        assert_eq!(discussion(comment), discussion(self.note_id(iid)));
        assert!(self.note(API, iid).contains("audit.md") && !self.labelled(API, iid));
    }
}

on_both! {
    async fn a_documentation_commit_closes_a_gap_and_its_revert_reopens_it_once_and_quietly(app: TestApp) {
        let iid = app.gap().await;
        let commit = app.gitlab.edit_file(DOCS, PAGE, AUDIT).await;
        app.drain().await;
        assert!(app.note(API, iid).contains("audit.md") && !app.labelled(API, iid), "{:#?}", app.trail(API, iid).await);
        let record = app.record(iid).await;
        assert_eq!((record.state, record.closed.map(|(commit, _)| commit)), (State::Answered, Some(commit)));
        let id = app.note_id(iid);
        app.gitlab.delete_file(DOCS, PAGE).await;
        app.drain().await;
        for _ in 0..2 {
            assert_eq!(app.note_id(iid), id);
            assert!(app.note(API, iid).contains("no longer answers") && app.labelled(API, iid));
            let record = app.record(iid).await;
            assert_eq!((record.state, record.gap_kind.as_deref()), (State::Gap, Some("outdated")));
            assert!(record.closed.is_none());
            app.gitlab.edit_file(DOCS, "docs/guide/other.md", "# Other\n\nSomething else altogether.\n").await;
            app.drain().await;
        }
        assert_eq!(app.gitlab.requests_to("PUT", "*/notes/*").len(), 1);
        app.gitlab.edit_file(DOCS, PAGE, AUDIT).await;
        app.drain().await;
        assert_eq!(app.note_id(iid), id);
        assert!(app.note(API, iid).contains("audit.md") && !app.labelled(API, iid));
    }
}

on_both! {
    async fn a_push_whose_hook_was_lost_is_found_by_the_sweep(app: TestApp) {
        let iid = app.gap().await;
        app.documented_unheard().await;
        app.drain().await;
        app.is_gap(iid);
        app.swept().await;
        assert!(app.note(API, iid).contains("audit.md") && !app.labelled(API, iid));
    }
}

on_both! {
    async fn a_file_with_lines_in_a_comment_answers_a_gap_in_that_discussion(app: TestApp) {
        let iid = app.gap().await;
        app.documented_unheard().await;
        app.points(iid, &format!("See {}/acme/docs/-/blob/main/{PAGE}#L5-8 for that.", app.gitlab.url())).await;
    }
}

on_both! {
    async fn a_page_of_the_documentation_site_in_a_comment_answers_a_gap(app: TestApp) {
        let iid = app.gap().await;
        app.documented_unheard().await;
        app.points(iid, "See https://docs.example.com/guide/audit/#export-the-audit-trail-to-a-spreadsheet there.").await;
    }
}

on_both! {
    async fn a_commit_in_a_comment_answers_a_gap(app: TestApp) {
        let iid = app.gap().await;
        let commit = app.documented_unheard().await;
        app.points(iid, &format!("Documented in {}/acme/docs/-/commit/{commit} just now.", app.gitlab.url())).await;
    }
}

on_both! {
    async fn a_merged_merge_request_in_a_comment_answers_a_gap_and_an_open_one_does_not(app: TestApp) {
        let iid = app.gap().await;
        let mr = app.gitlab.propose((DOCS, DOCS), "ines", "audit", "Document the audit trail", write()).await;
        app.gitlab.comment(API, iid, "tom", &format!("{}/acme/docs/-/merge_requests/{mr} will say.", app.gitlab.url())).await;
        app.drain().await;
        app.is_gap(iid);
        app.unheard(|world| world.merge(DOCS, mr, "ines", Merge::Squash)).await;
        app.points(iid, &format!("{}/acme/docs/-/merge_requests/{mr} is in.", app.gitlab.url())).await;
    }
}

on_both! {
    async fn a_merge_closes_the_gap_whose_thread_points_at_the_merge_request(app: TestApp) {
        let iid = app.gap().await;
        let mr = app.gitlab.propose((DOCS, DOCS), "ines", "audit", "Document the audit trail", write()).await;
        app.gitlab.comment(API, iid, "tom", &format!("acme/docs!{mr} will say.")).await;
        app.drain().await;
        app.is_gap(iid);
        let commit = app.gitlab.merge(DOCS, mr, "ines", Merge::Commit).await;
        app.drain().await;
        assert!(app.note(API, iid).contains("audit.md") && !app.labelled(API, iid));
        assert_eq!(app.record(iid).await.closed.map(|(closed, _)| closed), Some(commit));
    }
}

on_both! {
    async fn a_reference_that_does_not_cover_the_question_changes_nothing(app: TestApp) {
        let iid = app.gap().await;
        for reference in ["acme/docs/-/blob/main/docs/guide/limits.md", "acme/infra/-/blob/main/docs/access.md", "acme/api/-/issues/1"] {
            app.gitlab.comment(API, iid, "tom", &format!("Perhaps {}/{reference} helps.", app.gitlab.url())).await;
            app.drain().await;
            app.is_gap(iid);
        }
        assert!(!app.stored().await.contains("access.md"));
    }
}

on_both! {
    async fn a_reference_on_what_is_no_question_gets_no_reply(app: TestApp) {
        let iid = app.ask(API, "mara", BUG, BUG_MORE).await;
        app.gitlab.comment(API, iid, "tom", &format!("See {}/acme/docs/-/blob/main/docs/guide/keys.md please.", app.gitlab.url())).await;
        app.drain().await;
        app.is_untouched(iid);
    }
}

on_both! {
    async fn a_label_taken_off_by_a_human_stays_off_for_the_same_question(app: TestApp) {
        let iid = app.gap().await;
        app.gitlab.remove_labels(API, iid, "tom", &[LABEL]).await;
        app.drain().await;
        assert_eq!(app.record(iid).await.state, State::Dismissed);
        app.gitlab.comment(API, iid, "mara", "It is still unclear to me.").await;
        app.gitlab.edit_file(DOCS, "docs/guide/other.md", "# Other\n\nSomething else altogether.\n").await;
        app.drain().await;
        app.advance(Duration::from_secs(2 * 24 * 3600));
        app.swept().await;
        app.is_untouched(iid);
        app.gitlab.edit_issue(API, iid, "mara", Some("How do I move the audit log to cold storage?"), Some("It grows by a gigabyte a day. Which setting moves it elsewhere?")).await;
        app.drain().await;
        app.is_gap(iid);
    }
}

on_both! {
    async fn a_label_put_on_by_a_human_makes_a_gap_that_stays_one_until_it_is_documented(app: TestApp) {
        let known = app.gap().await;
        let iid = app.ask(API, "mara", BUG, BUG_MORE).await;
        app.is_untouched(iid);
        app.gitlab.add_labels(API, iid, "tom", &[LABEL]).await;
        app.drain().await;
        app.gitlab.comment(API, iid, "eve", "I see that too.").await;
        app.gitlab.edit_file(DOCS, "docs/guide/other.md", "# Other\n\nSomething else altogether.\n").await;
        app.drain().await;
        app.is_gap(iid);
        assert_eq!(app.record(iid).await.state, State::Gap);
        app.gitlab.remove_labels(API, iid, "tom", &[LABEL]).await;
        app.gitlab.remove_labels(API, known, "tom", &[LABEL]).await;
        app.drain().await;
        for iid in [iid, known] {
            app.is_untouched(iid);
            assert_eq!(app.record(iid).await.state, State::Dismissed);
        }
        app.gitlab.add_labels(API, known, "tom", &[LABEL]).await;
        app.drain().await;
        app.is_gap(known);
        assert_eq!(app.record(known).await.state, State::Gap);
    }
}

on_both! {
    async fn a_label_put_on_an_answered_question_is_the_humans_word_against_the_answer(app: TestApp) {
        let other = app.gap().await;
        let iid = app.answered().await;
        app.gitlab.add_labels(API, iid, "tom", &[LABEL]).await;
        app.drain().await;
        app.gitlab.comment(API, iid, "tom", "That is not it.").await;
        app.drain().await;
        assert!(app.labelled(API, iid) && app.labelled(API, other));
        app.note_id(iid);
        assert_eq!(app.record(iid).await.state, State::Gap);
    }
}

on_both! {
    async fn the_label_is_created_once_in_the_group_with_colour_and_description(app: TestApp) {
        let first = app.gap().await;
        app.gap().await;
        app.ask("acme/platform/gateway", "tom", NOWHERE, NOWHERE_MORE).await;
        let labels: Vec<_> = app.gitlab.world().labels.values().cloned().collect();
        assert_eq!(labels.len(), 1, "{labels:?}");
        assert!(labels[0].name == LABEL && labels[0].group.is_some() && labels[0].description.is_some());
        assert!(labels[0].color.starts_with('#') && labels[0].color != "#428BCA");
        assert_eq!(app.gitlab.requests_to("POST", "/groups/*/labels").len(), 1);
        app.is_gap(first);
    }
}

/// The group has a label whose name differs in case alone; one project has the exact label itself.
fn with_labels() -> World {
    let mut world = World::acme();
    world.add_group_label("acme", "Documentation-Gap", "#00ff00");
    world.add_project_label("acme/platform/gateway", LABEL, "#00ff00");
    world
}

on_both! {
    async fn only_the_exact_name_is_the_label_and_a_projects_own_is_used(app: TestApp, with_labels()) {
        let gateway = app.ask("acme/platform/gateway", "tom", NOWHERE, NOWHERE_MORE).await;
        assert_eq!(app.gitlab.labels("acme/platform/gateway", gateway), [LABEL]);
        assert_eq!(app.gitlab.world().labels.len(), 2);
        let iid = app.gap().await;
        assert_eq!(app.gitlab.labels(API, iid), [LABEL]);
        let labels: Vec<_> = app.gitlab.world().labels.values().cloned().collect();
        assert!(labels.len() == 3 && labels[2].group.is_some(), "{labels:?}");
    }
}

on_both! {
    async fn a_renamed_label_is_the_same_label(app: TestApp) {
        let known = app.gap().await;
        app.unheard(|world| {
            let label = world.labels.values_mut().find(|label| label.name == LABEL).expect("created");
            "docs wanted".clone_into(&mut label.name);
        }).await;
        // The open gap is looked at again: nobody took its label off.
        app.gitlab.comment(API, known, "eve", "I would like to know that as well.").await;
        app.drain().await;
        assert_eq!(app.record(known).await.state, State::Gap);
        // A new gap gets the same label, after a restart too, and no second one is created.
        app.restart().await;
        let next = app.ask(API, "tom", "How do I move the audit log to cold storage?", "It grows by a gigabyte a day. Which setting moves it elsewhere?").await;
        assert_eq!(app.gitlab.labels(API, next), ["docs wanted"]);
        assert_eq!(app.gitlab.world().labels.len(), 1);
        // Taken off is taken off, whatever its name.
        app.gitlab.remove_labels(API, next, "tom", &["docs wanted"]).await;
        app.drain().await;
        assert_eq!(app.record(next).await.state, State::Dismissed);
        // And the answer takes it off.
        app.gitlab.edit_file(DOCS, PAGE, AUDIT).await;
        app.drain().await;
        assert!(app.note(API, known).contains("audit.md"));
        assert!(app.gitlab.labels(API, known).is_empty());
    }
}

/// One replica judges by what it knew; the other reads the push meanwhile, and finds no gap to ask again yet.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_another_replica_reads_while_the_question_is_judged_answers_it() {
    let app = TestApp::start_with(Database::Postgres, World::acme(), |_| {}).await;
    let other = app.another().await;
    app.gap().await;
    let link = format!("{}/acme/docs/-/blob/main/docs/guide/limits.md", app.gitlab.url());
    app.gitlab.forget_requests();
    app.gitlab.faults().next(1, "GET", "/projects/acme*", Fault::Slow(Duration::from_secs(4)));
    let iid =
        app.gitlab.open_issue(API, "eve", NOWHERE, &format!("{NOWHERE_MORE} I read {link} already.")).await;
    let push = async {
        while app.gitlab.requests_to("GET", "/users/*").is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        app.gitlab.edit_file(DOCS, PAGE, AUDIT).await;
        other.drain().await.expect("the push is read");
    };
    let (first, ()) = tokio::join!(app.app().drain(), push);
    first.expect("the queue");
    app.drain().await;
    assert!(
        app.note(API, iid).contains("audit.md") && !app.labelled(API, iid),
        "{:#?}",
        app.trail(API, iid).await
    );
    drop(other);
    app.finish().await;
}

on_both! {
    async fn a_crash_while_labelling_labels_once_and_the_humans_hand_still_counts(app: TestApp) {
        for fault in [Fault::ResetAfter, Fault::ResetBefore, Fault::Json(500)] {
            app.gitlab.faults().next(1, "PUT", "/projects/*/issues/*", fault);
            let iid = app.gitlab.open_issue(API, "mara", NOWHERE, NOWHERE_MORE).await;
            app.drain().await;
            app.restart().await;
            app.advance(Duration::from_secs(3600));
            app.drain().await;
            app.is_gap(iid);
            app.gitlab.remove_labels(API, iid, "tom", &[LABEL]).await;
            app.drain().await;
            assert_eq!(app.record(iid).await.state, State::Dismissed);
        }
    }
}

on_both! {
    async fn a_crash_between_reply_and_label_takes_the_label_off_later(app: TestApp) {
        let iid = app.gap().await;
        app.gitlab.faults().next(1, "PUT", "/projects/*/issues/*", Fault::ResetBefore);
        app.gitlab.edit_file(DOCS, PAGE, AUDIT).await;
        app.drain().await;
        assert!(app.labelled(API, iid));
        app.restart().await;
        app.advance(Duration::from_secs(3600));
        app.drain().await;
        assert!(app.note(API, iid).contains("audit.md") && !app.labelled(API, iid));
    }
}

on_both! {
    async fn a_closed_issue_points_the_way_for_similar_questions_until_it_turns_confidential(app: TestApp) {
        let old = app.ask(API, "mara", NOWHERE, NOWHERE_MORE).await;
        app.gitlab.comment(API, old, "tom", &format!("{}/acme/docs/-/blob/main/docs/guide/limits.md has it.", app.gitlab.url())).await;
        app.gitlab.close_issue(API, old, "tom").await;
        app.drain().await;
        let place = Place::thread(app.gitlab.world().project(API).id, old);
        let history = async |app: &TestApp| app.store().history(10).await.expect("history");
        assert_eq!(history(app).await.into_iter().map(|(place, _)| place).collect::<Vec<_>>(), [place]);
        let targets = app.store().signposts(place).await.expect("signposts");
        assert_eq!(targets[0].target.as_ref().expect("resolved").path, "docs/guide/limits.md");
        let iid = app.ask(API, "eve", "How can I export the audit trail as a spreadsheet?", NOWHERE_MORE).await;
        // A vote, not an answer: the page does not cover the question.
        app.is_gap(iid);
        let trail = app.trail(API, iid).await;
        let from_history = |trail: &[serde_json::Value]| {
            trail[0]["questions"][0]["candidates"].as_array().expect("some").iter()
                .any(|c| c["path"] == "docs/guide/limits.md" && c["votes"] == 1)
        };
        assert!(from_history(&trail), "{trail:#?}");
        app.unheard(|world| world.set_confidential(API, old, "tom", true)).await;
        app.advance(Duration::from_secs(1));
        app.swept().await;
        assert!(history(app).await.is_empty());
        assert!(app.store().signposts(place).await.expect("signposts").is_empty());
    }
}

on_both! {
    async fn a_wrong_answer_is_replaced_by_another_passage_and_an_old_thumb_down_does_not_strike_it(app: TestApp) {
        let iid = app.answered().await;
        let id = app.note_id(iid);
        app.gitlab.award_note(id, "mara", "thumbsdown").await;
        app.drain().await;
        app.advance(Duration::from_secs(60));
        app.gitlab.edit_issue(API, iid, "mara", Some(NOWHERE), Some(NOWHERE_MORE)).await;
        app.gitlab.edit_file(DOCS, PAGE, AUDIT).await;
        app.drain().await;
        app.swept().await;
        assert_eq!(app.note_id(iid), id);
        assert!(app.note(API, iid).contains("audit.md") && !app.labelled(API, iid), "{:#?}", app.trail(API, iid).await);
        let question = (HOW, HOW_MORE);
        app.gitlab.edit_issue(API, iid, "mara", Some(question.0), Some(question.1)).await;
        app.drain().await;
        app.note_id(iid);
    }
}
