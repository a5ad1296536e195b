//! Deliveries on their way: signed, repeated, refused, dropped.

use super::{acme, call, post};
use crate::gitlab::{BOT, FakeGitLab, OWNER_TOKEN, hook};
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use std::sync::{Arc, Mutex};

/// Headers and body of what arrived.
type Arrived = Vec<(HeaderMap, Vec<u8>)>;

#[derive(Clone, Default)]
struct Receiver {
    got: Arc<Mutex<Arrived>>,
    status: Arc<Mutex<u16>>,
}

impl Receiver {
    async fn listen(status: u16) -> (Receiver, String) {
        let receiver = Receiver { status: Arc::new(Mutex::new(status)), ..Receiver::default() };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/hook", listener.local_addr().expect("bound"));
        let take = |State(own): State<Receiver>, headers: HeaderMap, body: axum::body::Bytes| async move {
            own.got.lock().expect("not poisoned").push((headers, body.to_vec()));
            StatusCode::from_u16(*own.status.lock().expect("not poisoned")).expect("a status")
        };
        let app = Router::new().fallback(take).with_state(receiver.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        (receiver, url)
    }

    fn got(&self) -> Arrived {
        self.got.lock().expect("not poisoned").clone()
    }
}

#[tokio::test]
async fn an_opened_issue_arrives_signed_before_the_call_returns() {
    let gitlab = acme().await;
    let (receiver, url) = Receiver::listen(200).await;
    let token = hook::signing_token();
    let id = gitlab.install_hook("acme", &url, |hook| {
        (hook.signing_token, hook.token) = (Some(token.clone()), Some("plain".into()));
        hook.custom_headers =
            vec![("X-Own".into(), "1".into()), ("X-Gitlab-Event".into(), "not this".into())];
    });
    gitlab.open_issue("acme/api", "mara", "How?", "Words").await;
    let (headers, body) = receiver.got().pop().expect("it arrived");
    let header =
        |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("").to_owned();
    let seconds: i64 = header("webhook-timestamp").parse().expect("seconds");
    assert_eq!(header("webhook-signature"), hook::sign(&token, &header("webhook-id"), seconds, &body));
    assert_eq!(
        (header("x-gitlab-event").as_str(), header("x-gitlab-token").as_str()),
        ("Issue Hook", "plain")
    );
    assert_eq!((header("idempotency-key"), header("x-own")), (header("webhook-id"), "1".to_owned()));
    assert_eq!(
        (header("user-agent").as_str(), header("x-gitlab-instance")),
        ("GitLab/19.3.0-ee", gitlab.url().to_owned())
    );
    let sent = gitlab.attempts().pop().expect("an attempt");
    assert_eq!((sent.status, sent.delivery.hook), (Some(200), id));
    gitlab.attempt(&sent.delivery).await;
    let again = receiver.got().pop().expect("it arrived again");
    assert_eq!(again.0["webhook-id"], headers["webhook-id"]);
    assert_ne!(again.0["x-gitlab-webhook-uuid"], headers["x-gitlab-webhook-uuid"]);
}

#[tokio::test]
async fn confidential_events_and_other_projects_reach_only_who_asked() {
    let gitlab = acme().await;
    gitlab.send_at_once(false);
    gitlab.with_hook("http://127.0.0.1:9/", None);
    gitlab.install_hook("acme/docs", "http://127.0.0.1:9/", |_| ());
    gitlab.open_issue_with("acme/api", "mara", ("Secret", ""), |issue| issue.confidential = true).await;
    assert_eq!(gitlab.drain_outbox().len(), 0);
    gitlab.open_issue("acme/docs", "mara", "Open", "").await;
    assert_eq!(gitlab.drain_outbox().len(), 2);
    gitlab.act(|world| world.add_project("other/place").file("a.md", "# A").id).await;
    gitlab.open_issue("other/place", "mara", "Elsewhere", "").await;
    assert_eq!(gitlab.drain_outbox().len(), 0);
}

#[tokio::test]
async fn four_failures_switch_a_hook_off_and_events_are_lost_until_it_is_on_again() {
    let gitlab = acme().await;
    let (receiver, url) = Receiver::listen(500).await;
    let id = gitlab.with_hook(&url, None);
    for _ in 0..5 {
        gitlab.open_issue("acme/api", "mara", "How?", "").await;
    }
    assert_eq!((receiver.got().len(), gitlab.world().dropped_events), (4, 1));
    *receiver.status.lock().expect("not poisoned") = 204;
    let path = format!("/groups/acme/hooks/{id}/test/issues_events");
    assert_eq!(call(&gitlab, OWNER_TOKEN, "POST", &path, &[]).await.status, 201);
    gitlab.open_issue("acme/api", "mara", "How?", "").await;
    assert_eq!(receiver.got().len(), 6);
}

#[tokio::test]
async fn what_the_bot_does_comes_back_to_it_unless_it_echoes_the_chain() {
    let gitlab = acme().await;
    gitlab.send_at_once(false);
    gitlab.with_hook("http://127.0.0.1:9/", None);
    gitlab.open_issue("acme/api", "mara", "How?", "").await;
    let chain = gitlab.drain_outbox().pop().expect("the opening").chain;
    post(&gitlab, "/projects/102/issues/1/discussions", &[("body", "A reply")]).await;
    let own = gitlab.drain_outbox();
    assert_eq!(own.len(), 1);
    assert_eq!(own[0].json()["user"]["username"], BOT);
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let url = format!("{}/api/v4/projects/102/issues/1/notes?body=x", gitlab.url());
    let call = client
        .post(url)
        .header("PRIVATE-TOKEN", crate::gitlab::BOT_TOKEN)
        .header("X-Gitlab-Event-UUID", chain);
    assert_eq!(call.send().await.expect("an answer").status(), 201);
    assert_eq!(gitlab.drain_outbox().len(), 0);
}

#[tokio::test]
async fn an_older_gitlab_neither_signs_nor_says_so() {
    let gitlab: FakeGitLab = acme().await;
    gitlab.world().version = "18.11.0-ee".into();
    let (receiver, url) = Receiver::listen(200).await;
    gitlab.with_hook(&url, Some(&hook::signing_token()));
    gitlab.open_issue("acme/api", "mara", "How?", "").await;
    let (headers, _) = receiver.got().pop().expect("it arrived");
    assert!(!headers.contains_key("webhook-signature") && !headers.contains_key("webhook-id"));
    assert!(headers.contains_key("idempotency-key"));
}
