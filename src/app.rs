//! Wiring: the parts are made here, once, and given to each other.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use secrecy::SecretString;
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::admin::Admin;
use crate::answer::{LabelName, SiteTable, World};
use crate::clock::Clock;
use crate::config::{Config, Secrets};
use crate::docsite::Sites;
use crate::gitlab::GitLab;
use crate::hook::signature::Verifier;
use crate::hook::{Door, OwnIds};
use crate::judge::Judge;
use crate::judge::endpoint::Endpoint;
use crate::library::Library;
use crate::project_hooks::ProjectHooks;
use crate::store::inbox::Inbox;
use crate::store::queue::Place;
use crate::store::{Store, setting};
use crate::sweep;
use crate::sync::{Syncer, embed_some};
use crate::target::corpus::{Corpus, Scope};
use crate::telemetry::Metrics;
use crate::worker::Worker;

/// Threads that are worked on at the same time.
const WORKERS: usize = 4;
/// How often a replica looks whether the corpus changed in the database.
const FOLLOW: Duration = Duration::from_secs(1);
/// How long a shutdown waits for what is being worked on.
const GRACE: Duration = Duration::from_secs(25);
/// Sections embedded in one go.
const EMBED_BATCH: u32 = 16;

/// The program, wired and not yet running.
pub struct App {
    /// What a walk needs.
    pub world: World,
    /// The workers' common part.
    pub worker: Worker,
    /// Counters.
    pub metrics: Metrics,
    door: Door,
    secrets: Secrets,
    inbox_task: tokio::task::JoinHandle<()>,
    _only_process: Option<OnlyProcess>,
}

/// Holds the lock that keeps a second process off an SQLite file.
struct OnlyProcess(
    #[expect(dead_code, reason = "the lock is held as long as the file is open")] std::fs::File,
);

impl OnlyProcess {
    fn take(url: &str) -> anyhow::Result<Option<OnlyProcess>> {
        let Some(path) = url.strip_prefix("sqlite:") else { return Ok(None) };
        let path = path.strip_prefix("//").unwrap_or(path).split('?').next().unwrap_or_default();
        if path.is_empty() || path.contains(":memory:") {
            return Ok(None);
        }
        let lock = PathBuf::from(format!("{path}.lock"));
        let file = std::fs::File::create(&lock)
            .with_context(|| format!("the lock file {} cannot be written", lock.display()))?;
        file.try_lock().map_err(|_| {
            anyhow::anyhow!(
                "{path} is in use by another signpost: SQLite serves one process; for several replicas set database.url to postgres://…"
            )
        })?;
        Ok(Some(OnlyProcess(file)))
    }
}

impl App {
    /// Opens the database, builds the index from it and wires everything. GitLab is not asked: the program
    /// starts while GitLab is away.
    ///
    /// # Errors
    /// A configuration that cannot work, a database that cannot be opened.
    pub async fn build(config: Config, secrets: Secrets, clock: Clock) -> anyhow::Result<App> {
        secrets.require_for_serve(&config)?;
        let verifier = Verifier::new(&secrets.signing, &secrets.plain)?;
        let only_process = OnlyProcess::take(&config.database.url)?;
        let store = Store::open(&config.database.url).await?;
        if only_process.is_some() {
            // Nobody else works on this file: what is held was held by a process that died.
            store.release("").await?;
        }
        let own = OwnIds::default();
        let former: Vec<u64> = store
            .setting(setting::BOT_IDS)
            .await?
            .unwrap_or_default()
            .split_whitespace()
            .filter_map(|id| id.parse().ok())
            .collect();
        former.iter().for_each(|id| own.add(*id));
        let token = secrets.gitlab.clone().context("SIGNPOST_GITLAB_TOKEN is not set")?;
        let gitlab = GitLab::new(&config.gitlab.url, token, clock.clone())?.known_as(&former);
        let hooks_gitlab = match secrets.install.clone() {
            Some(token) => GitLab::new(&config.gitlab.url, token, clock.clone())?,
            None => gitlab.clone(),
        };
        let project_hooks = ProjectHooks::of(&config, &secrets, hooks_gitlab);
        let world = World::open(config, gitlab, store, own, clock, secrets.judge.clone()).await?;
        let metrics = Metrics::new();
        let wake = Arc::new(Notify::new());
        let (inbox, inbox_task) = Inbox::start(world.store.clone());
        let syncer = Syncer::new(
            world.gitlab.clone(),
            world.store.clone(),
            Arc::clone(&world.corpus),
            world.clock.clone(),
        );
        let worker = Worker {
            world: world.clone(),
            syncer,
            wake: Arc::clone(&wake),
            project_hooks,
            metrics: metrics.clone(),
            owner: replica_name(),
            away_until: Arc::default(),
            away_count: Arc::default(),
        };
        let door = Door {
            verifier: Arc::new(verifier),
            inbox,
            store: world.store.clone(),
            clock: world.clock.clone(),
            wake,
            own: world.own.clone(),
            metrics: metrics.clone(),
            unproven: Arc::default(),
            buffered: Arc::default(),
        };
        Ok(App { world, worker, metrics, door, secrets, inbox_task, _only_process: only_process })
    }

    /// The public listener's routes.
    pub fn public(&self) -> Router {
        crate::hook::router(self.door.clone())
    }

    /// The admin listener's routes.
    pub fn admin(&self) -> Router {
        crate::admin::router(Admin::of(&self.world, &self.metrics, self.secrets.admin.clone()))
    }

    /// Binds both listeners and runs until `shutdown` resolves: then nothing new is accepted, what is being
    /// worked on is finished, and the database is closed.
    ///
    /// # Errors
    /// An address that cannot be bound, a listener that fails.
    pub async fn run(self, shutdown: impl Future<Output = ()> + Send) -> anyhow::Result<()> {
        let bind = async |address: std::net::SocketAddr, key: &str| {
            TcpListener::bind(address)
                .await
                .with_context(|| format!("{key}: {address} cannot be listened on"))
        };
        let public = bind(self.world.config.hook.listen, "hook.listen").await?;
        let admin = bind(self.world.config.admin.listen, "admin.listen").await?;
        self.run_on(public, admin, shutdown).await
    }

    /// The same on listeners that are bound already.
    ///
    /// # Errors
    /// A listener that fails.
    pub async fn run_on(
        self,
        public: TcpListener,
        admin: TcpListener,
        shutdown: impl Future<Output = ()> + Send,
    ) -> anyhow::Result<()> {
        tracing::info!(
            hook.address = %public.local_addr()?, admin.address = %admin.local_addr()?,
            gitlab.group = self.world.config.group(), "signpost is listening"
        );
        let closing = CancellationToken::new();
        let working = CancellationToken::new();
        let mut servers = JoinSet::new();
        for (listener, router) in [(public, self.public()), (admin, self.admin())] {
            let closing = closing.clone();
            servers.spawn(async move {
                axum::serve(listener, router).with_graceful_shutdown(closing.cancelled_owned()).await
            });
        }
        let mut workers = self.start_workers(&working);
        tokio::select! {
            () = shutdown => {}
            Some(ended) = servers.join_next() => tracing::error!(?ended, "a listener ended by itself"),
            Some(ended) = workers.join_next() => tracing::error!(?ended, "a background task ended by itself"),
        }
        tracing::info!("shutting down: what is being worked on is finished");
        closing.cancel();
        let _ = tokio::time::timeout(GRACE / 5, async { while servers.join_next().await.is_some() {} }).await;
        servers.shutdown().await;
        working.cancel();
        let _ = tokio::time::timeout(GRACE, async { while workers.join_next().await.is_some() {} }).await;
        workers.shutdown().await;
        let store = self.world.store.clone();
        let App { world, worker, door, inbox_task, .. } = self;
        let name = worker.owner.clone();
        drop((world, worker, door));
        let _ = tokio::time::timeout(GRACE / 5, inbox_task).await;
        // What did not come to its end in time is there for the next process at once.
        if let Err(error) = store.release(&name).await {
            tracing::warn!(%error, "leases could not be given back; they lapse by themselves");
        }
        store.close().await;
        Ok(())
    }

    fn start_workers(&self, stop: &CancellationToken) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        for number in 0..WORKERS {
            tasks.spawn(self.worker.clone().run(number, stop.clone()));
        }
        let each = |every: Duration, stop: CancellationToken| async move {
            tokio::select! { () = tokio::time::sleep(every) => true, () = stop.cancelled() => false }
        };
        let (world, token) = (self.world.clone(), stop.clone());
        tasks.spawn(async move {
            while each(FOLLOW, token.clone()).await {
                if let Err(error) = world.follow().await {
                    tracing::warn!(%error, "the index could not follow the database");
                }
            }
        });
        let (world, metrics, token) = (self.world.clone(), self.metrics.clone(), stop.clone());
        tasks.spawn(async move {
            loop {
                let wait = match sweep_once(&world, &metrics).await {
                    Ok(()) => world.config.sweep.every,
                    Err(error) => {
                        tracing::warn!(%error, "the sweep did not come to its end; trying again");
                        world.config.sweep.every.min(Duration::from_secs(15))
                    }
                };
                if !each(wait, token.clone()).await {
                    return;
                }
            }
        });
        let (world, token) = (self.world.clone(), stop.clone());
        tasks.spawn(async move {
            loop {
                let wait = match embed_or_ready(&world).await {
                    Ok(0) => FOLLOW * 2,
                    Ok(_) => Duration::from_millis(5),
                    Err(error) => {
                        tracing::warn!(%error, "vectors could not be kept");
                        FOLLOW * 10
                    }
                };
                if !each(wait, token.clone()).await {
                    return;
                }
            }
        });
        tasks
    }

    /// Works until nothing is due any more, in this task; for tests and `sync`.
    ///
    /// # Errors
    /// The database.
    pub async fn drain(&self) -> anyhow::Result<()> {
        let owner = format!("{}#drain", self.worker.owner);
        loop {
            while self.worker.step(&owner).await? {}
            if embed_or_ready(&self.world).await? > 0 {
                continue;
            }
            self.world.follow().await?;
            if self.world.store.due(self.world.clock.now()).await? == 0 {
                return Ok(());
            }
            // Another worker holds what is left.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// One sweep, as at start.
    ///
    /// # Errors
    /// GitLab, the database.
    pub async fn sweep(&self) -> anyhow::Result<()> {
        Ok(sweep_once(&self.world, &self.metrics).await?)
    }

    /// The way in for deliveries, without HTTP: what the door does after the proof.
    pub fn inbox(&self) -> &Inbox {
        &self.door.inbox
    }
}

async fn sweep_once(world: &World, metrics: &Metrics) -> Result<(), crate::answer::WalkError> {
    let me = world.gitlab.user().await?;
    if !world.own.contains(me.id) {
        world.own.add(me.id);
        let ids: Vec<String> = world.own.all().iter().map(u64::to_string).collect();
        world.store.set(setting::BOT_IDS, &ids.join(" ")).await?;
    }
    look_at_token(world, metrics).await;
    sweep::sweep(world).await
}

/// When the token dies is for the alerts; that GitLab does not tell is no reason to stop a sweep.
async fn look_at_token(world: &World, metrics: &Metrics) {
    match world.gitlab.token().await {
        Ok(token) => metrics.token_expires(token.and_then(|token| token.dies_at()).unwrap_or(0)),
        Err(error) => tracing::debug!(%error, "GitLab does not tell when the token expires"),
    }
}

/// Computes some vectors, and returns of how many sections; when none are missing any more, the corpus may be ready.
async fn embed_or_ready(world: &World) -> Result<usize, crate::answer::WalkError> {
    let embedded = embed_some(&world.store, world.judge.reader(), &world.clock, EMBED_BATCH).await?;
    if embedded == 0 {
        world.corpus_ready().await?;
    }
    Ok(embedded)
}

/// A name for this process in leases: unlike any other's, also after a restart on the same host.
fn replica_name() -> String {
    let mut bytes = [0u8; 8];
    let _ = getrandom::fill(&mut bytes);
    format!("{}-{:016x}", std::process::id(), u64::from_le_bytes(bytes))
}

impl World {
    /// Opens what a walk needs: the predicate from the configuration, the index from the database. When the
    /// predicate changed since the last start, what it no longer admits is dropped first.
    ///
    /// # Errors
    /// A pattern that is none, the database, the search engine.
    pub async fn open(
        config: Config,
        gitlab: GitLab,
        store: Store,
        own: OwnIds,
        clock: Clock,
        judge_key: Option<SecretString>,
    ) -> anyhow::Result<World> {
        let scope = Scope {
            group: config.group().to_owned(),
            exclude: config.corpus.exclude.clone(),
            docs: config.corpus.docs.clone(),
            code: config.corpus.code.clone(),
            ignore: config.corpus.ignore.clone(),
            members: config.corpus.members,
        };
        let corpus = Arc::new(Corpus::new(&scope)?);
        // A hash: what is excluded is not even named at rest.
        let predicate: String =
            Sha256::digest(format!("{scope:?}")).iter().map(|byte| format!("{byte:02x}")).collect();
        apply_predicate(&store, &gitlab, &corpus, &predicate, &clock).await?;
        let library = Library::new(clock.clone())?;
        library.build(&store).await?;
        let judge = Arc::new(Judge::load());
        let endpoint = match &config.judge.endpoint {
            Some(base) => {
                let (model, timeout) = (&config.judge.model, config.judge.timeout);
                Some(Arc::new(Endpoint::new(base, model, judge_key, timeout, clock.clone())?))
            }
            None => None,
        };
        let docsites = SiteTable::new(Sites::declared(&config.corpus.docsite));
        let world = World {
            label: LabelName::new(&config.gap.label),
            gitlab,
            store,
            library,
            corpus,
            judge,
            endpoint,
            docsites,
            config: Arc::new(config),
            clock,
            own,
            withdrawn: Arc::default(),
        };
        world.refresh_docsites().await?;
        Ok(world)
    }
}

/// A changed exclusion list takes effect at start: what is refused now leaves the database before anything is
/// searched.
async fn apply_predicate(
    store: &Store,
    gitlab: &GitLab,
    corpus: &Arc<Corpus>,
    predicate: &str,
    clock: &Clock,
) -> anyhow::Result<()> {
    use crate::target::corpus::{Audience, Refusal};

    if store.setting(setting::PREDICATE).await?.as_deref() == Some(predicate) {
        return Ok(());
    }
    for row in store.projects().await? {
        let project = Arc::new(row.project);
        if let Err(refusal) = corpus.admit_project(&project, &Audience::of_index(&project)) {
            // Nothing is kept of the threads of what is excluded. Where another group is configured, or the group was
            // moved, the list of its projects tells what belongs to it.
            let threads_too = refusal == Refusal::Excluded;
            store.forget_content(project.id, threads_too, clock.now()).await?;
        }
    }
    let syncer = Syncer::new(gitlab.clone(), store.clone(), Arc::clone(corpus), clock.clone());
    syncer.apply_globs().await?;
    store.want(Place::GROUP, None, clock.now()).await?;
    store.set(setting::PREDICATE, predicate).await?;
    Ok(())
}
