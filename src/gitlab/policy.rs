//! The policy of `http`, tried against small servers that misbehave in one way each.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use url::Url;

use crate::clock::Clock;
use crate::gitlab::endpoint::Own;
use crate::gitlab::error::Error;
use crate::gitlab::http::{Http, Limits};

/// A server that answers the n-th request with `answer(n)`, and counts.
async fn server<F>(answer: F) -> (SocketAddr, Arc<AtomicUsize>)
where
    F: Fn(usize, Request) -> Response + Clone + Send + Sync + 'static,
{
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let handler = move |request: Request| {
        let n = counted.fetch_add(1, Ordering::SeqCst);
        std::future::ready(answer(n, request))
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(any(handler))).await });
    (address, count)
}

fn client(address: SocketAddr) -> (Http, Clock) {
    let clock = Clock::manual(1_792_000_000_000);
    let url = Url::parse(&format!("http://{address}/gitlab")).expect("a url");
    (Http::new(&url, "glpat-secret".into(), clock.clone()).expect("a client"), clock)
}

fn get() -> Own {
    Own::get("projects/7".into())
}

fn post() -> Own {
    Own::send(http::Method::POST, "projects/7/issues/1/discussions".into(), serde_json::json!({"body": "x"}))
}

#[tokio::test]
async fn the_token_goes_to_the_api_of_a_relative_installation() {
    let (address, _) = server(|_, request| {
        let token = request.headers().get("private-token").is_some_and(|token| token == "glpat-secret");
        let path = request.uri().path() == "/gitlab/api/v4/projects/7";
        if token && path { "{}".into_response() } else { StatusCode::NOT_FOUND.into_response() }
    })
    .await;
    assert_eq!(&client(address).0.raw(&get(), Limits::JSON).await.expect("an answer")[..], b"{}");
}

#[tokio::test]
async fn a_redirect_to_another_host_is_not_followed_and_the_token_stays() {
    let (elsewhere, asked) = server(|_, _| "{}".into_response()).await;
    let (address, _) = server(move |_, _| {
        (StatusCode::FOUND, [("location", format!("http://{elsewhere}/gitlab/api/v4/x"))]).into_response()
    })
    .await;
    let error = client(address).0.raw(&get(), Limits::JSON).await.expect_err("refused");
    assert!(matches!(error, Error::Broken(_)), "{error}");
    assert_eq!(asked.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_renamed_project_is_followed_for_reading_and_not_for_writing() {
    let (address, asked) = server(|n, _| {
        if n == 0 {
            (StatusCode::MOVED_PERMANENTLY, [("location", "/gitlab/api/v4/projects/8")]).into_response()
        } else {
            r#"{"id":8}"#.into_response()
        }
    })
    .await;
    let (http, _) = client(address);
    assert!(http.raw(&get(), Limits::JSON).await.is_ok());
    asked.store(0, Ordering::SeqCst);
    assert!(matches!(http.raw(&post(), Limits::JSON).await, Err(Error::Broken(_))));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn redirects_in_a_circle_end() {
    let (address, asked) =
        server(|_, _| (StatusCode::FOUND, [("location", "/gitlab/api/v4/projects/7")]).into_response()).await;
    assert!(matches!(client(address).0.raw(&get(), Limits::JSON).await, Err(Error::Broken(_))));
    assert!(asked.load(Ordering::SeqCst) <= 4);
}

#[tokio::test]
async fn a_body_over_its_limit_is_refused_whether_it_says_its_length_or_not() {
    let (address, _) = server(|n, _| {
        let body = vec![b'x'; 5000];
        if n == 0 {
            return body.into_response();
        }
        let chunks = body.chunks(100).map(|c| Ok::<_, std::io::Error>(c.to_vec())).collect::<Vec<_>>();
        axum::body::Body::from_stream(futures_util::stream::iter(chunks)).into_response()
    })
    .await;
    let (http, _) = client(address);
    for _ in 0..2 {
        assert!(matches!(http.raw(&get(), Limits::bytes(1000)).await, Err(Error::Broken(_))));
    }
    assert_eq!(http.raw(&get(), Limits::bytes(5000)).await.expect("fits").len(), 5000);
}

#[tokio::test]
async fn reading_is_tried_three_times_and_writing_once() {
    let (address, asked) = server(|_, _| StatusCode::BAD_GATEWAY.into_response()).await;
    let (http, _) = client(address);
    assert!(matches!(http.raw(&get(), Limits::JSON).await, Err(Error::Transient { after: None, .. })));
    assert_eq!(asked.swap(0, Ordering::SeqCst), 3);
    assert!(matches!(http.raw(&post(), Limits::JSON).await, Err(Error::Transient { after: None, .. })));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_hiccup_is_invisible_to_who_reads() {
    let (address, _) =
        server(
            |n, _| {
                if n == 0 { StatusCode::INTERNAL_SERVER_ERROR.into_response() } else { "{}".into_response() }
            },
        )
        .await;
    assert!(client(address).0.raw(&get(), Limits::JSON).await.is_ok());
}

#[tokio::test]
async fn a_429_is_told_at_once_and_stops_the_next_request_before_it_leaves() {
    let (address, asked) = server(|n, _| {
        let headers = HeaderMap::from_iter([(http::header::RETRY_AFTER, "7".parse().expect("a value"))]);
        if n == 0 { (StatusCode::TOO_MANY_REQUESTS, headers).into_response() } else { "{}".into_response() }
    })
    .await;
    let (http, clock) = client(address);
    for _ in 0..2 {
        let error = http.raw(&get(), Limits::JSON).await.expect_err("limited");
        assert!(
            matches!(error, Error::Transient { after: Some(after), .. } if after == Duration::from_secs(7))
        );
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    clock.advance(Duration::from_secs(7));
    assert!(http.raw(&get(), Limits::JSON).await.is_ok());
}

#[tokio::test]
async fn silence_ends_at_the_time_limit_and_is_not_waited_for_again() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let (http, _) = client(listener.local_addr().expect("an address"));
    let limits = Limits { time: Duration::from_millis(200), ..Limits::JSON };
    let begun = tokio::time::Instant::now();
    let error = http.raw(&get(), limits).await.expect_err("silence");
    assert!(error.is_transient(), "{error}");
    assert!(begun.elapsed() < Duration::from_millis(500));
}

#[tokio::test]
async fn nobody_there_is_could_not_find_out() {
    let (http, _) = client("127.0.0.1:1".parse().expect("an address"));
    assert!(http.raw(&get(), Limits::JSON).await.expect_err("nobody").is_transient());
}

#[tokio::test]
async fn an_answer_of_another_shape_is_broken_and_not_quoted() {
    let (address, _) = server(|_, _| r#"{"secret":"sentence"}"#.into_response()).await;
    let (http, _) = client(address);
    let error = http.json::<Vec<u8>>(&get()).await.expect_err("another shape");
    assert_eq!(error.to_string(), "GitLab's answer is of no use: GET projects/: (unexpected shape)");
}

#[tokio::test]
async fn a_list_is_followed_on_our_own_address_whatever_the_link_says() {
    let (address, asked) = server(|_, request| {
        let page = request.uri().query().unwrap_or_default();
        if page.contains("page=3") {
            return "[5]".into_response();
        }
        let next = if page.contains("page=2") { 3 } else { 2 };
        let link = format!(r#"<https://inner.invalid/api/v4/x?page={next}>; rel="next""#);
        ([("link", link)], "[1,2]").into_response()
    })
    .await;
    let (http, _) = client(address);
    let (rows, whole) = http.pages::<u8>(&get()).expect("a list").collect(10).await.expect("rows");
    assert_eq!((rows, whole), (vec![1, 2, 1, 2, 5], true));
    assert_eq!(asked.load(Ordering::SeqCst), 3);
    let (rows, whole) = http.pages::<u8>(&get()).expect("a list").collect(2).await.expect("rows");
    assert_eq!((rows.len(), whole), (4, false));
}

#[tokio::test]
async fn answers_are_counted_by_endpoint_and_status() {
    let (address, _) =
        server(|n, _| if n == 0 { "{}".into_response() } else { StatusCode::NOT_FOUND.into_response() })
            .await;
    let (http, _) = client(address);
    let _ = http.raw(&get(), Limits::JSON).await;
    let _ = http.raw(&get(), Limits::JSON).await;
    let counts: Vec<_> =
        http.counts().into_iter().map(|count| (count.endpoint, count.status, count.times)).collect();
    assert_eq!(counts, [("GET projects/:".to_owned(), 200, 1), ("GET projects/:".to_owned(), 404, 1)]);
}
