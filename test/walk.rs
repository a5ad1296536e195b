//! The life of a thread, from hook to note.

use crate::app::on_both;

pub const HOW: &str = "How do I rotate a signing key without downtime?";
pub const HOW_MORE: &str = "We have many clients on the gateway and cannot stop them all at once. Is there a way to replace \
                        the signing key of the gateway while clients keep working?";
pub const NOWHERE: &str = "How do I export the audit trail to a spreadsheet?";
pub const NOWHERE_MORE: &str = "Our auditors would like a spreadsheet with one row for each login of the past quarter. \
                            Which command does that?";

on_both! {
    async fn a_question_that_the_documentation_answers_gets_one_cited_quote(app: TestApp) {
        let iid = app.ask("acme/api", "mara", HOW, HOW_MORE).await;
        assert!(!app.notes("acme/api", iid).is_empty(), "{:#?}", app.trail("acme/api", iid).await);
        let note = app.note("acme/api", iid);
        let head = app.gitlab.world().head("acme/docs").id.clone();
        let link = format!("{}/acme/docs/-/blob/{head}/docs/guide/keys.md", app.gitlab.url());
        assert!(note.contains(&link), "{note}");
        assert!(note.contains("#L"), "{note}");
        assert!(!app.labelled("acme/api", iid));
    }
}

on_both! {
    async fn a_question_that_nothing_answers_gets_the_gap_label_and_no_note(app: TestApp) {
        let iid = app.ask("acme/api", "mara", NOWHERE, NOWHERE_MORE).await;
        assert_eq!(app.notes("acme/api", iid), Vec::<String>::new(), "{:?}", app.trail("acme/api", iid).await);
        assert!(app.labelled("acme/api", iid));
    }
}

on_both! {
    async fn a_bug_report_gets_nothing(app: TestApp) {
        let iid = app.ask(
            "acme/api", "mara", "Gateway crashes with a null pointer when the key file is empty",
            "### Steps to reproduce\n1. Empty the key file\n2. Start the gateway\n\n### Expected\nA clear error\n\n### Actual\nIt crashes with SIGSEGV.\n",
        ).await;
        assert!(app.notes("acme/api", iid).is_empty());
        assert!(app.gitlab.labels("acme/api", iid).is_empty());
    }
}
