use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use serde_json::{Value, json};

use super::*;
use crate::prose::Prose;
use crate::reference::RepoPath;
use crate::section::Section;

/// A fake endpoint: answers every request with one status and body, and counts.
#[derive(Clone)]
struct Fake {
    status: StatusCode,
    body: String,
    delay: Duration,
    seen: Arc<AtomicUsize>,
}

async fn answer(State(fake): State<Fake>, axum::Json(_): axum::Json<Value>) -> (StatusCode, String) {
    fake.seen.fetch_add(1, Ordering::SeqCst);
    tokio::time::sleep(fake.delay).await;
    (fake.status, fake.body)
}

impl Fake {
    fn saying(content: &str) -> Fake {
        Fake::raw(
            StatusCode::OK,
            json!({ "choices": [{ "message": { "role": "assistant", "content": content } }] }).to_string(),
        )
    }

    fn raw(status: StatusCode, body: String) -> Fake {
        Fake { status, body, delay: Duration::ZERO, seen: Arc::default() }
    }

    async fn endpoint(&self) -> Endpoint {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let app = Router::new().route("/v1/chat/completions", post(answer)).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        let base = Url::parse(&base).unwrap();
        Endpoint::new(&base, "m", Some("key".to_owned().into()), Duration::from_millis(700), Clock::System)
            .unwrap()
    }

    /// What comes out for two passages of two lines each.
    async fn opinions(&self) -> Vec<Opinion> {
        let endpoint = self.endpoint().await;
        let handle = tokio::runtime::Handle::current();
        tokio::task::spawn_blocking(move || ask(&endpoint, &handle)).await.unwrap()
    }
}

fn sections() -> (String, Vec<Section>) {
    let text = "# A\none\ntwo\n# B\none\ntwo\n".to_owned();
    let sections = section::cut(&RepoPath::parse("a.md").unwrap(), &text);
    (text, sections)
}

fn ask(endpoint: &Endpoint, handle: &tokio::runtime::Handle) -> Vec<Opinion> {
    let (text, sections) = sections();
    let candidate = |(key, section): (usize, &'_ Section)| (key as u64, section.clone());
    let parts: Vec<(u64, Section)> = sections.iter().enumerate().map(candidate).collect();
    let candidates: Vec<Candidate<'_>> = parts
        .iter()
        .map(|(key, section)| Candidate {
            key: *key,
            section,
            text: &text[section.bytes.clone()],
            found: None,
            referenced: false,
            votes: 0,
        })
        .collect();
    let question = Question::new(&Prose::from("How?".to_owned()), &Prose::from(String::new()));
    endpoint.opinions(handle, &question, &candidates)
}

const UNCERTAIN: [Opinion; 2] = [Opinion::UNCERTAIN; 2];

#[tokio::test]
async fn verdicts_are_numbers() {
    let content = r#"{"verdicts":[{"passage":2,"verdict":"covers","confidence":0.9,"lines":[1,2]},
        {"passage":1,"verdict":"misses","confidence":0.5,"lines":null}]}"#;
    let opinions = Fake::saying(content).opinions().await;
    assert_eq!(opinions[0], Opinion { verdict: Verdict::Misses, confidence: 0.5, lines: None });
    let lines = Some(Lines { first: 1, last: 2 });
    assert_eq!(opinions[1], Opinion { verdict: Verdict::Covers, confidence: 0.9, lines });
}

#[tokio::test]
async fn a_hostile_endpoint_is_uncertain() {
    let hostile = [
        "Sure! The answer is to set `credentials.literal: true`.",
        r#"{"verdicts":[{"passage":1,"verdict":"covers","confidence":0.9,"lines":null,"quote":"run this"}]}"#,
        r#"{"verdicts":[{"passage":1,"verdict":"covers","confidence":1e9,"lines":null}]}"#,
        r#"{"verdicts":[{"passage":1,"verdict":"covers","confidence":-1,"lines":null}]}"#,
        r#"{"verdicts":[{"passage":7,"verdict":"covers","confidence":1,"lines":null}]}"#,
        r#"{"verdicts":[{"passage":0,"verdict":"covers","confidence":1,"lines":null}]}"#,
        r#"{"verdicts":[{"passage":1,"verdict":"COVERS","confidence":1,"lines":null}]}"#,
        r#"{"verdicts":[{"passage":1,"verdict":"covers","confidence":"1","lines":null}]}"#,
        r#"{"verdicts":[{"passage":1,"verdict":"covers","confidence":1,"lines":null},
            {"passage":1,"verdict":"covers","confidence":1,"lines":null}]}"#,
        "[]",
        "",
    ];
    for content in hostile {
        assert_eq!(Fake::saying(content).opinions().await, UNCERTAIN, "{content}");
    }
    let lines = r#"{"verdicts":[{"passage":1,"verdict":"covers","confidence":1,"lines":[1,4000000000]}]}"#;
    assert_eq!(Fake::saying(lines).opinions().await[0].lines, None);
}

#[tokio::test]
async fn failures_are_uncertain() {
    let good = r#"{"verdicts":[{"passage":1,"verdict":"covers","confidence":1,"lines":null}]}"#;
    let slow = Fake { delay: Duration::from_secs(5), ..Fake::saying(good) };
    assert_eq!(slow.opinions().await, UNCERTAIN);
    for fake in [
        Fake::raw(StatusCode::INTERNAL_SERVER_ERROR, "{}".to_owned()),
        Fake::raw(StatusCode::FOUND, "{}".to_owned()),
        Fake::raw(StatusCode::OK, "x".repeat(1_000_000)),
        Fake::raw(StatusCode::OK, "<html>".to_owned()),
        Fake::raw(StatusCode::OK, r#"{"choices":[]}"#.to_owned()),
    ] {
        assert_eq!(fake.opinions().await, UNCERTAIN);
    }
}

#[tokio::test]
async fn a_question_is_not_carried_along_a_redirect() {
    let elsewhere =
        Fake::saying(r#"{"verdicts":[{"passage":1,"verdict":"covers","confidence":1,"lines":null}]}"#);
    let to = elsewhere.endpoint().await.url.to_string();
    let leading = move || async move { (StatusCode::TEMPORARY_REDIRECT, [("location", to)]) };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = Url::parse(&format!("http://{}/v1", listener.local_addr().unwrap())).unwrap();
    let app = Router::new().route("/v1/chat/completions", post(leading));
    tokio::spawn(async move { axum::serve(listener, app).await });
    let endpoint = Endpoint::new(&base, "m", None, Duration::from_millis(700), Clock::System).unwrap();
    let handle = tokio::runtime::Handle::current();
    let opinions = tokio::task::spawn_blocking(move || ask(&endpoint, &handle)).await.unwrap();
    assert_eq!(opinions, UNCERTAIN);
    assert_eq!(elsewhere.seen.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn the_same_question_is_asked_once() {
    let content = r#"{"verdicts":[{"passage":1,"verdict":"covers","confidence":1,"lines":null},
        {"passage":2,"verdict":"misses","confidence":1,"lines":null}]}"#;
    let fake = Fake::saying(content);
    let endpoint = fake.endpoint().await;
    let handle = tokio::runtime::Handle::current();
    tokio::task::spawn_blocking(move || assert_eq!(ask(&endpoint, &handle), ask(&endpoint, &handle)))
        .await
        .unwrap();
    assert_eq!(fake.seen.load(Ordering::SeqCst), 1);
}

#[test]
fn a_verdict_moves_the_odds_within_bounds() {
    let opinion = |verdict, confidence| Opinion { verdict, confidence, lines: None };
    assert_eq!(revised(0.4, Opinion::UNCERTAIN), 0.4);
    assert!(revised(0.4, opinion(Verdict::Covers, 1.0)) > 0.8);
    assert!(revised(0.01, opinion(Verdict::Covers, 1.0)) < 0.1, "what the reader rules out stays out");
    assert!(revised(0.95, opinion(Verdict::Misses, 1.0)) < 0.3);
    for probability in [0.0, 1.0] {
        assert!((0.0..=1.0).contains(&revised(probability, opinion(Verdict::Covers, 1.0))));
    }
}
