//! The extractor from outside: its table of cases, what holds for every text, and the command.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;
use signpost::prose::Prose;
use signpost::prose::references::{ExtractContext, REFERENCES_MAX};
use signpost::reference::{ProjectPath, Reference};

const INSTANCE: &str = "https://code.harbour.test";
const DOCSITE: &str = "https://handbook.harbour.test/";
const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/test/corpus/references.jsonl");

fn context(project: &str) -> ExtractContext {
    let project = ProjectPath::parse(project).expect("a project path");
    ExtractContext::new(INSTANCE, [DOCSITE], project).expect("the sites are URLs")
}

fn references(text: &str) -> Vec<Reference> {
    Prose::from(text.to_owned()).references(&context("harbour/berth"))
}

/// Pieces that texts about software are made of, and that attacks on parsers are made of.
const PIECES: &[&str] = &[
    "!12",
    "crane!7",
    "harbour/yard/crane!8+s",
    "9c0d4e7f",
    "harbour/crane@9c0d4e7f..a1b2c3d4",
    "src/a.rs:12",
    "docs/how-to.md#top",
    "`src/b.rs#L3-L9`",
    "`Cargo.toml`",
    "#12",
    "harbour/crane#4",
    "@mia",
    "https://code.harbour.test/harbour/berth/-/merge_requests/9",
    "https://handbook.harbour.test/_a_/#b%20c",
    "https://code.harbour.test/harbour/berth/-/blob/feature%2Fx/docs/a%20b.md#L7-2",
    "[x](docs/a.md)",
    "[y](!13)",
    "[z]",
    "[z]: docs/z.md:4\n",
    "<a href=\"docs/q&amp;a.md\">",
    "</a>",
    "<code>",
    "</code>",
    "<pre>",
    "</pre>",
    "<!--",
    "-->",
    "<div>",
    "</div>",
    "<b",
    ">",
    "![",
    "](",
    ")",
    "(",
    "[",
    "]",
    "*",
    "**",
    "_",
    "~~",
    "`",
    "```\n",
    "    ",
    "> ",
    "- ",
    "1. ",
    "| a | b |\n|---|---|\n| ",
    " | ",
    "\n",
    "\n\n",
    " ",
    " ",
    " ",
    ".",
    ",",
    ":",
    ";",
    "\\",
    "&amp;",
    "&#33;",
    "\u{200b}",
    "\u{feff}",
    "\u{a0}",
    "。",
    "“",
    "é",
    "१",
    "\u{fdd0}",
    "\u{fdd3}",
    "\0",
    "\r\n",
    "\t",
    "%2F",
    "%",
    "..",
    "/",
    "-",
    "+",
    "http://",
    "[^1]",
    "[^1]: ",
];

fn soup() -> impl Strategy<Value = String> {
    vec(prop_oneof![9 => prop::sample::select(PIECES).prop_map(str::to_owned), 1 => any::<String>()], 0..60)
        .prop_map(|pieces| pieces.concat())
}

/// A text that says nothing: words, emphasis, lists, numbers, issues.
fn idle_prose() -> impl Strategy<Value = String> {
    let words = &[
        "the", "gate", "*opens*", "at", "noon", "#12", "12", "(sic)", "`go`", "well,", "never.", "\n",
        "\n\n- ",
    ];
    vec(prop::sample::select(&words[..]), 1..30).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_text_gives_a_bounded_list_without_duplicates(text in soup()) {
        let found = references(&text);
        prop_assert!(found.len() <= REFERENCES_MAX);
        for (at, reference) in found.iter().enumerate() {
            prop_assert!(!found[..at].contains(reference), "{reference:?} twice");
        }
    }

    #[test]
    fn every_reference_parses_back_to_itself(text in soup()) {
        for reference in references(&text) {
            for written in writings(&reference) {
                prop_assert_eq!(references(&written), vec![reference.clone()], "{}", written);
            }
        }
    }

    #[test]
    fn idle_prose_around_a_text_changes_nothing(before in idle_prose(), word in "[a-z]{1,12}", after in idle_prose()) {
        let said = format!("{word} !12 and [x](docs/a.md) in src/a.rs:4");
        let found = references(&said);
        prop_assert_eq!(references(&format!("{before}\n\n{said}\n\n{after}")), found);
        prop_assert_eq!(references(&before), vec![]);
    }

    #[test]
    fn two_texts_in_one_give_what_they_give_alone(first in 0..16_usize, second in 0..16_usize) {
        let (first, second) = (PIECES[first], PIECES[second]);
        let mut expected = references(first);
        expected.extend(references(second).into_iter().filter(|r| !references(first).contains(r)));
        prop_assert_eq!(references(&format!("{first}\n\n{second}")), expected);
    }
}

/// Ways to write a reference down: as a link's destination, and as a short form where there is one.
fn writings(reference: &Reference) -> Vec<String> {
    let link = |url: String| {
        let escaped =
            url.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;");
        format!("<a href=\"{escaped}\">x</a>")
    };
    match reference {
        Reference::MergeRequest { project, iid } => vec![
            format!("see {}!{}.", project.as_str(), iid.get()),
            link(format!("{INSTANCE}/{}/-/merge_requests/{}", project.as_str(), iid.get())),
        ],
        Reference::Commit { project, sha } => vec![
            format!("see {}@{}.", project.as_str(), sha.as_str()),
            link(format!("{INSTANCE}/{}/-/commit/{}", project.as_str(), sha.as_str())),
        ],
        Reference::File { project, git_ref, path, lines } => {
            let path = path.as_str().split('/').map(encode).collect::<Vec<_>>().join("/");
            let lines = lines.map(|l| format!("#L{}-{}", l.first, l.last)).unwrap_or_default();
            match git_ref {
                Some(git_ref) => {
                    vec![link(format!(
                        "{INSTANCE}/{}/-/blob/{}/{path}{lines}",
                        project.as_str(),
                        encode(git_ref)
                    ))]
                }
                None => vec![link(format!("./{path}{lines}"))],
            }
        }
        Reference::Page { url, anchor } => {
            let anchor = anchor.as_deref().map(|anchor| format!("#{}", encode(anchor))).unwrap_or_default();
            vec![link(format!("{url}{anchor}"))]
        }
    }
}

fn encode(segment: &str) -> String {
    percent_encoding::utf8_percent_encode(segment, percent_encoding::NON_ALPHANUMERIC).to_string()
}

#[test]
fn every_case_of_the_table_holds() {
    let cases = std::fs::read_to_string(CASES).unwrap();
    let mut count = 0;
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let text = Prose::from(case["markdown"].as_str().unwrap().to_owned());
        let found = text.references(&context(case["context_project"].as_str().unwrap()));
        assert_eq!(serde_json::to_value(found).unwrap(), case["expect"], "{}: {}", case["id"], case["why"]);
        count += 1;
    }
    assert!(count >= 120, "{count} cases");
}

#[test]
fn sites_may_have_ports_roots_and_neighbours() {
    let project = ProjectPath::parse("harbour/berth").unwrap();
    let docsites = ["https://web.test:8443/docs/", "https://pages.test/berth", "https://pages.test/crane/"];
    let context = ExtractContext::new("https://web.test:8443/gitlab", docsites, project).unwrap();
    let found = |text: &str| serde_json::to_value(Prose::from(text.to_owned()).references(&context)).unwrap();
    for (text, expected) in [
        (
            "https://web.test:8443/gitlab/a/b/-/merge_requests/1",
            r#"[{"kind":"merge_request","project":"a/b","iid":1}]"#,
        ),
        ("[x](/gitlab/a/b/-/merge_requests/2)", r#"[{"kind":"merge_request","project":"a/b","iid":2}]"#),
        ("[x](/a/b/-/merge_requests/3)", r#"[{"kind":"merge_request","project":"a/b","iid":3}]"#),
        (
            "https://web.test:8443/docs/x",
            r#"[{"kind":"page","url":"https://web.test:8443/docs/x","anchor":null}]"#,
        ),
        ("https://pages.test/berth/", r#"[{"kind":"page","url":"https://pages.test/berth/","anchor":null}]"#),
        ("https://pages.test/crane#a", r#"[{"kind":"page","url":"https://pages.test/crane","anchor":"a"}]"#),
        ("https://web.test/gitlab/a/b/-/merge_requests/4", "[]"),
        ("https://web.test:8443/a/b/-/merge_requests/5", "[]"),
        ("https://web.test:8443/docsx/x https://pages.test/winch/", "[]"),
    ] {
        assert_eq!(found(text), serde_json::from_str::<Value>(expected).unwrap(), "{text}");
    }
}

#[test]
fn a_thread_gives_at_most_the_limit() {
    let text: String = (1..=200).map(|n| format!("!{n} ")).collect();
    assert_eq!(references(&text).len(), REFERENCES_MAX);
    let text = Prose::from(text);
    assert_eq!(text.references_up_to(&context("harbour/berth"), 3), references("!1 !2 !3"));
    assert_eq!(text.references_up_to(&context("harbour/berth"), 0), []);
}

#[test]
fn a_text_that_points_at_threads_alone_is_told_apart() {
    let only = |text: &str| Prose::from(text.to_owned()).thread_only_signposts(&context("harbour/berth"));
    for text in [
        "see #12",
        "crane#3",
        "harbour/crane#4",
        "GL-5",
        "&6 or harbour&7",
        "https://code.harbour.test/harbour/berth/-/issues/8#note_1",
        "[x](https://code.harbour.test/harbour/berth/issues/9)",
        "https://code.harbour.test/groups/harbour/-/epics/10",
        "https://code.harbour.test/harbour/berth/-/work_items/11",
        "https://code.harbour.test/harbour/berth/-/issues/incident/12",
    ] {
        assert!(only(text), "{text}");
    }
    for text in [
        "nothing",
        "#12 and !13",
        "\\#12",
        "`#12`",
        "colour #12ab",
        "https://code.harbour.test/harbour/berth/-/issues",
        "https://elsewhere.test/a/b/-/issues/1",
        "x#y",
        "a &amp; b",
        "[#12](https://elsewhere.test)",
    ] {
        assert!(!only(text), "{text}");
    }
}

#[test]
fn hostile_texts_end_soon() {
    let lines = "\n".repeat(2);
    for (name, text) in [
        ("backticks", "`".repeat(100_000)),
        ("backtick runs", (1..400).map(|n| "`".repeat(n) + " ").collect()),
        ("brackets", "[".repeat(50_000)),
        ("quotes", "> ".repeat(10_000) + "!12"),
        ("lists", (0..2_000).map(|n| " ".repeat(n % 200) + "- a\n").collect()),
        ("links", "[a](docs/a.md) ".repeat(10_000)),
        ("emphasis", "*a _b ".repeat(20_000)),
        ("tags", "<code><a>".repeat(20_000) + &"</a>".repeat(20_000)),
        ("half tags", "<a ".repeat(20_000) + &lines + "<a href=\"" + &"x".repeat(100_000)),
        ("marks", "!".repeat(200_000) + &".".repeat(200_000) + &"a/b.rs::".repeat(20_000)),
        ("parentheses", "a/b.rs(".repeat(30_000) + &"https://a.test/(".repeat(1_000) + &")".repeat(100_000)),
        ("escapes", "\\!".repeat(50_000) + "https://a.test/" + &"\\_".repeat(50_000)),
        ("one URL", "https://handbook.harbour.test/".to_owned() + &"a_*&amp;".repeat(50_000)),
        ("invisible", "\u{200b}!1".repeat(50_000)),
    ] {
        let start = std::time::Instant::now();
        references(&text);
        // Debug builds on a busy machine included; anything quadratic would take minutes.
        assert!(start.elapsed().as_secs() < 20, "{name}: {:?}", start.elapsed());
    }
}

fn signpost(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_signpost"))
        .arg("extract")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // A command that refuses its arguments does not read.
    let _ = child.stdin.take().expect("the input is piped").write_all(input.as_bytes());
    child.wait_with_output().expect("the command ends")
}

#[test]
fn the_command_prints_one_object_a_line() {
    let output = signpost(
        &["--instance", INSTANCE, "--docsite", DOCSITE, "--project", "harbour/berth"],
        "!1, `a.rs:2`",
    );
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "{\"kind\":\"merge_request\",\"project\":\"harbour/berth\",\"iid\":1}\n\
         {\"kind\":\"file\",\"project\":\"harbour/berth\",\"ref\":null,\"path\":\"a.rs\",\"lines\":[2,2]}\n"
    );
}

#[test]
fn the_command_refuses_what_is_no_project_or_site() {
    for arguments in [
        &["--instance", INSTANCE, "--project", "berth"][..],
        &["--instance", "code.harbour.test", "--project", "harbour/berth"],
        &["--project", "harbour/berth"],
        &["--cases", "no-such-file.jsonl"],
    ] {
        assert_eq!(signpost(arguments, "").status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn the_command_runs_a_file_of_cases_and_tells_failures() {
    let whole = signpost(&["--instance", INSTANCE, "--docsite", DOCSITE, "--cases", CASES], "");
    let printed = String::from_utf8(whole.stdout).unwrap();
    assert_eq!(whole.status.code(), Some(0), "{printed}");
    assert!(printed.trim_end().ends_with(" passed, 0 failed"), "{printed}");

    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, r#"{{"id":"a","context_project":"g/p","markdown":"!1","expect":[]}}"#).unwrap();
    writeln!(file, r#"{{"id":"b","context_project":"g/p","markdown":"x","expect":[],"disputed":true}}"#)
        .unwrap();
    let failing = signpost(&["--cases", file.path().to_str().unwrap()], "");
    let printed = String::from_utf8(failing.stdout).unwrap();
    assert_eq!(failing.status.code(), Some(1), "{printed}");
    assert!(printed.starts_with("a\n") && printed.ends_with("1 passed, 1 failed\n"), "{printed}");
}
