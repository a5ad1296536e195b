//! `signpost sync`: the corpus and the history of closed issues, now, with a progress bar.

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use crate::cli::Verdict;
use crate::cli::invocation::Invocation;
use crate::clock::Clock;
use crate::history;
use crate::sync::{SyncError, Syncer, embed_some};

/// Arguments of `signpost sync`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Leave the history of closed issues alone.
    #[arg(long)]
    pub no_history: bool,
    /// Print the summary as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Brings the corpus up to date and prints a summary. A corpus without a section is an error.
///
/// # Errors
/// GitLab, the database.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<Verdict> {
    Invocation::block_on(sync(args, invocation))
}

async fn sync(args: Args, invocation: &Invocation) -> anyhow::Result<Verdict> {
    let began = std::time::Instant::now();
    let world = invocation.world().await?;
    let syncer = Syncer::new(world.gitlab.clone(), world.store.clone(), world.corpus.clone(), Clock::System);
    let admitted = syncer.refresh_group().await?;
    let bar = progress(admitted.len() as u64, "projects");
    let (mut changed, mut bytes, mut broken) = (0, 0, 0);
    for id in admitted {
        match syncer.sync_project(id).await {
            Ok(synced) => {
                changed += synced.changed;
                bytes += synced.bytes;
            }
            // One repository that GitLab cannot read keeps nobody else's from being read.
            Err(SyncError::GitLab(error)) => {
                broken += 1;
                let known = world.store.project(id).await?;
                let name = known.map_or_else(|| id.to_string(), |row| row.project.path.as_str().to_owned());
                bar.suspend(|| eprintln!("signpost: {name} could not be read: {error}"));
            }
            Err(error) => return Err(error.into()),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let size = world.store.corpus_size().await?;
    let bar = progress(size.sections as u64, "sections embedded");
    loop {
        let done = embed_some(&world.store, world.judge.reader(), &world.clock, 64).await?;
        if done == 0 {
            break;
        }
        bar.inc(done as u64);
    }
    bar.finish_and_clear();
    world.library.follow(&world.store).await?;
    world.refresh_docsites().await?;
    let remembered = if args.no_history { 0 } else { read_history(&world).await? };
    let refusals = world.store.refusals().await?;
    let skipped = world.store.skipped().await?;
    if args.json {
        let pairs = |list: &[(String, i64)]| {
            list.iter().map(|(k, v)| (k.clone(), json!(v))).collect::<serde_json::Map<_, _>>()
        };
        println!(
            "{}",
            json!({
                "projects": { "admitted": size.admitted, "refused": pairs(&refusals) },
                "files": { "read": size.files, "skipped": pairs(&skipped), "changed": changed },
                "sections": size.sections, "bytes": size.bytes, "bytes_read": bytes,
                "closed_issues": remembered, "seconds": began.elapsed().as_secs_f64(),
            })
        );
    } else {
        println!("projects   {} admitted, {} refused{}", size.admitted, size.refused, reasons(&refusals));
        println!(
            "files      {} read, {} skipped{}; {changed} changed",
            size.files,
            size.skipped,
            reasons(&skipped)
        );
        println!("sections   {} from {} bytes", size.sections, size.bytes);
        println!("history    {remembered} closed issues that point somewhere");
        println!("took       {:.1} s", began.elapsed().as_secs_f64());
    }
    world.store.close().await;
    if size.sections == 0 {
        eprintln!(
            "signpost: the corpus is empty: no file matches corpus.docs or corpus.code in an admitted project"
        );
        return Ok(Verdict::Wrong);
    }
    Ok(if broken == 0 { Verdict::Fine } else { Verdict::Wrong })
}

async fn read_history(world: &crate::answer::World) -> anyhow::Result<usize> {
    let bar = progress(0, "closed issues");
    let count = history::read(world, |read| bar.set_position(read)).await?;
    bar.finish_and_clear();
    Ok(count)
}

fn reasons(list: &[(String, i64)]) -> String {
    if list.is_empty() {
        return String::new();
    }
    let words: Vec<String> = list.iter().map(|(word, count)| format!("{word} {count}")).collect();
    format!(" ({})", words.join(", "))
}

/// A bar on a terminal, nothing elsewhere.
fn progress(length: u64, what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style).with_message(what)
}
