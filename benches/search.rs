//! Search at growing sizes: index build, query latency, memory; beside SQLite's FTS5 on the same text.
//!
//! `cargo bench --bench search [-- SECTIONS …]`, by default 1,000, 10,000 and 100,000 sections. The text is made up:
//! words of a Zipf-like vocabulary, 40 to 240 a section, questions of 8 to 48 words drawn from one section and
//! from everywhere.

mod made;

use std::time::{Duration, Instant};

use signpost::prose::{Prose, Question};
use signpost::reference::RepoPath;
use signpost::search::{DIM, Entry, Index, Vector};
use signpost::section::Kind;

use made::Random;

const QUESTIONS: usize = 300;
const SECTIONS_PER_FILE: usize = 10;

/// A vector that points anywhere.
fn vector(random: &mut Random) -> Vector {
    let values: Vec<f32> = (0..DIM).map(|_| (random.next() >> 40) as f32 / (1 << 23) as f32 - 1.0).collect();
    Vector::quantise(&values)
}

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![1_000, 10_000, 100_000] } else { sizes };
    println!("| sections | engine | build | resident memory | p50 | p95 | p99 |");
    println!("|---|---|---|---|---|---|---|");
    for size in sizes {
        signpost_row(size);
        sqlite_row(size);
    }
}

fn corpus(size: usize) -> Vec<(String, String)> {
    let mut random = Random(0x5eed);
    let section = |_| {
        let heading = random.words(4);
        let words = 40 + random.below(200);
        (heading, random.words(words))
    };
    (0..size).map(section).collect()
}

fn questions(corpus: &[(String, String)]) -> Vec<(String, String)> {
    let mut random = Random(0xa5c);
    let question = |_| {
        let source: Vec<&str> = corpus[random.below(corpus.len())].1.split(' ').collect();
        let own: Vec<&str> = (0..4 + random.below(12)).map(|_| source[random.below(source.len())]).collect();
        let words = 4 + random.below(32);
        (own.join(" "), random.words(words))
    };
    (0..QUESTIONS).map(question).collect()
}

fn signpost_row(size: usize) {
    let corpus = corpus(size);
    let mut random = Random(0xd1);
    let vectors: Vec<Vector> = (0..size.min(2_000)).map(|_| vector(&mut random)).collect();
    let held = resident();
    let begun = Instant::now();
    let mut index = Index::new().expect("an index in memory");
    for (number, file) in corpus.chunks(SECTIONS_PER_FILE).enumerate() {
        let path = RepoPath::parse(&format!("docs/page-{number}.md")).expect("a path");
        let headings: Vec<[String; 1]> = file.iter().map(|(heading, _)| [heading.clone()]).collect();
        let entries = file.iter().zip(&headings).enumerate().map(|(at, ((_, text), heading))| Entry {
            id: (number * SECTIONS_PER_FILE + at) as u64,
            heading_path: heading,
            passages: vec![text.as_str()],
            kind: Kind::Doc,
            vectors: vec![vectors[(number * SECTIONS_PER_FILE + at) % vectors.len()].clone()],
        });
        index.replace_file(1, &path, entries.collect()).expect("the index takes a file");
    }
    index.commit().expect("a commit");
    let build = begun.elapsed();
    let memory = resident().saturating_sub(held);
    let dense = vector(&mut random);
    for (name, dense) in [("words", None), ("words and vectors", Some(&dense))] {
        let times = timed(&corpus, |title, text| {
            let question = Question::new(&Prose::from(title.to_owned()), &Prose::from(text.to_owned()));
            let found = index.find(&question, dense, 20, &|_| true).expect("a search");
            assert!(!found.is_empty());
        });
        row(size, name, build, memory, &times);
    }
}

fn sqlite_row(size: usize) {
    let corpus = corpus(size);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let held = resident();
    let begun = Instant::now();
    let pool = runtime.block_on(fts5(&corpus)).expect("SQLite has FTS5");
    let build = begun.elapsed();
    let memory = resident().saturating_sub(held);
    let times = timed(&corpus, |title, text| {
        let mut words: Vec<&str> = title.split(' ').chain(text.split(' ')).collect();
        words.sort_unstable();
        words.dedup();
        let matching: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        runtime.block_on(matches(&pool, &matching.join(" OR "))).expect("a search");
    });
    row(size, "SQLite FTS5", build, memory, &times);
}

async fn fts5(corpus: &[(String, String)]) -> Result<sqlx::SqlitePool, sqlx::Error> {
    let pool = sqlx::sqlite::SqlitePoolOptions::new().max_connections(1).connect("sqlite::memory:").await?;
    run(&pool, "CREATE VIRTUAL TABLE d USING fts5(heading, body, tokenize = 'porter')").await?;
    let mut transaction = pool.begin().await?;
    for (heading, body) in corpus {
        #[expect(clippy::disallowed_methods, reason = "the peer that is measured, not the product's store")]
        let insert = sqlx::query("INSERT INTO d (heading, body) VALUES ($1, $2)");
        insert.bind(heading).bind(body).execute(&mut *transaction).await?;
    }
    transaction.commit().await?;
    Ok(pool)
}

async fn run(pool: &sqlx::SqlitePool, sql: &'static str) -> Result<(), sqlx::Error> {
    #[expect(clippy::disallowed_methods, reason = "the peer that is measured, not the product's store")]
    sqlx::query(sql).execute(pool).await?;
    Ok(())
}

async fn matches(pool: &sqlx::SqlitePool, matching: &str) -> Result<usize, sqlx::Error> {
    #[expect(clippy::disallowed_methods, reason = "the peer that is measured, not the product's store")]
    let search = sqlx::query("SELECT rowid FROM d WHERE d MATCH $1 ORDER BY bm25(d, 1.0, 2.0) LIMIT 20");
    Ok(search.bind(matching).fetch_all(pool).await?.len())
}

/// The times of all questions, in rising order.
fn timed(corpus: &[(String, String)], mut ask: impl FnMut(&str, &str)) -> Vec<Duration> {
    let questions = questions(corpus);
    for (title, text) in questions.iter().take(10) {
        ask(title, text);
    }
    let mut times: Vec<Duration> = questions
        .iter()
        .map(|(title, text)| {
            let begun = Instant::now();
            ask(title, text);
            begun.elapsed()
        })
        .collect();
    times.sort_unstable();
    times
}

fn row(size: usize, name: &str, build: Duration, memory: usize, times: &[Duration]) {
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1000.0;
    println!(
        "| {size} | {name} | {:.2} s | {} MB | {:.2} ms | {:.2} ms | {:.2} ms |",
        build.as_secs_f64(),
        memory / 1_000_000,
        at(0.5),
        at(0.95),
        at(0.99)
    );
}

/// Resident memory in bytes; 0 where the system does not say.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|text| text.split(' ').nth(1)?.parse::<usize>().ok());
    pages.unwrap_or(0) * 4096
}
