//! `signpost ask`: a question put to the group's corpus, or to a folder of files without GitLab. Nothing is posted.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use serde_json::{Value, json};

use crate::answer::consult;
use crate::cli::Verdict;
use crate::cli::folder::Folder;
use crate::cli::invocation::Invocation;
use crate::cli::local::{Indexing, Local};
use crate::cli::vectors::Cache;
use crate::gitlab::ProjectRef;
use crate::judge::{Decision, GapKind, Judge, Judged, Policy, decide};
use crate::prose::{Prose, Question};
use crate::reference::ProjectPath;
use crate::search::Tuning;
use crate::target::corpus::{Audience, Refusal};

/// The share that a configuration without `answer.max_wrong` promises.
const MAX_WRONG: f32 = 0.05;

/// Arguments of `signpost ask`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The question, as the title of an issue would put it.
    title: String,
    /// The description of the issue; `-` reads it from standard input.
    #[arg(long, value_name = "TEXT|-", allow_hyphen_values = true)]
    description: Option<String>,
    /// A folder of files that stands for the corpus; without it the configured group is asked, as it was last read.
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// The project in which the question would be asked: what its readers may see is searched; without it, what everybody
    /// may. With a folder, the name of the project that it stands for.
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// The promised share of wrong answers among those given; by default the configured one, with a folder 0.05.
    #[arg(long, value_name = "SHARE", value_parser = crate::cli::share)]
    max_wrong: Option<f32>,
    /// A file that keeps the vectors of all sections between runs; without it only what the words find is compared
    /// by vectors.
    #[arg(long, value_name = "FILE")]
    vectors: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// The folder cannot be read; or the configuration, the database or GitLab, or there is no such project.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<Verdict> {
    let description = match args.description.as_deref() {
        Some("-") => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("cannot read the description")?;
            text
        }
        given => given.unwrap_or_default().to_owned(),
    };
    let question = Question::new(&Prose::from(args.title.clone()), &Prose::from(description));
    let report = match &args.corpus {
        Some(corpus) => of_folder(&args, corpus, &question)?,
        None => Invocation::block_on(of_group(&args, &Arc::new(question), invocation))?,
    };
    match args.json {
        true => println!("{report:#}"),
        false => print(&report),
    }
    Ok(Verdict::Fine)
}

/// What the configured group's corpus says.
async fn of_group(args: &Args, question: &Arc<Question>, invocation: &Invocation) -> anyhow::Result<Value> {
    let world = invocation.world().await?;
    let audience = match &args.project {
        Some(name) => {
            let path = ProjectPath::parse(name).with_context(|| format!("{name} is no path of a project"))?;
            let project = world.gitlab.project(ProjectRef::Path(path)).await?;
            let project =
                project.with_context(|| format!("there is no project {name}, or not for this token"))?;
            let refused =
                |why: Refusal| anyhow::anyhow!("questions in {name} are not answered: {}", why.name());
            world.corpus.admit_thread(&project).map_err(refused)?
        }
        None => Audience::everybody(),
    };
    let policy = Policy::promising(args.max_wrong.unwrap_or(world.config.answer.max_wrong));
    let consulted = consult(&world, &audience, question, &policy).await?;
    world.store.close().await;
    let citations =
        consulted.answer.iter().flat_map(|answer| std::iter::once(answer.best()).chain(answer.further()));
    let targets: Vec<Value> = citations
        .map(|citation| {
            let place = citation.blob.place();
            json!({
                "project": place.project().path.as_str(), "path": place.path().as_str(),
                "anchor": citation.section.anchor, "lines": [citation.lines.first, citation.lines.last],
                "score": citation.score, "quote": &citation.blob.text()[citation.bytes.clone()],
            })
        })
        .collect();
    let place = |key: u64| {
        let (place, _) = consulted.judged.iter().find(|(_, judged)| judged.key == key)?;
        Some((place.path.clone(), place.anchor.clone(), place.lines))
    };
    let judged: Vec<Judged> = consulted.judged.iter().map(|(_, judged)| *judged).collect();
    let told = Told { kind: consulted.kind, judged: &judged, decision: &consulted.decision, targets };
    Ok(report(told, &policy, place))
}

/// What a folder of files says.
fn of_folder(args: &Args, corpus: &Path, question: &Question) -> anyhow::Result<Value> {
    let mut cache = args.vectors.as_deref().map(Cache::open).transpose()?;
    let dense = cache.is_some();
    let how = Indexing { tuning: Tuning::default(), cache: cache.as_mut(), dense };
    let mut local = Local::index(Folder::read(corpus)?, Judge::load(), how)?;
    if let Some(cache) = &cache {
        cache.save()?;
    }
    if !dense {
        local.shortlist(question)?;
    }
    let answer = local.ask(question, &[], "issue")?;
    let policy = Policy::promising(args.max_wrong.unwrap_or(MAX_WRONG));
    let decision = decide(&policy, answer.kind, &answer.judged);
    let keys = if let Decision::Answer(keys) = &decision { keys.clone() } else { Vec::new() };
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
            if let Some(project) = &args.project {
                target["project"] = json!(project);
            }
            Some(target)
        })
        .collect();
    let place = |key: u64| {
        let (file, section) = local.place(key);
        Some((
            file.path.as_str().to_owned(),
            section.anchor.clone(),
            (section.lines.first, section.lines.last),
        ))
    };
    Ok(report(
        Told { kind: answer.kind, judged: &answer.judged, decision: &decision, targets },
        &policy,
        place,
    ))
}

/// What is to be told of a question.
struct Told<'a> {
    kind: f32,
    judged: &'a [Judged],
    decision: &'a Decision,
    targets: Vec<Value>,
}

/// Path, anchor and lines of a judged section.
type At = (String, Option<String>, (u32, u32));

/// The outcome in the form of the contract: decision, question, score, targets, reasons. Reasons are numbers and
/// fixed words, never the question's own.
fn report(told: Told<'_>, policy: &Policy, place: impl Fn(u64) -> Option<At>) -> Value {
    let name = match told.decision {
        Decision::Answer(_) => "answer",
        Decision::Gap { .. } => "gap",
        Decision::Silent => "silent",
    };
    let mut reasons = vec![
        format!(
            "question gate {:.3}: answers from {:.3}, labels from {:.3}",
            told.kind, policy.question, policy.label
        ),
        format!(
            "{} sections read; there is an answer from {:.3}, and a section is quoted from {:.3}",
            told.judged.len(),
            policy.cover,
            policy.quote
        ),
    ];
    match told.decision {
        Decision::Gap { kind: GapKind::Missing, .. } => {
            reasons.push("gap: nothing near it is documented".to_owned())
        }
        Decision::Gap { kind: GapKind::Near, .. } => {
            reasons.push("gap: the topic is documented, the asked fact was not found".to_owned());
        }
        Decision::Answer(_) if told.targets.is_empty() => {
            reasons.push("what was found is not there any more: the corpus is to be read again".to_owned());
        }
        _ => {}
    }
    for judged in told.judged.iter().take(5) {
        let Some((path, anchor, (first, last))) = place(judged.key) else { continue };
        let anchor = anchor.map_or(String::new(), |anchor| format!("#{anchor}"));
        reasons.push(format!(
            "{path}{anchor} lines {first}-{last}: probability {:.3}, reader {:.2}, cosine {:.3}, words {:.2}, terms {:.2}",
            judged.probability, judged.reader, judged.cosine, judged.lexical, judged.coverage,
        ));
    }
    json!({
        "decision": name, "question": told.kind >= policy.question,
        "score": told.judged.first().map_or(0.0, |best| best.together), "targets": told.targets, "reasons": reasons,
    })
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
