//! A GitLab for tests and demonstrations: stateful, spoken to over HTTP, and acting as GitLab acts.
//!
//! ```text
//! let gitlab = FakeGitLab::start(World::acme()).await;
//! gitlab.with_hook("http://127.0.0.1:8080/hook", Some(&hook::signing_token()));
//! let iid = gitlab.open_issue("acme/api", "mara", "How do I rotate a key?", "…").await;
//! gitlab.notes("acme/api", iid); gitlab.labels("acme/api", iid); gitlab.effects();
//! ```
//!
//! [`world`] is the state and what can happen in it, [`git`] its repositories, [`api`] the REST interface,
//! [`hook`] the deliveries, [`effects`] what posted Markdown makes GitLab do, [`faults`] what goes wrong on
//! the way, [`strangers`] the check that nothing a stranger typed is repeated. It knows nothing of the
//! program under test.

pub mod actions;
pub mod api;
pub mod effects;
pub mod faults;
pub mod git;
pub mod hook;
pub mod strangers;
#[cfg(test)]
mod tests;
pub mod time;
mod wire;
pub mod world;

pub use effects::{Act, Effect};
pub use faults::{Fault, Faults, Logged};
pub use git::Change;
pub use strangers::Strangers;
pub use world::{Awardable, Level, Merge, Switch, Visibility, World};

use hook::Attempt;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

/// The token of the ordinary world's bot: Reporter of `acme`, scope `api`.
pub const BOT_TOKEN: &str = "glpat-signpost-bot";
/// The token of the ordinary world's owner: Owner of `acme`, scope `api`.
pub const OWNER_TOKEN: &str = "glpat-acme-owner";
/// User name of the ordinary world's bot.
pub const BOT: &str = "group_40_bot_6f1e0c2b9a7d4e35";

/// A running fake GitLab. Clones are the same instance; it stops when the last one is gone.
#[derive(Clone)]
pub struct FakeGitLab {
    pub(crate) inner: Arc<Inner>,
}

/// What the clones share.
pub(crate) struct Inner {
    pub state: Arc<State>,
    pub url: String,
    server: AbortHandle,
}

/// What the server and the handles share.
pub(crate) struct State {
    pub world: Mutex<World>,
    pub faults: Mutex<Faults>,
    pub log: Mutex<Vec<Logged>>,
    /// Wakes the sender of deliveries after a call that made some.
    pub wake: tokio::sync::Notify,
    pub http: reqwest::Client,
    /// One sender at a time, so that deliveries keep their order.
    pub sending: tokio::sync::Mutex<()>,
    pub at_once: AtomicBool,
    pub patience: Mutex<Duration>,
    pub attempts: Mutex<Vec<Attempt>>,
}

impl State {
    fn of(world: World) -> State {
        let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy().build();
        State {
            world: Mutex::new(world),
            faults: Mutex::default(),
            log: Mutex::default(),
            wake: tokio::sync::Notify::new(),
            http: http.expect("a client without special wishes can be built"),
            sending: tokio::sync::Mutex::new(()),
            at_once: AtomicBool::new(true),
            patience: Mutex::new(hook::send::PATIENCE),
            attempts: Mutex::default(),
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// How long anybody waits for the world: who holds it longer is in somebody's way, mostly their own.
const TOO_LONG: Duration = Duration::from_secs(5);

/// A lock that a panicking test does not spoil for its own checks afterwards, and that panics instead of
/// waiting forever when one expression asks for the world twice (`(gitlab.world().…, gitlab.labels(…))`).
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    let began = Instant::now();
    loop {
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                assert!(
                    began.elapsed() < TOO_LONG,
                    "the world is held elsewhere: is a guard alive in the same expression?"
                );
                std::thread::sleep(Duration::from_micros(50));
            }
        }
    }
}

impl FakeGitLab {
    /// Serves a world on a free loopback port, on the machine's clock.
    pub async fn start(world: World) -> FakeGitLab {
        FakeGitLab::serve(world, SocketAddr::from(([127, 0, 0, 1], 0))).await.expect("a free loopback port")
    }

    /// Serves a world at an address, on the machine's clock. Fails when the address is taken.
    pub async fn serve(mut world: World, address: SocketAddr) -> std::io::Result<FakeGitLab> {
        let listener = TcpListener::bind(address).await?;
        let url = format!("http://{}", listener.local_addr()?);
        world.time = time::Time::system();
        world.instance.clone_from(&url);
        let state = Arc::new(State::of(world));
        let app = api::router(state.clone()).into_make_service_with_connect_info::<wire::Doom>();
        let server = tokio::spawn(async move { axum::serve(wire::Wire(listener), app).await });
        let inner = Arc::new(Inner { state, url, server: server.abort_handle() });
        tokio::spawn(send_what_calls_cause(Arc::downgrade(&inner)));
        Ok(FakeGitLab { inner })
    }

    /// `http://127.0.0.1:PORT`, without a slash at its end.
    pub fn url(&self) -> &str {
        &self.inner.url
    }

    /// The world itself, locked. Events caused through it are delivered by the next action or
    /// [`FakeGitLab::deliver`]. Do not hold it across an `.await`.
    pub fn world(&self) -> MutexGuard<'_, World> {
        lock(&self.inner.state.world)
    }

    /// The world follows this clock (milliseconds since the epoch) from now on.
    pub fn set_clock(&self, now: impl Fn() -> time::Millis + Send + Sync + 'static) {
        self.world().time = time::Time::Live(Arc::new(now));
    }

    /// What goes wrong on the way.
    pub fn faults(&self) -> MutexGuard<'_, Faults> {
        lock(&self.inner.state.faults)
    }

    /// Every call so far.
    pub fn requests(&self) -> Vec<Logged> {
        lock(&self.inner.state.log).clone()
    }

    /// The calls so far of this method (`*` for any) whose path matches (`*` stands for anything).
    pub fn requests_to(&self, method: &str, pattern: &str) -> Vec<Logged> {
        let fits =
            |call: &Logged| (method == "*" || call.method == method) && faults::matches(pattern, &call.path);
        self.requests().into_iter().filter(fits).collect()
    }

    /// Forgets the calls so far.
    pub fn forget_requests(&self) {
        lock(&self.inner.state.log).clear();
    }

    /// Calls to addresses that this GitLab does not have (`{"error":"404 Not Found"}`).
    pub fn unexpected_requests(&self) -> Vec<Logged> {
        self.requests().into_iter().filter(|call| !call.routed).collect()
    }
}

/// The bot's own notes and labels come back to it as deliveries, after its call was answered.
async fn send_what_calls_cause(inner: std::sync::Weak<Inner>) {
    loop {
        let Some(state) = inner.upgrade().map(|inner| inner.state.clone()) else { return };
        let waited = tokio::time::timeout(Duration::from_millis(500), state.wake.notified()).await;
        let Some(inner) = inner.upgrade() else { return };
        if waited.is_ok() {
            FakeGitLab { inner }.flush().await;
        }
    }
}
