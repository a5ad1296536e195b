//! `signpost explain ISSUE_URL`: every candidate and why it fell.

use anyhow::Context;
use serde_json::Value;

use crate::answer;
use crate::cli::Verdict;
use crate::cli::invocation::Invocation;
use crate::gitlab::ProjectRef;
use crate::reference::ProjectPath;
use crate::store::queue::Place;

/// Arguments of `signpost explain`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Address of the issue.
    pub issue_url: String,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Judges the issue as of now, without posting, and prints what was decided before.
///
/// # Errors
/// The address is none of this instance's issues, or GitLab or the database cannot be reached.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<Verdict> {
    Invocation::block_on(async {
        let world = invocation.world().await?;
        let (path, iid) = parse(&args.issue_url, world.config.gitlab.url.as_str())
            .context("this is no address of an issue: give it as …/group/project/-/issues/12")?;
        let project = world
            .gitlab
            .project(ProjectRef::Path(path))
            .await?
            .context("there is no such project, or not for this token")?;
        let place = Place::thread(project.id, iid);
        let now = answer::explain(&world, place).await?;
        let trail = world.store.trail(place).await?;
        if args.json {
            let past: Vec<Value> =
                trail.into_iter().map(|(at, body)| serde_json::json!({ "at": at, "entry": body })).collect();
            println!("{}", serde_json::json!({ "now": now, "trail": past }));
        } else {
            print_now(&now);
            for (at, body) in trail {
                let time =
                    chrono::DateTime::from_timestamp_millis(at).map(|t| t.to_rfc3339()).unwrap_or_default();
                println!("{time}  {}  {}", body["outcome"].as_str().unwrap_or("?"), acts(&body));
            }
        }
        world.store.close().await;
        Ok(Verdict::Fine)
    })
}

fn acts(body: &Value) -> String {
    let words = body["acts"].as_array().into_iter().flatten().filter_map(|act| act["did"].as_str());
    words.collect::<Vec<_>>().join(", ")
}

fn print_now(now: &Value) {
    match (now["decision"].as_str(), now["why"].as_str()) {
        (decision, Some(why)) => {
            println!("as of now: {}, because it is {}", decision.unwrap_or("?"), because(why))
        }
        (decision, None) => println!("as of now: {}", decision.unwrap_or("?")),
    }
    if let Some(state) = now["record"]["state"].as_str() {
        let kind = now["record"]["kind"].as_str().map(|kind| format!(" ({kind})")).unwrap_or_default();
        println!("on record: {state}{kind}");
    }
    match (now["gate"].as_f64(), now["threshold"].as_f64()) {
        (Some(gate), Some(threshold)) => {
            let score = now["score"].as_f64().unwrap_or(0.0);
            println!(
                "a question with probability {gate:.2}; covered with probability {score:.2}, an answer from {threshold:.2} on"
            );
        }
        (Some(gate), None) => println!("not a question: probability {gate:.2}"),
        (None, _) => {}
    }
    for reference in now["references"].as_array().into_iter().flatten() {
        // An address that led nowhere is a stranger's text, so it is known by its hash.
        let hash: String = reference["hash"].as_str().unwrap_or_default().chars().take(8).collect();
        let targets = reference["targets"].as_array().into_iter().flatten();
        let paths: Vec<&str> = targets.filter_map(|target| target["path"].as_str()).collect();
        let became = match reference["fell"].as_str() {
            Some(check) => format!("fell at {check}"),
            None => format!("leads to {}", paths.join(", ")),
        };
        println!("  points at  {} {hash}  {became}", reference["kind"].as_str().unwrap_or("?"));
    }
    for candidate in now["candidates"].as_array().into_iter().flatten() {
        let place = match (candidate["path"].as_str(), candidate["lines"].as_array()) {
            (Some(path), Some(lines)) if lines.len() == 2 => format!("{path}:{}-{}", lines[0], lines[1]),
            (Some(path), _) => path.to_owned(),
            _ => candidate["kind"].as_str().unwrap_or("").to_owned(),
        };
        let verdict = match (candidate["fell"].as_str(), candidate["probability"].as_f64()) {
            (Some(check), Some(p)) => format!("fell at {check}, probability {p:.2}"),
            (Some(check), None) => format!("fell at {check}"),
            (None, Some(p)) => format!("probability {p:.2}"),
            (None, None) => String::new(),
        };
        println!("  {:<10} {place}  {verdict}", candidate["from"].as_str().unwrap_or("?"));
    }
}

/// Why a thread gets nothing, for a person.
fn because(why: &str) -> &str {
    match why {
        "gone" => "not there, or not for this token",
        "opted_out" => "kept out by its label",
        "moved" => "moved to another project",
        "other_type" => "no issue, task or incident",
        "bot" => "written by a bot, or by the bot's own user",
        "audience" => "in a project whose readers cannot be told",
        "outside_group" => "outside the group",
        other => other,
    }
}

/// Project path and number from an issue's address on this instance.
pub(super) fn parse(url: &str, instance: &str) -> Option<(ProjectPath, u64)> {
    let rest = url.strip_prefix(instance.trim_end_matches('/'))?.trim_start_matches('/');
    let rest = rest.split(['?', '#']).next()?;
    let (path, item) = rest.split_once("/-/")?;
    let (kind, iid) = item.split_once('/')?;
    let iid = iid.trim_end_matches('/').parse().ok()?;
    matches!(kind, "issues" | "work_items").then_some((ProjectPath::parse(path)?, iid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_issues() {
        let of = |url: &str| {
            parse(url, "https://gitlab.example.com/").map(|(p, iid)| (p.as_str().to_owned(), iid))
        };
        let found = Some(("acme/api".to_owned(), 7));
        assert_eq!(of("https://gitlab.example.com/acme/api/-/issues/7"), found);
        assert_eq!(of("https://gitlab.example.com/acme/api/-/work_items/7#note_3"), found);
        assert_eq!(of("https://gitlab.example.com/acme/api/-/merge_requests/7"), None);
        assert_eq!(of("https://elsewhere.example.com/acme/api/-/issues/7"), None);
    }
}
