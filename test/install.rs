//! Installing, as an administrator does it: one command, what it prints put where it says, and an answer.

use crate::gitlab::world::hooks::{GROUP_SWITCHES, Owner, SWITCHES};
use crate::gitlab::world::{Hook, World};
use crate::gitlab::{Fault, OWNER_TOKEN, hook};
use crate::process::{Output, Site};
use signpost::store::Store;
use signpost::store::setting::LABEL;

const ON: [&str; 7] = [
    "issues_events",
    "note_events",
    "emoji_events",
    "push_events",
    "merge_requests_events",
    "project_events",
    "subgroup_events",
];

async fn site() -> Site {
    let mut site = Site::new(World::acme()).await;
    site.set("SIGNPOST_INSTALL_TOKEN", OWNER_TOKEN);
    site
}

async fn install(site: &Site, more: &[&str]) -> Output {
    let url = site.hook_url();
    let mut arguments = vec!["install", "--hook-url", &url];
    arguments.extend(more);
    site.run(&arguments).await
}

fn hooks(site: &Site) -> Vec<Hook> {
    site.gitlab.world().hooks.values().cloned().collect()
}

fn only(site: &Site) -> Hook {
    let hooks = hooks(site);
    assert_eq!(hooks.len(), 1, "{hooks:?}");
    hooks.into_iter().next().expect("one")
}

/// The value that a line of the output says to set.
fn said(output: &Output, variable: &str) -> Option<String> {
    let line = output.out.lines().find_map(|line| line.trim().strip_prefix(variable)?.strip_prefix('='));
    line.map(str::to_owned)
}

/// Every switch is what it must be.
fn assert_switches(hook: &Hook) {
    for name in SWITCHES.iter().chain(&GROUP_SWITCHES) {
        let Some(on) = hook.switches.get(name) else { continue };
        assert_eq!(*on, ON.contains(name), "{name}");
    }
    assert!(hook.enable_ssl_verification && hook.custom_webhook_template.is_none());
    assert_eq!(hook.branch_filter_strategy, "all_branches");
    assert_eq!(hook.push_events_branch_filter, None);
}

#[tokio::test]
async fn from_one_command_to_the_first_answer() {
    let mut site = site().await;
    let output = install(&site, &[]).await;
    assert_eq!(output.code, Some(0), "{output:?}");
    // What it prints goes where it says.
    let token = said(&output, "SIGNPOST_SIGNING_TOKEN").expect("it says which variable to set");
    site.set("SIGNPOST_SIGNING_TOKEN", &token);
    let snippet = output.out.split("signpost.toml:\n").nth(1).expect("it says what to write").lines();
    let lines: Vec<_> = snippet.take_while(|line| line.starts_with(' ')).map(str::trim).collect();
    assert_eq!(lines, ["[hook]", &format!("public_url = \"{}\"", site.hook_url())]);
    assert!(output.out.contains("signpost serve") && output.out.contains("signpost check"), "{output:?}");
    // The installer's token was for this command alone.
    site.unset("SIGNPOST_INSTALL_TOKEN");
    let serving = site.serve().await;
    serving.wait_for_corpus().await;
    let iid = site.gitlab.open_issue("acme/api", "mara", crate::walk::HOW, crate::walk::HOW_MORE).await;
    serving.wait_for("the first answer", |_| !site.gitlab.bot_notes("acme/api", iid).is_empty()).await;
    let note = site.gitlab.bot_notes("acme/api", iid).remove(0).body;
    assert!(note.contains("/acme/docs/-/blob/") && note.contains("docs/guide/keys.md"), "{note}");
    let check = site.run(&["check"]).await;
    assert_eq!(check.code, Some(0), "{check:?}");
    assert_eq!(serving.terminate().await, Some(0));
}

#[tokio::test]
async fn the_hook_has_every_switch_set_a_fresh_token_and_the_label() {
    let site = site().await;
    let output = install(&site, &["--json"]).await;
    assert_eq!(output.code, Some(0), "{output:?}");
    let hook = only(&site);
    assert!(matches!(hook.owner, Owner::Group(_)));
    assert_switches(&hook);
    let said = output.json();
    let token = hook.signing_token.clone().expect("signed");
    assert_eq!(
        (said["token"].as_str(), said["variable"].as_str()),
        (Some(&*token), Some("SIGNPOST_SIGNING_TOKEN"))
    );
    assert_eq!(token.len(), hook::signing_token().len(), "whsec_ and 32 bytes");
    assert!(hook.token.is_none(), "one proof is enough");
    let world = site.gitlab.world();
    let label = world.labels.values().find(|label| label.name == "documentation-gap").expect("the label");
    assert!(label.group.is_some() && label.description.is_some(), "{label:?}");
}

#[tokio::test]
async fn doing_it_again_mends_the_same_hook() {
    let mut site = site().await;
    assert_eq!(install(&site, &[]).await.code, Some(0));
    let first = only(&site);
    {
        let mut world = site.gitlab.world();
        let hook = world.hooks.get_mut(&first.id).expect("there");
        hook.switches.iter_mut().for_each(|(_, on)| *on = !*on);
        hook.enable_ssl_verification = false;
        hook.custom_webhook_template = Some("{}".into());
        hook.push_events_branch_filter = Some("release/*".into());
        let twin = world.create_hook(first.owner, &first.url).id;
        assert_ne!(twin, first.id);
    }
    let output = install(&site, &[]).await;
    assert_eq!(output.code, Some(0), "{output:?}");
    let second = only(&site);
    assert_eq!(second.id, first.id);
    assert_switches(&second);
    assert_ne!(second.signing_token, first.signing_token, "a fresh token");
    assert_eq!(said(&output, "SIGNPOST_SIGNING_TOKEN"), second.signing_token);
    assert_eq!(site.gitlab.world().labels.len(), 1, "one label");
    // Kept on demand: the running bot need not be touched.
    site.set("SIGNPOST_SIGNING_TOKEN", second.signing_token.as_deref().expect("signed"));
    let output = install(&site, &["--keep-token"]).await;
    assert_eq!((output.code, said(&output, "SIGNPOST_SIGNING_TOKEN")), (Some(0), None), "{output:?}");
    assert_eq!(only(&site).signing_token, second.signing_token);
    // A new hook has nothing to keep, and gets what the bot is configured with.
    site.gitlab.world().hooks.clear();
    assert_eq!(install(&site, &["--keep-token"]).await.code, Some(0));
    assert_eq!(only(&site).signing_token, second.signing_token);
}

#[tokio::test]
async fn a_dry_run_changes_nothing_and_uninstall_leaves_the_label() {
    let site = site().await;
    let output = install(&site, &["--dry-run"]).await;
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(
        output.out.contains("would be created") && output.out.contains("nothing was changed"),
        "{output:?}"
    );
    assert!(!output.out.contains("whsec_"), "no token that is none: {output:?}");
    assert!(hooks(&site).is_empty() && site.gitlab.world().labels.is_empty());
    install(&site, &[]).await;
    site.gitlab.install_hook("acme", "https://elsewhere.example.com/hook", |_| {});
    let output = site.run(&["uninstall", "--dry-run"]).await;
    assert_eq!((output.code, hooks(&site).len()), (Some(0), 2), "{output:?}");
    let output = site.run(&["uninstall"]).await;
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(only(&site).url, "https://elsewhere.example.com/hook", "others' hooks stay");
    assert_eq!(site.gitlab.world().labels.len(), 1);
}

#[tokio::test]
async fn on_other_tiers_each_qualifying_project_gets_its_hook() {
    let site = site().await;
    site.gitlab.world().version = "19.3.0".into();
    let output = install(&site, &[]).await;
    assert_eq!(output.code, Some(2), "{output:?}");
    assert!(output.err.contains("--projects") && output.err.contains("Premium"), "{output:?}");
    let output = install(&site, &["--projects"]).await;
    assert_eq!(output.code, Some(0), "{output:?}");
    let owners = |site: &Site| hooks(site).iter().map(|hook| hook.owner).collect::<Vec<_>>();
    let expected: Vec<Owner> = {
        let world = site.gitlab.world();
        ["acme/docs", "acme/api", "acme/platform/gateway"]
            .map(|path| Owner::Project(world.project(path).id))
            .to_vec()
    };
    assert_eq!(owners(&site), expected, "the excluded project has none");
    let token = said(&output, "SIGNPOST_SIGNING_TOKEN");
    for hook in hooks(&site) {
        assert_switches(&hook);
        assert_eq!(hook.signing_token, token, "one token for all");
    }
    install(&site, &["--projects"]).await;
    assert_eq!(owners(&site), expected, "and one hook each");
    assert_eq!(site.run(&["uninstall"]).await.code, Some(0));
    assert!(hooks(&site).is_empty());
}

#[tokio::test]
async fn a_project_that_joins_later_gets_its_hook_from_the_sweep() {
    let mut site = site().await;
    let output = install(&site, &["--projects"]).await;
    assert!(output.out.contains("projects = true"), "{output:?}");
    let token = said(&output, "SIGNPOST_SIGNING_TOKEN").expect("signed");
    site.set("SIGNPOST_SIGNING_TOKEN", &token);
    site.set("SIGNPOST_HOOK__PROJECTS", "true");
    site.set("SIGNPOST_SWEEP__EVERY", "1s");
    let before = hooks(&site).len();
    let serving = site.serve().await;
    serving.wait_for_corpus().await;
    assert_eq!(hooks(&site).len(), before, "nothing is missing");
    let (late, private) = site
        .gitlab
        .act(|world| {
            world
                .add_project("acme/late")
                .public()
                .file("README.md", "# Late\n\nA project that came later.\n");
            world.add_project("elsewhere/other").public().file("README.md", "# Other\n\nNot ours.\n");
            (world.project("acme/late").id, world.project("elsewhere/other").id)
        })
        .await;
    serving.wait_for("the hook is made", |_| hooks(&site).len() > before).await;
    let made =
        hooks(&site).into_iter().find(|hook| hook.owner == Owner::Project(late)).expect("of the new project");
    assert_switches(&made);
    assert_eq!((made.url, made.signing_token), (site.hook_url(), Some(token)));
    assert!(hooks(&site).iter().all(|hook| hook.owner != Owner::Project(private)));
    serving.kill().await;
}

#[tokio::test]
async fn gitlab_before_19_gets_a_plain_token_and_it_says_so() {
    let mut site = site().await;
    site.gitlab.world().version = "18.11.2-ee".into();
    let output = install(&site, &[]).await;
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(output.out.contains("older than 19.0"), "{output:?}");
    let token = said(&output, "SIGNPOST_SECRET_TOKEN").expect("the other variable");
    assert_eq!(said(&output, "SIGNPOST_SIGNING_TOKEN"), None);
    let hook = only(&site);
    assert_eq!((hook.token.as_ref(), hook.signing_token.as_ref()), (Some(&token), None));
    // And the bot that is started so takes what such a GitLab sends.
    site.set("SIGNPOST_SECRET_TOKEN", &token);
    let serving = site.serve().await;
    site.gitlab.open_issue("acme/api", "mara", crate::walk::NOWHERE, crate::walk::NOWHERE_MORE).await;
    assert_eq!(site.gitlab.attempts().last().and_then(|attempt| attempt.status), Some(200));
    serving.kill().await;
}

#[tokio::test]
async fn without_an_owners_token_it_says_what_is_needed() {
    let mut site = site().await;
    site.unset("SIGNPOST_INSTALL_TOKEN");
    let output = install(&site, &[]).await;
    assert_eq!(output.code, Some(2), "{output:?}");
    assert!(
        output.err.contains("Owner's token") && output.err.contains("SIGNPOST_INSTALL_TOKEN"),
        "{output:?}"
    );
}

#[tokio::test]
async fn a_bot_that_has_another_token_than_the_hook_is_told_of_by_check() {
    let mut site = site().await;
    let token = said(&install(&site, &[]).await, "SIGNPOST_SIGNING_TOKEN").expect("signed");
    site.set("SIGNPOST_SIGNING_TOKEN", &token);
    let serving = site.serve().await;
    serving.wait_for_corpus().await;
    let warned = async |site: &Site| site.run(&["check"]).await.out.contains("hook_proof");
    assert!(!warned(&site).await);
    install(&site, &[]).await;
    site.gitlab.open_issue("acme/api", "mara", crate::walk::HOW, crate::walk::HOW_MORE).await;
    serving.wait_for("it is refused", |it| it.log().contains("without proof")).await;
    let began = std::time::Instant::now();
    while !warned(&site).await {
        assert!(began.elapsed() < crate::process::PATIENCE, "check does not tell");
    }
    serving.kill().await;
}

#[tokio::test]
async fn a_token_that_a_hook_has_is_shown_whatever_goes_wrong_after_it() {
    let site = site().await;
    site.gitlab.world().version = "19.3.0".into();
    let gateway = site.gitlab.world().project("acme/platform/gateway").id;
    site.gitlab.faults().always("POST", &format!("/projects/{gateway}/hooks"), Fault::Json(500));
    let output = install(&site, &["--projects"]).await;
    assert_eq!(output.code, Some(2), "{output:?}");
    assert_eq!(said(&output, "SIGNPOST_SIGNING_TOKEN"), hooks(&site)[0].signing_token, "{output:?}");
    assert!(output.err.contains(&gateway.to_string()), "{output:?}");
    // Who may not look everywhere changes nothing.
    let kept = hooks(&site)[0].signing_token.clone();
    site.gitlab.faults().clear();
    site.gitlab.faults().always("GET", &format!("/projects/{gateway}/hooks"), Fault::Json(403));
    assert_eq!(install(&site, &["--projects"]).await.code, Some(2));
    assert_eq!(hooks(&site)[0].signing_token, kept);
    // Nor is what could not be looked at reported as gone.
    site.gitlab.faults().clear();
    site.gitlab.faults().always("GET", "/groups/*", Fault::Json(500));
    let output = site.run(&["uninstall"]).await;
    assert_eq!(output.code, Some(2), "{output:?}");
}

#[tokio::test]
async fn a_label_that_was_renamed_is_not_made_again() {
    let site = site().await;
    assert_eq!(install(&site, &[]).await.code, Some(0));
    let id = {
        let mut world = site.gitlab.world();
        let label = world.labels.values_mut().next().expect("the label");
        "docs wanted".clone_into(&mut label.name);
        label.id
    };
    let store = Store::open(&format!("sqlite://{}", site.database().display())).await.expect("the store");
    store.set(LABEL, &format!("{id} documentation-gap")).await.expect("the store");
    store.close().await;
    let output = install(&site, &["--keep-token"]).await;
    assert!(output.code == Some(0) && output.out.contains("docs wanted"), "{output:?}");
    assert_eq!(site.gitlab.world().labels.len(), 1);
    let report = site.run(&["check", "--json"]).await.json();
    let label =
        report["findings"].as_array().expect("findings").iter().find(|f| f["name"] == "label").cloned();
    let label = label.expect("it is looked at");
    assert!(
        label["level"] == "warning"
            && label["cure"].as_str().is_some_and(|cure| cure.contains("docs wanted")),
        "{label}"
    );
}
