//! Attacks on the rule, each played out over HTTP against the fake GitLab: `corpus/adversarial.yaml` says what
//! happens and what must come of it, this module plays it. The file knows nothing of this program, so that
//! another project can play it against its own bot; `docs/security.md` says how.
//!
//! ```text
//! SIGNPOST_CASE=smuggle cargo test --test it adversarial::sqlite -- --nocapture    # cases whose id has this
//! ```

mod case;
mod hand;
mod step;
mod verdict;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::app::{Database, TestApp};
use crate::gitlab::World;
use case::{Case, Chapter, File};
use step::Stage;
use verdict::Verdict;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/test/corpus/adversarial.yaml");
/// Chapters that are played at the same time.
const AT_ONCE: usize = 2;

/// What came of one case.
struct Played {
    id: String,
    verdict: Verdict,
    took: Duration,
}

/// Plays the cases of one chapter one after the other in one world, then makes the standing checks.
async fn play(database: Database, file: Arc<File>, chapter: Chapter, cases: Vec<Case>) -> Vec<Played> {
    let app = TestApp::start_with(database, World::acme(), |config| {
        // Attacks come in hundreds here; that budgets and brakes hold is tested elsewhere.
        config.budget.per_project_hour = 1_000_000;
        config.budget.undo_limit = 1.0;
        // Bolder than as shipped: who answers more can be made to say more.
        config.answer.max_wrong = 0.2;
        config.corpus.exclude = ["acme/infra", "acme/customers", "acme/secret-*"].map(str::to_owned).to_vec();
    })
    .await;
    // A machine that is slow for a while must not lose a delivery: nothing here is about that.
    app.gitlab.set_patience(Duration::from_secs(120));
    let mut stage = Stage::new(&app, file.words.clone());
    stage.play(&file.world).await;
    stage.play(&chapter.world).await;
    stage.wait().await;
    let mut played = Vec::new();
    for case in cases {
        let began = Instant::now();
        let verdict = verdict::of(&mut stage, &case).await;
        let took = began.elapsed();
        if std::env::var_os("SIGNPOST_CASE").is_some() {
            eprintln!("{:>6} ms  {}: {verdict}", took.as_millis(), case.id);
        }
        played.push(Played { id: case.id, verdict, took });
    }
    drop(stage);
    // A panic of the standing checks is the attacker's success, of a case that is not known.
    let id = format!("{} (standing checks)", chapter.name);
    if let Err(failed) = tokio::spawn(app.finish()).await {
        let why = failed.into_panic();
        let why = why.downcast_ref::<String>().cloned().unwrap_or_else(|| "panicked".to_owned());
        played.push(Played { id, verdict: Verdict::Broken(why), took: Duration::ZERO });
    }
    played
}

/// Plays every case that `wanted` wants, and tells how often the attacker succeeded.
async fn run(database: Database, wanted: impl Fn(usize, &Case) -> bool) {
    let file = Arc::new(File::read(FILE));
    let only = std::env::var("SIGNPOST_CASE").ok();
    let mut queue = Vec::new();
    let mut at = 0;
    for chapter in &file.chapters {
        let mut cases = chapter.expand();
        cases.retain(|case| {
            at += 1;
            wanted(at, case) && only.as_ref().is_none_or(|only| case.id.contains(only.as_str()))
        });
        if !cases.is_empty() {
            queue.push((chapter.clone(), cases));
        }
    }
    // The longest first, so that nothing long is left for the end.
    queue.sort_by_key(|(_, cases)| cases.len());
    let began = Instant::now();
    let (mut running, mut played) = (tokio::task::JoinSet::new(), Vec::new());
    loop {
        while running.len() < AT_ONCE {
            let Some((chapter, cases)) = queue.pop() else { break };
            running.spawn(play(database, file.clone(), chapter, cases));
        }
        let Some(done) = running.join_next().await else { break };
        played.extend(done.expect("the stage itself holds"));
    }
    assert!(!played.is_empty() || database == Database::Postgres, "no case is called so");
    if !played.is_empty() {
        report(database, &played, began.elapsed());
    }
}

fn report(database: Database, played: &[Played], took: Duration) {
    let cases =
        played.iter().filter(|p| !matches!(p.verdict, Verdict::Broken(_)) || p.took > Duration::ZERO).count();
    let won = played.iter().filter(|p| p.verdict.attacker_won()).count();
    let wrong: Vec<String> =
        played.iter().filter(|p| !p.verdict.held()).map(|p| format!("{}: {}", p.id, p.verdict)).collect();
    let bound = if won == 0 {
        format!("; at most {:.2} % with 95 % confidence", 300.0 / cases as f64)
    } else {
        String::new()
    };
    eprintln!(
        "adversarial, {database:?}: the attacker won {won} of {cases} cases in {:.0} s{bound}",
        took.as_secs_f64()
    );
    assert!(wrong.is_empty(), "{} of {cases}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Every case.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite() {
    run(Database::Sqlite, |_, _| true).await;
}

/// Nothing of the rule depends on the database: every tenth case. `SIGNPOST_ADVERSARIAL=all` plays all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres() {
    let all = std::env::var_os("SIGNPOST_ADVERSARIAL").is_some();
    run(Database::Postgres, |at, _| all || at.is_multiple_of(10)).await;
}

#[test]
fn every_case_has_an_id_of_its_own_and_a_reason_and_there_are_more_than_three_hundred() {
    let file = File::read(FILE);
    let mut ids = BTreeMap::new();
    for case in file.chapters.iter().flat_map(Chapter::expand) {
        assert!(!case.why.trim().is_empty(), "{} has a reason", case.id);
        assert!(ids.insert(case.id.clone(), ()).is_none(), "{} is there twice", case.id);
    }
    eprintln!("adversarial: {} cases in {} chapters", ids.len(), file.chapters.len());
    assert!(ids.len() >= 300, "{} cases", ids.len());
}
