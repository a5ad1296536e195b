//! `signpost queue`: what waits, what was buried, and digging it up.

use serde_json::json;

use crate::cli::Verdict;
use crate::cli::invocation::Invocation;
use crate::clock::Clock;
use crate::store::Store;

/// Arguments of `signpost queue`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// What to do; without it the queue is shown.
    #[command(subcommand)]
    pub act: Option<Act>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// What can be done to the queue.
#[derive(clap::Subcommand, Debug)]
pub enum Act {
    /// Try every buried row again.
    Unbury,
}

/// Shows the queue, or digs up what was buried.
///
/// # Errors
/// The database.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<Verdict> {
    let (config, _) = invocation.load()?;
    Invocation::block_on(async {
        let store = Store::open(&config.database.url).await?;
        let dug_up = match args.act {
            Some(Act::Unbury) => Some(store.unbury(Clock::System.now()).await?),
            None => None,
        };
        let depth = store.depth().await?;
        let buried = store.buried().await?;
        if args.json {
            let rows: Vec<_> = buried
                .iter()
                .map(|(place, why, attempts)| json!({ "project": place.project, "iid": place.iid, "failure": why, "attempts": attempts }))
                .collect();
            println!("{}", json!({ "ready": depth.ready, "buried": rows, "unburied": dug_up }));
        } else {
            if let Some(count) = dug_up {
                println!("{count} rows will be tried again");
            }
            println!("{} rows wait, {} are buried", depth.ready, depth.buried);
            for (place, why, attempts) in buried {
                println!("  {place}: {why} after {attempts} tries");
            }
        }
        store.close().await;
        Ok(Verdict::Fine)
    })
}
