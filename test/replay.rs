//! `signpost replay`: what the group's own past says, on either database, before anything is ever posted.

use serde_json::{Value, json};

use crate::gitlab::World;
use crate::life::{API, BUG, BUG_MORE, HOW, HOW_MORE, NOWHERE, NOWHERE_MORE};
use crate::postgres;
use crate::process::Site;

const KEYS: &str = "acme/docs/-/blob/main/docs/guide/keys.md";
const LIMITS: &str = "acme/docs/-/blob/main/docs/guide/limits.md";

/// A question and who pointed where, once.
struct Past {
    asked: (&'static str, String),
    by: &'static str,
    at: &'static str,
}

fn past(title: &'static str, text: &str, by: &'static str, at: &'static str) -> Past {
    Past { asked: (title, text.to_owned()), by, at }
}

async fn with_past(url: &str, threads: &[Past]) -> World {
    let mut world = World::acme();
    for Past { asked: (title, text), by, at } in threads {
        let iid = world.open_issue(API, "mara", title, text);
        world.comment(API, iid, by, &format!("That is told in {url}/{at} since spring, have a look."));
        world.close_issue(API, iid, "mara");
    }
    world
}

async fn replayed(database: Option<String>, threads: &[Past], more: impl FnOnce(&mut World)) -> Value {
    let mut site = Site::new(World::acme()).await;
    let mut world = with_past(site.gitlab.url(), threads).await;
    more(&mut world);
    *site.gitlab.world() = world;
    if let Some(url) = database {
        site.set("SIGNPOST_DATABASE__URL", &url);
    }
    let synced = site.run(&["sync", "--no-history"]).await;
    assert_eq!(synced.code, Some(0), "{synced:?}");
    let output = site.run(&["replay", "--json"]).await;
    assert_eq!(output.code, Some(0), "{output:?}");
    let wrote: Vec<_> = site.gitlab.requests().into_iter().filter(|call| call.method != "GET").collect();
    assert!(wrote.is_empty(), "{wrote:?}");
    output.json()
}

fn row(report: &Value, max_wrong: f64) -> &Value {
    let rows = report["rows"].as_array().expect("rows");
    let close = |row: &&Value| (row["max_wrong"].as_f64().unwrap_or(9.0) - max_wrong).abs() < 1e-6;
    rows.iter().find(close).unwrap_or_else(|| panic!("no row of {max_wrong}: {report}"))
}

/// Only what a member pointed at in a closed, open-to-all question counts, and only against the place it names.
async fn counts_what_members_pointed_at(database: Option<String>) {
    let threads = [
        past(HOW, HOW_MORE, "tom", KEYS),
        // Answered today from another page than the member named then.
        past(HOW, &format!("{HOW_MORE} The signing key is old."), "tom", LIMITS),
        // A known answer that search does not dare to give.
        past(NOWHERE, NOWHERE_MORE, "ines", KEYS),
        // Of these, no answer is known.
        past(HOW, HOW_MORE, "eve", KEYS),
        past(HOW, HOW_MORE, "tom", "acme/infra/-/blob/main/docs/access.md"),
        past(HOW, HOW_MORE, "tom", "acme/docs/-/blob/main/docs/guide/gone.md"),
        past(BUG, BUG_MORE, "tom", KEYS),
    ];
    let report = replayed(database, &threads, |world| {
        let iid = world.open_issue(API, "mara", HOW, HOW_MORE);
        world.comment(API, iid, "tom", "See docs/guide/keys.md, this one is open still.");
        let iid = world.open_with(API, "mara", HOW, HOW_MORE, |issue| issue.confidential = true);
        world.close_issue(API, iid, "mara");
    })
    .await;
    assert_eq!(report["questions"], 3, "{report}");
    let bold = row(&report, 0.2);
    assert_eq!((&bold["answered"], &bold["right"]), (&json!(2), &json!(1)), "{report}");
    assert_eq!(bold["precision"], 0.5);
    assert!((bold["coverage"].as_f64().expect("a share") - 1.0 / 3.0).abs() < 1e-6, "{report}");
    // Two answers are too few to promise anything.
    assert_eq!(report["proposed_max_wrong"], Value::Null);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_members_pointed_at_counts_on_sqlite() {
    counts_what_members_pointed_at(None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_members_pointed_at_counts_on_postgres() {
    let database = tokio::task::spawn_blocking(postgres::create_database).await.expect("a database");
    counts_what_members_pointed_at(Some(database)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_proposes_the_largest_share_of_wrong_answers_that_held() {
    let reasons = ["clients", "partners", "gateways", "servers", "teams", "jobs"];
    let ask = |at: usize| {
        let text = format!("{HOW_MORE} We are {at} {}.", reasons[at % reasons.len()]);
        // One in twelve was pointed elsewhere: 8 % are wrong, so 0.05 did not hold and 0.1 did.
        past(HOW, &text, "tom", if at == 0 { LIMITS } else { KEYS })
    };
    let threads: Vec<Past> = (0..12).map(ask).collect();
    let report = replayed(None, &threads, |_| {}).await;
    assert_eq!(report["questions"], 12);
    let bold = row(&report, 0.2);
    let (answered, right) =
        (bold["answered"].as_u64().expect("a number"), bold["right"].as_u64().expect("a number"));
    assert!(answered >= 10 && right + 1 == answered, "{report}");
    let proposed = report["proposed_max_wrong"].as_f64().expect("a proposal");
    assert!((proposed - 0.2).abs() < 1e-6, "{report}");
    let all_wrong: Vec<Past> = (0..12).map(|at| Past { at: LIMITS, ..ask(at) }).collect();
    let report = replayed(None, &all_wrong, |_| {}).await;
    assert_eq!(row(&report, 0.2)["right"], 0);
    assert_eq!(report["proposed_max_wrong"], Value::Null, "a promise that did not hold is not proposed");
}
