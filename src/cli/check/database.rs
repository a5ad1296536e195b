//! What the database tells: corpus, queue, buried rows, breaker, budget, documentation sites.

use super::Report;
use crate::answer::{breaker_open, label};
use crate::clock::{Clock, Millis};
use crate::config::Config;
use crate::store::{Store, setting};

/// A row that has been due for this long means that nobody works.
const STUCK: Millis = 15 * 60_000;
/// A body that was not JSON is told of for so long.
const REMEMBERED: Millis = 24 * 3_600_000;

/// Looks at the database and what stands in it. Returns the id of the gap label that was used under the configured name.
pub(super) async fn look(config: &Config, report: &mut Report) -> Option<u64> {
    let store = match Store::open(&config.database.url).await {
        Ok(store) => store,
        Err(error) => {
            report.fault(
                "database",
                error.to_string(),
                "check database.url, the file's folder and its rights, or the server",
            );
            return None;
        }
    };
    let outcome = async {
        store.set("check", "writable").await?;
        report.ok("database", if store.is_sqlite() { "SQLite, writable" } else { "Postgres, writable" });
        let size = store.corpus_size().await?;
        if size.sections == 0 {
            report.fault("corpus", "the corpus is empty", "run `signpost sync` and read its summary: which projects were refused, and why");
        } else {
            report.ok("corpus", format!("{} sections of {} files in {} projects", size.sections, size.files, size.admitted));
        }
        let now = Clock::System.now();
        let depth = store.depth().await?;
        match depth.oldest.map(|at| now - at) {
            Some(age) if age > STUCK => report.fault(
                "queue",
                format!("{} rows wait, the longest for {} minutes", depth.ready, age / 60_000),
                "is `signpost serve` running? Its log says what fails",
            ),
            _ => report.ok("queue", format!("{} rows wait", depth.ready)),
        }
        let buried = store.buried().await?;
        match buried.first() {
            None => report.ok("buried", "none"),
            Some((place, why, _)) => report.fault(
                "buried",
                format!("{} rows were given up; the newest: {place} ({why})", depth.buried),
                "mend the cause, then `signpost queue unbury`",
            ),
        }
        if breaker_open(&store, config).await.unwrap_or(false) {
            report.fault(
                "breaker",
                "humans undid too many of the last 20 notes: only labels are set",
                "read the withdrawn answers in the admin pages, mend what misled the bot, and raise budget.undo_limit until it speaks again",
            );
        }
        for row in store.projects().await? {
            let used = store.posted_since(row.project.id, now - 3_600_000).await?;
            if used >= config.budget.per_project_hour {
                report.fault("budget", format!("project {} has used up its {used} notes of this hour", row.project.id), "wait, or raise budget.per_project_hour");
            }
        }
        let told: Option<Millis> = store.setting(setting::NOT_JSON).await?.and_then(|at| at.parse().ok());
        if told.is_some_and(|at| now - at < REMEMBERED) {
            report.warn(
                "hook_body",
                "a delivery with a valid proof was not JSON within the last day",
                "somebody set a custom body template in the hook: remove it",
            );
        }
        let refused: Option<Millis> =
            store.setting(setting::UNPROVEN).await?.and_then(|at| at.parse().ok());
        let taken = store.last_delivery().await?.unwrap_or(0);
        if refused.is_some_and(|at| at > taken && now - at < REMEMBERED) {
            report.warn(
                "hook_proof",
                "the last delivery was refused: its proof does not fit the bot's token",
                "if GitLab sent it, the hook has another token: run `signpost install` again, put its token into the bot's environment and restart",
            );
        }
        docsites(config, &store, report).await?;
        Ok::<_, crate::store::StoreError>(())
    }
    .await;
    if let Err(error) = outcome {
        report.fault("database", error.to_string(), "check the database");
    }
    let remembered = label::remembered(&store, &config.gap.label).await.ok().flatten();
    store.close().await;
    remembered
}

/// A declared documentation site must lead to a project that is admitted.
async fn docsites(
    config: &Config,
    store: &Store,
    report: &mut Report,
) -> Result<(), crate::store::StoreError> {
    let projects = store.projects().await?;
    for site in &config.corpus.docsite {
        let found = projects.iter().any(|row| {
            row.refusal.is_none() && row.project.path.as_str().eq_ignore_ascii_case(&site.project)
        });
        if !found {
            report.fault(
                "docsite",
                format!("{} is mapped to {}, which is not in the corpus", site.url, site.project),
                "check corpus.docsite.project and corpus.exclude, then run `signpost sync`",
            );
        }
    }
    Ok(())
}
