//! `signpost config`: the effective configuration, redacted.

use crate::cli::Verdict;
use crate::cli::invocation::Invocation;

/// Arguments of `signpost config`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Prints the configuration with defaults and environment applied. Secrets are named as set or not set.
///
/// # Errors
/// The configuration cannot be read.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<Verdict> {
    let (config, secrets) = invocation.load()?;
    let config = config.redacted();
    if args.json {
        println!("{}", serde_json::to_string(&config)?);
        return Ok(Verdict::Fine);
    }
    print!("{}", toml::to_string_pretty(&config)?);
    let set = |name: &str, is: bool| println!("# {name}: {}", if is { "set" } else { "not set" });
    set("SIGNPOST_GITLAB_TOKEN", secrets.gitlab.is_some());
    set("SIGNPOST_SIGNING_TOKEN", !secrets.signing.is_empty());
    set("SIGNPOST_SECRET_TOKEN", !secrets.plain.is_empty());
    set("SIGNPOST_ADMIN_TOKEN", secrets.admin.is_some());
    set("SIGNPOST_INSTALL_TOKEN", secrets.install.is_some());
    set("SIGNPOST_JUDGE_KEY", secrets.judge.is_some());
    Ok(Verdict::Fine)
}
