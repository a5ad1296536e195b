//! What must never be seen outside: secrets, and whatever a stranger typed. The real program works, and
//! everything it shows is searched.

use crate::gitlab::{OWNER_TOKEN, World, hook};
use crate::process::Site;
use crate::walk::{HOW, NOWHERE_MORE};

/// Every metric that alerts and dashboard name.
const METRICS: &[&str] = &[
    "signpost_hook_deliveries_total{outcome=\"accepted\"}",
    "signpost_hook_seconds_bucket{le=",
    "signpost_walk_outcomes_total{outcome=",
    "signpost_walk_seconds_bucket{le=",
    "signpost_queue_threads{state=\"ready\"}",
    "signpost_queue_oldest_seconds ",
    "signpost_corpus_sections ",
    "signpost_corpus_projects{state=\"admitted\"} 3",
    "signpost_gaps{state=\"open\"}",
    "signpost_gitlab_requests_total{endpoint=\"GET user\",status=\"200\"}",
    "signpost_gitlab_requests_total{endpoint=\"GET projects/:/issues/:\",status=\"200\"}",
    "signpost_gitlab_seconds_bucket{le=\"0.05\"}",
    "signpost_gitlab_seconds_count ",
    "signpost_token_expires_timestamp_seconds 4096137600",
    "signpost_breaker_open 0",
    "signpost_budget_remaining ",
];

#[tokio::test]
async fn no_secret_and_no_strangers_word_is_in_metrics_logs_or_dumps() {
    let mut site = Site::new(World::acme()).await;
    let (signing, admin) = (hook::signing_token(), "canary-admin-token");
    site.gitlab.with_hook(&site.hook_url(), Some(&signing));
    for (name, value) in [
        ("SIGNPOST_SIGNING_TOKEN", signing.as_str()),
        ("SIGNPOST_ADMIN_TOKEN", admin),
        ("SIGNPOST_INSTALL_TOKEN", OWNER_TOKEN),
        ("RUST_LOG", "trace"),
    ] {
        site.set(name, value);
    }
    let serving = site.serve().await;
    serving.wait_for_corpus().await;
    let canary = "xylophonist-canary";
    let title = format!("{HOW} {canary}");
    let answered =
        site.gitlab.open_issue("acme/api", "mara", &title, &format!("{canary} {NOWHERE_MORE}")).await;
    let gitlab = site.gitlab.clone();
    serving
        .wait_for("the question is decided", |_| {
            !gitlab.bot_notes("acme/api", answered).is_empty()
                || !gitlab.labels("acme/api", answered).is_empty()
        })
        .await;
    site.gitlab.comment("acme/api", answered, "eve", &format!("{canary} says: look at {canary}.md")).await;
    // A refused delivery, a broken one and a failing GitLab are logged too.
    let refused =
        reqwest::Client::builder().build().expect("a client").post(site.hook_url()).body(canary).send().await;
    assert_eq!(refused.expect("an answer").status(), 401);
    site.gitlab.faults().next(
        3,
        "GET",
        "*",
        crate::gitlab::Fault::Body(500, format!("{{\"message\":\"{canary}\"}}")),
    );
    site.gitlab.edit_issue("acme/api", answered, "mara", Some(&format!("{canary} again")), None).await;
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    let metrics =
        reqwest::get(site.admin_url("/metrics")).await.expect("metrics").text().await.expect("text");
    for metric in METRICS {
        assert!(metrics.contains(metric), "{metric} is missing:\n{metrics}");
    }
    assert!(metrics.trim_end().ends_with("# EOF"), "{metrics}");
    let guarded = reqwest::get(site.admin_url("/")).await.expect("an answer");
    assert_eq!(guarded.status(), 401, "only the metrics are open");
    let config = format!("{:?} {:?}", site.run(&["config"]).await, site.run(&["config", "--json"]).await);
    let check = format!("{:?}", site.run(&["check", "--json"]).await);
    let queue = format!("{:?}", site.run(&["queue", "--json"]).await);
    let log = serving.log();
    assert!(log.lines().count() > 20 && log.starts_with('{'), "JSON where there is no terminal");
    serving.kill().await;
    let strangers = site.gitlab.strangers();
    for (name, text) in
        [("metrics", &metrics), ("log", &log), ("config", &config), ("check", &check), ("queue", &queue)]
    {
        for secret in [signing.as_str(), &signing[6..], admin, OWNER_TOKEN, crate::gitlab::BOT_TOKEN, canary]
        {
            assert!(!text.contains(secret), "{secret} is in the {name}");
        }
        // The bot's trace of HTTP names hosts and numbers; a sentence is what must not be there.
        assert!(strangers.leaks(text).is_empty(), "in the {name}: {:?}", strangers.leaks(text));
    }
}
