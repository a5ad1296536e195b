//! `signpost serve`.

use anyhow::Context;

use crate::app::App;
use crate::cli::{Invocation, Verdict};
use crate::clock::Clock;

/// Arguments of `signpost serve`: none; everything is configuration.
#[derive(clap::Args, Debug)]
pub struct Args {}

/// Runs the service until it is told to stop (SIGTERM or SIGINT).
///
/// # Errors
/// A configuration that cannot work, a database that cannot be opened, an address that cannot be bound.
pub fn run(_args: Args, invocation: &Invocation) -> anyhow::Result<Verdict> {
    let (config, secrets) = invocation.load()?;
    let _traces = crate::telemetry::init(&config.log.format);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("no threads")?;
    runtime.block_on(async {
        let app = App::build(config, secrets, Clock::System).await?;
        app.run(stop_signal()).await
    })?;
    Ok(Verdict::Fine)
}

async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};

    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        let _ = tokio::signal::ctrl_c().await;
        return;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}
