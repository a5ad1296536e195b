//! A thousand open gaps, and documentation that answers some of them.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use signpost::prose::{Prose, Question};
use signpost::search::Fingerprint;
use signpost::store::question::{Record, State};
use signpost::store::queue::Place;

use crate::app::{TestApp, on_both};
use crate::gitlab::World;
use crate::life::{API, AUDIT, NOWHERE, NOWHERE_MORE};

const PAGE: &str = "docs/guide/audit.md";
/// What the page answers, in the words of different people.
const COVERED: [(&str, &str); 10] = [
    (NOWHERE, NOWHERE_MORE),
    (
        "Export the audit trail to a spreadsheet",
        "How can I export the audit trail to a spreadsheet with one row for each login?",
    ),
    (
        "How can I export the audit trail as CSV?",
        "I need the audit trail of all logins in a spreadsheet. Which command exports it?",
    ),
    ("Audit trail export", "Which command exports the audit trail of logins to a spreadsheet?"),
    (
        "Is there a way to export the audit trail?",
        "We want a spreadsheet of the logins of the past quarter. How do we export the audit trail?",
    ),
    (
        "How to get the audit trail into a spreadsheet?",
        "I would like to export the audit trail to a spreadsheet, with a row for each login.",
    ),
    (
        "Exporting the audit trail of logins",
        "How do I export the audit trail to a spreadsheet? I need each login of the past quarter.",
    ),
    (
        "How do I export all logins of the past quarter?",
        "The audit trail has them. Which command exports the audit trail to a spreadsheet?",
    ),
    ("Spreadsheet of the audit trail", "How do I export the audit trail of the gateway to a spreadsheet?"),
    (
        "Which command exports the audit trail?",
        "I want one row for each login of the past quarter in a spreadsheet.",
    ),
];
const VERBS: [&str; 25] = [
    "rename",
    "archive",
    "delete",
    "copy",
    "share",
    "restrict",
    "schedule",
    "disable",
    "enable",
    "translate",
    "migrate",
    "encrypt",
    "throttle",
    "monitor",
    "resize",
    "restore",
    "validate",
    "preview",
    "tag",
    "sort",
    "rotate",
    "filter",
    "pin",
    "mute",
    "reset",
];
const NOUNS: [&str; 40] = [
    "billing report",
    "landing page",
    "proxy header",
    "webhook secret",
    "session cookie",
    "mail template",
    "search index",
    "backup job",
    "user avatar",
    "theme colour",
    "time zone",
    "number style",
    "audit policy",
    "branding kit",
    "invoice",
    "usage metric",
    "dashboard widget",
    "alert rule",
    "duty roster",
    "deploy token",
    "runner pool",
    "cache size",
    "log level",
    "certificate",
    "password policy",
    "second factor",
    "group owner",
    "project badge",
    "release note",
    "feature flag",
    "container image",
    "package registry",
    "wiki page",
    "issue board",
    "milestone",
    "label colour",
    "merge queue",
    "branch rule",
    "file lock",
    "sitemap",
];

/// The questions: what the page answers, and what it does not.
fn questions() -> Vec<(String, String)> {
    let covered = COVERED.iter().map(|(title, text)| ((*title).to_owned(), (*text).to_owned()));
    let other = VERBS.iter().flat_map(|verb| NOUNS.iter().map(move |noun| (*verb, *noun)));
    let other = other.map(|(verb, noun)| {
        let text =
            format!("We would like to {verb} the {noun} of our team. Which setting is meant for that?");
        (format!("How do I {verb} the {noun}?"), text)
    });
    covered.chain(other).take(1000).collect()
}

impl TestApp {
    /// Open gaps, each asked and labelled before the program looked: issues in the world, records in the store.
    async fn wait_for_documentation(&self, questions: &[(String, String)]) -> Vec<u64> {
        let label = self.gitlab.world().add_group_label("acme", "documentation-gap", "#d9534f");
        let (now, mut iids) = (self.clock.now(), Vec::new());
        for (at, (title, text)) in questions.iter().enumerate() {
            let by = ["mara", "eve", "tom"][at % 3];
            let open =
                |world: &mut World| world.open_with(API, by, title, text, |issue| issue.labels.push(label));
            let iid = self.unheard(open).await;
            let (project, asker) = {
                let world = self.gitlab.world();
                (world.project(API).id, world.user(by).id)
            };
            let mut record =
                Record::new(Place::thread(project, iid), "issue", asker, now, String::new(), now);
            let question = Question::new(&Prose::from(title.clone()), &Prose::from(text.clone()));
            (record.state, record.labelled) = (State::Gap, true);
            record.gap_kind = Some("missing".to_owned());
            record.fingerprint = Some(Fingerprint::of(&question).to_bytes());
            self.store().save_question(&record).await.expect("saved");
            iids.push(iid);
        }
        iids
    }

    /// How many notes the bot has written.
    fn written(&self) -> usize {
        self.gitlab.requests_to("POST", "*/discussions").len()
    }
}

on_both! {
    async fn a_push_answers_what_it_covers_among_a_thousand_gaps_and_asks_little_of_gitlab(app: TestApp) {
        let questions = questions();
        let iids = app.wait_for_documentation(&questions).await;
        assert_eq!(iids.len(), 1000);
        app.gitlab.forget_requests();
        let pushed = Instant::now();
        let commit = app.gitlab.edit_file("acme/docs", PAGE, AUDIT).await;
        let answered = async {
            while app.written() < COVERED.len() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            pushed.elapsed()
        };
        let work = app.drain();
        tokio::pin!(work);
        let answered = tokio::select! {
            time = answered => { work.await; time }
            () = &mut work => pushed.elapsed(),
        };
        let asked: BTreeSet<String> =
            app.gitlab.requests_to("GET", "/projects/*/issues/*/discussions").into_iter().map(|call| call.path).collect();
        let requests = app.gitlab.requests().len();
        println!(
            "a thousand open gaps: {} answered {answered:.1?} after the push, {} asked again in {:.1?}, {requests} requests",
            app.written(), asked.len(), pushed.elapsed()
        );
        let (covered, others) = iids.split_at(COVERED.len());
        for iid in covered {
            assert!(app.note(API, *iid).contains("audit.md") && !app.labelled(API, *iid), "{:#?}", app.trail(API, *iid).await);
            assert_eq!(app.record(*iid).await.closed.map(|(commit, _)| commit), Some(commit.clone()));
        }
        for iid in others {
            app.is_gap(*iid);
        }
        assert!(asked.len() < 100, "{} of a thousand were asked again", asked.len());
        assert!(requests < 8 * asked.len() + 100, "{requests} requests for {} threads", asked.len());
    }
}
