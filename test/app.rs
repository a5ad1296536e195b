//! The real program in front of the fake GitLab, on either database, with the standing checks at the end of
//! every test: nothing a stranger typed was posted, stored, logged or counted; nothing unknown was asked of
//! GitLab; every note proves itself.

use std::io::Write;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use secrecy::SecretString;
use signpost::app::App;
use signpost::clock::Clock;
use signpost::config::{Config, Secrets};
use signpost::reply::{Marker, verify};
use signpost::store::Store;
use signpost::store::question::Record;
use signpost::store::queue::Place;
use signpost::telemetry::Levels;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use crate::gitlab::{Act, BOT_TOKEN, Effect, FakeGitLab, World, hook};
use crate::port::Port;
use crate::postgres;

/// Which database a test runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Database {
    /// A file of its own.
    Sqlite,
    /// A database of its own on the throwaway server.
    Postgres,
}

/// Runs the same test on both databases.
macro_rules! on_both {
    ($(#[$meta:meta])* async fn $name:ident($app:ident: TestApp, $world:expr) $body:block) => {
        on_both! { $(#[$meta])* async fn $name($app: TestApp, $world, |_| {}) $body }
    };
    ($(#[$meta:meta])* async fn $name:ident($app:ident: TestApp, $world:expr, $shape:expr) $body:block) => {
        mod $name {
            #[allow(unused_imports, reason = "not every test uses what stands around it")]
            use super::*;

            async fn run($app: &mut crate::app::TestApp) $body

            $(#[$meta])*
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                let mut app = crate::app::TestApp::start_with(crate::app::Database::Sqlite, $world, $shape).await;
                run(&mut app).await;
                app.finish().await;
            }

            $(#[$meta])*
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                let mut app = crate::app::TestApp::start_with(crate::app::Database::Postgres, $world, $shape).await;
                run(&mut app).await;
                app.finish().await;
            }
        }
    };
    ($(#[$meta:meta])* async fn $name:ident($app:ident: TestApp) $body:block) => {
        on_both! { $(#[$meta])* async fn $name($app: TestApp, crate::gitlab::World::acme()) $body }
    };
}
pub(crate) use on_both;

/// Everything the program logged in this process, at every level.
fn log() -> &'static Mutex<Vec<u8>> {
    static LOG: OnceLock<Mutex<Vec<u8>>> = OnceLock::new();
    LOG.get_or_init(|| {
        let writer = || Sink;
        let subscriber = tracing_subscriber::fmt()
            .json()
            .with_max_level(tracing::Level::TRACE)
            .with_env_filter("signpost=trace,gitlab=debug,sqlx=debug,hyper=info,info")
            .with_writer(writer)
            .finish();
        tracing::subscriber::set_global_default(subscriber).expect("the first subscriber");
        Mutex::default()
    })
}

/// Drops what was logged: for runs so long that their log would not fit in memory, and that are alone in their process.
pub fn forget_log() {
    *log().lock().expect("the log") = Vec::new();
}

struct Sink;

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        log().lock().expect("the log").extend_from_slice(bytes);
        // For a look at one failing test.
        if std::env::var_os("SIGNPOST_TEST_LOG").is_some() {
            std::io::stderr().write_all(bytes)?;
        }
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The program and its GitLab.
pub struct TestApp {
    /// The world it works in.
    pub gitlab: FakeGitLab,
    /// The program; `None` while it is down.
    app: Option<App>,
    /// The time of both.
    pub clock: Clock,
    /// Where hooks go.
    pub hook_url: String,
    /// Where the admin pages are.
    pub admin_url: String,
    /// What the program is started with.
    pub config: Config,
    token: String,
    servers: Vec<AbortHandle>,
    folder: tempfile::TempDir,
    ports: (Port, Port),
}

impl TestApp {
    /// Starts the program on `database` with the world's corpus read and a configuration of its own.
    pub async fn start_with(database: Database, world: World, shape: impl FnOnce(&mut Config)) -> TestApp {
        let _ = log();
        let folder = tempfile::tempdir().expect("a folder");
        let url = match database {
            Database::Sqlite => format!("sqlite://{}", folder.path().join("signpost.db").display()),
            Database::Postgres => {
                tokio::task::spawn_blocking(postgres::create_database).await.expect("a database")
            }
        };
        let gitlab = FakeGitLab::start(world).await;
        let text = format!(
            "[gitlab]\nurl = \"{}\"\ngroup = \"acme\"\n[database]\nurl = \"{url}\"\n[corpus]\nexclude = [\"acme/infra\"]\n[answer]\nlanguage = \"en\"\nmax_wrong = 0.2\n",
            gitlab.url()
        );
        let mut config = Config::parse(&text, "test", &Vec::new()).expect("a configuration");
        shape(&mut config);
        let clock = Clock::manual(Clock::System.now());
        let hand = clock.clone();
        gitlab.set_clock(move || hand.now());
        let ports = (Port::free(), Port::free());
        let mut app = TestApp {
            gitlab,
            app: None,
            clock,
            hook_url: format!("http://127.0.0.1:{}/hook", ports.0.number),
            admin_url: format!("http://127.0.0.1:{}", ports.1.number),
            config,
            token: hook::signing_token(),
            servers: Vec::new(),
            folder,
            ports,
        };
        app.gitlab.with_hook(&app.hook_url, Some(&app.token));
        app.up().await;
        app.app().sweep().await.expect("the first sweep");
        app.drain().await;
        app
    }

    /// Starts the program on what is there: the same database, the same addresses.
    pub async fn up(&mut self) {
        let app = self.another().await;
        for (port, router) in [(&self.ports.0, app.public()), (&self.ports.1, app.admin())] {
            let listener = TcpListener::bind(("127.0.0.1", port.number)).await.expect("the port is held");
            let server = tokio::spawn(async move { axum::serve(listener, router).await });
            self.servers.push(server.abort_handle());
        }
        self.app = Some(app);
    }

    /// Another process of the program on the same database: a second replica, where that is allowed.
    pub async fn another(&self) -> App {
        let secrets = Secrets {
            gitlab: Some(SecretString::from(BOT_TOKEN)),
            signing: vec![SecretString::from(self.token.clone())],
            ..Secrets::default()
        };
        App::build(self.config.clone(), secrets, self.clock.clone()).await.expect("the program starts")
    }

    /// Stops the program where it is, as a crash would, and starts it again.
    pub async fn restart(&mut self) {
        self.down().await;
        self.up().await;
    }

    /// Stops the program where it is.
    pub async fn down(&mut self) {
        for server in self.servers.drain(..) {
            server.abort();
        }
        if let Some(app) = self.app.take() {
            let store = app.world.store.clone();
            drop(app);
            store.close().await;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    /// The program.
    pub fn app(&self) -> &App {
        self.app.as_ref().expect("the program is up")
    }

    /// The database.
    pub fn store(&self) -> &Store {
        &self.app().world.store
    }

    /// Delivers what happened and works until nothing is due.
    pub async fn drain(&self) {
        for _ in 0..50 {
            self.gitlab.deliver().await;
            self.app().drain().await.expect("the queue");
            if self.gitlab.deliver().await == 0
                && self.store().due(self.clock.now()).await.expect("the queue") == 0
            {
                return;
            }
        }
        panic!("the queue does not come to rest");
    }

    /// Opens an issue, and works until nothing is due. Returns its number.
    pub async fn ask(&self, project: &str, author: &str, title: &str, description: &str) -> u64 {
        let iid = self.gitlab.open_issue(project, author, title, description).await;
        self.drain().await;
        iid
    }

    /// The bot's notes on an issue.
    pub fn notes(&self, project: &str, iid: u64) -> Vec<String> {
        self.gitlab.bot_notes(project, iid).into_iter().map(|note| note.body).collect()
    }

    /// The one note of the bot on an issue.
    pub fn note(&self, project: &str, iid: u64) -> String {
        let notes = self.notes(project, iid);
        assert_eq!(notes.len(), 1, "one note on {project}#{iid}: {notes:?}");
        notes.into_iter().next().expect("one")
    }

    /// Whether the gap label is on.
    pub fn labelled(&self, project: &str, iid: u64) -> bool {
        self.gitlab.labels(project, iid).contains(&"documentation-gap".to_owned())
    }

    /// What is on record about a thread.
    pub async fn records(&self, project: &str, iid: u64) -> Vec<Record> {
        let id = self.gitlab.world().project(project).id;
        self.store().questions(Place::thread(id, iid)).await.expect("the records")
    }

    /// The decision trail of a thread.
    pub async fn trail(&self, project: &str, iid: u64) -> Vec<serde_json::Value> {
        let id = self.gitlab.world().project(project).id;
        let trail = self.store().trail(Place::thread(id, iid)).await.expect("the trail");
        trail.into_iter().map(|(_, body)| body).collect()
    }

    /// What GitLab signs with.
    pub fn signing_token(&self) -> &str {
        &self.token
    }

    /// Moves the time of program and GitLab.
    pub fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// The standing checks.
    pub async fn finish(mut self) {
        if self.app.is_none() {
            self.up().await;
        }
        let strangers = self.gitlab.strangers();
        let posted = self.gitlab.posted_by_the_bot();
        let leak = |what: &str, text: &str| {
            let leaks = strangers.leaks(text);
            assert!(leaks.is_empty(), "a stranger's words are {what}: {leaks:?}");
        };
        leak("posted", &posted);
        leak("in the metrics", &self.app().metrics.page(&Levels::default(), ""));
        leak("stored", &self.stored().await);
        let log = String::from_utf8_lossy(&log().lock().expect("the log")).into_owned();
        leak("logged", &log);
        assert!(!log.contains(BOT_TOKEN) && !log.contains(&self.token), "a secret is logged");
        let unexpected = self.gitlab.unexpected_requests();
        assert!(unexpected.is_empty(), "GitLab has no such address: {unexpected:?}");
        // The report issue names issues, and does nothing else.
        let home = self.config.gap.report_project.clone();
        let named = |effect: &Effect| {
            effect.note.is_none()
                && home.as_deref() == Some(&effect.project)
                && matches!(effect.act, Act::Issue { .. })
        };
        let mut effects = self.gitlab.effects();
        effects.retain(|effect| !named(effect));
        assert!(effects.is_empty(), "something posted acts: {effects:?}");
        self.every_note_is_proved();
        self.down().await;
    }

    /// What `signpost verify` says of everything that was ever posted with a marker, and notes have one.
    fn every_note_is_proved(&self) {
        for text in self.gitlab.posts_of_the_bot().iter().filter(|text| Marker::parse(text).is_some()) {
            let proof = verify::check(text, |id| self.gitlab.blob(id));
            assert!(proof.is_ok(), "{proof:?}: {text}");
        }
        for note in self.gitlab.all_bot_notes() {
            assert!(Marker::parse(&note).is_some(), "a note without a marker: {note}");
        }
    }

    /// Every byte at rest, as text.
    pub async fn stored(&self) -> String {
        at_rest(self.folder.path(), &self.config.database.url).await
    }
}

/// Every byte that lies in `folder` and, where it is a Postgres, in the database at `url`, as text.
pub async fn at_rest(folder: &std::path::Path, url: &str) -> String {
    let mut all = String::new();
    for entry in std::fs::read_dir(folder).expect("the folder").flatten() {
        all.push_str(&String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap_or_default()));
    }
    if !url.starts_with("sqlite") {
        let dump = tokio::process::Command::new(postgres::program("pg_dump")).arg(url).output().await;
        let dump = dump.expect("pg_dump runs");
        assert!(dump.status.success(), "pg_dump: {}", String::from_utf8_lossy(&dump.stderr));
        all.push_str(&String::from_utf8_lossy(&dump.stdout));
    }
    all
}
