//! The REST interface: who may, what is refused, how lists are paged.

use super::{acme, call, get, post, put};
use crate::gitlab::world::notes::Place;
use crate::gitlab::{BOT, Level, OWNER_TOKEN, Switch, Visibility};
use serde_json::json;

#[tokio::test]
async fn a_project_is_found_by_id_and_by_encoded_path_and_an_open_slash_is_no_address() {
    let gitlab = acme().await;
    assert_eq!(get(&gitlab, "/projects/acme%2Fapi").await.body["id"], 102);
    assert_eq!(get(&gitlab, "/projects/102").await.body["path_with_namespace"], "acme/api");
    let open = get(&gitlab, "/projects/acme/api").await;
    assert_eq!((open.status, open.body), (404, json!({ "error": "404 Not Found" })));
    assert_eq!(gitlab.unexpected_requests().len(), 1);
    let none = get(&gitlab, "/projects/acme%2Fnone").await;
    assert_eq!((none.status, none.body), (404, json!({ "message": "404 Project Not Found" })));
    assert_eq!(gitlab.unexpected_requests().len(), 1);
    assert_eq!(gitlab.requests_to("GET", "/projects/*").len(), 4);
}

#[tokio::test]
async fn tokens_are_unknown_expired_narrow_or_good() {
    let gitlab = acme().await;
    let unknown = call(&gitlab, "nope", "GET", "/user", &[]).await;
    assert_eq!((unknown.status, unknown.body), (401, json!({ "message": "401 Unauthorized" })));
    gitlab.world().add_token("old", BOT, &["api"]).expires_at = Some("2020-01-01".into());
    let expired = call(&gitlab, "old", "GET", "/user", &[]).await;
    assert_eq!((expired.status, expired.body["error"].as_str()), (401, Some("invalid_token")));
    gitlab.world().add_token("reader", BOT, &["read_api"]);
    assert_eq!(call(&gitlab, "reader", "GET", "/user", &[]).await.body["bot"], true);
    gitlab.open_issue("acme/api", "mara", "How?", "").await;
    let narrow = call(&gitlab, "reader", "POST", "/projects/102/issues/1/notes", &[("body", "x")]).await;
    assert_eq!((narrow.status, narrow.body["error"].as_str()), (403, Some("insufficient_scope")));
    let own = call(&gitlab, "reader", "GET", "/personal_access_tokens/self", &[]).await.body;
    assert_eq!((&own["scopes"], &own["active"]), (&json!(["read_api"]), &json!(true)));
    assert_eq!(get(&gitlab, "/version").await.body["version"], "19.3.0-ee");
}

#[tokio::test]
async fn a_moved_project_redirects_readers_and_refuses_writers_until_the_path_is_taken() {
    let gitlab = acme().await;
    gitlab.world().rename_project("acme/api", "service");
    let moved = get(&gitlab, "/projects/acme%2Fapi/issues?state=opened").await;
    let target = format!("{}/api/v4/projects/102/issues?state=opened", gitlab.url());
    assert_eq!((moved.status, moved.header("location")), (301, target.as_str()));
    let written = post(&gitlab, "/projects/acme%2Fapi/issues", &[("title", "x")]).await;
    assert_eq!(
        (written.status, written.body["message"].as_str()),
        (405, Some("Non GET methods are not allowed for moved projects"))
    );
    gitlab.world().add_project("acme/api");
    assert_ne!(get(&gitlab, "/projects/acme%2Fapi").await.body["id"], 102);
}

#[tokio::test]
async fn pages_have_links_and_counts_and_keyset_pages_only_a_link() {
    let gitlab = acme().await;
    for at in 0..5 {
        gitlab.open_issue("acme/api", "mara", &format!("Issue {at}"), "").await;
    }
    let first = get(&gitlab, "/projects/102/issues?per_page=2&sort=asc&unknown=1").await;
    assert_eq!(first.each("iid"), ["1", "2"]);
    assert_eq!(
        (first.header("x-next-page"), first.header("x-total"), first.header("x-total-pages")),
        ("2", "5", "3")
    );
    assert!(first.header("link").contains("page=2&per_page=2>; rel=\"next\""));
    let last = get(&gitlab, "/projects/102/issues?per_page=2&sort=asc&page=3").await;
    assert_eq!((last.each("iid"), last.header("x-next-page")), (vec!["5".to_owned()], ""));
    let tree =
        get(&gitlab, "/projects/101/repository/tree?recursive=true&pagination=keyset&per_page=3").await;
    let next = tree.header("link").split(['<', '>']).nth(1).expect("a link").to_owned();
    assert!(next.contains("page_token=") && tree.headers.get("x-total").is_none());
    assert_eq!(get(&gitlab, &next).await.body.as_array().expect("rows").len(), 3);
    assert_eq!(get(&gitlab, "/projects/102/issues?per_page=0").await.status, 400);
}

#[tokio::test]
async fn group_projects_leave_subgroups_out_and_take_shared_ones_in_unless_told_otherwise() {
    let gitlab = acme().await;
    gitlab.world().add_project("other/tool").public().shared_with("acme", Level::Reporter);
    let plain = get(&gitlab, "/groups/acme/projects").await.each("path_with_namespace");
    assert!(plain.contains(&"other/tool".into()) && !plain.contains(&"acme/platform/gateway".into()));
    let told = get(&gitlab, "/groups/40/projects?include_subgroups=true&with_shared=false")
        .await
        .each("path_with_namespace");
    assert!(!told.contains(&"other/tool".into()) && told.contains(&"acme/platform/gateway".into()));
    assert_eq!(get(&gitlab, "/groups/acme/descendant_groups").await.each("full_path"), ["acme/platform"]);
    assert_eq!(get(&gitlab, "/groups/none").await.body["message"], "404 Group Not Found");
}

#[tokio::test]
async fn what_a_caller_may_not_see_is_not_there() {
    let gitlab = acme().await;
    gitlab.world().add_token("eve", "eve", &["api"]);
    let eve = async |path: &str| call(&gitlab, "eve", "GET", path, &[]).await.status;
    gitlab.world().open_issue("acme/infra", "ines", "Inside", "");
    gitlab.world().open_with("acme/api", "mara", "Secret", "", |issue| issue.confidential = true);
    assert_eq!((eve("/projects/104").await, eve("/projects/104/issues/1").await), (404, 404));
    assert_eq!((eve("/projects/103").await, eve("/projects/102/issues/1").await), (200, 404));
    assert_eq!(get(&gitlab, "/projects/102/issues/1").await.status, 200);
    gitlab.world().project_mut("acme/api").repository_access = Switch::Private;
    assert_eq!((eve("/projects/102/repository/tree").await, eve("/projects/102").await), (403, 200));
    assert_eq!(get(&gitlab, "/projects/102/repository/tree").await.status, 200);
    gitlab.world().project_mut("acme/api").visibility = Visibility::Private;
    assert_eq!(eve("/projects/102").await, 404);
    assert_eq!(eve("/projects/101/pages").await, 403);
}

#[tokio::test]
async fn unknown_labels_are_created_in_the_project_and_names_keep_their_case() {
    let gitlab = acme().await;
    gitlab.open_issue("acme/api", "mara", "How?", "").await;
    let made =
        post(&gitlab, "/groups/acme/labels", &[("name", "documentation-gap"), ("color", "#d9534f")]).await;
    assert_eq!((made.status, made.body["is_project_label"].clone()), (201, json!(false)));
    assert_eq!(
        post(&gitlab, "/groups/acme/labels", &[("name", "documentation-gap"), ("color", "#d9534f")])
            .await
            .status,
        409
    );
    let labelled =
        put(&gitlab, "/projects/102/issues/1", &[("add_labels", "documentation-gap,Documentation-Gap")])
            .await;
    assert_eq!(
        (labelled.status, labelled.body["labels"].clone()),
        (200, json!(["Documentation-Gap", "documentation-gap"]))
    );
    let listed = get(&gitlab, "/projects/102/labels").await;
    assert_eq!(
        (listed.each("name"), listed.each("is_project_label")),
        (
            vec!["Documentation-Gap".to_owned(), "documentation-gap".to_owned()],
            vec!["true".to_owned(), "false".to_owned()],
        )
    );
    assert_eq!(
        get(&gitlab, "/projects/102/labels?include_ancestor_groups=false").await.each("name"),
        ["Documentation-Gap"]
    );
    put(
        &gitlab,
        "/projects/102/issues/1",
        &[("add_labels", "a"), ("remove_labels", "a,unknown,Documentation-Gap")],
    )
    .await;
    assert_eq!(gitlab.labels("acme/api", 1), ["documentation-gap"]);
    assert_eq!(put(&gitlab, "/projects/102/issues/1", &[("adds_labels", "a")]).await.status, 400);
}

#[tokio::test]
async fn guests_comment_and_do_not_label() {
    let gitlab = acme().await;
    gitlab.world().add_token("eve", "eve", &["api"]);
    gitlab.open_issue("acme/api", "mara", "How?", "").await;
    assert_eq!(
        call(&gitlab, "eve", "PUT", "/projects/102/issues/1", &[("add_labels", "x")]).await.status,
        403
    );
    assert_eq!(
        call(&gitlab, "eve", "POST", "/projects/102/issues/1/notes", &[("body", "x")]).await.status,
        201
    );
    gitlab.lock_issue("acme/api", 1, "tom", true).await;
    assert_eq!(
        call(&gitlab, "eve", "POST", "/projects/102/issues/1/notes", &[("body", "x")]).await.status,
        403
    );
    gitlab.world().archive_project("acme/api", true);
    assert_eq!(post(&gitlab, "/projects/102/issues/1/notes", &[("body", "x")]).await.status, 403);
    assert_eq!(get(&gitlab, "/projects/102/issues/1").await.status, 200);
}

#[tokio::test]
async fn a_reply_makes_a_thread_of_a_note_that_stood_alone() {
    let gitlab = acme().await;
    gitlab.open_issue("acme/api", "mara", "How?", "").await;
    gitlab.comment("acme/api", 1, "tom", "Which one?").await;
    gitlab.comment_internally("acme/api", 1, "tom", "Hm.").await;
    let before = get(&gitlab, "/projects/102/issues/1/discussions").await;
    assert_eq!(before.each("individual_note"), ["true", "true"]);
    let ids = before.each("id");
    let reply = post(
        &gitlab,
        &format!("/projects/102/issues/1/discussions/{}/notes", ids[0]),
        &[("body", "This one")],
    )
    .await;
    assert_eq!((reply.status, reply.body["type"].as_str()), (201, Some("DiscussionNote")));
    let path = format!("/projects/102/issues/1/discussions/{}/notes", ids[1]);
    assert_eq!(post(&gitlab, &path, &[("body", "Us"), ("internal", "false")]).await.body["internal"], true);
    assert_eq!(
        get(&gitlab, "/projects/102/issues/1/discussions").await.each("individual_note"),
        ["false", "false"]
    );
    assert_eq!(
        post(&gitlab, "/projects/102/issues/1/discussions/ffff/notes", &[("body", "x")]).await.status,
        404
    );
    gitlab.close_issue("acme/api", 1, "tom").await;
    let system = get(&gitlab, "/projects/102/issues/1/discussions").await.each("id")[2].clone();
    assert_eq!(
        post(&gitlab, &format!("/projects/102/issues/1/discussions/{system}/notes"), &[("body", "x")])
            .await
            .status,
        400
    );
    let comments = get(&gitlab, "/projects/102/issues/1/notes?activity_filter=only_comments&sort=asc").await;
    assert_eq!(comments.each("body"), ["Which one?", "Hm.", "This one", "Us"]);
}

#[tokio::test]
async fn notes_are_refused_edited_and_deleted() {
    let gitlab = acme().await;
    gitlab.open_issue("acme/api", "mara", "How?", "").await;
    let path = "/projects/102/issues/1/notes";
    assert_eq!(post(&gitlab, path, &[]).await.body, json!({ "error": "body is missing" }));
    assert_eq!(post(&gitlab, path, &[("body", " ")]).await.status, 400);
    assert_eq!(post(&gitlab, path, &[("body", &"x".repeat(1_000_001))]).await.status, 400);
    let note = post(&gitlab, path, &[("body", "one")]).await.body["id"].clone();
    assert_eq!(put(&gitlab, &format!("{path}/{note}"), &[("body", "two")]).await.body["body"], "two");
    let foreign = gitlab.comment("acme/api", 1, "mara", "mine").await;
    assert_eq!(put(&gitlab, &format!("{path}/{foreign}"), &[("body", "yours")]).await.status, 403);
    assert_eq!(
        call(&gitlab, crate::gitlab::BOT_TOKEN, "DELETE", &format!("{path}/{note}"), &[]).await.status,
        204
    );
    assert_eq!(get(&gitlab, &format!("{path}/{note}")).await.status, 404);
    gitlab.world().notes_per_minute = Some(1);
    assert_eq!(post(&gitlab, path, &[("body", "three")]).await.status, 201);
    assert_eq!(post(&gitlab, path, &[("body", "four")]).await.status, 429);
}

#[tokio::test]
async fn an_answer_that_is_known_already_is_304() {
    let gitlab = acme().await;
    let tag = get(&gitlab, "/projects/102").await.header("etag").to_owned();
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let again = client.get(format!("{}/api/v4/projects/102", gitlab.url())).header("If-None-Match", tag);
    // Nobody's project has no `permissions`: another answer, another tag.
    assert_eq!(again.send().await.expect("an answer").status(), 200);
    let again = client.get(format!("{}/api/v4/projects/102/labels", gitlab.url()));
    let tag = again.send().await.expect("an answer").headers()["etag"].clone();
    let again =
        client.get(format!("{}/api/v4/projects/102/labels", gitlab.url())).header("If-None-Match", tag);
    assert_eq!(again.send().await.expect("an answer").status(), 304);
}

#[tokio::test]
async fn issues_are_listed_over_a_group_by_their_last_change() {
    let gitlab = acme().await;
    gitlab.open_issue("acme/api", "mara", "One", "").await;
    gitlab.open_issue("acme/platform/gateway", "mara", "Two", "").await;
    gitlab.set_clock(|| crate::gitlab::time::parse("2090-01-01T00:00:00Z").expect("a time"));
    gitlab.close_issue("acme/api", 1, "tom").await;
    let newest = get(&gitlab, "/groups/acme/issues?order_by=updated_at&sort=desc").await;
    assert_eq!(newest.each("title"), ["One", "Two"]);
    assert_eq!(
        get(&gitlab, "/groups/acme/issues?updated_after=2080-01-01T00:00:00Z").await.each("title"),
        ["One"]
    );
    assert_eq!(get(&gitlab, "/groups/acme/issues?state=opened").await.each("title"), ["Two"]);
    let counts =
        get(&gitlab, "/groups/acme/issues_statistics?scope=all").await.body["statistics"]["counts"].clone();
    assert_eq!(counts, json!({ "all": 2, "closed": 1, "opened": 1 }));
    assert_eq!(get(&gitlab, "/groups/acme/issues?updated_after=soon").await.status, 400);
}

#[tokio::test]
async fn awards_and_members_are_told() {
    let gitlab = acme().await;
    gitlab.open_issue("acme/api", "mara", "How?", "").await;
    let note = gitlab.world().comment_at("acme/api", 1, BOT, "Perhaps so", Place::Thread);
    gitlab.award_note(note, "mara", ":thumbsdown:").await;
    let path = format!("/projects/102/issues/1/notes/{note}/award_emoji");
    let awards = get(&gitlab, &path).await;
    assert_eq!(
        (awards.each("name"), &awards.body[0]["user"]["username"]),
        (vec!["thumbsdown".to_owned()], &json!("mara"))
    );
    assert_eq!(post(&gitlab, &path, &[("name", "eyes")]).await.status, 201);
    assert_eq!(post(&gitlab, &path, &[("name", "eyes")]).await.status, 404);
    assert_eq!(get(&gitlab, "/projects/102/members/all/12").await.body["access_level"], 30);
    assert_eq!(get(&gitlab, "/projects/102/members/all/11").await.status, 404);
    assert_eq!(get(&gitlab, "/users/11").await.body["bot"], false);
}

#[tokio::test]
async fn hooks_are_for_owners_and_never_give_their_secrets_back() {
    let gitlab = acme().await;
    assert_eq!(get(&gitlab, "/groups/acme/hooks").await.status, 403);
    let own = async |method: &str, path: &str, form: &[(&str, &str)]| {
        call(&gitlab, OWNER_TOKEN, method, path, form).await
    };
    let token = crate::gitlab::hook::signing_token();
    let form = [
        ("url", "http://127.0.0.1:9/hook"),
        ("issues_events", "true"),
        ("emoji_events", "true"),
        ("signing_token", &token),
    ];
    let made = own("POST", "/groups/acme/hooks", &form).await;
    assert_eq!(made.status, 201);
    let body = &made.body;
    assert_eq!((&body["signing_token_present"], &body["token_present"]), (&json!(true), &json!(false)));
    assert_eq!(
        (&body["emoji_events"], &body["note_events"], &body["push_events"]),
        (&json!(true), &json!(false), &json!(true))
    );
    assert_eq!((&body["alert_status"], made.text.contains(&token)), (&json!("executable"), false));
    let one = format!("/groups/acme/hooks/{}", body["id"]);
    let changed = own(
        "PUT",
        &one,
        &[("url", "http://127.0.0.1:9/hook"), ("token", "plain"), ("issues_events", "false")],
    )
    .await;
    assert_eq!(
        (&changed.body["token_present"], &changed.body["issues_events"]),
        (&json!(true), &json!(false))
    );
    let moved = own("PUT", &one, &[("url", "http://127.0.0.1:9/other")]).await;
    assert_eq!(moved.body["token_present"], false);
    assert_eq!(own("PUT", &one, &[("push_events", "false")]).await.status, 400);
    // Nobody listens there.
    assert_eq!(own("POST", &format!("{one}/test/push_events"), &[]).await.status, 422);
    assert_eq!(own("POST", &format!("{one}/test/subgroup_events"), &[]).await.status, 400);
    assert_eq!(own("DELETE", &one, &[]).await.status, 204);
    assert_eq!(own("GET", "/groups/acme/hooks", &[]).await.body, json!([]));
    gitlab.world().version = "18.9.0-ee".into();
    let old = own("POST", "/projects/102/hooks", &form).await;
    assert_eq!((old.status, old.body.get("signing_token_present")), (201, None));
}
