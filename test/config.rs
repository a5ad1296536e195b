//! The configuration: the example is the manual, every key has its variable, secrets stay out of sight.

use std::collections::BTreeMap;

use serde_json::Value;
use signpost::config::{Config, Environment};

use crate::gitlab::World;
use crate::process::Site;

const EXAMPLE: &str = include_str!("../signpost.example.toml");
const MINIMAL: &str = "[gitlab]\nurl = \"https://gitlab.example.com\"\ngroup = \"acme\"\n";

fn parse(text: &str, environment: &[(&str, &str)]) -> Result<Value, String> {
    let owned = environment.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
    let environment: Environment = owned.collect();
    let config = Config::parse(text, "signpost.toml", &environment).map_err(|error| error.to_string())?;
    Ok(serde_json::to_value(config).expect("JSON"))
}

/// Every value by its key.
fn keys(config: &Value) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    for (section, inner) in config.as_object().expect("sections") {
        for (key, value) in inner.as_object().expect("keys") {
            all.insert(format!("{section}.{key}"), value.clone());
        }
    }
    all
}

#[test]
fn the_example_is_the_defaults_and_names_every_key() {
    let (example, defaults) = (parse(EXAMPLE, &[]).expect("valid"), parse(MINIMAL, &[]).expect("valid"));
    let (example, defaults) = (keys(&example), keys(&defaults));
    for key in Config::keys() {
        assert_eq!(example.get(*key), defaults.get(*key), "{key} differs from its default");
        assert!(defaults.contains_key(*key), "{key} is no field");
        let (section, name) = key.split_once('.').expect("a section");
        let after =
            EXAMPLE.split(&format!("\n[{section}]\n")).nth(1).expect("the section stands in the example");
        let until = after.split("\n[").next().unwrap_or_default();
        let shown = until.lines().any(|line| {
            let line = line.trim_start_matches("# ");
            line.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with('='))
        });
        assert!(
            shown || (*key == "corpus.docsite" && EXAMPLE.contains("# [[corpus.docsite]]")),
            "{key} is not in the example"
        );
    }
    assert_eq!(
        defaults.keys().map(String::as_str).collect::<Vec<_>>().len(),
        Config::keys().len(),
        "a field has no key"
    );
}

/// A value for each key that is not its default.
const OTHERS: &[(&str, &str)] = &[
    ("gitlab.url", "https://git.example.org/gitlab"),
    ("gitlab.group", "acme/tools"),
    ("hook.listen", "127.0.0.1:81"),
    ("hook.public_url", "https://signpost.example.com/hook"),
    ("hook.projects", "true"),
    ("admin.listen", "[::1]:82"),
    ("database.url", "postgres://u:p@db/signpost"),
    ("corpus.exclude", "acme/infra, acme/customers/*"),
    ("corpus.docs", "[\"handbook/**\"]"),
    ("corpus.code", "**/*.zig"),
    ("corpus.ignore", "**/old/**,**/older/**"),
    ("corpus.members", "true"),
    (
        "corpus.docsite",
        "[{ url = \"https://d.example.com\", project = \"acme/docs\", generator = \"hugo\" }]",
    ),
    ("answer.mode", "observe"),
    ("answer.when", "always"),
    ("answer.max_wrong", "0.01"),
    ("answer.off_label", "no bots"),
    ("answer.language", "de"),
    ("answer.max_age", "2d"),
    ("budget.per_project_hour", "3"),
    ("budget.undo_limit", "0.5"),
    ("gap.label", "docs wanted"),
    ("gap.report_project", "acme/docs"),
    ("sweep.every", "90s"),
    ("judge.endpoint", "https://models.example.com/v1"),
    ("judge.model", "small"),
    ("judge.timeout", "3s"),
    ("log.format", "json"),
];

#[test]
fn every_key_can_be_set_by_its_variable() {
    let defaults = keys(&parse(MINIMAL, &[]).expect("valid"));
    let named: Vec<&str> = OTHERS.iter().map(|(key, _)| *key).collect();
    assert_eq!(named, Config::keys(), "a key without a value here is not tested");
    for (key, value) in OTHERS {
        let variable = format!("SIGNPOST_{}", key.to_uppercase().replace('.', "__"));
        // One key needs another beside it.
        let url = [("SIGNPOST_HOOK__PUBLIC_URL", "https://signpost.example.com/hook")];
        let beside = if *key == "hook.projects" { &url[..] } else { &[] };
        let defaults =
            if beside.is_empty() { defaults.clone() } else { keys(&parse(MINIMAL, beside).expect("valid")) };
        let variables = [beside, &[(&*variable, *value)]].concat();
        let set = keys(&parse(MINIMAL, &variables).unwrap_or_else(|error| panic!("{variable}: {error}")));
        assert_ne!(set[*key], defaults[*key], "{variable} does nothing");
        for (other, value) in set.iter().filter(|(other, _)| other != key) {
            assert_eq!(value, &defaults[other], "{variable} changes {other}");
        }
    }
}

#[test]
fn what_is_wrong_is_refused_with_line_or_name() {
    for (text, part) in [
        (
            "[answer]\nmaxwrong = 0.1\n",
            "signpost.toml:5: unknown key `answer.maxwrong`; did you mean `answer.max_wrong`?",
        ),
        ("[anwser]\nmode = \"reply\"\n", "signpost.toml:4: unknown key `anwser`"),
        ("[answer]\nmode = \"replay\"\n", "answer"),
        (
            "[[corpus.docsite]]\nurl = \"https://d.example.com\"\nbranch = \"x\"\n",
            "signpost.toml:6: unknown key `corpus.docsite.branch`",
        ),
        ("[sweep]\nevery = 5\n", "every"),
        ("[sweep]\nevery = \"often\"\n", "no duration"),
        ("[hook]\nprojects = true\n", "hook.public_url"),
        (
            "[[corpus.docsite]]\nurl = \"https://d.example.com\"\nproject = \"p\"\ngenerator = \"jekyll\"\n",
            "jekyll",
        ),
        ("[database]\nurl = \"mysql://x\"\n", "database.url"),
        ("[answer]\nmax_wrong = 1.5\n", "answer.max_wrong"),
        ("[gap]\nlabel = \"a,b\"\n", "gap.label"),
        ("[gap\n", "signpost.toml"),
    ] {
        let error = parse(&format!("{MINIMAL}{text}"), &[]).expect_err(text);
        assert!(error.contains(part), "{text}: {error}");
    }
    assert!(parse("", &[]).expect_err("empty").contains("SIGNPOST_GITLAB__URL"));
    assert!(
        parse("", &[("SIGNPOST_GITLAB__URL", "https://g.example.com"), ("SIGNPOST_GITLAB__GROUP", "acme")])
            .is_ok()
    );
}

#[tokio::test]
async fn secrets_come_from_files_and_never_go_anywhere() {
    let mut site = Site::new(World::acme()).await;
    let names =
        ["GITLAB_TOKEN", "SIGNING_TOKEN", "SECRET_TOKEN", "ADMIN_TOKEN", "INSTALL_TOKEN", "JUDGE_KEY"];
    site.unset("SIGNPOST_GITLAB_TOKEN");
    for name in names {
        let file = site.folder.path().join(name);
        std::fs::write(&file, format!("canary-{name}\n")).expect("an own folder");
        site.set(&format!("SIGNPOST_{name}_FILE"), &file.display().to_string());
    }
    site.set(
        "SIGNPOST_DATABASE__URL",
        "postgres://signpost:canary-password@db.example.com/signpost?sslpassword=canary-key",
    );
    site.set("SIGNPOST_JUDGE__ENDPOINT", "https://me:canary-endpoint@models.example.com/v1");
    for arguments in [&["config"][..], &["config", "--json"]] {
        let output = site.run(arguments).await;
        assert_eq!(output.code, Some(0), "{output:?}");
        assert!(!output.out.contains("canary") && !output.err.contains("canary"), "{output:?}");
    }
    let text = site.run(&["config"]).await.out;
    for name in names {
        assert!(text.contains(&format!("# SIGNPOST_{name}: set")), "{name}: {text}");
    }
    assert!(text.contains("postgres://signpost:redacted@db.example.com"), "{text}");
    // What is printed is a configuration again.
    parse(&text, &[]).expect("valid");
    site.set("SIGNPOST_ADMIN_TOKEN", "canary");
    let output = site.run(&["config"]).await;
    assert_eq!(output.code, Some(2), "{output:?}");
    assert!(output.err.contains("SIGNPOST_ADMIN_TOKEN and SIGNPOST_ADMIN_TOKEN_FILE"), "{output:?}");
    assert!(!output.err.contains("canary"), "{output:?}");
    site.unset("SIGNPOST_ADMIN_TOKEN");
    site.set("SIGNPOST_ADMIN_TOKEN_FILE", "/no/such/file");
    let output = site.run(&["config"]).await;
    assert_eq!(output.code, Some(2), "{output:?}");
    assert!(output.err.contains("SIGNPOST_ADMIN_TOKEN_FILE"), "{output:?}");
}

#[test]
fn who_set_the_wrong_value_is_named() {
    let of = |text: &str, environment: &[(&str, &str)]| {
        let environment = environment.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Config::parse(&format!("{MINIMAL}{text}"), "the-file.toml", &environment)
            .expect_err("a wrong value")
            .to_string()
    };
    let blamed = of("", &[("SIGNPOST_ANSWER__MODE", "loud")]);
    assert!(blamed.starts_with("the environment: ") && blamed.contains("answer.mode"), "{blamed}");
    let blamed = of("\n[answer]\nmode = \"loud\"\n", &[("SIGNPOST_ANSWER__LANGUAGE", "en")]);
    assert!(blamed.starts_with("the-file.toml: "), "{blamed}");
}

#[test]
fn a_password_is_in_no_debug_output() {
    let environment = vec![("SIGNPOST_DATABASE__URL".to_owned(), "postgres://u:canary@db/s".to_owned())];
    let config = Config::parse(MINIMAL, "f", &environment).expect("valid");
    assert!(!format!("{config:?}").contains("canary"));
    let secrets = signpost::config::Secrets::load(&vec![("SIGNPOST_GITLAB_TOKEN".into(), "canary".into())]);
    assert!(!format!("{:?}", secrets.expect("loaded")).contains("canary"));
}
