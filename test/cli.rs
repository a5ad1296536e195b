//! The commands: exit codes, JSON where data is printed, errors on standard error.

use crate::gitlab::{Fault, World};
use crate::life::with_internal_docs;
use crate::process::Site;
use crate::walk::{HOW, HOW_MORE, NOWHERE, NOWHERE_MORE};

#[tokio::test]
async fn the_configuration_may_be_named_on_either_side_of_the_command() {
    let site = Site::new(World::acme()).await;
    let elsewhere = site.folder.path().join("elsewhere.toml");
    std::fs::rename(site.config(), &elsewhere).expect("an own folder");
    let path = elsewhere.display().to_string();
    for arguments in [["--config", &path, "config", "--json"], ["config", "--json", "--config", &path]] {
        let output = site.run(&arguments).await;
        assert_eq!(output.code, Some(0), "{output:?}");
        assert_eq!(output.json()["gitlab"]["group"], "acme");
    }
    let output = site.run(&["config"]).await;
    assert_eq!(output.code, Some(2), "there is no ./signpost.toml: {output:?}");
    assert!(output.out.is_empty() && output.err.starts_with("signpost: "), "{output:?}");
    let mut site = site;
    site.set("SIGNPOST_CONFIG", &path);
    assert_eq!(site.run(&["config"]).await.code, Some(0));
}

#[tokio::test]
async fn the_groups_own_corpus_is_asked_for_the_readers_of_a_project_and_nothing_is_posted() {
    let site = Site::new(with_internal_docs()).await;
    assert_eq!(site.run(&["sync", "--no-history"]).await.code, Some(0));
    let ask = async |more: &[&str]| {
        let question = ["ask", "--json", "--max-wrong", "0.2", NOWHERE, "--description", NOWHERE_MORE];
        site.run(&[&question[..], more].concat()).await
    };
    let how = site.run(&["ask", "--json", "--max-wrong", "0.2", HOW, "--description", HOW_MORE]).await.json();
    assert_eq!((&how["decision"], &how["question"]), (&"answer".into(), &true.into()), "{how}");
    let target = &how["targets"][0];
    assert_eq!((&target["project"], &target["path"]), (&"acme/docs".into(), &"docs/guide/keys.md".into()));
    assert!(target["quote"].as_str().is_some_and(|quote| quote.contains("key")), "{target}");
    // What only those who are signed in may read is for threads of theirs.
    assert_eq!(ask(&[]).await.json()["decision"], "gap");
    assert_eq!(ask(&["--project", "acme/api"]).await.json()["decision"], "gap");
    let inside = ask(&["--project", "acme/platform/gateway"]).await.json();
    assert_eq!(inside["targets"][0]["project"], "acme/platform/tools", "{inside}");
    for wrong in ["acme/infra", "acme/no-such-project", "not a path"] {
        let output = ask(&["--project", wrong]).await;
        assert_eq!(output.code, Some(2), "{output:?}");
        assert!(output.err.contains(wrong), "{output:?}");
    }
    assert!(site.gitlab.requests().iter().all(|call| call.method == "GET"));
}

#[tokio::test]
async fn exit_codes_and_json() {
    let site = Site::new(World::acme()).await;
    let iid = site.gitlab.open_issue("acme/api", "mara", HOW, HOW_MORE).await;
    let issue = format!("{}/acme/api/-/issues/{iid}", site.gitlab.url());
    for (arguments, code, key) in [
        (vec!["config", "--json"], 0, "answer"),
        (vec!["check", "--json"], 1, "findings"),
        (vec!["sync", "--json"], 0, "sections"),
        (vec!["queue", "--json"], 0, "buried"),
        (vec!["queue", "--json", "unbury"], 0, "ready"),
        (vec!["gaps", "--format", "json"], 0, ""),
        (vec!["explain", "--json", &issue], 0, "now"),
        (vec!["replay", "--json"], 0, ""),
    ] {
        let output = site.run(&arguments).await;
        assert_eq!(output.code, Some(code), "{arguments:?}: {output:?}");
        let json = output.json();
        assert!(key.is_empty() || json.get(key).is_some(), "{arguments:?}: {json}");
    }
    let explained = site.run(&["explain", "--json", &issue]).await.json();
    assert_eq!(explained["now"]["decision"], "answer", "{explained}");
    assert!(site.gitlab.bot_notes("acme/api", iid).is_empty(), "explaining posts nothing");
    for arguments in [
        vec!["explain", "https://elsewhere.example.com/a/b/-/issues/1"],
        vec!["install"],
        vec!["install", "--hook-url", "https://signpost.example.com"],
        vec!["ask", "--corpus", ".", "--max-wrong", "5", "How?"],
        vec!["no-such-command"],
        vec!["check", "--no-such-option"],
        vec!["uninstall", "--hook-url", "no url"],
        vec!["--config", "/no/such/folder", "check", "--verbose"],
    ] {
        let output = site.run(&arguments).await;
        assert_eq!(output.code, Some(2), "{arguments:?}: {output:?}");
        assert!(output.out.is_empty() && !output.err.is_empty(), "{arguments:?}: {output:?}");
    }
}

#[tokio::test]
async fn a_broken_configuration_is_exit_2_with_its_line_whatever_the_command() {
    let site = Site::new(World::acme()).await;
    site.configure("[gap]\nlable = \"x\"\n");
    let line = std::fs::read_to_string(site.config()).expect("written").lines().count();
    for command in ["serve", "check", "config", "sync", "queue", "gaps", "replay"] {
        let output = site.run(&[command]).await;
        assert_eq!(output.code, Some(2), "{command}: {output:?}");
        let message = format!("signpost.toml:{line}: unknown key `gap.lable`; did you mean `gap.label`?");
        assert!(output.err.contains(&message), "{command}: {output:?}");
    }
}

#[tokio::test]
async fn completions_and_manual_pages_are_made() {
    let site = Site::new(World::acme()).await;
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = site.run(&["completions", shell]).await;
        assert_eq!(output.code, Some(0), "{output:?}");
        assert!(output.out.contains("signpost") && output.out.contains("uninstall"), "{shell}");
    }
    let folder = site.folder.path().join("man");
    assert_eq!(site.run(&["man", &folder.display().to_string()]).await.code, Some(0));
    for page in ["signpost.1", "signpost-serve.1", "signpost-install.1", "signpost-check.1"] {
        let text =
            std::fs::read_to_string(folder.join(page)).unwrap_or_else(|error| panic!("{page}: {error}"));
        assert!(text.contains(".TH"), "{page}");
    }
    for arguments in [&["--help"][..], &["--version"], &["help", "install"]] {
        let output = site.run(arguments).await;
        assert_eq!((output.code, output.err.is_empty()), (Some(0), true), "{arguments:?}: {output:?}");
    }
}

#[tokio::test]
async fn a_reader_that_leaves_early_ends_the_program_and_is_no_defect() {
    use tokio::io::AsyncWriteExt as _;

    let site = Site::new(World::acme()).await;
    let mut command = site.command();
    command.args(["extract", "--instance", "https://gitlab.example.com", "--project", "acme/api"]);
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.stderr(std::process::Stdio::piped()).spawn().expect("the program starts");
    // It prints when it has read everything, and by then nobody listens.
    drop(child.stdout.take());
    child.stdin.take().expect("piped").write_all(b"See !12.").await.expect("it reads");
    let output = child.wait_with_output().await.expect("it ends");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.is_empty() && output.status.code() == Some(141), "{:?}: {err}", output.status);
}

#[tokio::test]
async fn explain_says_why_a_thread_gets_nothing() {
    let site = Site::new(World::acme()).await;
    let iid = site.gitlab.open_issue("acme/api", "mara", HOW, HOW_MORE).await;
    let url = format!("{}/acme/api/-/issues/{iid}", site.gitlab.url());
    assert_eq!(site.run(&["sync"]).await.code, Some(0));
    let told = async || site.run(&["explain", &url]).await.out;
    assert!(told().await.starts_with("as of now: answer\n"));
    site.gitlab.add_labels("acme/api", iid, "tom", &["signpost::off"]).await;
    assert!(told().await.starts_with("as of now: nothing, because it is kept out by its label\n"));
    site.gitlab.close_issue("acme/api", iid, "tom").await;
    site.gitlab.remove_labels("acme/api", iid, "tom", &["signpost::off"]).await;
    assert!(told().await.starts_with("as of now: nothing, because it is closed\n"));
}

#[tokio::test]
async fn a_configuration_that_was_named_must_be_there_and_so_must_the_database_folder() {
    let mut site = Site::new(World::acme()).await;
    let output = site.run(&["--config", "typo.toml", "config"]).await;
    assert!(output.code == Some(2) && output.err.contains("typo.toml"), "{output:?}");
    site.set("SIGNPOST_DATABASE__URL", "sqlite:///no/such/folder/signpost.db");
    let output = site.run(&["queue"]).await;
    assert!(
        output.code == Some(2) && output.err.contains("there is no folder /no/such/folder"),
        "{output:?}"
    );
    site.unset("SIGNPOST_DATABASE__URL");
    site.set("SIGNPOST_CORPUS_EXCLUDE", "acme/infra");
    let output = site.run(&["queue"]).await;
    assert!(output.code == Some(2) && output.err.contains("SIGNPOST_CORPUS__EXCLUDE?"), "{output:?}");
}

#[tokio::test]
async fn explain_names_the_check_at_which_each_reference_fell() {
    let site = Site::new(World::acme()).await;
    let blob = |path: &str| format!("{}/{path}", site.gitlab.url());
    let text = format!(
        "{HOW_MORE} I read {} and {} and {}.",
        blob("acme/docs/-/blob/main/docs/guide/keys.md"),
        blob("acme/infra/-/blob/main/docs/access.md"),
        blob("acme/docs/-/blob/main/docs/guide/never.md"),
    );
    let iid = site.gitlab.open_issue("acme/api", "mara", HOW, &text).await;
    assert_eq!(site.run(&["sync"]).await.code, Some(0));
    let told = site.run(&["explain", &blob(&format!("acme/api/-/issues/{iid}"))]).await.out;
    let of: Vec<&str> = told.lines().filter(|line| line.starts_with("  points at  ")).collect();
    assert_eq!(of.len(), 3, "{told}");
    assert!(of[0].ends_with("leads to docs/guide/keys.md"), "{told}");
    assert!(of[1].contains("fell at excluded") && of[2].contains("fell at "), "{told}");
    assert!(!told.contains("access.md") && !told.contains("never.md"), "{told}");
}

#[tokio::test]
async fn one_broken_repository_keeps_no_other_from_being_read() {
    let site = Site::new(World::acme()).await;
    let api = site.gitlab.world().project("acme/api").id;
    site.gitlab.faults().always("GET", &format!("/projects/{api}/repository/branches/*"), Fault::Json(500));
    let output = site.run(&["sync", "--json", "--no-history"]).await;
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.err.contains("acme/api") && output.json()["sections"].as_u64() > Some(0), "{output:?}");
}

#[tokio::test]
async fn what_is_no_text_in_the_environment_and_an_empty_folder_are_no_defects() {
    use std::os::unix::ffi::OsStrExt as _;
    let site = Site::new(World::acme()).await;
    let empty = tempfile::tempdir().expect("a folder");
    let mut command = site.command();
    command.env("LC_ODD", std::ffi::OsStr::from_bytes(b"\xff"));
    command.args(["ask", "--json", "--corpus"]).arg(empty.path()).arg("How do I rotate a key?");
    let output = command.output().await.expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&report["decision"], &report["targets"]), (&"gap".into(), &serde_json::json!([])));
    let nowhere = site.run(&["ask", "--corpus", "/no/such/folder", "How?"]).await;
    assert_eq!(nowhere.code, Some(2), "{nowhere:?}");
}
