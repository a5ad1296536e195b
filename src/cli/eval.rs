//! `signpost eval`: retrieval, judgement and the question gate, measured on labelled cases.

mod cases;
mod figures;
mod fit;
mod trial;

use std::path::PathBuf;

use anyhow::ensure;
use serde_json::{Value, json};

use crate::cli::Verdict;
use crate::cli::folder::Folder;
use crate::cli::local::{Indexing, Local};
use crate::cli::vectors::Cache;
use crate::judge::{Judge, Policy};
use crate::search::Tuning;
use cases::{Case, Names};
use figures::Figures;
use trial::Trial;

/// Arguments of `signpost eval`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// A folder that stands for the corpus; one for each `--cases`, in the same order.
    #[arg(long, required = true, value_name = "DIR")]
    corpus: Vec<PathBuf>,
    /// Labelled cases, one JSON object a line.
    #[arg(long, required = true, value_name = "FILE")]
    cases: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Print every case, and the files that were skipped with the reason.
    #[arg(long)]
    verbose: bool,
    /// The promised share of wrong answers among those given.
    #[arg(long, default_value_t = 0.05, value_name = "SHARE", value_parser = crate::cli::share)]
    max_wrong: f32,
    /// Fit the thresholds and the weights of the search on all sets but one, and measure on that one; needs two
    /// sets or more.
    #[arg(long)]
    leave_one_out: bool,
    /// Search by words alone and do not judge: figures of retrieval, in seconds.
    #[arg(long)]
    lexical: bool,
    /// Compare by vectors only what the words find: quicker, and a little worse.
    #[arg(long, conflicts_with = "lexical")]
    shortlist: bool,
    /// A file that keeps vectors between runs.
    #[arg(long, value_name = "FILE")]
    vectors: Option<PathBuf>,
}

/// A corpus with its cases.
struct Set {
    name: String,
    local: Local,
    names: Names,
    cases: Vec<Case>,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<Verdict> {
    ensure!(args.corpus.len() == args.cases.len(), "give one --corpus for every --cases");
    ensure!(!args.leave_one_out || args.corpus.len() > 1, "--leave-one-out needs two sets or more");
    let mut sets = load(&args)?;
    let tunings =
        if args.leave_one_out { fit::tunings(&mut sets)? } else { vec![Tuning::default(); sets.len()] };
    let mut trials = Vec::new();
    for (set, tuning) in sets.iter_mut().zip(tunings) {
        set.local.retune(tuning);
        if args.shortlist {
            for case in &set.cases {
                set.local.shortlist(&case.question())?;
            }
        }
        trials.push(trial::all(set, args.lexical)?);
    }
    let policies = match args.leave_one_out {
        true => fit::policies(&trials, args.max_wrong),
        false => vec![Policy::promising(args.max_wrong); sets.len()],
    };
    let mut total = Figures::default();
    let mut rows = Vec::new();
    for ((set, trials), policy) in sets.iter().zip(&trials).zip(&policies) {
        let mut own = Figures::default();
        for trial in trials {
            own.count(trial, policy);
            total.count(trial, policy);
        }
        rows.push((set, own, *policy));
    }
    match args.json {
        true => println!("{:#}", report(&args, &rows, &total, &trials)),
        false => print(&args, &rows, &total, &trials),
    }
    Ok(Verdict::Fine)
}

fn load(args: &Args) -> anyhow::Result<Vec<Set>> {
    let judge = Judge::load();
    let mut cache = args.vectors.as_deref().map(Cache::open).transpose()?;
    let mut sets = Vec::new();
    for (corpus, cases) in args.corpus.iter().zip(&args.cases) {
        let folder = Folder::read(corpus)?;
        let names = Names::of(&folder);
        let how = Indexing {
            tuning: Tuning::default(),
            cache: cache.as_mut(),
            dense: !args.lexical && !args.shortlist,
        };
        let local = Local::index(folder, judge.clone(), how)?;
        anyhow::ensure!(!local.places.is_empty(), "there is no section in {}", corpus.display());
        sets.push(Set { name: corpus.display().to_string(), local, names, cases: cases::read(cases)? });
        if let Some(cache) = &cache {
            cache.save()?;
        }
    }
    Ok(sets)
}

type Row<'a> = (&'a Set, Figures, Policy);

fn report(args: &Args, rows: &[Row<'_>], total: &Figures, trials: &[Vec<Trial>]) -> Value {
    let mut whole = total.json();
    let sets = rows.iter().zip(trials).map(|((set, figures, policy), trials)| {
        let mut row = figures.json();
        row["corpus"] = json!(set.name);
        row["files"] = json!(set.local.folder.files.len());
        row["sections"] = json!(set.local.sections());
        row["threshold"] = json!(policy.cover);
        if args.verbose {
            row["cases"] = trials.iter().map(|trial| trial.json(policy)).collect();
            let skipped = set.local.folder.skipped.iter();
            row["skipped"] =
                skipped.map(|(path, why)| json!({"path": path, "why": why.to_string()})).collect();
        }
        row
    });
    whole["sets"] = sets.collect();
    whole
}

fn print(args: &Args, rows: &[Row<'_>], total: &Figures, trials: &[Vec<Trial>]) {
    for ((set, figures, policy), trials) in rows.iter().zip(trials) {
        println!(
            "{}: {} files, {} sections, {} cases, threshold {:.3}",
            set.name,
            set.local.folder.files.len(),
            set.local.sections(),
            trials.len(),
            policy.cover
        );
        if args.verbose {
            for (path, why) in &set.local.folder.skipped {
                println!("  skipped {path}: {why}");
            }
            for trial in trials {
                println!("  {}", trial.line(policy));
            }
        }
        println!("{figures}");
    }
    println!("all sets\n{total}");
}
