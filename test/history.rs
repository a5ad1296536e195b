//! What closed issues are worth: the same questions asked of the same documentation, with and without a past.

use signpost::config::Config;

use crate::app::{Database, TestApp};
use crate::gitlab::{Change, World};
use crate::life::API;

const DOCS: &str = "acme/docs";

/// The documentation, in the words of those who write it: topic, heading, text.
const PAGES: [(&str, &str, &str); 22] = [
    (
        "token-expiry",
        "Validity",
        "A personal credential ends 30 days after it was issued unless `tokens.max_age` says otherwise. The largest value is one year; a token that ended is answered with 401.",
    ),
    (
        "token-scope",
        "Permissions of credentials",
        "`report:read` lists and downloads reports and nothing else. `report:write` also changes them. Give a token the least that its job needs.",
    ),
    (
        "upload-limit",
        "Size of bodies",
        "`http.max_body` is the largest request that is accepted, 100 MB by default. Larger ones are answered with 413. It can be set for one project in the project's settings.",
    ),
    (
        "upload-timeout",
        "Slow clients",
        "`http.read_timeout` is how long the server waits for the rest of a request, 60 seconds by default. Raise it where clients upload over slow links.",
    ),
    (
        "ldap-groups",
        "Directory mapping",
        "`ldap.roles` assigns a role to everybody who is in a group of the directory: `maintainer = \"cn=maintainers\"`. It is read again at each login.",
    ),
    (
        "ldap-tls",
        "Trusted authorities",
        "Put the PEM file of your own CA into `/etc/server/ca.d/` and restart. It is then trusted for LDAPS and for every other outgoing connection.",
    ),
    (
        "backup",
        "Saving the state",
        "`serverctl backup` writes a consistent archive of the database while the server runs; nothing has to be stopped.",
    ),
    (
        "restore",
        "Bringing back a state",
        "An archive can be restored by the version that wrote it and by the next minor one. For an older archive, install its version first, restore, and then upgrade; otherwise it stops with a version mismatch.",
    ),
    (
        "webhook-retry",
        "Failed deliveries",
        "A delivery that is not answered with 2xx is repeated after 1, 5, 30 and 120 minutes, and then given up. The list of deliveries shows each attempt.",
    ),
    (
        "webhook-secret",
        "Authenticity of deliveries",
        "The header `X-Server-Signature` is the HMAC-SHA256 of the body with the secret of the webhook, in hexadecimal. Compute it yourself and compare in constant time.",
    ),
    (
        "proxy",
        "Egress",
        "The server honours `HTTPS_PROXY` and `NO_PROXY` for all outgoing requests. `network.proxy` in the configuration takes precedence.",
    ),
    (
        "log-json",
        "Output of events",
        "`log.format = \"json\"` writes one JSON object a line for a collector. The default is `text`.",
    ),
    (
        "log-level",
        "Verbosity",
        "`log.filter = \"info,scheduler=debug\"` sets the level of one module alone. It can be changed with `serverctl log` while the server runs.",
    ),
    (
        "schedule-tz",
        "When a job runs",
        "The expression of a schedule is evaluated in UTC. `timezone = \"Europe/Berlin\"` in the job evaluates it in that zone, daylight saving included.",
    ),
    (
        "schedule-skip",
        "Jobs that take long",
        "With `overlap = \"skip\"` a run is left out while the one before it is still going on. The default, `allow`, starts it beside the other.",
    ),
    (
        "offline",
        "Machines without a network",
        "Download the bundle of a plugin elsewhere and install it with `serverctl plugin install ./file.bundle`; nothing is fetched then.",
    ),
    (
        "postgres-version",
        "Requirements of the database",
        "PostgreSQL 14, 15, 16 and 17 are supported; 14 is the oldest that works. 12 and 13 are refused at start.",
    ),
    (
        "email-smtp",
        "Sending mail",
        "`mail.security = \"starttls\"` with `mail.port = 587` upgrades the connection to the SMTP relay. With `tls` the port is usually 465.",
    ),
    (
        "dark-theme",
        "Appearance",
        "Everybody chooses light, dark or automatic in their profile. The automatic setting follows the system.",
    ),
    (
        "export-csv",
        "Taking figures elsewhere",
        "The menu of a report has Download, which offers CSV and JSON. `GET /reports/7.csv` gives the same to a program.",
    ),
    (
        "delete-user",
        "People who leave",
        "What a person created stays when the account is removed, and belongs to the ghost user then. Transfer it before with `serverctl user transfer`.",
    ),
    (
        "rate-limit",
        "Quotas of clients",
        "A client may send 600 requests a minute to the API; what exceeds it is answered with 429. `limits.clients` raises it for one of them.",
    ),
];
/// What release notes tell of the same things, which answers nothing.
const NOTES: [&str; 6] = [
    "Fixed a crash that happened in rare cases with the {topic} when the configuration was empty.",
    "The tests of the {topic} run twice as fast as before.",
    "Thanks to everybody who reported problems with the {topic}; most of them are gone.",
    "Internal: the code for the {topic} was moved to a module of its own.",
    "The {topic} was mentioned in last year's survey more often than anything else.",
    "A warning about the {topic} was reworded, because many people asked about it.",
];
const TOPICS: [&str; 22] = [
    "expiry and lifetime of API tokens",
    "scope of a read-only API token",
    "maximum upload size",
    "upload timeout",
    "mapping of LDAP groups to roles",
    "LDAP certificate authority",
    "online backup",
    "restore of an old backup",
    "retry of webhook deliveries",
    "webhook signature and secret",
    "HTTP proxy for outgoing requests",
    "JSON log format",
    "log level of the scheduler module",
    "time zone of scheduled jobs",
    "overlapping runs of a job",
    "offline installation of plugins",
    "supported PostgreSQL versions",
    "SMTP server with STARTTLS",
    "dark theme of the web interface",
    "CSV export of reports",
    "deletion of a user who owns reports",
    "rate limit of the API",
];

fn changes() -> Vec<Change> {
    let page = |(topic, heading, text): &(&str, &str, &str)| {
        Change::Write(format!("docs/{topic}.md"), format!("# {heading}\n\n{text}\n").into())
    };
    let note = |(at, text): (usize, &str)| {
        let sections: String = TOPICS
            .iter()
            .enumerate()
            .map(|(nth, topic)| {
                format!("## Change {at}{nth:02}: {topic}\n\n{}\n\n", text.replace("{topic}", topic))
            })
            .collect();
        Change::Write(format!("docs/releases/2.{at}.md"), format!("# Release 2.{at}\n\n{sections}").into())
    };
    PAGES.iter().map(page).chain(NOTES.iter().copied().enumerate().map(note)).collect()
}

/// Each topic with the questions that ask for it.
fn questions() -> Vec<(&'static str, Vec<(&'static str, &'static str)>)> {
    let lines = include_str!("gaps/rewordings.txt").lines().filter(|line| !line.starts_with('#'));
    let mut topics: Vec<(&str, Vec<(&str, &str)>)> = Vec::new();
    for parts in lines.map(|line| line.splitn(3, " | ").collect::<Vec<_>>()) {
        match topics.last_mut().filter(|(topic, _)| *topic == parts[0]) {
            Some((_, asked)) => asked.push((parts[1], parts[2])),
            None => topics.push((parts[0], vec![(parts[1], parts[2])])),
        }
    }
    topics
}

/// Questions asked, right answers, wrong answers.
#[derive(Clone, Copy, Debug, Default)]
struct Figures {
    asked: usize,
    right: usize,
    wrong: usize,
}

/// Asks all questions but the first of each topic; that one was asked before, pointed at the page by a member, and
/// closed, where there is a past.
async fn ask_all(past: bool) -> Figures {
    let shape = |config: &mut Config| config.budget.per_project_hour = 1000;
    let mut world = World::acme();
    world.commit(DOCS, None, "ines", "Write the manual", changes());
    let app = TestApp::start_with(Database::Sqlite, world, shape).await;
    if past {
        for (topic, asked) in questions() {
            let link = format!("{}/{DOCS}/-/blob/main/docs/{topic}.md", app.gitlab.url());
            app.unheard(|world| {
                let iid = world.open_issue(API, "eve", asked[0].0, asked[0].1);
                world.comment(API, iid, "tom", &format!("{link} tells."));
                world.close_issue(API, iid, "tom");
            })
            .await;
        }
        let pointing = signpost::history::read(&app.app().world, |_| {}).await.expect("the past is read");
        assert_eq!(pointing, PAGES.len());
    }
    let mut figures = Figures::default();
    for (topic, asked) in questions() {
        for (title, text) in &asked[1..] {
            let iid = app.ask(API, "mara", title, text).await;
            let note = app.notes(API, iid).pop();
            figures.asked += 1;
            figures.right +=
                usize::from(note.as_ref().is_some_and(|note| note.contains(&format!("/docs/{topic}.md"))));
            figures.wrong +=
                usize::from(note.is_some_and(|note| !note.contains(&format!("/docs/{topic}.md"))));
        }
    }
    app.finish().await;
    figures
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closed_issues_add_coverage_and_no_wrong_answers() {
    let (without, with) = (ask_all(false).await, ask_all(true).await);
    for (name, figures) in [("without history", without), ("with history", with)] {
        let Figures { asked, right, wrong } = figures;
        println!("{name}: {right} of {asked} answered right, {wrong} wrong");
    }
    assert_eq!((without.asked, with.asked), (43, 43));
    assert!(with.right >= without.right, "{without:?} {with:?}");
    assert!(with.wrong <= without.wrong, "{without:?} {with:?}");
}
