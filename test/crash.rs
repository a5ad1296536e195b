//! Killed at any moment, stopped politely, doubled by mistake: nothing acknowledged is lost, nothing is done twice.
//!
//! `SIGNPOST_CHAOS_ROUNDS` is how many times the chaos kills (3 by default); `SIGNPOST_CHAOS_ISSUES` how many
//! issues are opened meanwhile (two for each kill by default).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use signpost::clock::Clock;
use signpost::store::Store;
use sqlx::Connection as _;
use tokio::sync::Mutex;

use crate::app::at_rest;
use crate::gitlab::hook::Delivery;
use crate::gitlab::{FakeGitLab, Fault, OWNER_TOKEN, World, hook};
use crate::postgres;
use crate::process::{PATIENCE, Serving, Site, free_ports, wait_for};
use crate::walk::{HOW, HOW_MORE, NOWHERE, NOWHERE_MORE};

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Some number below `below`, another each time.
fn random(below: u64) -> u64 {
    let mut bytes = [0u8; 8];
    getrandom::fill(&mut bytes).expect("the system has random numbers");
    u64::from_le_bytes(bytes) % below.max(1)
}

async fn signed_site() -> (Site, String) {
    let mut site = Site::new(World::acme()).await;
    let token = hook::signing_token();
    site.set("SIGNPOST_SIGNING_TOKEN", &token);
    site.configure("[budget]\nper_project_hour = 100000\n[sweep]\nevery = \"2s\"\n");
    (site, token)
}

/// 4 KB about an issue that does not exist.
fn body(iid: u64) -> Vec<u8> {
    let padding = "Which setting decides about it? ".repeat(115);
    json!({ "object_kind": "issue", "user": { "id": 11 }, "project": { "id": 101 },
            "object_attributes": { "iid": iid, "action": "open", "type": "Issue", "description": padding } })
    .to_string()
    .into_bytes()
}

/// Posts one signed hook; the answer's status and text, if there was one.
async fn post(client: &reqwest::Client, url: &str, token: &str, iid: u64) -> Option<(u16, String)> {
    let (id, seconds, body) = (format!("storm-{iid}"), Clock::System.now() / 1000, body(iid));
    let request = client
        .post(url)
        .header("webhook-signature", hook::sign(token, &id, seconds, &body))
        .header("webhook-id", id)
        .header("webhook-timestamp", seconds.to_string())
        .body(body)
        .timeout(Duration::from_secs(10));
    let answer = request.send().await.ok()?;
    let status = answer.status().as_u16();
    Some((status, answer.text().await.unwrap_or_default()))
}

/// Posts the hooks, 50 at a time, and returns those that were acknowledged and how long each answer took.
async fn storm(
    url: &str,
    token: &str,
    iids: Vec<u64>,
    taken: &AtomicUsize,
) -> (BTreeSet<u64>, Vec<Duration>) {
    use futures_util::StreamExt as _;
    let client = reqwest::Client::builder().build().expect("a client");
    let one = |iid: u64| {
        let client = &client;
        async move {
            let began = Instant::now();
            let answer = post(client, url, token, iid).await;
            taken.fetch_add(usize::from(answer.is_some()), Ordering::SeqCst);
            (iid, answer, began.elapsed())
        }
    };
    let answers: Vec<_> = futures_util::stream::iter(iids).map(one).buffer_unordered(50).collect().await;
    let fine = answers.iter().filter(|(_, answer, _)| matches!(answer, Some((200, _))));
    let acknowledged = fine.clone().map(|(iid, ..)| *iid).collect();
    (acknowledged, fine.map(|(.., took)| *took).collect())
}

/// Whatever was acknowledged is there; GitLab would not send it again, a test may.
async fn none_is_lost(client: &reqwest::Client, url: &str, token: &str, acknowledged: &BTreeSet<u64>) {
    for iid in acknowledged {
        let (status, text) = post(client, url, token, *iid).await.expect("an answer");
        assert_eq!(
            (status, text.as_str()),
            (200, "already taken\n"),
            "hook {iid} was acknowledged and is lost"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_while_gitlab_hangs_loses_nothing_to_kill_9() {
    let (site, token) = signed_site().await;
    site.gitlab.faults().always("*", "*", Fault::Hang);
    let serving = site.serve().await;
    let url = serving.hook_url();
    let sent: Vec<u64> = (1..=1000).collect();
    let taken = Arc::new(AtomicUsize::new(0));
    let posting = tokio::spawn({
        let (url, token, sent, taken) = (url.clone(), token.clone(), sent.clone(), taken.clone());
        async move { storm(&url, &token, sent, &taken).await }
    });
    let moment = 50 + random(800) as usize;
    wait_for("some are taken", || taken.load(Ordering::SeqCst) >= moment).await;
    serving.kill().await;
    let (acknowledged, _) = posting.await.expect("posted");
    let serving = site.serve().await;
    let client = reqwest::Client::builder().build().expect("a client");
    none_is_lost(&client, &url, &token, &acknowledged).await;
    let rest: Vec<u64> = sent.iter().copied().filter(|iid| !acknowledged.contains(iid)).collect();
    let (late, mut times) = storm(&url, &token, rest.clone(), &taken).await;
    assert_eq!(late.len(), rest.len(), "every one gets its 2xx");
    times.sort();
    println!(
        "{} acknowledged before the kill; p99 {:?}",
        acknowledged.len(),
        times.get(times.len() * 99 / 100)
    );
    let store = Store::open(&format!("sqlite://{}", site.database().display())).await.expect("the store");
    let ready = store.depth().await.expect("the store").ready;
    assert!((1000..=1001).contains(&ready), "one row a thread, and the group's: {ready}");
    // GitLab comes back: each is looked at, and each of them once.
    serving.kill().await;
    site.gitlab.faults().clear();
    site.gitlab.forget_requests();
    let serving = site.serve().await;
    let began = Instant::now();
    while store.depth().await.expect("the store").ready > 0 {
        assert!(began.elapsed() < PATIENCE, "the queue does not drain");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let looked = site.gitlab.requests_to("GET", "/projects/101/issues/*");
    let mut times = std::collections::BTreeMap::new();
    for call in &looked {
        *times.entry(call.path.clone()).or_insert(0) += 1;
    }
    for iid in &sent {
        assert_eq!(
            times.get(&format!("/projects/101/issues/{iid}")),
            Some(&1),
            "issue {iid} was looked at once"
        );
    }
    store.close().await;
    serving.kill().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_turns_hooks_away_and_loses_none_that_it_took() {
    let (site, token) = signed_site().await;
    let serving = site.serve().await;
    serving.wait_for_corpus().await;
    assert_eq!(serving.terminate().await, Some(0));
    site.gitlab.faults().always("*", "*", Fault::Hang);
    let size = std::fs::metadata(site.database()).expect("the file").len() / 1024;
    let serving = site.serve_within(size + 256).await;
    let url = serving.hook_url();
    let (mut acknowledged, mut refused, mut next) = (BTreeSet::new(), 0, 1);
    while refused == 0 {
        assert!(next < 20_000, "the disk does not fill");
        let sent: Vec<u64> = (next..next + 200).collect();
        next += 200;
        let (taken, _) = storm(&url, &token, sent, &AtomicUsize::new(0)).await;
        refused += 200 - taken.len();
        acknowledged.extend(taken);
    }
    let client = reqwest::Client::builder().build().expect("a client");
    assert_eq!(post(&client, &url, &token, next).await.expect("an answer").0, 503, "it says so at once");
    serving.kill().await;
    // There is room again.
    let serving = site.serve().await;
    none_is_lost(&client, &url, &token, &acknowledged).await;
    assert_eq!(post(&client, &url, &token, next).await.expect("an answer"), (200, "accepted\n".to_owned()));
    println!("{} were taken before the disk was full, {refused} of the last 200 refused", acknowledged.len());
    serving.kill().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sigterm_finishes_what_is_being_done_and_loses_nothing() {
    let (site, token) = signed_site().await;
    site.gitlab.with_hook(&site.hook_url(), Some(&token));
    let serving = site.serve().await;
    serving.wait_for_corpus().await;
    site.gitlab.faults().set_latency(Duration::from_millis(60));
    let mut asked = Vec::new();
    for _ in 0..4 {
        asked.push(site.gitlab.open_issue("acme/api", "mara", NOWHERE, NOWHERE_MORE).await);
    }
    let log = serving.log().len();
    let began = Instant::now();
    assert_eq!(serving.terminate().await, Some(0));
    assert!(began.elapsed() < Duration::from_secs(40), "it ends in time");
    let store = Store::open(&format!("sqlite://{}", site.database().display())).await.expect("the store");
    let waiting = store.depth().await.expect("the store").ready;
    assert!(waiting > 0 || all_done(&site.gitlab, &asked), "what is not done still waits");
    store.close().await;
    let serving = site.serve().await;
    serving.wait_for("each has its label", |_| all_done(&site.gitlab, &asked)).await;
    assert!(serving.log().len() >= log);
    assert_once(&site.gitlab, &asked);
    serving.kill().await;
}

fn all_done(gitlab: &FakeGitLab, asked: &[u64]) -> bool {
    asked.iter().all(|iid| outcomes(gitlab, *iid) > 0)
}

/// Notes and labels on an issue of `acme/api`, together.
fn outcomes(gitlab: &FakeGitLab, iid: u64) -> usize {
    let notes = gitlab.bot_notes("acme/api", iid).len();
    notes + gitlab.labels("acme/api", iid).iter().filter(|label| *label == "documentation-gap").count()
}

/// One note or one label each, and no note that was ever posted and is not there any more.
fn assert_once(gitlab: &FakeGitLab, asked: &[u64]) {
    for iid in asked {
        assert_eq!(outcomes(gitlab, *iid), 1, "issue {iid} has one note or one label");
        let posts = gitlab.requests_to("POST", &format!("/projects/*/issues/{iid}/*"));
        let done = posts.iter().filter(|call| call.status.is_some_and(|status| status < 300)).count();
        assert!(done <= 1, "issue {iid}: {posts:?}");
    }
}

#[tokio::test]
async fn a_second_process_on_the_same_sqlite_file_is_refused() {
    let (site, _) = signed_site().await;
    let first = site.serve().await;
    let second = site
        .command()
        .arg("serve")
        .env("SIGNPOST_HOOK__LISTEN", "127.0.0.1:0")
        .env("SIGNPOST_ADMIN__LISTEN", "127.0.0.1:0")
        .output();
    let output =
        tokio::time::timeout(Duration::from_secs(30), second).await.expect("at once").expect("it starts");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("in use by another signpost") && message.contains("postgres://"), "{message}");
    // A command that only looks is no second service.
    assert_eq!(site.run(&["queue"]).await.code, Some(0));
    // The first one's death frees the file at once.
    first.kill().await;
    site.serve().await.kill().await;
}

/// What somebody says in passing: it asks nothing, and must stay where it is.
const PASSING: &str = "I once got around it with patience, a plastic spoon and a good deal of luck.";

/// The replicas that run, and where GitLab's load balancer finds them.
type Running = Arc<Mutex<Vec<Serving>>>;

/// Delivers what happens to any replica that runs until it is acknowledged, as a load balancer would: in no order, one
/// in twenty late, two in a hundred twice.
async fn pump(gitlab: FakeGitLab, running: Running, stop: Arc<AtomicBool>) {
    while !stop.load(Ordering::SeqCst) {
        let mut ready = gitlab.drain_outbox();
        for at in (1..ready.len()).rev() {
            ready.swap(at, random(at as u64 + 1) as usize);
        }
        for delivery in ready {
            if random(50) == 0 {
                deliver(&gitlab, &running, &delivery, &stop).await;
            }
            if random(20) == 0 {
                let (gitlab, running, stop) = (gitlab.clone(), running.clone(), stop.clone());
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(random(2000))).await;
                    deliver(&gitlab, &running, &delivery, &stop).await;
                });
            } else {
                deliver(&gitlab, &running, &delivery, &stop).await;
            }
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// GitLab switches the hook off, as after four failures in a row, and drops every event until a delivery that was on its
/// way goes well or the minute is over.
fn switch_off(gitlab: &FakeGitLab) {
    let mut world = gitlab.world();
    let now = world.time.now();
    for hook in world.hooks.values_mut() {
        (0..4).for_each(|_| hook.settle(None, now));
    }
}

/// `check` names what is wrong in this world, and nothing else: the hook, while GitLab has it switched off.
async fn assert_check_is_right(site: &mut Site, database: &str) {
    site.set("SIGNPOST_INSTALL_TOKEN", OWNER_TOKEN);
    site.set("SIGNPOST_DATABASE__URL", database);
    let off = || {
        let world = site.gitlab.world();
        world.hooks.values().any(|hook| hook.alert_status(world.time.now()) != "executable")
    };
    let (before, output, after) = (off(), site.run(&["check", "--json"]).await, off());
    let report = output.json();
    let findings = report["findings"].as_array().expect("findings").iter();
    let faults: Vec<_> = findings.filter(|f| f["level"] == "fault").map(|f| f["name"].as_str()).collect();
    let off_is = |name: &Option<&str>| matches!(name, Some("hook_paused" | "hook_disabled"));
    match (before, after) {
        (false, false) => assert!(faults.is_empty() && output.code == Some(0), "{output:?}"),
        (true, true) => {
            assert!(faults.len() == 1 && faults.iter().all(off_is) && output.code == Some(1), "{output:?}")
        }
        _ => assert!(faults.iter().all(off_is), "{output:?}"),
    }
}

async fn deliver(gitlab: &FakeGitLab, running: &Running, delivery: &Delivery, stop: &AtomicBool) {
    while !stop.load(Ordering::SeqCst) {
        let urls: Vec<String> = running.lock().await.iter().map(Serving::hook_url).collect();
        if let Some(url) = urls.get(random(urls.len() as u64) as usize) {
            let delivery = Delivery { url: url.clone(), ..delivery.clone() };
            if gitlab.attempt(&delivery).await == Some(200) {
                return;
            }
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The two minutes of a dead replica's lease pass at once.
#[expect(clippy::disallowed_methods, reason = "a test plays the time, which is the database's")]
async fn lapse(database: &str, dead: u32) {
    if let Store::Postgres(pool) = Store::open(database).await.expect("the store") {
        let lapse = sqlx::query("UPDATE queue SET lease_until = 0 WHERE lease_owner LIKE $1");
        lapse.bind(format!("{dead}-%")).execute(&pool).await.expect("the store");
        pool.close().await;
    }
}

/// Nothing waits for its next try any longer.
#[expect(clippy::disallowed_methods, reason = "a test plays the time, which is the database's")]
async fn hours_pass(database: &str) {
    const NOW: &str = "UPDATE queue SET run_at = $1 WHERE state = 'ready' AND run_at > $1";
    let now = Clock::System.now();
    match Store::open(database).await.expect("the store") {
        Store::Sqlite { write, .. } => {
            sqlx::query(NOW).bind(now).execute(&write).await.expect("the store");
        }
        Store::Postgres(pool) => {
            sqlx::query(NOW).bind(now).execute(&pool).await.expect("the store");
        }
    }
}

/// What is not at rest in the queue.
async fn waiting(database: &str) -> String {
    const ROWS: &str =
        "SELECT project_id, iid, state, attempts, COALESCE(failure, '') FROM queue WHERE state <> 'idle'";
    type Row = (i64, i64, String, i64, String);
    #[expect(clippy::disallowed_methods, reason = "a test looks into the database")]
    let rows: Vec<Row> = match Store::open(database).await.expect("the store") {
        Store::Sqlite { read, .. } => sqlx::query_as(ROWS).fetch_all(&read).await.expect("rows"),
        Store::Postgres(pool) => sqlx::query_as(ROWS).fetch_all(&pool).await.expect("rows"),
    };
    format!("{rows:?}")
}

/// The database is troubled for a moment: every connection of Postgres is cut as by its restart, SQLite's file is held
/// by another program, a backup perhaps.
#[expect(clippy::disallowed_methods, reason = "a test plays another program on the database")]
async fn disturb(database: &str) {
    const CUT: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                       WHERE datname = current_database() AND pid <> pg_backend_pid()";
    if database.starts_with("sqlite") {
        let mut other = sqlx::SqliteConnection::connect(database).await.expect("the file");
        sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.expect("its turn comes");
        tokio::time::sleep(Duration::from_millis(random(400))).await;
        sqlx::query("ROLLBACK").execute(&mut other).await.expect("let go");
        other.close().await.expect("closed");
    } else {
        let mut other = sqlx::PgConnection::connect(database).await.expect("the server");
        sqlx::query(CUT).execute(&mut other).await.expect("cut");
        other.close().await.expect("closed");
    }
}

/// Issues are opened while replicas are killed and GitLab and the database misbehave; at the end each has its one outcome.
async fn chaos(site: &mut Site, database: &str, replicas: usize) {
    let rounds = setting("SIGNPOST_CHAOS_ROUNDS", 3);
    let issues = setting("SIGNPOST_CHAOS_ISSUES", 2 * rounds);
    let environment = [("SIGNPOST_DATABASE__URL", database)];
    let start = async || site.serve_at(free_ports(), &environment).await;
    site.gitlab.send_at_once(false);
    let (running, stop): (Running, _) = (Arc::default(), Arc::new(AtomicBool::new(false)));
    for _ in 0..replicas {
        let serving = start().await;
        running.lock().await.push(serving);
    }
    let synced = async || {
        let logs: usize =
            running.lock().await.iter().map(|s| s.log().matches("project_synced").count()).sum();
        logs >= 3
    };
    let began = Instant::now();
    while !synced().await {
        assert!(began.elapsed() < PATIENCE, "the corpus is not read");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let pumping = tokio::spawn(pump(site.gitlab.clone(), running.clone(), stop.clone()));
    let mut asked = Vec::new();
    for round in 0..rounds {
        site.gitlab.faults().clear();
        site.gitlab.faults().set_latency(Duration::from_millis(random(20)));
        let busy = |retry_after| Fault::TooMany { retry_after };
        for fault in
            [Fault::ResetAfter, Fault::ResetBefore, Fault::Json(502), Fault::Cut, busy(Some(1)), busy(None)]
        {
            if random(3) > 0 {
                site.gitlab.faults().next(1, "*", "/projects/*/issues/*", fault);
            }
        }
        if random(5) == 0 {
            site.gitlab.faults().next(1, "*", "/projects/*/issues/*", Fault::Hang);
        }
        for number in 0..issues.div_ceil(rounds) {
            let (title, text) =
                if (round + number) % 2 == 0 { (HOW, HOW_MORE) } else { (NOWHERE, NOWHERE_MORE) };
            let iid = site.gitlab.open_issue("acme/api", "mara", title, text).await;
            if random(3) == 0 {
                site.gitlab.comment("acme/api", iid, "tom", PASSING).await;
            }
            asked.push(iid);
        }
        if random(12) == 0 {
            switch_off(&site.gitlab);
        }
        tokio::time::sleep(Duration::from_millis(random(700))).await;
        disturb(database).await;
        tokio::time::sleep(Duration::from_millis(random(700))).await;
        let victim = {
            let mut running = running.lock().await;
            let at = random(running.len() as u64) as usize;
            running.remove(at)
        };
        let id = victim.id();
        victim.kill().await;
        lapse(database, id).await;
        let serving = start().await;
        running.lock().await.push(serving);
    }
    site.gitlab.faults().clear();
    // Who failed often waits up to an hour: that hour passes at once.
    hours_pass(database).await;
    let began = Instant::now();
    while !all_done(&site.gitlab, &asked) {
        // Reading takes its time, where hundreds wait and the cores have other things to do.
        if began.elapsed() > PATIENCE + Duration::from_secs(4) * asked.len() as u32 {
            let lost: Vec<&u64> = asked.iter().filter(|iid| outcomes(&site.gitlab, **iid) == 0).collect();
            panic!(
                "{} issues without their outcome: {lost:?}; the queue: {}",
                lost.len(),
                waiting(database).await
            );
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    for iid in &asked {
        assert_eq!(
            outcomes(&site.gitlab, *iid),
            1,
            "issue {iid}: {:?}",
            site.gitlab.bot_notes("acme/api", *iid)
        );
    }
    stop.store(true, Ordering::SeqCst);
    pumping.await.expect("it ends");
    let store = Store::open(database).await.expect("the store");
    assert_eq!(store.depth().await.expect("the store").buried, 0);
    store.close().await;
    assert!(site.gitlab.effects().is_empty(), "{:?}", site.gitlab.effects());
    assert_check_is_right(site, database).await;
    for serving in running.lock().await.drain(..) {
        serving.kill().await;
    }
    let strangers = site.gitlab.strangers();
    for text in [site.gitlab.posted_by_the_bot(), at_rest(site.folder.path(), database).await] {
        assert!(strangers.leaks(&text).is_empty(), "a stranger's words: {:?}", strangers.leaks(&text));
    }
    println!("{} issues, {rounds} kills, {replicas} replicas: none lost, none doubled", asked.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chaos_on_sqlite_with_one_process() {
    let (mut site, token) = signed_site().await;
    site.gitlab.with_hook(&site.hook_url(), Some(&token));
    let database = format!("sqlite://{}", site.database().display());
    chaos(&mut site, &database, 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chaos_on_postgres_with_two_replicas() {
    let (mut site, token) = signed_site().await;
    site.gitlab.with_hook(&site.hook_url(), Some(&token));
    let database = tokio::task::spawn_blocking(postgres::create_database).await.expect("a database");
    chaos(&mut site, &database, 2).await;
}
