//! The commands. Data goes to standard output, errors to standard error; exit codes: 0 done, 1 found something
//! wrong, 2 could not run.

pub mod ask;
pub mod eval;
pub mod extract;
pub mod folder;
pub mod local;
pub mod vectors;
pub mod verify;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

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
        default_value = "./signpost.toml",
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
    /// Ask the documentation a question, without posting anything.
    Ask(ask::Args),
    /// Measure retrieval, judgement and the question gate on labelled cases.
    Eval(eval::Args),
    /// List the references in a Markdown text, one JSON object a line.
    Extract(extract::Args),
    /// Prove that every byte of a note is a fixed sentence or a byte range of the file it cites.
    Verify(verify::Args),
}

/// Runs the program: parses the arguments, runs the command, prints its error.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match cli.command {
        Command::Ask(args) => ask::run(args),
        Command::Eval(args) => eval::run(args),
        Command::Extract(args) => extract::run(args),
        Command::Verify(args) => verify::run(args),
    };
    match outcome {
        Ok(Verdict::Fine) => ExitCode::SUCCESS,
        Ok(Verdict::Wrong) => ExitCode::from(1),
        Err(error) => {
            eprintln!("signpost: {error:#}");
            ExitCode::from(2)
        }
    }
}
