//! `signpost check`: each fault by name with its cure.

mod database;
mod hook;
mod remote;

use std::time::Duration;

use serde::Serialize;

use crate::cli::Verdict;
use crate::cli::invocation::Invocation;
use crate::config::{Config, Secrets};

/// The whole look at GitLab takes no longer than this, whatever GitLab does.
const PATIENCE: Duration = Duration::from_secs(30);

/// Arguments of `signpost check`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// It is well.
    Ok,
    /// It may be well; look at it.
    Warning,
    /// It is not.
    Fault,
}

/// One line of the report.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The stable name of what was looked at.
    pub name: &'static str,
    /// How bad it is.
    pub level: Level,
    /// What was seen.
    pub what: String,
    /// What to do about it; empty when all is well.
    pub cure: String,
}

/// Collects findings.
#[derive(Default)]
struct Report(Vec<Finding>);

impl Report {
    fn ok(&mut self, name: &'static str, what: impl Into<String>) {
        self.0.push(Finding { name, level: Level::Ok, what: what.into(), cure: String::new() });
    }
    fn warn(&mut self, name: &'static str, what: impl Into<String>, cure: impl Into<String>) {
        self.0.push(Finding { name, level: Level::Warning, what: what.into(), cure: cure.into() });
    }
    fn fault(&mut self, name: &'static str, what: impl Into<String>, cure: impl Into<String>) {
        self.0.push(Finding { name, level: Level::Fault, what: what.into(), cure: cure.into() });
    }
}

/// Looks at everything and prints what it finds; exit code 1 on any fault.
///
/// # Errors
/// The configuration cannot be read.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<Verdict> {
    let (config, secrets) = invocation.load()?;
    let findings = Invocation::block_on(async { Ok(look(&config, &secrets).await) })?;
    let faults = findings.iter().filter(|f| f.level == Level::Fault).count();
    if args.json {
        println!("{}", serde_json::json!({ "faults": faults, "findings": findings }));
    } else {
        for finding in &findings {
            let mark = match finding.level {
                Level::Ok => "ok     ",
                Level::Warning => "warning",
                Level::Fault => "FAULT  ",
            };
            println!("{mark}  {:<16} {}", finding.name, finding.what);
            if !finding.cure.is_empty() {
                println!("         {:<16} → {}", "", finding.cure);
            }
        }
        println!("{}", if faults == 0 { "no fault".to_owned() } else { format!("{faults} faults") });
    }
    Ok(if faults == 0 { Verdict::Fine } else { Verdict::Wrong })
}

async fn look(config: &Config, secrets: &Secrets) -> Vec<Finding> {
    let mut report = Report::default();
    if let Err(error) = secrets.require_for_serve(config) {
        report.fault(
            "secrets",
            error.to_string(),
            "set the variable, in the environment or as a file with …_FILE",
        );
    }
    let remembered = database::look(config, &mut report).await;
    match Invocation::gitlab(config, secrets) {
        Ok(gitlab) => {
            let looked = tokio::time::timeout(
                PATIENCE,
                remote::look(config, secrets, &gitlab, remembered, &mut report),
            )
            .await;
            if looked.is_err() {
                report.fault(
                    "gitlab",
                    format!("{} does not answer in time", config.gitlab.url),
                    "check gitlab.url and the network; what is not listed here was not looked at",
                );
            }
        }
        Err(error) => report.fault("token", error.to_string(), "set SIGNPOST_GITLAB_TOKEN"),
    }
    report.0
}
