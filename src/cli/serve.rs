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
    with_few_arenas();
    let (config, secrets) = invocation.load()?;
    let _traces = crate::telemetry::init(&config.log.format);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("no threads")?;
    runtime.block_on(async {
        let app = App::build(config, secrets, Clock::System).await?;
        app.run(stop_signal()).await
    })?;
    Ok(Verdict::Fine)
}

/// Begins again, as the same process, with two arenas for the C library's allocator: it gives each thread one of its own by
/// default, and with a hundred thousand sections that takes 600 MB where 380 do (`docs/performance.md`). It reads the variable
/// before `main`, so there is no other way to set it from here. Where that cannot be done, nothing is lost but memory.
fn with_few_arenas() {
    use std::os::unix::process::CommandExt as _;

    const ARENAS: &str = "MALLOC_ARENA_MAX";
    let chosen = |name: &str| std::env::var_os(name).is_some();
    if !cfg!(all(target_os = "linux", target_env = "gnu")) || chosen(ARENAS) || chosen("GLIBC_TUNABLES") {
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    let mut arguments = std::env::args_os();
    let mut again = std::process::Command::new(program);
    if let Some(name) = arguments.next() {
        again.arg0(name);
    }
    // It only returns when it failed.
    let _ = again.args(arguments).env(ARENAS, "2").exec();
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
