//! `signpost ask`: a question put to a folder of files, without GitLab.

use std::io::Read;
use std::path::PathBuf;

use anyhow::{Context, bail};
use serde_json::{Value, json};

use crate::cli::Verdict;
use crate::cli::folder::Folder;
use crate::cli::local::{Answer, Indexing, Local};
use crate::cli::vectors::Cache;
use crate::judge::{Decision, GapKind, Judge, Policy, decide};
use crate::prose::{Prose, Question};
use crate::search::Tuning;

/// Arguments of `signpost ask`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The question, as the title of an issue would put it.
    title: String,
    /// The description of the issue; `-` reads it from standard input.
    #[arg(long, value_name = "TEXT|-", allow_hyphen_values = true)]
    description: Option<String>,
    /// A folder of files that stands for the corpus.
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// The name of the project that the folder stands for; paths are shown below it.
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// The promised share of wrong answers among those given.
    #[arg(long, default_value_t = 0.05, value_name = "SHARE", value_parser = crate::cli::share)]
    max_wrong: f32,
    /// A file that keeps the vectors of all sections between runs; without it only what the words find is compared
    /// by vectors.
    #[arg(long, value_name = "FILE")]
    vectors: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<Verdict> {
    let Some(corpus) = &args.corpus else { bail!("say where to look with --corpus DIR") };
    let description = match args.description.as_deref() {
        Some("-") => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("cannot read the description")?;
            text
        }
        given => given.unwrap_or_default().to_owned(),
    };
    let question = Question::new(&Prose::from(args.title.clone()), &Prose::from(description));
    let mut cache = args.vectors.as_deref().map(Cache::open).transpose()?;
    let dense = cache.is_some();
    let how = Indexing { tuning: Tuning::default(), cache: cache.as_mut(), dense };
    let mut local = Local::index(Folder::read(corpus)?, Judge::load(), how)?;
    if let Some(cache) = &cache {
        cache.save()?;
    }
    if !dense {
        local.shortlist(&question)?;
    }
    let answer = local.ask(&question, &[], "issue")?;
    let report =
        report(&local, &question, &answer, &Policy::promising(args.max_wrong), args.project.as_deref());
    match args.json {
        true => println!("{report:#}"),
        false => print(&report),
    }
    Ok(Verdict::Fine)
}

/// The outcome in the form of the contract: decision, question, score, targets, reasons. Reasons are numbers and
/// fixed words, never the question's own.
fn report(
    local: &Local,
    question: &Question,
    answer: &Answer,
    policy: &Policy,
    project: Option<&str>,
) -> Value {
    let decision = decide(policy, answer.kind, &answer.judged);
    let best = answer.judged.first().map_or(0.0, |best| best.probability);
    let (name, keys) = match &decision {
        Decision::Answer(keys) => ("answer", keys.clone()),
        Decision::Gap { .. } => ("gap", Vec::new()),
        Decision::Silent => ("silent", Vec::new()),
    };
    let targets: Vec<Value> = keys
        .iter()
        .filter_map(|&key| {
            let (file, section) = local.place(key);
            let quote = local.quote(question, key)?;
            let judged = answer.judged.iter().find(|judged| judged.key == key)?;
            let mut target = json!({
                "path": file.path, "anchor": section.anchor, "lines": [quote.lines.first, quote.lines.last],
                "score": judged.probability, "quote": &file.text[quote.bytes],
            });
            if let Some(project) = project {
                target["project"] = json!(project);
            }
            Some(target)
        })
        .collect();
    json!({
        "decision": name, "question": answer.kind >= policy.question, "score": best, "targets": targets,
        "reasons": reasons(local, answer, policy, &decision),
    })
}

fn reasons(local: &Local, answer: &Answer, policy: &Policy, decision: &Decision) -> Vec<String> {
    let mut reasons = vec![
        format!(
            "question gate {:.3}: answers from {:.3}, labels from {:.3}",
            answer.kind, policy.question, policy.label
        ),
        format!(
            "{} sections found, {} read; a section answers from {:.3}",
            answer.found.len(),
            answer.judged.len(),
            policy.cover
        ),
    ];
    if let Decision::Gap { kind, .. } = decision {
        reasons.push(match kind {
            GapKind::Missing => "gap: nothing near it is documented".to_owned(),
            GapKind::Near => "gap: the topic is documented, the asked fact was not found".to_owned(),
        });
    }
    for judged in answer.judged.iter().take(5) {
        let (file, section) = local.place(judged.key);
        let anchor = section.anchor.as_ref().map_or(String::new(), |anchor| format!("#{anchor}"));
        reasons.push(format!(
            "{}{anchor} lines {}-{}: probability {:.3}, reader {:.2}, cosine {:.3}, words {:.2}, terms {:.2}",
            file.path.as_str(),
            section.lines.first,
            section.lines.last,
            judged.probability,
            judged.reader,
            judged.cosine,
            judged.lexical,
            judged.coverage,
        ));
    }
    reasons
}

fn print(report: &Value) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    println!("{} (score {:.3})", text(&report["decision"]), report["score"].as_f64().unwrap_or(0.0));
    for target in report["targets"].as_array().into_iter().flatten() {
        let anchor = target["anchor"].as_str().map_or(String::new(), |anchor| format!("#{anchor}"));
        let lines = &target["lines"];
        println!("\n{}{anchor} lines {}-{}\n", text(&target["path"]), lines[0], lines[1]);
        for row in text(&target["quote"]).lines() {
            println!("    {row}");
        }
    }
    println!();
    for reason in report["reasons"].as_array().into_iter().flatten() {
        println!("{}", text(reason));
    }
}
