//! `signpost replay`: precision and coverage on the group's own past, before the first note is posted.

use serde_json::json;

use crate::answer::{Replayed, replay};
use crate::cli::Verdict;
use crate::cli::invocation::Invocation;
use crate::judge::{Decision, Policy, decide};

/// Promised error rates that are tried.
const RATES: [f32; 6] = [0.01, 0.02, 0.05, 0.1, 0.15, 0.2];

/// Arguments of `signpost replay`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Closed issues that are looked at, the last changed first.
    #[arg(long, default_value_t = 1000)]
    pub limit: u64,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Precision and coverage at one promised error rate.
struct Row {
    rate: f32,
    answered: usize,
    right: usize,
}

/// Judges the group's closed questions that got a member's link to documentation, as of today.
///
/// # Errors
/// GitLab, the database.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<Verdict> {
    Invocation::block_on(async {
        let world = invocation.world().await?;
        let bar = indicatif::ProgressBar::new(args.limit).with_message("closed issues");
        let replayed = replay(&world, args.limit, |at| bar.set_position(at)).await?;
        bar.finish_and_clear();
        let rows: Vec<Row> = RATES.into_iter().map(|rate| row(rate, &replayed)).collect();
        let proposed = propose(&rows);
        if args.json {
            print_json(&replayed, &rows, proposed);
        } else {
            print_table(&replayed, &rows, proposed);
        }
        world.store.close().await;
        Ok(Verdict::Fine)
    })
}

fn row(rate: f32, replayed: &[Replayed]) -> Row {
    let policy = Policy::promising(rate);
    // What is no question was not replayed.
    let answers = |r: &&Replayed| matches!(decide(&policy, 1.0, &[r.judged]), Decision::Answer(_));
    let answered = replayed.iter().filter(answers);
    Row { rate, answered: answered.clone().count(), right: answered.filter(|r| r.right).count() }
}

/// The largest rate whose promise held here, on enough answers to say so.
fn propose(rows: &[Row]) -> Option<f32> {
    let held = |row: &&Row| {
        row.answered >= 10 && (row.answered - row.right) as f32 <= row.rate * row.answered as f32
    };
    rows.iter().rev().find(held).map(|row| row.rate)
}

fn share(part: usize, whole: usize) -> Option<f32> {
    (whole > 0).then(|| part as f32 / whole as f32)
}

fn print_json(replayed: &[Replayed], rows: &[Row], proposed: Option<f32>) {
    let rows: Vec<_> = rows
        .iter()
        .map(|r| {
            json!({
                "max_wrong": r.rate, "answered": r.answered, "right": r.right,
                "precision": share(r.right, r.answered), "coverage": share(r.right, replayed.len()),
            })
        })
        .collect();
    println!("{}", json!({ "questions": replayed.len(), "rows": rows, "proposed_max_wrong": proposed }));
}

fn print_table(replayed: &[Replayed], rows: &[Row], proposed: Option<f32>) {
    println!("{} closed questions have a member's link to documentation", replayed.len());
    println!("max_wrong  answered  right  precision  coverage");
    for r in rows {
        let percent = |share: Option<f32>| share.map_or("-".into(), |s| format!("{:.0} %", s * 100.0));
        println!(
            "{:>9}  {:>8}  {:>5}  {:>9}  {:>8}",
            r.rate,
            r.answered,
            r.right,
            percent(share(r.right, r.answered)),
            percent(share(r.right, replayed.len()))
        );
    }
    match proposed {
        Some(rate) => println!("proposed: answer.max_wrong = {rate}"),
        None => println!("too few answers to propose a max_wrong; the default stands"),
    }
}
