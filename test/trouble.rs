//! What goes wrong around the program: its clock, a long outage, a long backlog, and the years.
//!
//! `SIGNPOST_BACKLOG` is how many threads the backlog has (200 by default).

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use signpost::clock::Clock;
use signpost::store::question::State;
use signpost::store::queue::Place;

use crate::app::on_both;
use crate::gitlab::{Fault, World, hook};
use crate::life::{API, AUDIT, BUG, BUG_MORE, HOW, HOW_MORE};
use crate::process::{Site, wait_for};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

on_both! {
    async fn a_clock_that_jumps_loses_nothing_and_doubles_nothing(app: TestApp) {
        let (early, gap) = (app.answered().await, app.gap().await);
        app.after(36 * HOUR).await;
        app.swept().await;
        // And back: the machine's clock had been wrong.
        let Clock::Manual(now) = &app.clock else { panic!("a test has its own clock") };
        now.fetch_sub(2 * HOUR.as_millis() as i64, Ordering::SeqCst);
        let late = app.answered().await;
        app.swept().await;
        app.after(3 * HOUR).await;
        app.swept().await;
        for iid in [early, late] {
            app.note_id(iid);
        }
        app.is_gap(gap);
        let posts = app.gitlab.requests_to("POST", "*/discussions");
        assert_eq!(posts.len(), 2, "{posts:?}");
    }
}

on_both! {
    async fn what_is_over_is_forgotten_in_time_and_what_is_open_is_not(app: TestApp) {
        let gap = app.gap().await;
        let bug = app.ask(API, "mara", BUG, BUG_MORE).await;
        let old = app.ask(API, "eve", BUG, BUG_MORE).await;
        app.gitlab.comment(API, old, "tom", &format!("{}/acme/docs/-/blob/main/docs/guide/limits.md has it.", app.gitlab.url())).await;
        app.gitlab.close_issue(API, old, "tom").await;
        app.drain().await;
        let at = |iid| Place::thread(app.gitlab.world().project(API).id, iid);
        let (bug_at, old_at) = (at(bug), at(old));
        assert!(!app.trail(API, bug).await.is_empty());
        assert_eq!(app.store().history(10).await.expect("history").len(), 1);
        // The sweep looks once more at what changed since the last one.
        app.after(HOUR).await;
        app.swept().await;
        app.after(181 * DAY).await;
        app.swept().await;
        assert!(app.trail(API, bug).await.is_empty());
        let due = async || app.store().due(app.clock.now()).await.expect("the queue");
        app.store().want_known(bug_at, app.clock.now()).await.expect("the queue");
        assert_eq!(due().await, 0, "its row in the queue is gone");
        assert_eq!(app.store().history(10).await.expect("history").len(), 1, "the past points longer");
        app.after(360 * DAY).await;
        app.swept().await;
        assert!(app.store().history(10).await.expect("history").is_empty());
        assert!(app.store().signposts(old_at).await.expect("signposts").is_empty());
        app.is_gap(gap);
        assert_eq!(app.record(gap).await.state, State::Gap);
    }
}

on_both! {
    async fn a_backlog_is_worked_off_newest_first_and_last_weeks_questions_are_let_go(app: TestApp) {
        let many: u64 = std::env::var("SIGNPOST_BACKLOG").ok().map_or(200, |n| n.parse().expect("a number"));
        app.gitlab.faults().always("*", "*", Fault::Html(502));
        let (mut old, mut new) = (Vec::new(), Vec::new());
        for at in 0..many {
            app.advance(Duration::from_millis(20));
            // What would cost most is what must not be judged any more.
            if at < many / 2 {
                old.push(app.gitlab.open_issue(API, "mara", HOW, HOW_MORE).await);
            } else {
                new.push(app.gitlab.open_issue(API, "mara", BUG, BUG_MORE).await);
            }
            if at + 1 == many / 2 {
                app.gitlab.deliver().await;
                app.advance(8 * DAY);
            }
        }
        app.advance(Duration::from_millis(20));
        let asked = app.gitlab.open_issue(API, "eve", HOW, HOW_MORE).await;
        app.gitlab.deliver().await;
        app.gitlab.faults().clear();
        app.gitlab.forget_requests();
        let began = Instant::now();
        app.drain().await;
        let looked: Vec<u64> = app.gitlab.requests_to("GET", "/projects/*/issues/*").iter()
            .filter_map(|call| call.path.rsplit('/').next()?.parse().ok()).collect();
        let mut first = Vec::new();
        for iid in looked {
            if !first.contains(&iid) {
                first.push(iid);
            }
        }
        println!("{many} threads worked off in {:.1?}", began.elapsed());
        assert_eq!(first.len() as u64, many + 1);
        assert!(first.is_sorted_by(|a, b| a > b), "newest first: {first:?}");
        app.note_id(asked);
        for iid in old.into_iter().chain(new) {
            app.is_untouched(iid);
        }
    }
}

on_both! {
    async fn whoever_asks_comes_before_what_the_sweep_looks_at_again(app: TestApp) {
        let mut old = Vec::new();
        for _ in 0..3 {
            old.push(app.answered().await);
            old.push(app.gap().await);
        }
        app.advance(DAY + HOUR);
        app.drain().await;
        let asked = app.gitlab.open_issue(API, "eve", HOW, HOW_MORE).await;
        app.gitlab.deliver().await;
        app.advance(Duration::from_millis(20));
        app.gitlab.forget_requests();
        app.swept().await;
        let looked: Vec<u64> = app.gitlab.requests_to("GET", "/projects/*/issues/*").iter()
            .filter_map(|call| call.path.rsplit('/').next()?.parse().ok()).collect();
        assert_eq!(looked.first(), Some(&asked), "{looked:?}");
        assert!(old.iter().all(|iid| looked.contains(iid)), "{looked:?}");
        app.note_id(asked);
    }
}

on_both! {
    async fn a_site_description_that_is_no_text_stops_nothing(app: TestApp) {
        app.gitlab.edit_file("acme/docs", "mkdocs.yml", "site_name: Acme\0site_url: https://docs.example.com/\n").await;
        let asked = app.gap().await;
        app.gitlab.edit_file("acme/docs", "docs/guide/audit.md", AUDIT).await;
        app.drain().await;
        app.note_id(asked);
        assert_eq!(app.store().depth().await.expect("the queue").ready, 0, "nothing is tried again and again");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outage_is_no_stampede() {
    let mut site = Site::new(World::acme()).await;
    let token = hook::signing_token();
    site.set("SIGNPOST_SIGNING_TOKEN", &token);
    site.gitlab.with_hook(&site.hook_url(), Some(&token));
    let serving = site.serve().await;
    serving.wait_for_corpus().await;
    let looks = |site: &Site| site.gitlab.requests_to("GET", "/projects/*/issues/*").len();
    site.gitlab.forget_requests();
    site.gitlab.faults().always("*", "*", Fault::Html(502));
    for _ in 0..150 {
        site.gitlab.open_issue(API, "mara", BUG, BUG_MORE).await;
    }
    // Three pauses later: 2, 4 and 8 seconds.
    let paused = |log: String| log.matches("a look failed and will be repeated").count();
    wait_for("it tries again", || paused(serving.log()) >= 12).await;
    let during = site.gitlab.requests().len();
    println!("{during} calls in the outage, with 150 threads waiting");
    assert!(during < 150, "{during} calls");
    site.gitlab.faults().clear();
    site.gitlab.forget_requests();
    wait_for("all are looked at", || looks(&site) >= 150).await;
    let times: Vec<_> =
        site.gitlab.requests_to("GET", "/projects/*/issues/*").iter().map(|call| call.at).collect();
    let span = times.iter().max().expect("some").duration_since(*times.iter().min().expect("some"));
    println!("150 threads in {span:.1?} afterwards");
    serving.kill().await;
}
