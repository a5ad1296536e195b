//! `signpost extract`: the references in a text, or a run over a file of cases.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::Value;

use crate::cli::Verdict;
use crate::prose::Prose;
use crate::prose::references::ExtractContext;
use crate::reference::{ProjectPath, Reference};

/// The instance that cases are about unless the command line names another.
const CASES_INSTANCE: &str = "https://gitlab.example.com";
/// The documentation site that cases are about unless the command line names another.
const CASES_DOCSITE: &str = "https://docs.example.com/";

/// Arguments of `signpost extract`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The GitLab instance whose URLs count.
    #[arg(long, value_name = "URL", required_unless_present = "cases")]
    instance: Option<String>,
    /// A documentation site whose URLs count; may be given several times.
    #[arg(long = "docsite", value_name = "URL")]
    docsites: Vec<String>,
    /// The project that the text stands in.
    #[arg(long, value_name = "GROUP/PROJECT", required_unless_present = "cases")]
    project: Option<String>,
    /// Run the cases in this file (one JSON object a line) instead of reading a text from standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "project")]
    cases: Option<PathBuf>,
    /// Accepted as everywhere: references are JSON in any case.
    #[arg(long, hide = true)]
    json: bool,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<Verdict> {
    match (&args.cases, &args.project) {
        (Some(file), _) => run_cases(file, &args),
        (None, Some(project)) => extract(project, &args),
        (None, None) => bail!("name the text's project with --project"),
    }
}

fn extract(project: &str, args: &Args) -> anyhow::Result<Verdict> {
    let project = ProjectPath::parse(project).with_context(|| format!("`{project}` is no project path"))?;
    let instance = args.instance.as_deref().context("name the instance with --instance")?;
    let context = ExtractContext::new(instance, args.docsites.iter().map(String::as_str), project)?;
    let mut text = Vec::new();
    std::io::stdin().lock().read_to_end(&mut text).context("cannot read standard input")?;
    let text = Prose::from(String::from_utf8_lossy(&text).into_owned());
    let mut out = std::io::stdout().lock();
    for reference in text.references(&context) {
        serde_json::to_writer(&mut out, &reference)?;
        writeln!(out)?;
    }
    Ok(Verdict::Fine)
}

/// One line of a cases file; fields that only people read are not read here.
#[derive(Deserialize)]
struct Case {
    id: String,
    context_project: String,
    markdown: String,
    expect: Vec<Value>,
    #[serde(default)]
    disputed: bool,
}

fn run_cases(file: &Path, args: &Args) -> anyhow::Result<Verdict> {
    let cases = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let instance = args.instance.as_deref().unwrap_or(CASES_INSTANCE);
    let docsites = match &args.docsites[..] {
        [] => vec![CASES_DOCSITE],
        named => named.iter().map(String::as_str).collect(),
    };
    let (mut passed, mut failed, mut disputed) = (0, 0, 0);
    for (number, line) in cases.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let at = || format!("{} line {}", file.display(), number + 1);
        let case: Case = serde_json::from_str(line).with_context(at)?;
        let project = ProjectPath::parse(&case.context_project).with_context(at)?;
        let context = ExtractContext::new(instance, docsites.iter().copied(), project)?;
        let found = values(&Prose::from(case.markdown.clone()).references(&context))?;
        if found == case.expect {
            passed += 1;
            continue;
        }
        failed += 1;
        disputed += usize::from(case.disputed);
        print_failure(&case, &found);
    }
    if disputed > 0 {
        println!("{disputed} of the failures are disputed cases");
    }
    println!("{passed} passed, {failed} failed");
    Ok(if failed == 0 { Verdict::Fine } else { Verdict::Wrong })
}

fn values(references: &[Reference]) -> anyhow::Result<Vec<Value>> {
    Ok(references.iter().map(serde_json::to_value).collect::<Result<_, _>>()?)
}

fn print_failure(case: &Case, found: &[Value]) {
    let mark = if case.disputed { " (disputed)" } else { "" };
    println!("{}{mark}\n  text     {:?}", case.id, case.markdown);
    for (name, list) in [("expected", &case.expect[..]), ("found   ", found)] {
        println!("  {name} {}", Value::from(list));
    }
}
