//! `signpost verify`.

use crate::cli::Verdict;

/// Arguments of `signpost verify`.
#[derive(clap::Args, Debug)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args) -> anyhow::Result<Verdict> {
    anyhow::bail!("this command is not part of this build")
}
