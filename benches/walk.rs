//! From an issue to its note or label: the program as a process, beside the fake GitLab at 20 ms an answer.
//!
//! `cargo bench --bench walk [-- --sections N --issues N --latency MS --replicas N --backlog N --gaps N]`
//!
//! The corpus is the fake's own documentation and a manual of made-up pages, read through the API; the manual's vectors are
//! random, since computing them takes a minute for some hundred sections. Half of the issues ask what the
//! documentation answers, half what nothing answers. Printed: what the first reading took, the time from the issue to
//! what is done about it one by one, one walk call by call, a backlog worked off at once, the time from a push to the
//! answers it gives to those who wait and to who asks just then, and the start on a full database. `--gaps` questions
//! of other things wait for documentation from the start.

#[allow(dead_code, unused_imports, reason = "a bench uses a part of the fake")]
#[path = "../test/gitlab/mod.rs"]
mod gitlab;
mod made;
#[allow(dead_code, reason = "a bench uses a part of the server's harness")]
#[path = "../test/postgres.rs"]
mod postgres;

use std::process::Stdio;
use std::time::{Duration, Instant};

use signpost::clock::Clock;
use signpost::prose::{Prose, Question};
use signpost::search::{DIM, Fingerprint, Vector};
use signpost::store::Store;
use signpost::store::question::{Record, State};
use signpost::store::queue::Place;
use tokio::net::TcpListener;
use tokio::process::{Child, Command};

use gitlab::{BOT_TOKEN, FakeGitLab, World, hook};
use made::Random;

const API: &str = "acme/api";
/// The page that is pushed in the end, which answers [`UNANSWERED`].
const PAGE: (&str, &str) = (
    "docs/guide/audit.md",
    "# Audit trail\n\nThe gateway keeps an audit trail of every login.\n\n## Export the audit trail to a spreadsheet\n\n\
     Run `acmectl audit export --format csv` to export the audit trail to a spreadsheet. The spreadsheet has one row for \
     each login of the past quarter.\n",
);
/// The first issue waits until the index holds the vectors of a million sections that came at once.
const PATIENCE: Duration = Duration::from_secs(600);
/// Sections of one page of the manual.
const SECTIONS_PER_PAGE: usize = 20;
const ANSWERED: (&str, &str) = (
    "How do I rotate a signing key without downtime?",
    "We have many clients on the gateway and cannot stop them all at once. Is there a way to replace the signing key of \
     the gateway while clients keep working?",
);
const UNANSWERED: (&str, &str) = (
    "How do I export the audit trail to a spreadsheet?",
    "Our auditors would like a spreadsheet with one row for each login of the past quarter. Which command does that?",
);

/// The program as a process; killed when dropped.
struct Serving {
    child: Child,
    hook: String,
}

fn argument(name: &str, default: u64) -> u64 {
    let mut arguments = std::env::args();
    arguments.by_ref().find(|a| a == name);
    arguments.next().and_then(|v| v.parse().ok()).unwrap_or(default)
}

#[tokio::main]
async fn main() {
    let sections = argument("--sections", 1_000) as usize;
    let (issues, latency) = (argument("--issues", 60), Duration::from_millis(argument("--latency", 20)));
    let (replicas, backlog) = (argument("--replicas", 1), argument("--backlog", 100));
    let folder = tempfile::tempdir().expect("a folder");
    let database = match replicas {
        1 => format!("sqlite://{}", folder.path().join("bench.db").display()),
        _ => tokio::task::spawn_blocking(postgres::create_database).await.expect("a database"),
    };
    let fake = FakeGitLab::start(world(sections)).await;
    let token = hook::signing_token();
    let environment = environment(&fake, &token, &database);
    fake.faults().set_latency(latency);
    let began = Instant::now();
    let mut serving = vec![serve(&environment).await];
    let store = Store::open(&database).await.expect("the database");
    reading(&store, &fake, began, latency).await;
    let manual = fake.world().project("acme/manual").id;
    vectors(&store, manual).await;
    for _ in 1..replicas {
        serving.push(serve(&environment).await);
    }
    open_gaps(&fake, &store, argument("--gaps", 0)).await;
    fake.with_hook(&serving[0].hook, Some(&token));
    // The first look of a fresh process also asks GitLab who it is.
    ask(&fake, true).await;
    one_by_one(&fake, issues).await;
    trace(&fake, latency).await;
    at_once(&fake, backlog, replicas).await;
    push(&fake).await;
    for (number, process) in serving.iter().enumerate() {
        println!("resident memory of process {}: {:.0} MB", number + 1, resident_mb(process));
    }
    drop(serving.pop());
    if replicas == 1 {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let began = Instant::now();
        let _again = serve(&environment).await;
        println!("started on the full database and ready in {:.2} s", began.elapsed().as_secs_f64());
    }
}

/// The usual small world, and a manual of made-up pages.
fn world(sections: usize) -> World {
    let mut world = World::acme();
    let mut random = Random(0x5eed);
    let mut pages = Vec::new();
    for page in 0..sections.div_ceil(SECTIONS_PER_PAGE) {
        let mut text = format!("# {}\n", random.words(3));
        for _ in 1..SECTIONS_PER_PAGE {
            let words = 40 + random.below(80);
            text.push_str(&format!("\n## {}\n\n{}.\n", random.words(4), random.words(words)));
        }
        pages.push((format!("docs/chapter-{}/page-{page}.md", page / 100), text));
    }
    let pages: Vec<(&str, &str)> = pages.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    world.add_project("acme/manual").public().files(pages);
    world
}

fn environment(fake: &FakeGitLab, token: &str, database: &str) -> Vec<(&'static str, String)> {
    vec![
        ("SIGNPOST_GITLAB__URL", fake.url().to_owned()),
        ("SIGNPOST_GITLAB__GROUP", "acme".to_owned()),
        ("SIGNPOST_GITLAB_TOKEN", BOT_TOKEN.to_owned()),
        ("SIGNPOST_SIGNING_TOKEN", token.to_owned()),
        ("SIGNPOST_DATABASE__URL", database.to_owned()),
        ("SIGNPOST_CORPUS__EXCLUDE", "acme/infra".to_owned()),
        ("SIGNPOST_ANSWER__MAX_WRONG", "0.2".to_owned()),
        ("SIGNPOST_BUDGET__PER_PROJECT_HOUR", "100000".to_owned()),
        ("RUST_LOG", "warn".to_owned()),
    ]
}

async fn free_port() -> u16 {
    let probe = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    probe.local_addr().expect("an address").port()
}

/// Starts the program and waits until it is ready.
async fn serve(environment: &[(&'static str, String)]) -> Serving {
    let (public, admin) = (free_port().await, free_port().await);
    let child = Command::new(env!("CARGO_BIN_EXE_signpost"))
        .arg("serve")
        .env_clear()
        .envs(environment.iter().cloned())
        .env("SIGNPOST_HOOK__LISTEN", format!("127.0.0.1:{public}"))
        .env("SIGNPOST_ADMIN__LISTEN", format!("127.0.0.1:{admin}"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("the program starts");
    let ready = format!("http://127.0.0.1:{public}/readyz");
    while !reqwest::get(&ready).await.is_ok_and(|answer| answer.status().is_success()) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Serving { child, hook: format!("http://127.0.0.1:{public}/hook") }
}

/// Waits for the first reading and tells what it took.
async fn reading(store: &Store, fake: &FakeGitLab, began: Instant, latency: Duration) {
    while store.setting("group_read").await.expect("the store").is_none()
        || store.repositories_waiting().await.expect("the store") > 0
    {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let (took, size) = (began.elapsed().as_secs_f64(), store.corpus_size().await.expect("the store"));
    println!(
        "read {} sections of {} files ({:.1} MB) at {} ms an answer in {took:.1} s, {} calls: {:.0} files a second",
        size.sections,
        size.files,
        size.bytes as f64 / 1e6,
        latency.as_millis(),
        fake.requests().len(),
        size.files as f64 / took
    );
}

/// Gives the manual random vectors, while the program computes those of the documentation.
async fn vectors(store: &Store, manual: u64) {
    let mut random = Random(0xd1);
    let made: Vec<Vec<u8>> = (0..500).map(|_| vector(&mut random)).collect();
    loop {
        let waiting = store.sections_without_vector(500).await.expect("the store");
        if waiting.is_empty() {
            return;
        }
        let batch: Vec<_> = waiting
            .into_iter()
            .filter(|row| row.project == manual)
            .zip(&made)
            .map(|(row, vector)| (row, vector.clone()))
            .collect();
        if batch.is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        store.save_vectors(&batch, Clock::System.now()).await.expect("the store");
    }
}

fn vector(random: &mut Random) -> Vec<u8> {
    let values: Vec<f32> = (0..DIM).map(|_| (random.next() >> 40) as f32 / (1 << 23) as f32 - 1.0).collect();
    Vector::quantise(&values).to_bytes()
}

/// Opens an issue.
async fn open(fake: &FakeGitLab, answered: bool) -> u64 {
    let (title, description) = if answered { ANSWERED } else { UNANSWERED };
    fake.open_issue(API, "mara", title, description).await
}

/// Opens an issue, and waits for what is done about it.
async fn ask(fake: &FakeGitLab, answered: bool) -> Duration {
    let began = Instant::now();
    let iid = open(fake, answered).await;
    while !done(fake, iid, answered) {
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert!(
            began.elapsed() < PATIENCE,
            "issue {iid}: answered {answered} expected, {:?}",
            fake.labels(API, iid)
        );
    }
    began.elapsed()
}

fn done(fake: &FakeGitLab, iid: u64, answered: bool) -> bool {
    match answered {
        true => !fake.bot_notes(API, iid).is_empty(),
        false => !fake.labels(API, iid).is_empty(),
    }
}

async fn one_by_one(fake: &FakeGitLab, issues: u64) {
    println!("{:<28} {:>8} {:>8} {:>8} {:>8}", "one by one, ms", "p50", "p95", "p99", "max");
    for (name, answered) in [("issue to note", true), ("issue to label", false)] {
        let mut times = Vec::new();
        for _ in 0..issues / 2 {
            times.push(ask(fake, answered).await);
        }
        times.sort_unstable();
        let at = |share: f64| {
            let index = ((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1));
            times[index].as_secs_f64() * 1000.0
        };
        println!("{name:<28} {:>8.0} {:>8.0} {:>8.0} {:>8.0}", at(0.5), at(0.95), at(0.99), at(1.0));
    }
}

/// One walk, call by call.
async fn trace(fake: &FakeGitLab, latency: Duration) {
    fake.forget_requests();
    let began = Instant::now();
    ask(fake, true).await;
    println!(
        "one walk, ms since the issue was opened ({} of each call are the latency):",
        latency.as_millis()
    );
    for call in fake.requests() {
        let at = call.at.duration_since(began).as_secs_f64() * 1000.0;
        println!("  {at:>6.0}  {} {}", call.method, call.path);
    }
}

async fn at_once(fake: &FakeGitLab, backlog: u64, replicas: u64) {
    let began = Instant::now();
    let mut waiting = Vec::new();
    for number in 0..backlog {
        waiting.push((open(fake, number % 2 == 0).await, number % 2 == 0));
    }
    while !waiting.is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
        waiting.retain(|(iid, answered)| !done(fake, *iid, *answered));
        assert!(began.elapsed() < Duration::from_secs(600), "{} are not done", waiting.len());
    }
    let took = began.elapsed().as_secs_f64();
    println!(
        "{backlog} issues at once, {replicas} processes: {took:.1} s, {:.1} a second",
        backlog as f64 / took
    );
}

/// Questions of other things that were asked and labelled before.
async fn open_gaps(fake: &FakeGitLab, store: &Store, many: u64) {
    let (mut random, now) = (Random(0x9a9), Clock::System.now());
    let label = fake.world().add_group_label("acme", "documentation-gap", "#d9534f");
    for _ in 0..many {
        let (title, text) = (format!("How do I {}?", random.words(5)), random.words(30));
        let (project, iid, asker) = {
            let mut world = fake.world();
            let iid = world.open_with(API, "mara", &title, &text, |issue| issue.labels.push(label));
            (world.project(API).id, iid, world.user("mara").id)
        };
        let mut record = Record::new(Place::thread(project, iid), "issue", asker, now, String::new(), now);
        (record.state, record.labelled) = (State::Gap, true);
        record.gap_kind = Some("missing".to_owned());
        record.fingerprint =
            Some(Fingerprint::of(&Question::new(&Prose::from(title), &Prose::from(text))).to_bytes());
        store.save_question(&record).await.expect("the store");
    }
    fake.drain_outbox();
    println!("{many} other questions wait for documentation");
}

/// Documentation comes: for those who wait, and for who asks in that moment.
async fn push(fake: &FakeGitLab) {
    let waiting: Vec<u64> = {
        let world = fake.world();
        let asked = world.issues.values().filter(|issue| issue.title == UNANSWERED.0);
        asked.map(|issue| issue.iid).collect()
    };
    let began = Instant::now();
    fake.edit_file("acme/docs", PAGE.0, PAGE.1).await;
    let asked_then = open(fake, false).await;
    let (mut first, mut new) = (None, None);
    loop {
        let answered = waiting.iter().filter(|iid| !fake.bot_notes(API, **iid).is_empty()).count();
        if answered > 0 {
            first.get_or_insert(began.elapsed());
        }
        if !fake.bot_notes(API, asked_then).is_empty() {
            new.get_or_insert(began.elapsed());
        }
        if let (Some(first), Some(new), true) = (first, new, answered == waiting.len()) {
            let (first, new, last) = (first.as_secs_f64(), new.as_secs_f64(), began.elapsed().as_secs_f64());
            println!(
                "a pushed page answers the first who waited after {first:.1} s, all {answered} after {last:.1} s, who asked \
                 just then after {new:.1} s"
            );
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(600), "{answered} of {} are answered", waiting.len());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn resident_mb(serving: &Serving) -> f64 {
    let status = serving.child.id().map(|id| std::fs::read_to_string(format!("/proc/{id}/status")));
    let status = status.and_then(Result::ok).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}
