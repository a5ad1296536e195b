//! The life of a thread: everything that can happen to it, each through hooks, on both databases.

use std::time::Duration;

use signpost::config::{Mode, When};
use signpost::store::question::State;

use crate::app::{Database, TestApp, on_both};
use crate::gitlab::{BOT, Change, Fault, World};

pub(crate) const API: &str = "acme/api";
pub(crate) const HOW: &str = "How do I rotate a signing key without downtime?";
pub(crate) const HOW_MORE: &str = "We have many clients on the gateway and cannot stop them all at once. Is there a way \
                                   to replace the signing key of the gateway while clients keep working?";
pub(crate) const NOWHERE: &str = "How do I export the audit trail to a spreadsheet?";
pub(crate) const NOWHERE_MORE: &str = "Our auditors would like a spreadsheet with one row for each login of the past \
                                       quarter. Which command does that?";
pub(crate) const AUDIT: &str = "# Audit trail

The gateway keeps an audit trail of every login.

## Export the audit trail to a spreadsheet

Run `acmectl audit export --format csv` to export the audit trail to a spreadsheet. The spreadsheet has one row for
each login of the past quarter.

```sh
acmectl audit export --format csv --since 90d > logins.csv
```
";
pub(crate) const BUG: &str = "Gateway crashes with a null pointer when the key file is empty";
pub(crate) const BUG_MORE: &str = "### Steps to reproduce\n1. Empty the key file\n2. Start the gateway\n\n### Expected\nA clear \
                        error\n\n### Actual\nIt crashes with SIGSEGV.\n";
pub(crate) const NOTHING: &str = "has no passage that answers this";
pub(crate) const OUTDATED: &str = "no longer answers the question";
const WITHDRAWN: &str = "was marked as wrong";
const HOUR: Duration = Duration::from_secs(3600);

impl TestApp {
    /// An issue that the documentation answers.
    pub(crate) async fn answered(&self) -> u64 {
        let iid = self.ask(API, "mara", HOW, HOW_MORE).await;
        assert!(!self.labelled(API, iid) && self.note(API, iid).contains("keys.md"));
        iid
    }

    /// An issue that nothing answers.
    pub(crate) async fn gap(&self) -> u64 {
        let iid = self.ask(API, "mara", NOWHERE, NOWHERE_MORE).await;
        self.is_gap(iid);
        iid
    }

    /// An issue that asks nothing.
    async fn bug(&self) -> u64 {
        let iid = self.ask(API, "mara", BUG, BUG_MORE).await;
        self.is_untouched(iid);
        iid
    }

    /// Labelled, and nothing said.
    #[track_caller]
    pub(crate) fn is_gap(&self, iid: u64) {
        assert_eq!((self.notes(API, iid), self.labelled(API, iid)), (Vec::new(), true));
    }

    /// Neither labelled nor spoken to.
    #[track_caller]
    pub(crate) fn is_untouched(&self, iid: u64) {
        assert_eq!((self.notes(API, iid), self.gitlab.labels(API, iid)), (Vec::new(), Vec::new()));
    }

    /// The id of the bot's one note.
    #[track_caller]
    pub(crate) fn note_id(&self, iid: u64) -> u64 {
        let notes = self.gitlab.bot_notes(API, iid);
        assert_eq!(notes.len(), 1);
        notes[0].id
    }

    /// The one record of a thread.
    pub(crate) async fn record(&self, iid: u64) -> signpost::store::question::Record {
        let records = self.records(API, iid).await;
        assert_eq!(records.len(), 1, "{records:?}");
        records.into_iter().next().expect("one")
    }

    /// Something happens of which no hook tells.
    pub(crate) async fn unheard<T>(&self, change: impl FnOnce(&mut World) -> T) -> T {
        self.gitlab.send_at_once(false);
        let result = change(&mut self.gitlab.world());
        self.gitlab.drain_outbox();
        self.gitlab.send_at_once(true);
        result
    }

    /// A sweep, and what it finds.
    pub(crate) async fn swept(&self) {
        self.app().sweep().await.expect("a sweep");
        self.drain().await;
    }

    /// Time passes, the sweep's turn included.
    pub(crate) async fn after(&self, time: Duration) {
        self.advance(time);
        self.drain().await;
    }

    /// Comments, and works until nothing is due.
    async fn said(&self, iid: u64, by: &str, body: &str) -> u64 {
        let note = self.gitlab.comment(API, iid, by, body).await;
        self.drain().await;
        note
    }

    async fn edited(&self, iid: u64, title: Option<&str>, description: Option<&str>) {
        self.gitlab.edit_issue(API, iid, "mara", title, description).await;
        self.drain().await;
    }
}

/// Opens an issue; when it has been read for the first time, `meanwhile` happens, before it is read again.
async fn meanwhile(app: &TestApp, happens: impl FnOnce(&mut World, u64)) -> u64 {
    app.gitlab.forget_requests();
    let iid = app.gitlab.open_issue(API, "mara", HOW, HOW_MORE).await;
    let pattern = format!("/projects/*/issues/{iid}");
    app.gitlab.faults().after(1, "GET", &pattern, Fault::Slow(Duration::from_millis(400)));
    let act = async {
        while app.gitlab.requests_to("GET", &pattern).is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        app.unheard(|world| happens(world, iid)).await;
    };
    let ((), ()) = tokio::join!(app.drain(), act);
    iid
}

// Edits.

on_both! {
    async fn an_edit_that_asks_the_same_keeps_the_one_note(app: TestApp) {
        let iid = app.answered().await;
        let id = app.note_id(iid);
        app.edited(iid, None, Some(&HOW_MORE.replace("We have many", "We do have many"))).await;
        assert_eq!(app.note_id(iid), id);
        assert!(app.note(API, iid).contains("keys.md") && !app.labelled(API, iid));
    }
}

on_both! {
    async fn an_answer_to_an_edited_question_becomes_one_sentence_and_a_gap_and_an_answer_again(app: TestApp) {
        let iid = app.answered().await;
        let id = app.note_id(iid);
        app.edited(iid, Some(NOWHERE), Some(NOWHERE_MORE)).await;
        assert_eq!(app.note_id(iid), id);
        assert!(app.note(API, iid).contains(OUTDATED) && app.labelled(API, iid));
        assert_eq!(app.record(iid).await.gap_kind.as_deref(), Some("outdated"));
        app.edited(iid, Some(HOW), Some(HOW_MORE)).await;
        assert_eq!(app.note_id(iid), id);
        assert!(app.note(API, iid).contains("keys.md") && !app.labelled(API, iid));
    }
}

on_both! {
    async fn a_gap_that_is_edited_into_an_answered_question_gets_its_reply_and_loses_its_label(app: TestApp) {
        let iid = app.gap().await;
        app.edited(iid, Some(HOW), Some(HOW_MORE)).await;
        assert!(app.note(API, iid).contains("keys.md") && !app.labelled(API, iid));
    }
}

on_both! {
    async fn an_edited_bug_report_stays_silent_and_a_gap_edited_into_one_loses_its_label(app: TestApp) {
        let bug = app.bug().await;
        app.edited(bug, None, Some(&format!("{BUG_MORE}\nSeen on version 3.\n"))).await;
        app.is_untouched(bug);
        let gap = app.gap().await;
        app.edited(gap, Some(BUG), Some(BUG_MORE)).await;
        app.is_untouched(gap);
    }
}

on_both! {
    async fn a_question_edited_while_it_is_judged_is_answered_as_it_reads_then(app: TestApp) {
        let iid = meanwhile(app, |world, iid| {
            world.edit_issue(API, iid, "mara", Some(NOWHERE), Some(NOWHERE_MORE));
        }).await;
        app.is_gap(iid);
    }
}

// Mentions.

on_both! {
    async fn a_mention_is_answered_in_its_own_discussion(app: TestApp) {
        let iid = app.bug().await;
        let asked = app.said(iid, "tom", &format!("@{BOT} {HOW} {HOW_MORE}")).await;
        let notes = app.gitlab.notes(API, iid);
        let discussion = |id: u64| notes.iter().find(|n| n.id == id).expect("there").discussion.clone();
        assert!(app.note(API, iid).contains("keys.md"));
        assert_eq!(discussion(asked), discussion(app.note_id(iid)));
        assert!(!app.labelled(API, iid));
        app.said(iid, "tom", "Thank you, that helps.").await;
        app.note_id(iid);
    }
}

on_both! {
    async fn an_unanswerable_mention_gets_one_sentence_and_the_label_and_later_its_answer_in_the_same_note(app: TestApp) {
        let iid = app.bug().await;
        app.said(iid, "tom", &format!("@{BOT} {NOWHERE} {NOWHERE_MORE}")).await;
        assert!(app.note(API, iid).contains(NOTHING) && app.labelled(API, iid));
        let id = app.note_id(iid);
        app.gitlab.edit_file("acme/docs", "docs/guide/audit.md", AUDIT).await;
        app.drain().await;
        assert_eq!(app.note_id(iid), id);
        assert!(app.note(API, iid).contains("audit.md") && !app.labelled(API, iid), "{:#?}", app.trail(API, iid).await);
    }
}

on_both! {
    async fn a_mention_in_a_quotation_in_code_or_in_a_comment_does_not_summon(app: TestApp) {
        let iid = app.bug().await;
        for body in [
            format!("> @{BOT} {HOW} {HOW_MORE}\n\nI wondered about that too."),
            format!("`@{BOT} {HOW} {HOW_MORE}`"),
            format!("```\n@{BOT} {HOW} {HOW_MORE}\n```"),
            format!("Fine. <!-- @{BOT} {HOW} {HOW_MORE} -->"),
        ] {
            app.said(iid, "tom", &body).await;
        }
        app.is_untouched(iid);
    }
}

on_both! {
    async fn bots_are_not_answered_and_internal_notes_leave_no_trace(app: TestApp) {
        let iid = app.bug().await;
        let before = app.records(API, iid).await;
        app.said(iid, "renovate", &format!("@{BOT} {HOW} {HOW_MORE}")).await;
        app.gitlab.comment_internally(API, iid, "tom", &format!("@{BOT} {HOW} {HOW_MORE}")).await;
        app.drain().await;
        assert!(app.gitlab.notes(API, iid).iter().all(|note| note.author != BOT));
        assert_eq!(app.records(API, iid).await.len(), before.len());
        let by_bot = app.ask(API, "renovate", HOW, HOW_MORE).await;
        app.is_untouched(by_bot);
        assert!(app.records(API, by_bot).await.is_empty());
    }
}

on_both! {
    async fn somebody_who_answers_every_answer_with_a_mention_comes_to_rest(app: TestApp) {
        let iid = app.bug().await;
        let mut said = 0;
        for _ in 0..30 {
            app.said(iid, "eve", &format!("@{BOT} {HOW} {HOW_MORE}")).await;
            let notes = app.notes(API, iid).len();
            if notes == said {
                break;
            }
            said = notes;
        }
        assert!((1..=10).contains(&said), "{said} notes");
    }
}

on_both! {
    async fn an_edited_mention_edits_its_note(app: TestApp) {
        let iid = app.bug().await;
        let asked = app.said(iid, "tom", &format!("@{BOT} {NOWHERE} {NOWHERE_MORE}")).await;
        let id = app.note_id(iid);
        app.gitlab.edit_note(asked, "tom", &format!("@{BOT} {HOW} {HOW_MORE}")).await;
        app.drain().await;
        assert_eq!(app.note_id(iid), id);
        assert!(app.note(API, iid).contains("keys.md") && !app.labelled(API, iid));
    }
}

// 👎, deletion, and other things humans do to notes.

on_both! {
    async fn a_thumb_down_of_the_asker_withdraws_for_good(app: TestApp) {
        let iid = app.answered().await;
        let id = app.note_id(iid);
        let award = app.gitlab.award_note(id, "mara", "thumbsdown").await;
        app.drain().await;
        let withdrawn = async |app: &TestApp| {
            assert_eq!(app.note_id(iid), id);
            assert!(app.note(API, iid).contains(WITHDRAWN) && app.labelled(API, iid));
            assert_eq!(app.record(iid).await.gap_kind.as_deref(), Some("wrong-answer"));
        };
        withdrawn(app).await;
        app.gitlab.revoke(award).await;
        app.said(iid, "mara", "That was not what I asked.").await;
        withdrawn(app).await;
        // The file changes elsewhere; the rejected passage stays as it was.
        let keys = app.gitlab.world().read_file("acme/docs", "docs/guide/keys.md").expect("there");
        app.gitlab.edit_file("acme/docs", "docs/guide/keys.md", &format!("{keys}\nAsk the operators first.\n")).await;
        app.drain().await;
        withdrawn(app).await;
    }
}

on_both! {
    async fn a_thumb_down_counts_from_a_developer_and_not_from_a_stranger(app: TestApp) {
        let iid = app.answered().await;
        app.gitlab.award_note(app.note_id(iid), "eve", "thumbsdown").await;
        app.drain().await;
        assert!(app.note(API, iid).contains("keys.md") && !app.labelled(API, iid));
        app.gitlab.award_note(app.note_id(iid), "tom", "thumbsdown_tone2").await;
        app.drain().await;
        assert!(app.note(API, iid).contains(WITHDRAWN) && app.labelled(API, iid));
    }
}

on_both! {
    async fn a_thumb_down_whose_hook_was_lost_is_found_by_the_sweep(app: TestApp) {
        let iid = app.answered().await;
        let note = app.note_id(iid);
        app.unheard(|world| world.award(crate::gitlab::Awardable::Note(note), "mara", "thumbsdown")).await;
        app.drain().await;
        assert!(app.note(API, iid).contains("keys.md"));
        app.swept().await;
        assert!(app.note(API, iid).contains(WITHDRAWN));
    }
}

on_both! {
    async fn a_note_that_a_human_deletes_is_never_posted_again(app: TestApp) {
        let iid = app.answered().await;
        app.gitlab.delete_note(app.note_id(iid)).await;
        app.said(iid, "tom", "I removed it.").await;
        app.edited(iid, None, Some(&format!("{HOW_MORE} Please help."))).await;
        app.swept().await;
        app.is_untouched(iid);
        assert_eq!(app.record(iid).await.state, State::Deleted);
    }
}

// Where nothing happens, and nothing is kept.

on_both! {
    async fn opted_out_confidential_and_other_kinds_of_issues_get_nothing_and_leave_nothing(app: TestApp) {
        let off = app.gitlab.act(|world| {
            let off = world.add_group_label("acme", "signpost::off", "#000000");
            world.open_with(API, "mara", HOW, HOW_MORE, |issue| issue.labels.push(off))
        }).await;
        let secret = app.gitlab.open_issue_with(API, "mara", (HOW, HOW_MORE), |issue| issue.confidential = true).await;
        let moved = app.gitlab.act(|world| {
            let old = world.open_issue(API, "mara", HOW, HOW_MORE);
            world.move_issue(API, old, "tom", "acme/infra");
            old
        }).await;
        let locked = app.gitlab.open_issue_with(API, "mara", (HOW, HOW_MORE), |issue| issue.discussion_locked = Some(true)).await;
        let closed = app.gitlab.act(|world| {
            let iid = world.open_issue(API, "mara", HOW, HOW_MORE);
            world.close_issue(API, iid, "mara");
            iid
        }).await;
        app.drain().await;
        app.swept().await;
        for iid in [secret, moved, locked, closed] {
            app.is_untouched(iid);
        }
        assert_eq!(app.gitlab.labels(API, off), ["signpost::off"]);
        for iid in [off, secret, moved, locked, closed] {
            assert!(app.notes(API, iid).is_empty());
            assert!(app.records(API, iid).await.is_empty() && app.trail(API, iid).await.is_empty(), "{iid}");
        }
    }
}

on_both! {
    async fn what_changes_between_judging_and_posting_gets_nothing(app: TestApp) {
        let secret = meanwhile(app, |world, iid| world.set_confidential(API, iid, "tom", true)).await;
        app.is_untouched(secret);
        let closed = meanwhile(app, |world, iid| world.close_issue(API, iid, "tom")).await;
        app.is_untouched(closed);
        let locked = meanwhile(app, |world, iid| world.lock_issue(API, iid, "tom", true)).await;
        app.is_untouched(locked);
        let archived = meanwhile(app, |world, _| world.archive_project(API, true)).await;
        app.is_untouched(archived);
    }
}

on_both! {
    async fn an_issue_that_turns_confidential_unheard_is_forgotten_by_the_sweep(app: TestApp) {
        let iid = app.gap().await;
        app.unheard(|world| world.set_confidential(API, iid, "tom", true)).await;
        app.advance(Duration::from_secs(1));
        app.swept().await;
        assert!(app.records(API, iid).await.is_empty() && app.trail(API, iid).await.is_empty());
    }
}

on_both! {
    async fn projects_that_are_excluded_archived_doomed_foreign_or_gone_elsewhere_get_nothing(app: TestApp) {
        let ask = async |project: &str| app.gitlab.open_issue(project, "mara", HOW, HOW_MORE).await;
        let excluded = ask("acme/infra").await;
        app.drain().await;
        assert!(app.notes("acme/infra", excluded).is_empty() && !app.labelled("acme/infra", excluded));
        assert!(app.records("acme/infra", excluded).await.is_empty());
        app.gitlab.act(|world| {
            for path in ["acme/old", "acme/dying", "acme/leaving"] {
                world.add_project(path).file("README.md", "# A project\n");
            }
        }).await;
        app.drain().await;
        let (old, leaving) = (ask("acme/old").await, ask("acme/leaving").await);
        let dying = ask("acme/dying").await;
        let doomed = app.gitlab.act(|world| {
            world.archive_project("acme/old", true);
            world.add_group("elsewhere");
            world.transfer_project("acme/leaving", "elsewhere");
            let id = world.project("acme/dying").id;
            world.delete_project("acme/dying");
            world.project_path(&world.projects[&id])
        }).await;
        app.drain().await;
        for (project, iid) in [("acme/old", old), ("elsewhere/leaving", leaving), (&*doomed, dying)] {
            assert!(app.notes(project, iid).is_empty() && !app.labelled(project, iid), "{project}");
            assert!(app.records(project, iid).await.is_empty(), "{project}");
        }
    }
}

// Hooks: lost, repeated, out of order, tests.

on_both! {
    async fn a_test_delivery_about_an_old_issue_does_nothing(app: TestApp) {
        let iid = app.unheard(|world| {
            let iid = world.open_issue(API, "mara", HOW, HOW_MORE);
            world.comment(API, iid, "tom", "I would like to know that too.");
            iid
        }).await;
        let hook = *app.gitlab.world().hooks.keys().next().expect("a hook");
        for trigger in ["issues_events", "note_events", "push_events"] {
            assert!(app.gitlab.test_hook(hook, trigger).await.is_some_and(|status| status < 300), "{trigger}");
        }
        app.drain().await;
        app.is_untouched(iid);
    }
}

/// An open question from before the bot came.
fn with_an_old_question() -> World {
    let mut world = World::acme();
    world.open_issue(API, "mara", HOW, HOW_MORE);
    let iid = world.open_issue(API, "mara", NOWHERE, NOWHERE_MORE);
    world.comment(API, iid, "tom", &format!("@{BOT} {HOW} {HOW_MORE}"));
    world
}

on_both! {
    async fn old_questions_are_not_answered_at_the_first_start(app: TestApp, with_an_old_question()) {
        app.swept().await;
        for iid in [1, 2] {
            app.is_untouched(iid);
        }
        // Nor when somebody speaks there later.
        app.said(2, "tom", "Is anybody there?").await;
        app.is_untouched(2);
    }
}

on_both! {
    async fn an_issue_and_a_mention_whose_hooks_were_lost_are_found_by_the_sweep(app: TestApp, with_an_old_question()) {
        app.after(HOUR).await;
        let iid = app.unheard(|world| world.open_issue(API, "mara", HOW, HOW_MORE)).await;
        app.unheard(|world| world.comment(API, 1, "tom", &format!("@{BOT} {HOW} {HOW_MORE}"))).await;
        app.drain().await;
        app.is_untouched(iid);
        app.swept().await;
        assert!(app.note(API, iid).contains("keys.md"));
        assert!(app.note(API, 1).contains("keys.md"));
        app.swept().await;
        app.note_id(iid);
    }
}

on_both! {
    async fn repeated_late_and_shuffled_deliveries_make_one_note(app: TestApp) {
        app.gitlab.send_at_once(false);
        let iid = app.gitlab.open_issue(API, "mara", HOW, HOW_MORE).await;
        app.gitlab.edit_issue(API, iid, "mara", None, Some(&HOW_MORE.replace("We have many", "We do have many"))).await;
        app.gitlab.comment(API, iid, "tom", "Good question.").await;
        let mut deliveries = app.gitlab.drain_outbox();
        app.gitlab.send_at_once(true);
        deliveries.reverse();
        for delivery in deliveries.iter().chain(&deliveries) {
            assert!(app.gitlab.attempt(delivery).await.is_some_and(|status| status < 300));
            app.drain().await;
        }
        app.after(HOUR).await;
        for delivery in &deliveries {
            app.gitlab.attempt(delivery).await;
        }
        app.drain().await;
        app.note_id(iid);
        assert_eq!(app.gitlab.requests_to("POST", "/projects/*/discussions").len(), 1);
    }
}

// Crashes and replicas.

on_both! {
    async fn a_note_that_was_posted_and_not_written_down_is_not_posted_again(app: TestApp) {
        app.gitlab.faults().next(1, "POST", "*/discussions", Fault::ResetAfter);
        let iid = app.gitlab.open_issue(API, "mara", HOW, HOW_MORE).await;
        app.drain().await;
        app.note_id(iid);
        assert!(app.records(API, iid).await.is_empty());
        app.restart().await;
        app.after(HOUR).await;
        app.note_id(iid);
        assert_eq!(app.record(iid).await.state, State::Answered);
        // It is known as well as if nothing had happened.
        app.gitlab.award_note(app.note_id(iid), "mara", "thumbsdown").await;
        app.drain().await;
        assert!(app.note(API, iid).contains(WITHDRAWN));
    }
}

on_both! {
    async fn an_answer_that_cannot_be_read_is_no_second_note(app: TestApp) {
        for fault in [Fault::Cut, Fault::Garbled] {
            app.gitlab.faults().next(1, "POST", "*/discussions", fault);
            let iid = app.gitlab.open_issue(API, "mara", HOW, HOW_MORE).await;
            app.drain().await;
            app.after(HOUR).await;
            app.note_id(iid);
            assert_eq!(app.record(iid).await.state, State::Answered);
        }
    }
}

on_both! {
    async fn a_process_killed_at_work_leaves_its_thread_to_the_next_one(app: TestApp) {
        app.gitlab.faults().next(1, "POST", "*/discussions", Fault::Hang);
        let iid = app.gitlab.open_issue(API, "mara", HOW, HOW_MORE).await;
        let killed = async {
            while app.gitlab.requests_to("POST", "*/discussions").is_empty() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::select! { () = app.drain() => panic!("the answer never comes"), () = killed => {} }
        app.restart().await;
        app.after(HOUR).await;
        app.note_id(iid);
        assert_eq!(app.record(iid).await.state, State::Answered);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_replicas_never_double() {
    let app = TestApp::start_with(Database::Postgres, World::acme(), |_| {}).await;
    let other = app.another().await;
    let mut asked = Vec::new();
    for at in 0..6 {
        let (title, text) = if at % 2 == 0 { (HOW, HOW_MORE) } else { (NOWHERE, NOWHERE_MORE) };
        asked.push(app.gitlab.open_issue(API, "mara", title, text).await);
        app.gitlab.comment(API, asked[at], "tom", "I would like to know that too.").await;
    }
    let (first, second) = tokio::join!(app.app().drain(), other.drain());
    first.and(second).expect("the queue");
    app.drain().await;
    for (at, iid) in asked.into_iter().enumerate() {
        if at % 2 == 0 {
            app.note_id(iid);
        } else {
            app.is_gap(iid);
        }
    }
    assert_eq!(app.gitlab.requests_to("POST", "/groups/*/labels").len(), 1);
    drop(other);
    app.finish().await;
}

// How much, how often, and when.

on_both! {
    async fn the_budget_of_an_hour_holds_back_notes_until_the_next(app: TestApp, World::acme(), |config| config.budget.per_project_hour = 1) {
        let first = app.answered().await;
        let second = app.ask(API, "tom", HOW, HOW_MORE).await;
        app.is_untouched(second);
        app.note_id(first);
        app.after(Duration::from_secs(1800)).await;
        app.is_untouched(second);
        app.after(HOUR).await;
        assert!(app.note(API, second).contains("keys.md"));
    }
}

on_both! {
    async fn a_bot_that_is_undone_too_often_only_labels(app: TestApp) {
        for _ in 0..3 {
            let iid = app.answered().await;
            app.gitlab.award_note(app.note_id(iid), "mara", "thumbsdown").await;
            app.drain().await;
        }
        let answerable = app.ask(API, "tom", HOW, HOW_MORE).await;
        app.is_untouched(answerable);
        app.gap().await;
        let bug = app.bug().await;
        app.said(bug, "tom", &format!("@{BOT} {NOWHERE} {NOWHERE_MORE}")).await;
        app.is_gap(bug);
    }
}

on_both! {
    async fn observing_decides_everything_and_does_nothing(app: TestApp, World::acme(), |config| config.answer.mode = Mode::Observe) {
        let answerable = app.ask(API, "mara", HOW, HOW_MORE).await;
        let gap = app.ask(API, "mara", NOWHERE, NOWHERE_MORE).await;
        let bug = app.bug().await;
        app.said(bug, "tom", &format!("@{BOT} {HOW} {HOW_MORE}")).await;
        for iid in [answerable, gap, bug] {
            app.is_untouched(iid);
        }
        let trail = app.trail(API, answerable).await;
        let would = trail[0]["would_post"].as_str().expect("a note");
        assert!(would.contains("keys.md") && trail[0]["outcome"] == "would_answer", "{would}");
        assert_eq!(app.trail(API, gap).await[0]["outcome"], "would_label");
        let writes = app.gitlab.requests().into_iter().filter(|call| call.method != "GET").count();
        assert_eq!(writes, 0);
    }
}

on_both! {
    async fn always_answers_what_is_covered_and_still_labels_only_questions(app: TestApp, World::acme(), |config| config.answer.when = When::Always) {
        let chore = app.ask(API, "mara", "Rotate the signing key without downtime", "Replace the signing key of the gateway while clients keep working.").await;
        assert!(app.note(API, chore).contains("keys.md"), "{:#?}", app.trail(API, chore).await);
        app.bug().await;
        app.gap().await;
    }
}

on_both! {
    async fn a_question_that_waited_too_long_is_not_answered_any_more(app: TestApp, World::acme(), |config| config.answer.max_age = HOUR) {
        app.gitlab.send_at_once(false);
        let iid = app.gitlab.open_issue(API, "mara", HOW, HOW_MORE).await;
        app.gitlab.send_at_once(true);
        app.gitlab.deliver().await;
        app.after(2 * HOUR).await;
        app.is_untouched(iid);
    }
}

// GitLab misbehaves.

on_both! {
    async fn a_busy_gitlab_is_left_alone_and_asked_again(app: TestApp) {
        for retry_after in [Some(30), None] {
            app.gitlab.faults().next(1, "GET", "*/discussions", Fault::TooMany { retry_after });
            let iid = app.gitlab.open_issue(API, "mara", HOW, HOW_MORE).await;
            app.drain().await;
            app.is_untouched(iid);
            app.after(HOUR).await;
            app.note_id(iid);
            app.gitlab.faults().next(1, "POST", "*/discussions", Fault::TooMany { retry_after });
            let iid = app.gitlab.open_issue(API, "mara", HOW, HOW_MORE).await;
            app.drain().await;
            app.is_untouched(iid);
            app.after(HOUR).await;
            app.note_id(iid);
        }
    }
}

on_both! {
    async fn what_could_not_be_found_out_never_becomes_a_gap(app: TestApp) {
        let link = format!("{}/acme/docs/-/blob/main/docs/guide/keys.md", app.gitlab.url());
        for fault in [Fault::Json(500), Fault::Html(502), Fault::Empty(503), Fault::ResetBefore, Fault::Garbled, Fault::Cut] {
            for pattern in ["/projects/*/repository/*", "/projects/*/discussions"] {
                app.gitlab.faults().always("GET", pattern, fault.clone());
                let text = format!("{NOWHERE_MORE} I read {link} already.");
                let iid = app.gitlab.open_issue(API, "mara", NOWHERE, &text).await;
                app.drain().await;
                app.is_untouched(iid);
                app.gitlab.faults().clear();
                app.after(HOUR).await;
                app.is_gap(iid);
            }
        }
    }
}

on_both! {
    async fn a_row_that_keeps_failing_is_buried_and_an_outage_buries_none(app: TestApp) {
        app.gitlab.faults().always("*", "*", Fault::Html(502));
        let iid = app.gitlab.open_issue(API, "mara", HOW, HOW_MORE).await;
        for _ in 0..12 {
            app.after(HOUR).await;
        }
        assert_eq!(app.store().depth().await.expect("the queue").buried, 0);
        app.gitlab.faults().clear();
        app.after(HOUR).await;
        app.note_id(iid);
        app.gitlab.faults().always("GET", "*/discussions", Fault::Json(500));
        let iid = app.gitlab.open_issue(API, "mara", HOW, HOW_MORE).await;
        for failures in 1..=8 {
            assert_eq!(app.store().depth().await.expect("the queue").buried, 0, "after {failures}");
            app.after(2 * HOUR).await;
        }
        let buried = app.store().buried().await.expect("the queue");
        assert_eq!(buried.iter().map(|(place, _, _)| place.iid).collect::<Vec<_>>(), [iid]);
        app.is_untouched(iid);
        // Digging it up, or a new event, tries again.
        app.gitlab.faults().clear();
        app.said(iid, "tom", "Is anybody there?").await;
        app.note_id(iid);
    }
}

// Who may read what.

/// A world whose gateway says something that the public documentation does not.
pub(crate) fn with_internal_docs() -> World {
    let mut world = World::acme();
    world.add_project("acme/platform/tools").internal().file("docs/audit.md", AUDIT);
    world.add_project("acme/vault").private().file("docs/audit.md", AUDIT);
    world
}

on_both! {
    async fn internal_documentation_answers_internal_threads_alone_and_private_none(app: TestApp, with_internal_docs()) {
        app.gap().await;
        let link = format!("{}/acme/vault/-/blob/main/docs/audit.md", app.gitlab.url());
        let public = app.ask(API, "mara", NOWHERE, &format!("{NOWHERE_MORE} Is it {link} ?")).await;
        app.is_gap(public);
        let gateway = "acme/platform/gateway";
        let inside = app.ask(gateway, "tom", NOWHERE, NOWHERE_MORE).await;
        assert!(app.note(gateway, inside).contains("acme/platform/tools/-/blob"), "{:#?}", app.trail(gateway, inside).await);
        let vault = app.ask("acme/vault", "tom", HOW, HOW_MORE).await;
        assert!(app.note("acme/vault", vault).contains("keys.md"));
        for (project, iid) in [(API, public), (gateway, inside), ("acme/vault", vault)] {
            for body in app.notes(project, iid) {
                assert!(!body.contains("acme/vault/-/blob"));
            }
        }
        assert!(!app.stored().await.contains("acme/vault/-/blob"));
    }
}

on_both! {
    async fn a_project_excluded_after_it_was_read_leaves_no_byte_and_its_answers_are_withdrawn(app: TestApp) {
        let iid = app.answered().await;
        app.gap().await;
        assert!(app.stored().await.contains("acmectl keys revoke"));
        app.config.corpus.exclude.push("acme/docs".to_owned());
        app.restart().await;
        app.drain().await;
        let stored = app.stored().await;
        for trace in ["acmectl keys revoke", "keys.md", "acme/docs", "Rotating signing keys"] {
            let at = stored.find(trace).unwrap_or(0);
            assert_eq!(at, 0, "{trace}: {}", stored.chars().skip(stored[..at].chars().count().saturating_sub(300)).take(400).collect::<String>());
        }
        assert!(app.note(API, iid).contains(OUTDATED) && app.labelled(API, iid));
    }
}

on_both! {
    async fn a_project_turned_private_is_not_quoted_any_more(app: TestApp) {
        let iid = app.answered().await;
        app.unheard(|world| world.project_mut("acme/docs").visibility = crate::gitlab::Visibility::Private).await;
        app.swept().await;
        assert!(app.note(API, iid).contains(OUTDATED) && app.labelled(API, iid));
        assert!(!app.stored().await.contains("acmectl keys revoke"));
    }
}

on_both! {
    async fn a_pushed_file_answers_the_next_question(app: TestApp) {
        app.gitlab.push("acme/docs", vec![Change::Write("docs/guide/audit.md".into(), AUDIT.into())]).await;
        let iid = app.ask(API, "mara", NOWHERE, NOWHERE_MORE).await;
        assert!(app.note(API, iid).contains("audit.md"));
    }
}
