//! `signpost gaps`.

use std::io::Write as _;

use anyhow::{Context as _, bail};
use clap::{Subcommand, ValueEnum};
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

use crate::cli::Verdict;
use crate::cli::invocation::Invocation;
use crate::clock::Clock;
use crate::config::Config;
use crate::gaps::filter::Filter;
use crate::gaps::{Gap, Issue, Kind, Moment, State, cluster, csv, load};
use crate::reference::RepoPath;
use crate::store::Store;
use crate::store::question::Record;

/// Arguments of `signpost gaps`.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    /// How to print the list.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// The same as `--format json`.
    #[arg(long)]
    json: bool,
    /// Only entries in this state; without it the table shows the open ones, JSON and CSV all.
    #[arg(long, value_name = "STATE", value_parser = ["open", "dismissed", "closed", "all"])]
    state: Option<String>,
    /// Only entries asked in this project, or in the projects of this group.
    #[arg(long, value_name = "PATH")]
    project: Option<String>,
    /// Only entries of this kind.
    #[arg(long, value_name = "KIND", value_parser = ["missing", "near", "thread-only", "wrong-answer", "outdated"])]
    kind: Option<String>,
    /// Decide something by hand instead of listing; decisions are remembered.
    #[command(subcommand)]
    decision: Option<Decision>,
}

/// How the list is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Table,
    /// An array of objects; see docs/gaps.md.
    Json,
    /// For spreadsheets.
    Csv,
}

/// What people can decide.
#[derive(Subcommand, Debug)]
enum Decision {
    /// Two entries are the same question: the second becomes part of the first.
    Merge {
        /// The entry that stays.
        into: String,
        /// The entry that becomes part of it.
        other: String,
    },
    /// An issue is another question than its entry: it becomes an entry of its own.
    Split {
        /// The entry.
        id: String,
        /// The issue, as `group/project/12` or `group/project#12`; a project id stands for its path.
        #[arg(value_name = "PROJECT/IID")]
        issue: String,
    },
    /// An entry is no gap, whoever asks.
    Dismiss {
        /// The entry.
        id: String,
        /// Take the dismissal back.
        #[arg(long)]
        undo: bool,
    },
    /// Say on which page an entry is to be documented. The page need not exist yet.
    Assign {
        /// The entry.
        id: String,
        /// Path in the repository of the nearest page, or `group/project:path`.
        #[arg(value_name = "PAGE_PATH")]
        page: String,
    },
}

/// Prints the list, or writes a decision down.
///
/// # Errors
/// The configuration, the database, a name that names nothing.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<Verdict> {
    let (config, _) = invocation.load()?;
    let text = Invocation::block_on(async {
        let store = Store::open(&config.database.url).await?;
        let outcome = answer(&args, &config, &store, &Clock::System).await;
        store.close().await;
        outcome
    })?;
    // A reader that has seen enough (`head`) is no fault.
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(Verdict::Fine),
    }
}

/// What the command prints.
async fn answer(args: &Args, config: &Config, store: &Store, clock: &Clock) -> anyhow::Result<String> {
    let now = clock.now();
    let mut gaps = load::current(store, config, now).await?;
    if let Some(decision) = &args.decision {
        return Hand { store, gaps, now }.decide(decision).await;
    }
    let format = if args.json { Format::Json } else { args.format };
    let state = args.state.as_deref().unwrap_or(if format == Format::Table { "open" } else { "all" });
    let filter = Filter {
        project: args.project.clone(),
        kind: args.kind.as_deref().and_then(Kind::parse),
        state: State::parse(state),
        ..Filter::default()
    };
    gaps.retain(|gap| filter.matches(gap, now));
    Ok(match format {
        Format::Table if gaps.is_empty() => "No entry.\n".to_owned(),
        Format::Table => table(&gaps),
        Format::Json => serde_json::to_string_pretty(&gaps)? + "\n",
        Format::Csv => csv::write(&gaps),
    })
}

fn table(gaps: &[Gap]) -> String {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header([
        "Entry",
        "State",
        "Kind",
        "Score",
        "Asked by",
        "Votes",
        "Last",
        "Where to document it",
        "Issues",
    ]);
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    for gap in gaps {
        table.add_row([
            Cell::new(&gap.id),
            Cell::new(gap.state.word()),
            Cell::new(gap.kind.word()),
            right(format!("{:.2}", gap.score)),
            right(gap.askers.to_string()),
            right(gap.votes.to_string()),
            Cell::new(gap.last_seen.day()),
            Cell::new(page(gap)),
            Cell::new(issues(gap)),
        ]);
    }
    format!("{table}\n")
}

/// The nearest page, and why it did not answer.
fn page(gap: &Gap) -> String {
    let Some(nearest) = &gap.nearest else { return "–".into() };
    let why =
        gap.why.map(|why| format!("\n{:.2} of {:.2}", why.best_score, why.threshold)).unwrap_or_default();
    printable(&format!("{}: {}", nearest.project, nearest.path)) + &why
}

/// The newest issues.
fn issues(gap: &Gap) -> String {
    let mut lines: Vec<String> = gap.issues.iter().take(3).map(Issue::reference).collect();
    if let Some(more @ 1..) = gap.issues.len().checked_sub(3) {
        lines.push(format!("and {more} more"));
    }
    lines.join("\n")
}

/// A path without what a terminal would obey.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

struct Hand<'a> {
    store: &'a Store,
    gaps: Vec<Gap>,
    now: crate::clock::Millis,
}

impl Hand<'_> {
    async fn decide(&self, decision: &Decision) -> anyhow::Result<String> {
        match decision {
            Decision::Merge { into, other } => self.merge(into, other).await,
            Decision::Split { id, issue } => self.split(id, issue).await,
            Decision::Dismiss { id, undo } => self.dismiss(id, *undo).await,
            Decision::Assign { id, page } => self.assign(id, page).await,
        }
    }

    /// The entry that is listed as `id`, or was before it became part of another.
    async fn entry(&self, id: &str) -> anyhow::Result<&Gap> {
        let hand = self.store.gap_decisions().await?;
        let names = cluster::Names::of(&hand);
        let root = names.root(id);
        let found = self.gaps.iter().find(|gap| gap.id == root);
        found.with_context(|| format!("there is no entry `{id}`; `signpost gaps --state all` lists them"))
    }

    async fn merge(&self, into: &str, other: &str) -> anyhow::Result<String> {
        let (into, other) = (self.entry(into).await?, self.entry(other).await?);
        if into.id == other.id {
            bail!("both are entry {} already", into.id);
        }
        self.store.merge_gap(&other.id, &into.id, self.now).await?;
        Ok(format!("{} is part of {} now\n", other.id, into.id))
    }

    async fn split(&self, id: &str, issue: &str) -> anyhow::Result<String> {
        let gap = self.entry(id).await?;
        let found: Vec<&Issue> = gap.issues.iter().filter(|candidate| names(issue, candidate)).collect();
        let Some(first) = found.first() else {
            bail!("entry {} has no issue `{issue}`; it has {}", gap.id, issues(gap).replace('\n', ", "));
        };
        if found.len() == gap.issues.len() {
            bail!("{} is all there is of entry {}", first.reference(), gap.id);
        }
        let keys: Vec<String> = found.iter().map(|issue| key(issue)).collect();
        let founder = Record::new(first.place(), &keys[0], 0, 0, String::new(), self.now);
        let hand = self.store.gap_decisions().await?;
        let mut taken: std::collections::HashSet<String> =
            self.gaps.iter().map(|gap| gap.id.clone()).collect();
        taken.extend(hand.merges.into_iter().flat_map(|(from, into)| [from, into]));
        taken.extend(hand.members.into_iter().map(|(_, _, id)| id));
        let new = cluster::found(&founder, &taken);
        self.store.move_questions(first.place(), &keys, &new, self.now).await?;
        Ok(format!("{} is entry {new} now\n", first.reference()))
    }

    async fn dismiss(&self, id: &str, undo: bool) -> anyhow::Result<String> {
        let id = &self.entry(id).await?.id;
        if undo {
            self.store.reopen_gap(id).await?;
            return Ok(format!("{id} is a gap again while one of its questions waits\n"));
        }
        self.store.dismiss_gap(id, self.now).await?;
        Ok(format!("{id} is dismissed since {}\n", Moment(self.now).day()))
    }

    async fn assign(&self, id: &str, page: &str) -> anyhow::Result<String> {
        let gap = self.entry(id).await?;
        let projects = self.store.projects().await?;
        let project = match page.split_once(':') {
            Some((path, _)) => {
                let named = |row: &&crate::store::corpus::ProjectRow| {
                    row.project.path.as_str().eq_ignore_ascii_case(path)
                };
                projects
                    .iter()
                    .find(named)
                    .with_context(|| format!("there is no project `{path}` in the group"))?
            }
            None => {
                let nearest = gap.nearest.as_ref().map(|nearest| nearest.project_id);
                let id = nearest.or(gap.issues.first().map(|issue| issue.project_id));
                let known = projects.iter().find(|row| Some(row.project.id) == id);
                known.context("say in which project the page lies: `group/project:path`")?
            }
        };
        let name = project.project.path.as_str();
        if let Some(refusal) = &project.refusal {
            bail!("{name} is not in the corpus ({refusal}), so no page of it will ever be quoted");
        }
        let path = page.split_once(':').map_or(page, |(_, path)| path);
        let path = RepoPath::parse(path).with_context(|| format!("`{path}` is no path in a repository"))?;
        self.store.assign_gap(&gap.id, project.project.id, path.as_str(), self.now).await?;
        Ok(format!("{} is to be documented in {name}: {}\n", gap.id, printable(path.as_str())))
    }
}

/// Whether `text` names the thread of `issue`.
fn names(text: &str, issue: &Issue) -> bool {
    let Some((project, iid)) = text.rsplit_once(['#', '/']) else { return false };
    let id = project.parse() == Ok(issue.project_id);
    let path = issue
        .project
        .as_ref()
        .is_some_and(|path| path.eq_ignore_ascii_case(project.trim_end_matches("/-/issues")));
    iid.parse() == Ok(issue.iid) && (id || path)
}

fn key(issue: &Issue) -> String {
    issue.note.map_or_else(|| crate::store::question::ISSUE.to_owned(), |note| note.to_string())
}

#[cfg(test)]
mod tests;
