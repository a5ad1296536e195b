//! The workers: claim, look, settle. Retries, the lease's renewal and an outage of GitLab are decided here.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::answer::{self, WalkError, World};
use crate::clock::Millis;
use crate::gaps::upkeep;
use crate::project_hooks::ProjectHooks;
use crate::reask;
use crate::store::queue::{Claim, LEASE, Place};
use crate::store::setting::{CORPUS_READY, GROUP_READ};
use crate::sync::{SyncError, Syncer, embed_some};
use crate::target::Project;
use crate::telemetry::Metrics;

/// First wait after a counted failure; doubled by each further one.
const BACKOFF_FIRST: Duration = Duration::from_secs(15);
/// Longest wait between two tries.
const BACKOFF_MAX: Duration = Duration::from_secs(3600);
/// First and longest pause of all workers while GitLab is away.
const AWAY_FIRST: Duration = Duration::from_secs(2);
const AWAY_MAX: Duration = Duration::from_secs(60);
/// Sections that get their vectors at once after a push: rounds of so many.
const EMBED_ROUNDS: usize = 16;
const EMBED_BATCH: u32 = 16;
/// How often an idle worker looks at the queue: for what other replicas accepted, and for retries.
const POLL: Duration = Duration::from_millis(500);

/// Claims rows and works on them. Cheap to clone.
#[derive(Clone)]
pub struct Worker {
    /// What a walk needs.
    pub world: World,
    /// Keeps the corpus.
    pub syncer: Syncer,
    /// Wakes an idle worker.
    pub wake: Arc<Notify>,
    /// Keeps the hooks of single projects, where they are wanted.
    pub project_hooks: Option<ProjectHooks>,
    /// Counters.
    pub metrics: Metrics,
    /// This process's name in leases; each worker adds its number.
    pub owner: String,
    /// Until when all workers leave GitLab alone, in milliseconds.
    pub away_until: Arc<AtomicI64>,
    /// Consecutive times GitLab was found away.
    pub away_count: Arc<AtomicU32>,
}

/// A look failed.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Walk(#[from] WalkError),
    #[error(transparent)]
    Sync(#[from] SyncError),
    #[error("a defect stopped the walk")]
    Panic,
}

impl Failure {
    fn walk(&self) -> WalkWord {
        match self {
            Failure::Walk(error) => {
                WalkWord { word: error.word(), after: error.after(), away: is_away(error) }
            }
            Failure::Sync(SyncError::GitLab(error)) => {
                let after = match error {
                    crate::gitlab::Error::Transient { after, .. } => *after,
                    _ => None,
                };
                WalkWord { word: "sync_gitlab", after, away: is_outage(error) }
            }
            Failure::Sync(SyncError::Store(_)) => WalkWord { word: "store", after: None, away: false },
            Failure::Sync(SyncError::NoGroup(_)) => {
                WalkWord { word: "no_group", after: WalkError::NoGroup.after(), away: false }
            }
            Failure::Panic => WalkWord { word: "defect", after: None, away: false },
        }
    }
}

fn is_away(error: &WalkError) -> bool {
    matches!(error, WalkError::GitLab(error) if is_outage(error))
}

fn is_outage(error: &crate::gitlab::Error) -> bool {
    use crate::gitlab::Error;
    error.is_transient() || matches!(error, Error::Denied(call) if call.status == Some(401))
}

struct WalkWord {
    word: &'static str,
    after: Option<Duration>,
    away: bool,
}

impl Worker {
    /// Works until `stop`; what is being worked on then is finished.
    pub async fn run(self, number: usize, stop: CancellationToken) {
        let owner = format!("{}#{number}", self.owner);
        while !stop.is_cancelled() {
            let now = self.world.clock.now();
            self.metrics.worker_seen(now);
            let paused = self.away_until.load(Ordering::Relaxed) - now;
            if paused > 0 {
                let pause = Duration::from_millis(paused as u64).min(POLL * 4);
                tokio::select! { () = tokio::time::sleep(pause) => {}, () = stop.cancelled() => {} }
                continue;
            }
            match self.step(&owner).await {
                Ok(true) => {}
                Ok(false) => {
                    tokio::select! {
                        () = self.wake.notified() => {}
                        () = tokio::time::sleep(POLL) => {}
                        () = stop.cancelled() => {}
                    }
                }
                Err(error) => {
                    tracing::error!(%error, "the queue cannot be read; trying again");
                    tokio::select! { () = tokio::time::sleep(POLL * 2) => {}, () = stop.cancelled() => {} }
                }
            }
        }
    }

    /// Claims one row and works on it; false when none is due.
    ///
    /// # Errors
    /// The database; the row stays claimed until its lease lapses.
    pub async fn step(&self, owner: &str) -> Result<bool, crate::store::StoreError> {
        let Some(claim) = self.world.store.claim(owner, self.world.clock.now()).await? else {
            return Ok(false);
        };
        // There may be more: let the next worker look while this one works.
        self.wake.notify_one();
        let began = std::time::Instant::now();
        let span = tracing::info_span!(
            "look",
            project.id = claim.place.project,
            issue.iid = claim.place.iid,
            outcome = tracing::field::Empty
        );
        let outcome = tokio::select! {
            outcome = AssertUnwindSafe(self.work(&claim).instrument(span.clone())).catch_unwind() => outcome.unwrap_or(Err(Failure::Panic)),
            () = self.keep_lease(&claim) => Err(Failure::Walk(WalkError::LeaseLost)),
        };
        let place = claim.place;
        match outcome {
            Ok(word) => {
                span.record("outcome", word);
                self.away_count.store(0, Ordering::Relaxed);
                self.metrics.walk(word, began.elapsed());
                tracing::info!(
                    project.id = place.project,
                    issue.iid = place.iid,
                    outcome = word,
                    duration_ms = began.elapsed().as_millis() as u64,
                    "a look ended"
                );
                self.world.store.settle(&claim).await?;
            }
            Err(Failure::Walk(WalkError::LeaseLost)) => {
                tracing::warn!(
                    project.id = place.project,
                    issue.iid = place.iid,
                    "the lease was lost; another took over"
                );
            }
            Err(failure) => self.failed(&claim, failure, began.elapsed()).await?,
        }
        Ok(true)
    }

    async fn work(&self, claim: &Claim) -> Result<&'static str, Failure> {
        match claim.place {
            Place::REPORT => Ok(upkeep::keep(&self.world).await?),
            Place { project: 0, .. } => self.refresh_group().await,
            Place { project, iid: 0 } => self.refresh_project(project).await,
            _ => Ok(answer::look(&self.world, claim).await?),
        }
    }

    async fn refresh_group(&self) -> Result<&'static str, Failure> {
        let admitted = self.syncer.refresh_group().await?;
        reask::withdrawn(&self.world).await?;
        for id in admitted {
            self.world
                .store
                .want(Place::repository(id), None, self.world.clock.now())
                .await
                .map_err(SyncError::from)?;
        }
        if let Some(hooks) = &self.project_hooks {
            let known = self.world.store.projects().await.map_err(SyncError::from)?;
            let served = |p: &&Project| self.world.corpus.admit_thread(p).is_ok();
            hooks.keep(known.iter().map(|row| &row.project).filter(served)).await;
        }
        self.world.follow().await?;
        self.world.store.set(GROUP_READ, "1").await.map_err(SyncError::from)?;
        Ok("group_refreshed")
    }

    async fn refresh_project(&self, project: u64) -> Result<&'static str, Failure> {
        let synced = self.syncer.sync_project(project).await?;
        self.embed_little().await?;
        self.world.follow().await?;
        // Also what changed when the program died before it asked, or when somebody ran `signpost sync`.
        let changed = self.world.store.unasked(project).await.map_err(SyncError::from)?;
        if changed.is_empty() && synced.refused.is_none() {
            return Ok("project_unchanged");
        }
        self.world.refresh_docsites().await.map_err(SyncError::from)?;
        if synced.refused.is_some() {
            reask::withdrawn(&self.world).await?;
        }
        reask::touched(&self.world, project, &changed).await?;
        self.world.store.asked(project, &changed).await.map_err(SyncError::from)?;
        Ok("project_synced")
    }

    /// What a push changed gets its vectors before the open questions are asked again. A whole corpus that is
    /// read for the first time is left to the background.
    async fn embed_little(&self) -> Result<(), Failure> {
        let world = &self.world;
        if world.store.setting(CORPUS_READY).await.map_err(SyncError::from)?.is_none() {
            return Ok(());
        }
        for _ in 0..EMBED_ROUNDS {
            let some = embed_some(&world.store, world.judge.reader(), &world.clock, EMBED_BATCH).await;
            if some.map_err(SyncError::from)? == 0 {
                break;
            }
        }
        Ok(())
    }

    /// Renews the lease while the walk goes on; returns when it was lost.
    async fn keep_lease(&self, claim: &Claim) {
        loop {
            tokio::time::sleep(LEASE / 4).await;
            // A long look, while GitLab is slow, is work and no standstill.
            self.metrics.worker_seen(self.world.clock.now());
            match self.world.store.renew(claim, self.world.clock.now()).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => tracing::warn!(%error, "a lease could not be renewed"),
            }
        }
    }

    async fn failed(
        &self,
        claim: &Claim,
        failure: Failure,
        took: Duration,
    ) -> Result<(), crate::store::StoreError> {
        let word = failure.walk();
        let now = self.world.clock.now();
        self.metrics.walk(word.word, took);
        // Is it this row, or GitLab as a whole? An outage counts against no row.
        // Neither does a token that has expired: its successor finds every thread still waiting.
        let away = word.away && self.world.gitlab.metadata().await.is_err_and(|error| is_outage(&error));
        let counted = !away && !matches!(word.word, "budget" | "corpus_not_ready" | "no_group");
        let wait = if away { self.pause_all(now) } else { backoff(claim.attempts, word.after) };
        let run_at = now + wait.as_millis() as i64 + jitter(wait);
        let buried = self.world.store.retry(claim, run_at, (counted, away), word.word, now).await?;
        let (project, iid) = (claim.place.project, claim.place.iid);
        if buried {
            tracing::error!(
                project.id = project,
                issue.iid = iid,
                why = word.word,
                "a row was buried after too many failures"
            );
        } else {
            tracing::warn!(
                project.id = project, issue.iid = iid, why = word.word, error = %failure, counted,
                retry_in_ms = run_at - now, "a look failed and will be repeated"
            );
        }
        Ok(())
    }

    /// All workers leave GitLab alone: twice as long each time that it is found away, however many of them find it
    /// away at once.
    fn pause_all(&self, now: Millis) -> Duration {
        let paused = self.away_until.load(Ordering::Relaxed) - now;
        if paused > 0 {
            return Duration::from_millis(paused as u64);
        }
        let times = self.away_count.fetch_add(1, Ordering::Relaxed).min(8);
        let pause = AWAY_FIRST.saturating_mul(1 << times).min(AWAY_MAX);
        self.away_until.fetch_max(now + pause.as_millis() as i64, Ordering::Relaxed);
        pause
    }
}

fn backoff(attempts: i64, after: Option<Duration>) -> Duration {
    let doubled = BACKOFF_FIRST.saturating_mul(1 << attempts.clamp(0, 16)).min(BACKOFF_MAX);
    after.map_or(doubled, |after| after.clamp(Duration::from_millis(200), BACKOFF_MAX))
}

/// Up to a fifth of the wait, so that what failed together does not come back together.
fn jitter(wait: Duration) -> Millis {
    let span = (wait.as_millis() as u64 / 5).max(1);
    let mut bytes = [0u8; 8];
    if getrandom::fill(&mut bytes).is_err() {
        return 0;
    }
    (u64::from_le_bytes(bytes) % span) as Millis
}
