//! The door: what it takes, what it refuses, and that 2xx is a promise.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use secrecy::SecretString;
use serde_json::{Value, json};
use signpost::clock::Clock;
use signpost::hook::signature::Verifier;
use signpost::hook::{Door, OwnIds};
use signpost::store::Store;
use signpost::store::inbox::Inbox;
use signpost::telemetry::Metrics;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::app::{Database, TestApp, on_both};
use crate::gitlab::{World, hook};
use crate::postgres;
use crate::process::Site;

type Headers = Vec<(&'static str, String)>;

fn token(app: &TestApp) -> String {
    let world = app.gitlab.world();
    world.hooks.values().find_map(|hook| hook.signing_token.clone()).expect("the hook is signed")
}

/// The proof of origin for a body, made at this second.
fn proof(app: &TestApp, id: &str, body: &[u8], seconds: i64) -> Headers {
    vec![
        ("webhook-id", id.to_owned()),
        ("webhook-timestamp", seconds.to_string()),
        ("webhook-signature", hook::sign(&token(app), id, seconds, body)),
    ]
}

fn now(app: &TestApp) -> i64 {
    app.clock.now() / 1000
}

fn opened(iid: u64) -> Vec<u8> {
    json!({ "object_kind": "issue", "user": { "id": 11 }, "project": { "id": 101 },
            "object_attributes": { "iid": iid, "action": "open", "type": "Issue" } })
    .to_string()
    .into_bytes()
}

async fn post(url: &str, headers: Headers, body: Vec<u8>) -> (u16, String) {
    let request = reqwest::Client::builder().build().expect("a client").post(url).body(body);
    let request = headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
    let answer = request.send().await.expect("an answer");
    (answer.status().as_u16(), answer.text().await.unwrap_or_default())
}

/// Posts with a good proof.
async fn knock(app: &TestApp, id: &str, body: Vec<u8>) -> (u16, String) {
    post(&app.hook_url, proof(app, id, &body, now(app)), body).await
}

async fn get(url: &str) -> (u16, String) {
    let answer = reqwest::get(url).await.expect("an answer");
    (answer.status().as_u16(), answer.text().await.unwrap_or_default())
}

fn base(app: &TestApp) -> String {
    app.hook_url.trim_end_matches("/hook").to_owned()
}

async fn due(app: &TestApp) -> i64 {
    app.store().due(app.clock.now()).await.expect("the store")
}

on_both! {
    async fn without_the_right_proof_nothing_comes_in(app: TestApp) {
        let (body, at) = (opened(1), now(app));
        let good = || proof(app, "one", &body, at);
        let without = |name: &str| good().into_iter().filter(|(known, _)| *known != name).collect::<Headers>();
        let with = |name: &'static str, value: &str| {
            let mut headers = without(name);
            headers.push((name, value.to_owned()));
            headers
        };
        let doubled = |name: &'static str| {
            let mut headers = good();
            let twin = headers.iter().find(|(known, _)| *known == name).cloned().expect("it is there");
            headers.push(twin);
            headers
        };
        let foreign = hook::sign(&hook::signing_token(), "one", at, &body);
        let cases: Vec<(&str, Headers)> = vec![
            ("wrong signature", with("webhook-signature", &foreign)),
            ("signature of another version", with("webhook-signature", "v1a,AAAA")),
            ("signature that is none", with("webhook-signature", "nonsense")),
            ("signature of another id", with("webhook-id", "two")),
            ("old timestamp", proof(app, "one", &body, at - 301)),
            ("future timestamp", proof(app, "one", &body, at + 301)),
            ("timestamp that is none", with("webhook-timestamp", "soon")),
            ("no header at all", Vec::new()),
            ("missing id", without("webhook-id")),
            ("missing timestamp", without("webhook-timestamp")),
            ("missing signature", without("webhook-signature")),
            ("empty signature", with("webhook-signature", "")),
            ("doubled id", doubled("webhook-id")),
            ("doubled timestamp", doubled("webhook-timestamp")),
            ("doubled signature", doubled("webhook-signature")),
            ("plain token beside a configured signing token", vec![("x-gitlab-token", token(app))]),
        ];
        for (name, headers) in cases {
            let (status, text) = post(&app.hook_url, headers, body.clone()).await;
            assert_eq!(status, 401, "{name}: {text}");
            assert!(!text.contains("whsec_"), "{name}: {text}");
        }
        let mut changed = body.clone();
        changed.push(b' ');
        assert_eq!(post(&app.hook_url, good(), changed).await.0, 401, "another body");
        assert_eq!(due(app).await, 0, "what is refused leaves nothing");
        for at in [at - 299, at + 299] {
            assert_eq!(post(&app.hook_url, proof(app, &format!("at {at}").replace(' ', "-"), &body, at), body.clone()).await.0, 200);
        }
    }
}

on_both! {
    async fn everything_authentic_is_answered_2xx_whatever_its_shape(app: TestApp) {
        let bodies: Vec<Value> = vec![
            json!({}), json!(null), json!([]), json!(7), json!("text"),
            json!({ "object_kind": "from the future", "project": { "id": 101 } }),
            json!({ "object_kind": null, "event_name": null }),
            json!({ "object_kind": "issue" }),
            json!({ "object_kind": "issue", "object_attributes": null, "project": null, "user": null }),
            json!({ "object_kind": "issue", "project": { "id": null }, "object_attributes": { "iid": null, "action": null } }),
            json!({ "object_kind": "issue", "project": { "id": "101" }, "object_attributes": { "iid": "7" } }),
            json!({ "object_kind": "issue", "project": { "id": -1 }, "object_attributes": { "iid": 0, "action": "open" } }),
            json!({ "object_kind": "issue", "project": { "id": 1e300 }, "object_attributes": [] }),
            json!({ "object_kind": "note", "object_attributes": { "note": null }, "issue": null }),
            json!({ "object_kind": "emoji" }), json!({ "object_kind": "merge_request", "object_attributes": {} }),
            json!({ "object_kind": "push", "ref": null, "after": null }),
            json!({ "event_name": "subgroup_create" }), json!({ "event_name": 4 }),
        ];
        for (at, body) in bodies.into_iter().enumerate() {
            let (status, text) = knock(app, &format!("shape-{at}"), body.to_string().into_bytes()).await;
            assert_eq!(status, 200, "{body}: {text}");
        }
        for (at, broken) in [&b"{"[..], b"", b"not json", b"{\"object_kind\":\"issue\"} trailing", b"object_kind=issue"].into_iter().enumerate() {
            assert_eq!(knock(app, &format!("broken-{at}"), broken.to_vec()).await, (400, "the body is not JSON\n".into()));
        }
        let told = app.store().setting(signpost::store::setting::NOT_JSON).await.expect("the store");
        assert!(told.is_some(), "check learns of it");
    }
}

on_both! {
    async fn a_body_over_25_mib_is_413_and_the_sender_hears_it(app: TestApp) {
        let body = vec![b' '; 30_000_000];
        assert_eq!(post(&app.hook_url, proof(app, "large", &body, now(app)), body).await, (413, "the body is over 25 MiB\n".into()));
        let mut body = b"{\"a\":\"".to_vec();
        body.resize(signpost::hook::BODY_LIMIT - 2, b'x');
        body.extend(b"\"}");
        assert_eq!(knock(app, "just", body).await.0, 200, "GitLab's own largest");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_bodies_that_never_end_take_no_more_than_their_share_of_memory_and_keep_nobody_out() {
    use tokio::io::AsyncWriteExt as _;
    let app = TestApp::start_with(Database::Sqlite, World::acme(), |_| {}).await;
    let large = vec![b' '; 24 << 20];
    let port =
        app.hook_url.split(':').nth(2).and_then(|rest| rest.split('/').next()).expect("a port").to_owned();
    let mut held = Vec::new();
    let mut refused = 0;
    for number in 0..8 {
        // Headers that look right, as far as headers can; all but the last byte of the body.
        let mut head = format!("POST /hook HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n", large.len() + 1);
        for (name, value) in proof(&app, &format!("held-{number}"), b"another body", now(&app)) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let mut stream =
            tokio::net::TcpStream::connect(format!("127.0.0.1:{port}")).await.expect("a connection");
        stream.write_all(format!("{head}\r\n").as_bytes()).await.expect("the head");
        refused += usize::from(stream.write_all(&large).await.is_err());
        held.push(stream);
    }
    let mut answered = 0;
    for stream in &mut held {
        let mut answer = [0u8; 12];
        let read = tokio::io::AsyncReadExt::read_exact(stream, &mut answer);
        match tokio::time::timeout(std::time::Duration::from_millis(500), read).await {
            Ok(Ok(_)) => answered += usize::from(&answer == b"HTTP/1.1 503"),
            Ok(Err(_)) => answered += 1,
            Err(_) => {}
        }
    }
    assert!(refused + answered >= 4, "{refused} connections closed, {answered} told to come back");
    assert_eq!(knock(&app, "small", opened(9)).await, (200, "accepted\n".into()), "GitLab comes in");
    drop(held);
    app.finish().await;
}

on_both! {
    async fn a_repeated_delivery_is_a_no_op(app: TestApp) {
        assert_eq!(knock(app, "same", opened(77)).await, (200, "accepted\n".into()));
        assert_eq!(due(app).await, 1);
        app.drain().await;
        app.gitlab.forget_requests();
        assert_eq!(knock(app, "same", opened(77)).await, (200, "already taken\n".into()));
        app.restart().await;
        assert_eq!(knock(app, "same", opened(77)).await, (200, "already taken\n".into()), "also after a restart");
        assert_eq!(due(app).await, 0, "nothing is done again");
        assert_eq!(knock(app, "other", opened(77)).await, (200, "accepted\n".into()));
    }
}

on_both! {
    async fn one_listener_is_public_and_only_three_addresses_of_it(app: TestApp) {
        let base = base(app);
        assert_eq!(get(&format!("{base}/hook")).await.0, 405);
        assert_eq!(get(&format!("{base}/healthz")).await, (200, "ok\n".into()));
        assert_eq!(get(&format!("{base}/readyz")).await, (200, "ready\n".into()));
        for path in ["/", "/gaps", "/gaps.json", "/gaps.csv", "/threads/101/1", "/metrics", "/style.css", "/hook/", "/hooks"] {
            assert_eq!(get(&format!("{base}{path}")).await.0, 404, "{path} is not public");
        }
        assert_eq!(post(&format!("{}/hook", app.admin_url), Vec::new(), opened(1)).await.0, 404, "no hook among the admin pages");
    }
}

/// Doors that ask for a plain token, on both databases.
async fn plain_door(database: Database) -> (Store, String, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let url = match database {
        Database::Sqlite => format!("sqlite://{}", folder.path().join("door.db").display()),
        Database::Postgres => {
            tokio::task::spawn_blocking(postgres::create_database).await.expect("a database")
        }
    };
    let store = Store::open(&url).await.expect("a store");
    let (inbox, _) = Inbox::start(store.clone());
    let tokens = ["first", "second"].map(SecretString::from);
    let door = Door {
        verifier: Arc::new(Verifier::new(&[], &tokens).expect("tokens")),
        inbox,
        store: store.clone(),
        clock: Clock::System,
        wake: Arc::new(Notify::new()),
        own: OwnIds::default(),
        metrics: Metrics::new(),
        unproven: std::sync::Arc::default(),
        buffered: std::sync::Arc::default(),
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, signpost::hook::router(door)).await });
    (store, url, folder)
}

#[tokio::test]
async fn with_plain_tokens_a_repetition_is_known_by_key_or_by_body() {
    for database in [Database::Sqlite, Database::Postgres] {
        let (store, url, _folder) = plain_door(database).await;
        let send = async |token: &str, key: Option<&str>, body: Vec<u8>| {
            let mut headers: Headers = vec![("x-gitlab-token", token.to_owned())];
            headers.extend(key.map(|key| ("idempotency-key", key.to_owned())));
            post(&url, headers, body).await
        };
        for wrong in ["", "third", "firs", "first second"] {
            assert_eq!(send(wrong, None, opened(1)).await.0, 401, "{wrong}");
        }
        assert_eq!(send("first", Some("k1"), opened(1)).await.1, "accepted\n");
        assert_eq!(send("second", Some("k1"), opened(2)).await.1, "already taken\n", "the key decides");
        assert_eq!(send("first", None, opened(3)).await.1, "accepted\n");
        assert_eq!(send("first", None, opened(3)).await.1, "already taken\n", "the body decides");
        assert_eq!(send("first", None, opened(4)).await.1, "accepted\n");
        assert_eq!(store.depth().await.expect("the store").ready, 3);
    }
}

/// A wire to the database that can be cut.
struct Wire {
    whole: Arc<AtomicBool>,
    live: Arc<Mutex<Vec<AbortHandle>>>,
}

impl Wire {
    /// Lays the wire into a database's address.
    fn lay(url: &mut String) -> Wire {
        let mut address = url::Url::parse(url).expect("a url");
        let to = SocketAddr::from(([127, 0, 0, 1], address.port().expect("a port")));
        let wire = Wire { whole: Arc::new(AtomicBool::new(true)), live: Arc::default() };
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        address.set_port(listener.local_addr().ok().map(|a| a.port())).expect("a port");
        *url = address.to_string();
        tokio::spawn(carry(listener, to, wire.whole.clone(), wire.live.clone()));
        wire
    }

    fn cut(&self) {
        self.whole.store(false, Ordering::SeqCst);
        self.live.lock().expect("not poisoned").drain(..).for_each(|connection| connection.abort());
    }

    fn mend(&self) {
        self.whole.store(true, Ordering::SeqCst);
    }
}

async fn carry(
    listener: std::net::TcpListener,
    to: SocketAddr,
    whole: Arc<AtomicBool>,
    live: Arc<Mutex<Vec<AbortHandle>>>,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    loop {
        let (mut near, _) = listener.accept().await?;
        if !whole.load(Ordering::SeqCst) {
            continue;
        }
        let connection = tokio::spawn(async move {
            let mut far = TcpStream::connect(to).await?;
            tokio::io::copy_bidirectional(&mut near, &mut far).await
        });
        live.lock().expect("not poisoned").push(connection.abort_handle());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_postgres_is_away_it_says_503_and_why_and_comes_back_by_itself() {
    let mut wire = None;
    let mut app = TestApp::start_with(Database::Postgres, World::acme(), |config| {
        wire = Some(Wire::lay(&mut config.database.url));
    })
    .await;
    let wire = wire.expect("laid");
    wire.cut();
    let ready = format!("{}/readyz", base(&app));
    assert_eq!(get(&ready).await, (503, "the database does not answer\n".into()));
    assert_eq!(get(&format!("{}/healthz", base(&app))).await.0, 200, "it is alive all the same");
    let began = std::time::Instant::now();
    assert_eq!(knock(&app, "lost", opened(5)).await, (503, "try again later\n".into()));
    assert!(began.elapsed().as_secs() < 10, "GitLab waits ten seconds");
    wire.mend();
    assert_eq!(get(&ready).await.0, 200);
    assert_eq!(knock(&app, "lost", opened(5)).await, (200, "accepted\n".into()), "it was not taken before");
    app.restart().await;
    assert_eq!(due(&app).await, 1);
    app.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_sqlite_takes_nothing_it_says_503() {
    let mut app = TestApp::start_with(Database::Sqlite, World::acme(), |_| {}).await;
    app.store().close().await;
    assert_eq!(get(&format!("{}/readyz", base(&app))).await, (503, "the database does not answer\n".into()));
    assert_eq!(knock(&app, "lost", opened(5)).await.0, 503);
    app.restart().await;
    assert_eq!(knock(&app, "lost", opened(5)).await, (200, "accepted\n".into()));
    app.finish().await;
}

#[tokio::test]
async fn without_a_secret_the_program_refuses_to_start() {
    let mut site = Site::new(World::acme()).await;
    let cases: [(&[(&str, &str)], &str); 6] = [
        (&[], "neither SIGNPOST_SIGNING_TOKEN nor SIGNPOST_SECRET_TOKEN is set"),
        (&[("SIGNPOST_SIGNING_TOKEN", "")], "neither SIGNPOST_SIGNING_TOKEN nor"),
        (&[("SIGNPOST_SECRET_TOKEN", "  ")], "neither SIGNPOST_SIGNING_TOKEN nor"),
        (&[("SIGNPOST_SIGNING_TOKEN", "whsec_")], "token 1 is not `whsec_` followed by"),
        (&[("SIGNPOST_SIGNING_TOKEN", "secret-of-a-person")], "token 1 is not `whsec_`"),
        (
            &[("SIGNPOST_SECRET_TOKEN", "x"), ("SIGNPOST_GITLAB_TOKEN", "")],
            "SIGNPOST_GITLAB_TOKEN is not set",
        ),
    ];
    for (variables, message) in cases {
        for name in ["SIGNPOST_SIGNING_TOKEN", "SIGNPOST_SECRET_TOKEN"] {
            site.unset(name);
        }
        variables.iter().for_each(|(name, value)| site.set(name, value));
        let output = site.run(&["serve"]).await;
        assert_eq!(output.code, Some(2), "{variables:?}: {output:?}");
        assert!(output.err.contains(message), "{variables:?}: {output:?}");
        assert!(!output.err.contains("secret-of-a-person"), "{output:?}");
    }
    assert!(!site.database().exists(), "nothing was begun");
}
