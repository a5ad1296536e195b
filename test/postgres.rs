//! A throwaway Postgres for tests, from the server programs that are installed.
//!
//! One server serves every test process of a user at once, because a process per test would otherwise pay for
//! a server each. Who comes first starts it, under a file lock; who comes later finds it alive. Every process
//! holds a shared lock for as long as it lives, which the kernel takes back however it dies, and a watcher
//! stops the server and removes its files when nobody has held one for a while. Data is not synced.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// What a machine without a server is told.
const MISSING: &str = "no Postgres server is installed: `apt-get install postgresql` (its programs are looked for in \
                       /usr/lib/postgresql/*/bin and on PATH; it need not run)";

/// Stops the server and removes its folder (`$1`) once no process has held the users' lock for ten seconds.
/// It runs by itself, so that it outlives the process that started the server.
const WATCHER: &str = r#"
cd / ; while :; do
  flock -x "$1/users.lock" true
  sleep 10
  flock -x "$1/start.lock" sh -c 'flock -n -x "$1/users.lock" true || exit 1
    kill -INT "$(head -n 1 "$1/data/postmaster.pid")" 2>/dev/null
    n=0; while [ -e "$1/data/postmaster.pid" ] && [ $n -lt 50 ]; do sleep 0.1; n=$((n+1)); done
    rm -rf "$1/data" "$1/port"' sh "$1" && exit 0
done
"#;

/// The server of this process, once it is needed.
struct Server {
    bin: PathBuf,
    port: u16,
    /// Held until the process ends.
    _users: File,
}

static SERVER: OnceLock<Server> = OnceLock::new();
static DATABASES: AtomicUsize = AtomicUsize::new(0);

/// An empty database of its own: `postgres://postgres@127.0.0.1:PORT/NAME`. Panics, saying what to install,
/// where there is no server; it never skips.
pub fn create_database() -> String {
    let server = SERVER.get_or_init(start);
    let serial = DATABASES.fetch_add(1, Ordering::SeqCst);
    let name = format!("test_{}_{serial}_{}", std::process::id(), now_nanos());
    let mut createdb = Command::new(server.bin.join("createdb"));
    createdb.args(["-h", "127.0.0.1", "-U", "postgres", "-p", &server.port.to_string(), &name]);
    run(&mut createdb);
    format!("postgres://postgres@127.0.0.1:{}/{name}", server.port)
}

/// One of the installed programs, such as `pg_dump`.
pub fn program(name: &str) -> PathBuf {
    programs().unwrap_or_else(|| panic!("{MISSING}")).join(name)
}

fn start() -> Server {
    let bin = programs().unwrap_or_else(|| panic!("{MISSING}"));
    let home = home();
    fs::create_dir_all(&home).expect("the folder for temporary files can be written");
    // The server runs as another user and must pass through.
    fs::set_permissions(&home, fs::Permissions::from_mode(0o755)).expect("an own folder");
    let turn = lock_file(&home, "start.lock");
    turn.lock().expect("file locks work in the folder for temporary files");
    let port = alive(&home).unwrap_or_else(|| boot(&bin, &home));
    let users = lock_file(&home, "users.lock");
    users.lock_shared().expect("file locks work in the folder for temporary files");
    Server { bin, port, _users: users }
}

fn lock_file(home: &Path, name: &str) -> File {
    File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .read(true)
        .open(home.join(name))
        .expect("an own folder")
}

/// The folder with the newest server programs.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<(u32, PathBuf)> = versions
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .filter(|(_, bin)| bin.join("initdb").exists())
        .collect();
    found.sort();
    let on_path =
        || std::env::split_paths(&std::env::var_os("PATH")?).find(|folder| folder.join("initdb").exists());
    found.pop().map(|(_, bin)| bin).or_else(on_path)
}

/// One folder a user and version of this file.
fn home() -> PathBuf {
    let user =
        std::env::var("USER").unwrap_or_else(|_| if is_root() { "root".into() } else { "user".into() });
    std::env::temp_dir().join(format!("signpost-test-postgres-1-{user}"))
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// The port of a server that another process left running and that answers.
fn alive(home: &Path) -> Option<u16> {
    let port: u16 = fs::read_to_string(home.join("port")).ok()?.trim().parse().ok()?;
    let mut stream =
        TcpStream::connect_timeout(&([127, 0, 0, 1], port).into(), Duration::from_secs(2)).ok()?;
    // An SSL request: any Postgres answers it with one letter, and nothing else does.
    stream.set_read_timeout(Some(Duration::from_secs(2))).ok()?;
    stream.write_all(&[0, 0, 0, 8, 4, 210, 22, 47]).ok()?;
    let mut letter = [0u8; 1];
    stream.read_exact(&mut letter).ok()?;
    matches!(letter[0], b'S' | b'N').then_some(port)
}

/// Makes a fresh cluster, starts its server, and leaves a watcher behind.
fn boot(bin: &Path, home: &Path) -> u16 {
    let data = home.join("data");
    if let Some(pid) = fs::read_to_string(data.join("postmaster.pid"))
        .ok()
        .and_then(|text| text.lines().next()?.parse::<u32>().ok())
    {
        // What a killed run left: the server of exactly this folder, if it is still there.
        let runs_here = fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == data);
        if runs_here {
            let _ = Command::new("kill").args(["-QUIT", &pid.to_string()]).status();
            std::thread::sleep(Duration::from_millis(300));
        }
    }
    let _ = fs::remove_dir_all(&data);
    fs::create_dir(&data).expect("an own folder");
    if is_root() {
        run(Command::new("chown").arg("postgres").arg(&data));
    }
    let quoted = |path: &Path| format!("'{}'", path.display());
    as_postgres(&format!(
        "{} -A trust -U postgres -E UTF8 --no-locale --no-sync -D {}",
        quoted(&bin.join("initdb")),
        quoted(&data)
    ));
    let port = free_port();
    let options = format!(
        "-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c synchronous_commit=off \
         -c full_page_writes=off -c max_connections=400 -c shared_buffers=64MB -c max_wal_size=4GB"
    );
    let log = data.join("server.log");
    as_postgres(&format!(
        "{} -D {} -l {} -o \"{options}\" -w start",
        quoted(&bin.join("pg_ctl")),
        quoted(&data),
        quoted(&log)
    ));
    fs::write(home.join("port"), port.to_string()).expect("an own folder");
    watch(home);
    port
}

fn watch(home: &Path) {
    lock_file(home, "users.lock");
    let mut watcher = Command::new("setsid");
    watcher.args(["-f", "sh", "-c", WATCHER, "sh"]).arg(home);
    let quiet = watcher.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let forked = quiet.status();
    assert!(forked.is_ok_and(|status| status.success()), "setsid, flock and sh are part of every Linux");
}

fn free_port() -> u16 {
    let probe = TcpListener::bind(("127.0.0.1", 0)).expect("a free loopback port");
    probe.local_addr().expect("a bound port").port()
}

/// Postgres refuses to run as root.
fn as_postgres(command: &str) {
    let mut shell = match is_root() {
        true => Command::new("su"),
        false => Command::new("sh"),
    };
    if is_root() {
        shell.args(["postgres", "-s", "/bin/sh"]);
    }
    run(shell.args(["-c", command]).current_dir("/"));
}

fn run(command: &mut Command) {
    // To a file, not a pipe: a server that stays would keep a pipe open.
    let told =
        std::env::temp_dir().join(format!("signpost-test-postgres-{}-{}", std::process::id(), now_nanos()));
    let file = File::create(&told).expect("the folder for temporary files can be written");
    let errors = file.try_clone().expect("a file can be opened twice");
    let status = command.stdin(Stdio::null()).stdout(file).stderr(errors).status();
    let text = fs::read_to_string(&told).unwrap_or_default();
    let _ = fs::remove_file(&told);
    assert!(status.as_ref().is_ok_and(|status| status.success()), "{command:?}: {status:?}\n{text}");
}

#[expect(clippy::disallowed_methods, reason = "only to make names that no other process makes")]
fn now_nanos() -> u128 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_nanos())
}

#[cfg(test)]
mod tests {
    #[test]
    fn two_databases_are_two() {
        let (one, two) = (super::create_database(), super::create_database());
        assert_ne!(one, two);
        assert!(one.starts_with("postgres://postgres@127.0.0.1:"));
    }
}
