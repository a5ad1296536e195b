//! The commands: exit codes, JSON where data is printed, errors on standard error.

use crate::gitlab::World;
use crate::process::Site;
use crate::walk::{HOW, HOW_MORE};

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
