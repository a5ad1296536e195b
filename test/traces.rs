//! Traces: sent where the standard variables say, and with nothing in them that a person wrote.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use tokio::net::TcpListener;

use crate::gitlab::{World, hook};
use crate::process::Site;

/// A collector of OpenTelemetry traces; returns its address and what it was sent.
async fn collector() -> (String, Arc<Mutex<Vec<u8>>>) {
    let sent: Arc<Mutex<Vec<u8>>> = Arc::default();
    let kept = Arc::clone(&sent);
    let take = post(async move |body: Bytes| kept.lock().expect("alive").extend_from_slice(&body));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, Router::new().route("/v1/traces", take)).await });
    (format!("http://{address}"), sent)
}

#[tokio::test]
async fn a_collector_gets_each_step_of_a_walk_and_no_words() {
    let (address, sent) = collector().await;
    let mut site = Site::new(World::acme()).await;
    let token = hook::signing_token();
    site.gitlab.with_hook(&site.hook_url(), Some(&token));
    site.set("SIGNPOST_SIGNING_TOKEN", &token);
    site.set("OTEL_EXPORTER_OTLP_ENDPOINT", &address);
    let serving = site.serve().await;
    serving.wait_for_corpus().await;
    let iid = site.gitlab.open_issue("acme/api", "mara", crate::walk::HOW, crate::walk::HOW_MORE).await;
    serving.wait_for("the answer", |_| !site.gitlab.bot_notes("acme/api", iid).is_empty()).await;
    assert_eq!(serving.terminate().await, Some(0), "and what is held is sent at the end");
    let text = String::from_utf8_lossy(&sent.lock().expect("alive")).into_owned();
    for step in [
        "signpost",
        "look",
        "search",
        "judge",
        "conclude",
        "post",
        "answered",
        "POST projects/:/issues/:/discussions",
    ] {
        assert!(text.contains(step), "{step} is not in the traces: {text}");
    }
    assert_eq!(site.gitlab.strangers().leaks(&text), Vec::<String>::new());
}
