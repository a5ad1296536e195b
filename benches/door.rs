//! The door under load: hooks of 4 KB while GitLab's API hangs, beside a plain handler that verifies and does
//! nothing (the limit) and beside Debian's `webhook` (which starts `true` for each), where that is installed; then more
//! than anybody can take, and whether the door is itself again. `cargo bench --bench door [-- --seconds 10 --rate 500]`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use base64::Engine;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::SecretString;
use signpost::app::App;
use signpost::clock::Clock;
use signpost::config::{Config, Secrets};
use signpost::hook::signature::Verifier;
use tokio::net::TcpListener;

const TOKEN: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

fn argument(name: &str, default: u64) -> u64 {
    let mut arguments = std::env::args();
    arguments.by_ref().find(|a| a == name);
    arguments.next().and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn body(iid: u64) -> String {
    let padding = "Which setting decides about it? ".repeat(110);
    format!(
        r#"{{"object_kind":"issue","event_type":"issue","user":{{"id":5}},"project":{{"id":7}},"object_attributes":{{"iid":{iid},"action":"open","type":"Issue","title":"How?","description":"{padding}"}}}}"#
    )
}

fn signed(id: &str, body: &str) -> HeaderMap {
    let now = Clock::System.now() / 1000;
    let key = base64::engine::general_purpose::STANDARD.decode(&TOKEN[6..]).expect("a key");
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(&key).expect("a key");
    mac.update(format!("{id}.{now}.{body}").as_bytes());
    let signature = base64::engine::general_purpose::STANDARD.encode(mac.finalize().into_bytes());
    let mut headers = HeaderMap::new();
    headers.insert("webhook-id", id.parse().expect("a value"));
    headers.insert("webhook-timestamp", now.to_string().parse().expect("a value"));
    headers.insert("webhook-signature", format!("v1,{signature}").parse().expect("a value"));
    headers.insert("content-type", "application/json".parse().expect("a value"));
    headers
}

/// What `webhook` verifies: the body alone.
fn plainly_signed(body: &str) -> HeaderMap {
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(TOKEN.as_bytes()).expect("a key");
    mac.update(body.as_bytes());
    let signature: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let mut headers = HeaderMap::new();
    headers.insert("x-signature", signature.parse().expect("a value"));
    headers.insert("content-type", "application/json".parse().expect("a value"));
    headers
}

/// Sends at a fixed rate, whatever the answers take, and returns the latencies, how many were answered 503, and how many
/// otherwise not 2xx or not at all.
async fn storm(url: &str, run: &str, rate: u64, seconds: u64) -> (Vec<Duration>, [usize; 2]) {
    let client = reqwest::Client::builder().pool_max_idle_per_host(256).build().expect("a client");
    let mut tick = tokio::time::interval(Duration::from_micros(1_000_000 / rate));
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Burst);
    let mut sent = Vec::new();
    for number in 0..rate * seconds {
        tick.tick().await;
        let (client, url, run) = (client.clone(), url.to_owned(), run.to_owned());
        sent.push(tokio::spawn(async move {
            let body = body(number + 1);
            let mut headers = signed(&format!("{run}-{number}"), &body);
            headers.extend(plainly_signed(&body));
            let began = Instant::now();
            let answer = client.post(&url).headers(headers).body(body).send().await;
            (began.elapsed(), answer.map_or(0, |a| a.status().as_u16()))
        }));
    }
    let (mut times, mut failed) = (Vec::new(), [0, 0]);
    for one in sent {
        let (time, status) = one.await.expect("a request");
        times.push(time);
        match status {
            200..=299 => {}
            503 => failed[0] += 1,
            _ => failed[1] += 1,
        }
    }
    times.sort_unstable();
    (times, failed)
}

fn at(times: &[Duration], share: f64) -> f64 {
    let index = ((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1));
    times[index].as_secs_f64() * 1000.0
}

fn resident_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

/// A GitLab that takes connections and never answers.
async fn hanging_gitlab() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            held.push(stream);
        }
    });
    format!("http://{address}")
}

async fn plain(State(verifier): State<Arc<Verifier>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    match verifier.verify(&headers, &body, Clock::System.now()) {
        Ok(()) => StatusCode::OK,
        Err(_) => StatusCode::UNAUTHORIZED,
    }
}

/// Debian's `webhook` on a port of its own; `None` where it is not installed.
async fn webhook(folder: &std::path::Path) -> Option<(String, tokio::process::Child)> {
    let rule = serde_json::json!({ "match": {
        "type": "payload-hmac-sha256", "secret": TOKEN, "parameter": { "source": "header", "name": "X-Signature" },
    }});
    let hooks = serde_json::json!([{ "id": "hook", "execute-command": "/bin/true", "trigger-rule": rule }]);
    let file = folder.join("hooks.json");
    std::fs::write(&file, hooks.to_string()).expect("an own folder");
    let probe = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = probe.local_addr().expect("an address").port();
    drop(probe);
    let child = tokio::process::Command::new("webhook")
        .args(["-ip", "127.0.0.1", "-port", &port.to_string(), "-hooks"])
        .arg(&file)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .ok()?;
    while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Some((format!("http://127.0.0.1:{port}/hooks/hook"), child))
}

async fn serve(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}/hook")
}

#[tokio::main]
async fn main() {
    let (rate, seconds) = (argument("--rate", 500), argument("--seconds", 10));
    let folder = tempfile::tempdir().expect("a folder");
    let secrets = Secrets {
        gitlab: Some(SecretString::from("glpat-bench")),
        signing: vec![SecretString::from(TOKEN)],
        ..Secrets::default()
    };
    let text = format!(
        "[gitlab]\nurl = \"{}\"\ngroup = \"acme\"\n[hook]\nlisten = \"127.0.0.1:0\"\n[admin]\nlisten = \"127.0.0.1:0\"\n[database]\nurl = \"sqlite://{}\"\n",
        hanging_gitlab().await,
        folder.path().join("bench.db").display()
    );
    let config = Config::parse(&text, "bench", &Vec::new()).expect("a configuration");
    let verifier = Arc::new(Verifier::new(&secrets.signing, &[]).expect("a token"));
    let limit = serve(Router::new().route("/hook", post(plain)).with_state(verifier)).await;
    let app = App::build(config, secrets, Clock::System).await.expect("the program");
    let store = app.world.store.clone();
    let public = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let door = format!("http://{}/hook", public.local_addr().expect("an address"));
    let admin = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    tokio::spawn(app.run_on(public, admin, std::future::pending()));

    let peer = webhook(folder.path()).await;
    println!("{rate} hooks of 4 KB a second for {seconds} s, GitLab hanging");
    println!(
        "{:<28} {:>8} {:>8} {:>8} {:>8} {:>6} {:>6}",
        "", "p50 ms", "p95 ms", "p99 ms", "max ms", "503", "failed"
    );
    let before = resident_mb();
    row("plain handler (the limit)", &limit, rate, seconds).await;
    match &peer {
        Some((url, _)) => row("webhook, starting `true`", url, rate, seconds).await,
        None => println!("webhook is not installed here (apt-get install webhook)"),
    }
    row("signpost, SQLite FULL", &door, rate, seconds).await;
    let depth = store.depth().await.expect("the store");
    println!("rows in the queue: {} of {}", depth.ready, rate * seconds);
    println!("memory, sender included: {before:.0} MB before, {:.0} MB after", resident_mb());
    let overload = 8 * rate;
    row(&format!("signpost at {overload} a second"), &door, overload, 3).await;
    row("signpost, again", &door, rate, seconds.min(5)).await;
}

async fn row(name: &str, url: &str, rate: u64, seconds: u64) {
    let run: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let (times, [busy, failed]) = storm(url, &run, rate, seconds).await;
    println!(
        "{name:<28} {:>8.2} {:>8.2} {:>8.2} {:>8.2} {busy:>6} {failed:>6}",
        at(&times, 0.5),
        at(&times, 0.95),
        at(&times, 0.99),
        at(&times, 1.0)
    );
}
