//! What every command that needs the configuration begins with.

use std::ffi::OsString;
use std::future::Future;
use std::path::PathBuf;

use anyhow::Context;
use secrecy::SecretString;

use crate::answer::World;
use crate::clock::Clock;
use crate::config::{Config, Environment, Secrets};
use crate::gitlab::GitLab;
use crate::hook::OwnIds;
use crate::store::Store;

/// The configuration file's path and the environment.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// The configuration file.
    pub config: PathBuf,
    /// The process's environment.
    pub environment: Environment,
}

impl Invocation {
    /// The invocation of this process.
    pub fn of_process(config: PathBuf) -> Invocation {
        // What is no text is none of our variables.
        let text =
            |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
        Invocation { config, environment: std::env::vars_os().filter_map(text).collect() }
    }

    /// Reads configuration and secrets.
    ///
    /// # Errors
    /// What is wrong with them, by key or variable.
    pub fn load(&self) -> anyhow::Result<(Config, Secrets)> {
        Ok((Config::load(&self.config, &self.environment)?, Secrets::load(&self.environment)?))
    }

    /// A client with the bot's token.
    ///
    /// # Errors
    /// The token is not set.
    pub fn gitlab(config: &Config, secrets: &Secrets) -> anyhow::Result<GitLab> {
        let token = secrets.gitlab.clone().context("SIGNPOST_GITLAB_TOKEN is not set")?;
        Invocation::gitlab_with(config, token)
    }

    /// A client with this token.
    ///
    /// # Errors
    /// A GitLab URL that cannot be used.
    pub fn gitlab_with(config: &Config, token: SecretString) -> anyhow::Result<GitLab> {
        Ok(GitLab::new(&config.gitlab.url, token, Clock::System)?)
    }

    /// Everything a walk needs, on the configured database.
    ///
    /// # Errors
    /// The configuration, the database.
    pub async fn world(&self) -> anyhow::Result<World> {
        let (config, secrets) = self.load()?;
        let gitlab = Invocation::gitlab(&config, &secrets)?;
        let store = Store::open(&config.database.url).await?;
        World::open(config, gitlab, store, OwnIds::default(), Clock::System, secrets.judge).await
    }

    /// Runs a command's asynchronous part to its end.
    ///
    /// # Errors
    /// The command's own.
    pub fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("no threads")?.block_on(work)
    }
}
