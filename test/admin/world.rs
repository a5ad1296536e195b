//! A store with questions, an admin listener on loopback, and a GitLab that knows nothing but titles.

#![expect(clippy::unwrap_used, reason = "a test whose world cannot be made fails")]

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use secrecy::SecretString;
use serde_json::{Value, json};
use signpost::admin::access::Access;
use signpost::admin::{Admin, router};
use signpost::clock::Clock;
use signpost::config::Config;
use signpost::gitlab::GitLab;
use signpost::prose::{Prose, Question};
use signpost::reference::ProjectPath;
use signpost::search::Fingerprint;
use signpost::store::Store;
use signpost::store::question::{Near, Record, State as Standing, Target};
use signpost::store::queue::Place;
use signpost::target::{Access as Readers, Project, Visibility};
use signpost::telemetry::Metrics;
use tokio::net::TcpListener;

pub const TOKEN: &str = "an-admin-token";
pub const HOSTILE: &str = "<script>alert(1)</script>\" onmouseover=\"alert(2)\"><img src=x onerror=alert(3)>";
const NOW: i64 = 1_796_000_000_000;
const DAY: i64 = 24 * 3600 * 1000;

/// What GitLab does to whoever asks for titles.
#[derive(Clone, Default)]
pub struct FakeTitles(Arc<Mutex<Moods>>);

#[derive(Default)]
struct Moods {
    hidden: HashSet<(u64, u64)>,
    away: bool,
    slow: Duration,
}

impl FakeTitles {
    pub fn hide(&self, project: u64, iid: u64) {
        self.0.lock().unwrap().hidden.insert((project, iid));
    }
    pub fn away(&self, away: bool) {
        self.0.lock().unwrap().away = away;
    }
    pub fn slow(&self, by: Duration) {
        self.0.lock().unwrap().slow = by;
    }

    async fn start(&self) -> String {
        let routes = Router::new()
            .route("/api/v4/user", get(|| async { Json(json!({ "id": 99, "username": "signpost" })) }))
            .route("/api/v4/projects/{project}/issues", get(issues))
            .with_state(self.clone());
        serve(routes).await
    }
}

async fn issues(
    State(fake): State<FakeTitles>,
    Path(project): Path<u64>,
    Query(words): Query<Vec<(String, String)>>,
) -> Result<Json<Value>, StatusCode> {
    let slow = fake.0.lock().unwrap().slow;
    tokio::time::sleep(slow).await;
    let moods = fake.0.lock().unwrap();
    if moods.away {
        return Err(StatusCode::BAD_GATEWAY);
    }
    let iids =
        words.iter().filter(|(name, _)| name == "iids[]").filter_map(|(_, iid)| iid.parse::<u64>().ok());
    let issue = |iid: u64| {
        let title = if iid == 1 { HOSTILE.to_owned() } else { title(iid) };
        json!({
            "id": project * 100_000 + iid, "iid": iid, "project_id": project, "title": title, "state": "opened",
            "confidential": moods.hidden.contains(&(project, iid)), "labels": [], "upvotes": 0,
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
        })
    };
    Ok(Json(Value::Array(iids.map(issue).collect())))
}

fn title(iid: u64) -> String {
    let subjects =
        ["upload limits", "token expiry", "LDAP groups", "time zones of schedules", "offline plugins"];
    format!("Question number {iid} about {}", subjects[iid as usize % subjects.len()])
}

async fn serve(routes: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
    format!("http://{address}")
}

pub struct World {
    pub store: Store,
    pub gitlab: FakeTitles,
    pub client: reqwest::Client,
    base: String,
    _folder: tempfile::TempDir,
}

impl World {
    /// An admin listener without any question.
    pub async fn new(token: Option<&str>) -> World {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("s.db").display());
        World::on(&url, token, folder).await
    }

    /// The same on Postgres.
    pub async fn on_postgres() -> World {
        World::on(&crate::postgres::create_database(), None, tempfile::tempdir().unwrap()).await
    }

    async fn on(database: &str, token: Option<&str>, folder: tempfile::TempDir) -> World {
        let store = Store::open(database).await.unwrap();
        let gitlab = FakeTitles::default();
        let instance = gitlab.start().await;
        let text = format!("[gitlab]\nurl = \"{instance}\"\ngroup = \"acme\"");
        let config = Config::parse(&text, "test", &vec![]).unwrap();
        for (id, path) in [(1, "acme/api"), (2, "acme/docs")] {
            store.save_project(&project(id, path), None, NOW).await.unwrap();
        }
        let clock = Clock::manual(NOW);
        let client = GitLab::new(&config.gitlab.url, SecretString::from("glpat-x"), clock.clone()).unwrap();
        let admin = Admin {
            access: Access::new(&config, token.map(SecretString::from)),
            config: Arc::new(config),
            store: store.clone(),
            clock,
            metrics: Metrics::new(),
            titles: Some(Arc::new(client.clone())),
            gitlab: Some(client),
        };
        let base = serve(router(admin)).await;
        let client = reqwest::Client::builder().timeout(Duration::from_secs(20)).build().unwrap();
        World { store, gitlab, client, base, _folder: folder }
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    pub async fn get(&self, path: &str) -> (u16, String) {
        let answer = self.client.get(self.url(path)).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    /// `count` questions, each about something else, in all states and kinds; some asked by several people.
    pub async fn ask(&self, count: u64) {
        for iid in 1..=count {
            self.store.save_question(&record(iid)).await.unwrap();
        }
        let body = json!({ "outcome": "gap", "score": 0.31, "candidates": [
            { "path": "docs/page-1.md", "check": "cover", "score": 0.31 }, { "path": "no <b> here", "check": "resolve" } ] });
        self.store.add_trail(Place::thread(1, 1), NOW, &body).await.unwrap();
        self.store.want(Place::thread(1, 2), None, NOW - 60_000).await.unwrap();
    }
}

fn project(id: u64, path: &str) -> Project {
    Project {
        id,
        path: ProjectPath::parse(path).unwrap(),
        visibility: Some(Visibility::Public),
        archived: false,
        deletion_scheduled: false,
        repository: Some(Readers::Enabled),
        issues: Some(Readers::Enabled),
        default_branch: Some("main".into()),
        forked_from: None,
    }
}

fn record(iid: u64) -> Record {
    // Numbers spelled out in letters of their own: no two questions share a word.
    let word = |salt: u64| -> String {
        let mut number = iid * 31 + salt * 1_000_003 + 17_576;
        let mut text = String::from("q");
        while number > 0 {
            text.push(char::from(b'a' + (number % 26) as u8));
            number /= 26;
        }
        text
    };
    let question = format!("{} {} {}", word(1), word(2), word(3));
    let print = Fingerprint::of(&Question::new(&Prose::from(question), &Prose::from(String::new())));
    let asked = NOW - (iid * 7919 % 400) as i64 * DAY - iid as i64;
    let place = Place::thread(1 + (iid + 1) % 2, iid);
    let mut record = Record::new(place, "issue", iid % 37, asked, format!("{iid:064x}"), asked + 1000);
    record.fingerprint = Some(print.to_bytes());
    record.votes = (iid * iid % 17) as i64 - 8;
    record.state = Standing::Gap;
    let kinds = ["missing", "near", "near", "thread-only", "wrong-answer", "outdated"];
    record.gap_kind = Some(kinds[(iid / 2 % 6) as usize].into());
    if !iid.is_multiple_of(3) {
        let path = if iid == 4 { "=cmd|calc.md".into() } else { format!("docs/page-{}.md", iid % 40) };
        record.near = Some(Near {
            project: 2,
            path,
            anchor: Some(format!("part-{iid}")),
            score: (iid * 13 % 600) as i64,
        });
    }
    match iid % 5 {
        0 => {
            let commit = format!("{:040x}", iid * 7_777_777);
            record.state = Standing::Answered;
            record.closed = Some((commit.clone(), (asked + 60 * DAY).min(NOW)));
            record.posted_at = Some((asked + 60 * DAY).min(NOW));
            record.score = 960;
            record.target = Some(Target {
                project: 2,
                path: format!("docs/page-{}.md", iid % 40),
                blob: "b".repeat(40),
                commit,
                first_line: 12,
                last_line: 30,
                quote: String::new(),
            });
        }
        1 if iid > 5 && iid.is_multiple_of(3) => {
            record.state = Standing::Dismissed;
            record.decided_at = (asked + 30 * DAY).min(NOW);
        }
        _ => {}
    }
    record
}
