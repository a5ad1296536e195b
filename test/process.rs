//! The real program as a process, beside a fake GitLab: what an administrator starts, stops, kills and reads.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::process::{Child, Command};

use crate::gitlab::{BOT_TOKEN, FakeGitLab, World};
use crate::port::Port;

/// The program that cargo built for this test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_signpost");
/// A machine that does ten other things takes this long for anything at most.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// A folder with a configuration, an environment, and a GitLab.
pub struct Site {
    pub gitlab: FakeGitLab,
    pub folder: tempfile::TempDir,
    /// Of the public and the admin listener.
    pub ports: Arc<(Port, Port)>,
    environment: Vec<(String, String)>,
}

/// What a command printed, and how it ended.
#[derive(Debug)]
pub struct Output {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Output {
    /// Standard output as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"))
    }
}

/// Ports of a public and an admin listener.
pub fn free_ports() -> Arc<(Port, Port)> {
    Arc::new((Port::free(), Port::free()))
}

impl Site {
    /// A site with the configuration of every test: an SQLite file, English sentences, a sweep now and then.
    pub async fn new(world: World) -> Site {
        let gitlab = FakeGitLab::start(world).await;
        let folder = tempfile::tempdir().expect("a folder");
        let mut site = Site { gitlab, folder, ports: free_ports(), environment: Vec::new() };
        site.set("SIGNPOST_GITLAB_TOKEN", BOT_TOKEN);
        site.configure("");
        site
    }

    /// Writes the configuration, with `more` at its end.
    pub fn configure(&self, more: &str) {
        let text = format!(
            "[gitlab]\nurl = \"{}\"\ngroup = \"acme\"\n[hook]\nlisten = \"127.0.0.1:{}\"\npublic_url = \"{}\"\n[admin]\nlisten = \"127.0.0.1:{}\"\n[database]\nurl = \"sqlite://{}\"\n[corpus]\nexclude = [\"acme/infra\"]\n[answer]\nlanguage = \"en\"\nmax_wrong = 0.2\n{more}",
            self.gitlab.url(),
            self.ports.0.number,
            self.hook_url(),
            self.ports.1.number,
            self.database().display(),
        );
        std::fs::write(self.config(), text).expect("an own folder");
    }

    /// Where the configuration stands.
    pub fn config(&self) -> PathBuf {
        self.folder.path().join("signpost.toml")
    }

    /// Where the SQLite file stands.
    pub fn database(&self) -> PathBuf {
        self.folder.path().join("signpost.db")
    }

    /// Where GitLab posts to.
    pub fn hook_url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.ports.0.number)
    }

    /// A page of the admin listener.
    pub fn admin_url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.ports.1.number)
    }

    /// Sets a variable for everything that is started from now on.
    pub fn set(&mut self, name: &str, value: &str) {
        self.unset(name);
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    /// Takes a variable away.
    pub fn unset(&mut self, name: &str) {
        self.environment.retain(|(known, _)| known != name);
    }

    /// The program with this site's environment and nothing else, started in its folder.
    pub fn command(&self) -> Command {
        self.command_of(PROGRAM)
    }

    fn command_of(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.environment.iter().cloned()).current_dir(self.folder.path());
        command.stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    /// Runs a command of the program to its end.
    pub async fn run(&self, arguments: &[&str]) -> Output {
        let running = self.command().args(arguments).output();
        let output = tokio::time::timeout(PATIENCE, running).await.expect("it ends").expect("it starts");
        Output {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Starts `serve` and waits until it is ready.
    pub async fn serve(&self) -> Serving {
        self.serve_at(Arc::clone(&self.ports), &[]).await
    }

    /// The same at other addresses and with more variables: a further replica.
    pub async fn serve_at(&self, ports: Arc<(Port, Port)>, more: &[(&str, &str)]) -> Serving {
        let mut command = self.command();
        command.arg("serve");
        self.start(command, ports, more).await
    }

    /// The same on a disk that is full when a file has so many KiB: a write beyond it fails.
    pub async fn serve_within(&self, kib: u64) -> Serving {
        let mut command = self.command_of("/bin/bash");
        command.args(["-c", &format!("trap '' XFSZ; ulimit -f {kib}; exec {PROGRAM} serve")]);
        self.start(command, Arc::clone(&self.ports), &[]).await
    }

    async fn start(&self, mut command: Command, ports: Arc<(Port, Port)>, more: &[(&str, &str)]) -> Serving {
        let log = self.folder.path().join(format!("log-{}", ports.0.number));
        let file = std::fs::File::options().create(true).append(true).open(&log).expect("an own folder");
        let child = command
            .env("SIGNPOST_HOOK__LISTEN", format!("127.0.0.1:{}", ports.0.number))
            .env("SIGNPOST_ADMIN__LISTEN", format!("127.0.0.1:{}", ports.1.number))
            .envs(more.iter().copied())
            .stdout(Stdio::null())
            .stderr(file)
            .spawn()
            .expect("the program starts");
        let mut serving = Serving { child, log, ports };
        serving.wait_until_ready().await;
        serving
    }
}

/// A running `serve`; killed when dropped.
pub struct Serving {
    child: Child,
    log: PathBuf,
    ports: Arc<(Port, Port)>,
}

impl Serving {
    async fn wait_until_ready(&mut self) {
        let url = format!("http://127.0.0.1:{}/readyz", self.ports.0.number);
        let began = Instant::now();
        loop {
            if reqwest::get(&url).await.is_ok_and(|answer| answer.status().is_success()) {
                return;
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                panic!("serve ended by itself with {status}:\n{}", self.log());
            }
            assert!(began.elapsed() < PATIENCE, "serve does not become ready:\n{}", self.log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Everything it has logged so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Waits until `done` says so; panics with `what` and the log in the end.
    pub async fn wait_for(&self, what: &str, mut done: impl FnMut(&Serving) -> bool) {
        let began = Instant::now();
        while !done(self) {
            assert!(began.elapsed() < PATIENCE, "in vain: {what}\n{}", self.log());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits until the corpus of the ordinary world was read.
    pub async fn wait_for_corpus(&self) {
        self.wait_for("the corpus is read", |it| it.log().matches("project_synced").count() >= 3).await;
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// Where its hook is.
    pub fn hook_url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.ports.0.number)
    }

    /// `kill -9`.
    pub async fn kill(mut self) {
        self.child.kill().await.expect("it runs");
    }

    /// SIGTERM, and the exit code.
    pub async fn terminate(mut self) -> Option<i32> {
        let signal = std::process::Command::new("kill").args(["-TERM", &self.id().to_string()]).status();
        assert!(signal.is_ok_and(|status| status.success()), "kill is part of every Linux");
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        ended.expect("it ends").expect("it ran").code()
    }
}

/// Waits until `done` says so; panics with `what` in the end.
pub async fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < PATIENCE, "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
