//! The admin listener over real HTTP: what it shows, to whom, and how it survives what strangers typed.

mod browser;
mod world;

use std::time::{Duration, Instant};

use reqwest::header;
use serde_json::Value;

use world::{HOSTILE, TOKEN, World};

#[tokio::test]
async fn every_page_is_drawn_when_nothing_has_happened_yet() {
    let world = World::new(None).await;
    for (path, holds) in [
        ("/", "No question waits for documentation."),
        ("/gaps", "No question has gone unanswered yet."),
        ("/gaps.csv", "id,kind,state"),
        ("/metrics", "signpost_queue_threads{state=\"ready\"} 0"),
        ("/style.css", "prefers-color-scheme"),
    ] {
        let (status, body) = world.get(path).await;
        assert_eq!(status, 200, "{path}");
        assert!(body.contains(holds), "{path}: {body}");
    }
    assert_eq!(world.get("/gaps.json").await, (200, "[]".into()));
    for path in ["/threads/1/1", "/threads/x/1", "/threads/1/-1", "/nothing", "/hook", "/gaps/"] {
        assert_eq!(world.get(path).await.0, 404, "{path}");
    }
    assert_eq!(world.client.post(world.url("/gaps")).send().await.unwrap().status(), 405);
}

#[tokio::test]
async fn the_token_opens_everything_and_the_metrics_need_none() {
    let world = World::new(Some(TOKEN)).await;
    for path in ["/", "/gaps", "/gaps.json", "/gaps.csv", "/threads/1/1", "/style.css", "/nothing"] {
        let refused = world.client.get(world.url(path)).send().await.unwrap();
        assert_eq!(refused.status(), 401, "{path}");
        let asked: Vec<_> = refused.headers().get_all(header::WWW_AUTHENTICATE).iter().collect();
        assert_eq!(asked.len(), 2, "{path}");
        assert!(asked.iter().any(|v| v.to_str().unwrap().starts_with("Basic ")), "{path}");
        let wrong = world.client.get(world.url(path)).bearer_auth("wrong").send().await.unwrap();
        assert_eq!(wrong.status(), 401, "{path}");
    }
    assert_eq!(world.get("/metrics").await.0, 200);
    let bearer = world.client.get(world.url("/gaps")).bearer_auth(TOKEN).send().await.unwrap();
    assert_eq!(bearer.status(), 200);
    let basic = world.client.get(world.url("/")).basic_auth("admin", Some(TOKEN)).send().await.unwrap();
    assert_eq!(basic.status(), 200);
    // With a token the name of the host does not matter: a proxy may stand in front.
    let named =
        world.client.get(world.url("/gaps")).bearer_auth(TOKEN).header(header::HOST, "gaps.example.com");
    assert_eq!(named.send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn without_a_token_a_rebound_name_is_turned_away() {
    let world = World::new(None).await;
    for (host, status) in [("rebound.example.com", 421), ("localhost:1234", 200), ("[::1]:9090", 200)] {
        let answer =
            world.client.get(world.url("/gaps.json")).header(header::HOST, host).send().await.unwrap();
        assert_eq!(answer.status(), status, "{host}");
    }
}

#[tokio::test]
async fn no_page_may_load_or_leak_anything() {
    let world = World::new(Some(TOKEN)).await;
    for path in ["/gaps", "/nothing", "/metrics"] {
        let answer = world.client.get(world.url(path)).send().await.unwrap();
        let value = |name: &str| answer.headers().get(name).map_or("", |v| v.to_str().unwrap());
        assert!(
            value("content-security-policy").starts_with("default-src 'none'; style-src 'self'"),
            "{path}"
        );
        assert_eq!(value("referrer-policy"), "no-referrer");
        assert_eq!(value("x-content-type-options"), "nosniff");
        assert_eq!(value("cache-control"), "no-store");
    }
}

#[tokio::test]
async fn hostile_titles_are_text() {
    let world = World::new(None).await;
    world.ask(3).await;
    let (_, page) = world.get("/gaps").await;
    assert!(!page.contains(HOSTILE) && !page.contains("<img") && !page.contains("<script"), "{page}");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
    assert!(
        page.contains("acme/docs#1") || page.contains("acme/api#1"),
        "coordinates stand beside the title"
    );
    // Titles are on the page and nowhere else.
    for path in ["/gaps.json", "/gaps.csv", "/", "/metrics"] {
        assert!(!world.get(path).await.1.contains("alert(1)"), "{path}");
    }
}

#[tokio::test]
async fn confidential_issues_are_not_listed_and_unknown_ones_by_coordinates() {
    let world = World::new(None).await;
    world.ask(5).await;
    world.gitlab.hide(1, 1);
    let (_, page) = world.get("/gaps?state=all").await;
    assert!(!page.contains("acme/api#1<") && !page.contains("/threads/1/1\""), "{page}");
    assert!(page.contains("/threads/1/3\""), "{page}");
    assert_eq!(world.get("/threads/1/1").await.0, 404);
    world.gitlab.away(true);
    let (status, page) = world.get("/gaps").await;
    assert_eq!(status, 200);
    assert!(page.contains("acme/docs#2"), "{page}");
    assert!(!page.contains("Question number"), "no title is kept from an earlier look");
}

#[tokio::test]
async fn a_slow_gitlab_does_not_hold_the_page_up() {
    let world = World::new(None).await;
    world.ask(4).await;
    world.gitlab.slow(Duration::from_secs(30));
    let began = Instant::now();
    let (status, page) = world.get("/gaps").await;
    assert_eq!(status, 200);
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    assert!(page.contains("acme/docs#2"));
}

#[tokio::test]
async fn the_list_is_filtered_sorted_and_paged_by_its_address() {
    let world = World::new(None).await;
    world.ask(120).await;
    let rows = |page: &str| page.matches("<tr role=\"row\" id=").count();
    let (_, first) = world.get("/gaps?state=all").await;
    assert_eq!(rows(&first), 50);
    assert!(first.contains("Page 1 of 3"), "{first}");
    let (_, last) = world.get("/gaps?state=all&page=3").await;
    assert_eq!(rows(&last), 20);
    // Beyond the end is the end.
    assert!(world.get("/gaps?state=all&page=99").await.1.contains("Page 3 of 3"));
    let (_, near) = world.get("/gaps?state=all&kind=near&project=acme/docs").await;
    assert!(near.contains("near") && !near.contains("acme/api#"), "{near}");
    assert!(world.get("/gaps?kind=near&state=dismissed&age=7d").await.1.contains("No gap is like that."));
    let json: Vec<Value> =
        serde_json::from_str(&world.get("/gaps.json?sort=oldest&state=all").await.1).unwrap();
    assert_eq!(json.len(), 120);
    let seen: Vec<&str> = json.iter().map(|gap| gap["first_seen"].as_str().unwrap()).collect();
    assert!(seen.is_sorted());
    let closed: Vec<Value> = serde_json::from_str(&world.get("/gaps.json?state=closed").await.1).unwrap();
    assert!(!closed.is_empty() && closed.iter().all(|gap| gap["closed"]["commit"].is_string()));
    let id = closed[0]["id"].as_str().unwrap();
    let (_, alone) = world.get(&format!("/gaps?id={id}")).await;
    assert_eq!(rows(&alone), 1);
    assert!(alone.contains("signpost gaps dismiss"));
    // A project that is no choice of the list, in words that would leave the attribute.
    let (_, strange) = world.get("/gaps?project=%22%3E%3Cscript%3E").await;
    assert!(!strange.contains("<script>"), "{strange}");
}

#[tokio::test]
async fn csv_and_json_tell_the_same() {
    let world = World::new(None).await;
    world.ask(30).await;
    let json: Vec<Value> = serde_json::from_str(&world.get("/gaps.json").await.1).unwrap();
    let (_, csv) = world.get("/gaps.csv").await;
    let lines: Vec<&str> = csv.split("\r\n").filter(|line| !line.is_empty()).collect();
    assert_eq!(lines.len(), json.len() + 1);
    for (line, gap) in lines[1..].iter().zip(&json) {
        assert!(line.starts_with(gap["id"].as_str().unwrap()), "{line}");
    }
    assert!(csv.contains("\"'=cmd|calc.md\""), "a path is no formula: {csv}");
}

#[tokio::test]
async fn a_thread_tells_its_decisions_in_both_forms() {
    let world = World::new(None).await;
    world.ask(3).await;
    let (_, page) = world.get("/threads/1/1").await;
    assert!(
        page.contains("candidates")
            && page.contains("no <b> here".replace('<', "&#60;").replace('>', "&#62;").as_str()),
        "{page}"
    );
    let json = |answer: String| serde_json::from_str::<Value>(&answer).unwrap();
    let by_query = json(world.get("/threads/1/1?format=json").await.1);
    let accept = world.client.get(world.url("/threads/1/1")).header(header::ACCEPT, "application/json");
    let by_header = json(accept.send().await.unwrap().text().await.unwrap());
    assert_eq!(by_query, by_header);
    assert_eq!(by_query["project"], "acme/api");
    assert_eq!(by_query["questions"][0]["state"], "gap");
    assert_eq!(by_query["trail"][0]["entry"]["outcome"], "gap");
    assert!(by_query.get("title").is_none());
}

#[tokio::test]
async fn the_metrics_show_the_levels_of_the_store() {
    let world = World::new(Some(TOKEN)).await;
    world.ask(30).await;
    world.client.get(world.url("/gaps")).bearer_auth(TOKEN).send().await.unwrap();
    let (_, page) = world.get("/metrics").await;
    for line in [
        "signpost_gaps{state=\"open\"} ",
        "signpost_gaps{state=\"closed\"} ",
        "signpost_corpus_projects{state=\"admitted\"} 2",
        "signpost_gitlab_requests_total{endpoint=\"",
    ] {
        assert!(page.contains(line), "{line}\n{page}");
    }
    assert!(page.trim_end().ends_with("# EOF"));
}

#[tokio::test]
async fn the_overview_shows_what_waits_and_what_was_answered() {
    let world = World::new(None).await;
    world.ask(40).await;
    let (_, page) = world.get("/").await;
    for holds in ["open gaps", "To document next", "Last answers", "docs/page-", "acme/docs"] {
        assert!(page.contains(holds), "{holds}\n{page}");
    }
    assert!(!page.contains("Question number"));
}

#[tokio::test]
async fn every_page_is_drawn_from_postgres_too() {
    let world = World::on_postgres().await;
    world.ask(60).await;
    for (path, holds) in [
        ("/", "To document next"),
        ("/gaps?state=all", "Page 1 of 2"),
        ("/gaps.csv", "near"),
        ("/threads/1/1", "candidates"),
        ("/metrics", "signpost_gaps{state=\"open\"} "),
    ] {
        let (status, body) = world.get(path).await;
        assert_eq!(status, 200, "{path}");
        assert!(body.contains(holds), "{path}: {body}");
    }
}

#[tokio::test]
async fn two_thousand_gaps_are_listed_quickly() {
    let world = World::new(None).await;
    world.ask(2000).await;
    world.get("/gaps.json").await;
    let began = Instant::now();
    let (status, page) = world.get("/gaps").await;
    println!("a page of 2,000 gaps took {:?}, {} bytes", began.elapsed(), page.len());
    assert_eq!(status, 200);
    assert!(began.elapsed() < Duration::from_secs(3));
}
