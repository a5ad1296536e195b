//! The commands. Data goes to standard output, errors to standard error; exit codes: 0 done, 1 found something
//! wrong, 2 could not run.

pub mod ask;
pub mod check;
pub mod config;
pub mod eval;
pub mod explain;
pub mod extract;
pub mod folder;
pub mod gaps;
pub mod install;
pub mod invocation;
pub mod local;
pub mod queue;
pub mod replay;
pub mod serve;
pub mod sync;
pub mod vectors;
pub mod verify;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::cli::invocation::Invocation;

/// What a command that could run found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All is well: exit code 0.
    Fine,
    /// The command ran and found something wrong: exit code 1.
    Wrong,
}

/// Answers GitLab issues by quoting the group's own documentation, and lists what is missing.
#[derive(Parser, Debug)]
#[command(name = "signpost", version, about, propagate_version = true)]
pub struct Cli {
    /// The configuration file.
    #[arg(
        long,
        global = true,
        env = "SIGNPOST_CONFIG",
        default_value = crate::config::DEFAULT_FILE,
        value_name = "FILE"
    )]
    pub config: PathBuf,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands of the program.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Run the service: the hook, the workers, the admin pages.
    Serve(serve::Args),
    /// Create or mend the hook with all its switches, a fresh signing token and the label.
    Install(install::Args),
    /// Remove the hook.
    Uninstall(install::UninstallArgs),
    /// Look at everything and name each fault with its cure.
    Check(check::Args),
    /// Print the effective configuration, secrets left out.
    Config(config::Args),
    /// Read the corpus and the history of closed issues now.
    Sync(sync::Args),
    /// Ask the documentation a question, without posting anything.
    Ask(ask::Args),
    /// Show every candidate for an issue's question, and why it fell.
    Explain(explain::Args),
    /// List the references in a Markdown text, one JSON object a line.
    Extract(extract::Args),
    /// Measure retrieval, judgement and the question gate on labelled cases.
    Eval(eval::Args),
    /// The list of what to document next, and decisions about it.
    Gaps(gaps::Args),
    /// Prove that every byte of a note is a fixed sentence or a byte range of the file it cites.
    Verify(verify::Args),
    /// Judge the group's closed questions that got a member's link, as of today.
    Replay(replay::Args),
    /// Show what waits and what was buried; dig it up.
    Queue(queue::Args),
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write the manual pages into a folder.
    Man {
        /// The folder.
        folder: PathBuf,
    },
}

/// Runs the program: parses the arguments, runs the command, prints its error.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    if !matches!(cli.command, Command::Serve(_)) {
        end_quietly_when_nobody_reads();
    }
    match dispatch(cli.command, &Invocation::of_process(cli.config)) {
        Ok(Verdict::Fine) => ExitCode::SUCCESS,
        Ok(Verdict::Wrong) => ExitCode::from(1),
        Err(error) if is_broken_pipe(&error) => ExitCode::from(ENDED_BY_SIGPIPE as u8),
        Err(error) => {
            eprintln!("signpost: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// What a shell reports of a program whose reader left.
const ENDED_BY_SIGPIPE: i32 = 128 + 13;

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// `signpost … | head` ends when `head` has read enough. The standard library's printing panics then, since a program of its
/// ignores the signal that ends others.
fn end_quietly_when_nobody_reads() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let told = panic.payload().downcast_ref::<String>().map(String::as_str).unwrap_or_default();
        if told.contains("Broken pipe") || told.contains("BrokenPipe") {
            std::process::exit(ENDED_BY_SIGPIPE);
        }
        usual(panic);
    }));
}

fn dispatch(command: Command, invocation: &Invocation) -> anyhow::Result<Verdict> {
    match command {
        Command::Serve(args) => serve::run(args, invocation),
        Command::Install(args) => install::run(args, invocation),
        Command::Uninstall(args) => install::uninstall(args, invocation),
        Command::Check(args) => check::run(args, invocation),
        Command::Config(args) => config::run(args, invocation),
        Command::Sync(args) => sync::run(args, invocation),
        Command::Ask(args) => ask::run(args, invocation),
        Command::Explain(args) => explain::run(args, invocation),
        Command::Extract(args) => extract::run(args),
        Command::Eval(args) => eval::run(args),
        Command::Gaps(args) => gaps::run(args, invocation),
        Command::Verify(args) => verify::run(args, invocation),
        Command::Replay(args) => replay::run(args, invocation),
        Command::Queue(args) => queue::run(args, invocation),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "signpost", &mut std::io::stdout());
            Ok(Verdict::Fine)
        }
        Command::Man { folder } => {
            std::fs::create_dir_all(&folder)?;
            clap_mangen::generate_to(Cli::command(), &folder)?;
            Ok(Verdict::Fine)
        }
    }
}

/// A share of wrong answers, 0 to 1, of the command line.
fn share(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("must lie between 0 and 1, such as 0.05".to_owned()),
    }
}
