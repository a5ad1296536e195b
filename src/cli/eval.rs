//! `signpost eval`: retrieval, judgement and the question gate, measured on labelled cases.

mod cases;

use std::path::PathBuf;

use anyhow::ensure;

use crate::cli::Verdict;
use crate::cli::folder::Folder;
use crate::cli::local::Local;
use crate::search::Tuning;
use cases::{Case, Label, Names};

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
    /// Print every case, and the files that were skipped.
    #[arg(long)]
    verbose: bool,
}

struct Set {
    name: String,
    local: Local,
    names: Names,
    cases: Vec<Case>,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<Verdict> {
    ensure!(args.corpus.len() == args.cases.len(), "give one --corpus for every --cases");
    if let Ok(tune) = std::env::var("SIGNPOST_TUNE") {
        return tuned(&args, &tune);
    }
    let mut all = Vec::new();
    for (corpus, cases) in args.corpus.iter().zip(&args.cases) {
        let folder = Folder::read(corpus)?;
        let names = Names::of(&folder);
        let set = Set {
            name: corpus.display().to_string(),
            local: Local::index(folder, Tuning::default())?,
            names,
            cases: cases::read(cases)?,
        };
        let mut ranks = Vec::new();
        for case in set.cases.iter().filter(|case| case.kind == Label::Answerable) {
            let question = case.question();
            let found = set.local.find(&question, None, 20)?;
            let rank = found.iter().position(|hit| {
                let (file, section) = set.local.place(hit.id).expect("the index holds only sections of the folder");
                case.expects(&set.names.at(file.path.as_str(), section.lines.first))
            });
            if args.verbose {
                println!("{} {:?}", case.id, rank);
            }
            ranks.push(rank);
        }
        report(&set.name, set.local.len(), &ranks);
        all.extend(ranks);
    }
    report("all", 0, &all);
    Ok(Verdict::Fine)
}

fn report(name: &str, sections: usize, ranks: &[Option<usize>]) {
    let n = ranks.len() as f32;
    let hit = |k: usize| ranks.iter().filter(|rank| rank.is_some_and(|rank| rank < k)).count() as f32 / n;
    let mrr = ranks.iter().flatten().map(|rank| 1.0 / (*rank as f32 + 1.0)).sum::<f32>() / n;
    println!("{name} {sections}: hit1 {:.3} hit3 {:.3} hit10 {:.3} hit20 {:.3} mrr {mrr:.3}", hit(1), hit(3), hit(10), hit(20));
}

fn tuned(args: &Args, tune: &str) -> anyhow::Result<Verdict> {
    let mut sets = Vec::new();
    for (corpus, cases) in args.corpus.iter().zip(&args.cases) {
        let folder = Folder::read(corpus)?;
        let names = Names::of(&folder);
        sets.push((Local::index(folder, Tuning::default())?, names, cases::read(cases)?));
    }
    for config in tune.split(';') {
        let mut t = Tuning::default();
        for kv in config.split(',').filter(|kv| kv.contains('=')) {
            let (k, v) = kv.split_once('=').unwrap();
            let v: f32 = v.parse().unwrap();
            match k {
                "title" => t.places.title = v, "asking" => t.places.asking = v, "telling" => t.places.telling = v,
                "code" => t.places.code = v, "listing" => t.places.listing = v, "message" => t.places.message = v,
                "noise" => t.places.noise = v, "btitle" => t.boosts.title = v, "bpath" => t.boosts.path = v,
                "bbody" => t.boosts.body = v, "bnames" => t.boosts.names = v, "bfile" => t.boosts.file = v,
                "bcode" => t.boosts.code = v, "bpage" => t.boosts.page = v,
                _ => panic!("{k}"),
            }
        }
        let mut all = Vec::new();
        let mut per = Vec::new();
        for (local, names, cases) in &mut sets {
            local.retune(t.clone());
            let mut ranks = Vec::new();
            for case in cases.iter().filter(|case| case.kind == Label::Answerable) {
                let found = local.find(&case.question(), None, 20)?;
                ranks.push(found.iter().position(|hit| {
                    let (file, section) = local.place(hit.id).unwrap();
                    case.expects(&names.at(file.path.as_str(), section.lines.first))
                }));
            }
            per.push(ranks.iter().filter(|r| r.is_some_and(|r| r < 3)).count());
            all.extend(ranks);
        }
        report(&format!("{config} {per:?}"), 0, &all);
    }
    Ok(Verdict::Fine)
}
