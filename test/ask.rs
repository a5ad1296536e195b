//! `signpost ask` and `signpost eval` on a folder, by their output.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const GUIDE: &str = "# Settings\n\nAll settings live in one file.\n\n## Time limits {#limits}\n\nEvery request ends after \
    thirty seconds. Set `request_timeout` to change the time limit of a request:\n\n```toml\nrequest_timeout = \
    \"45s\"\n```\n\n## Colours\n\nThe theme is dark by default.\n";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &[u8]| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("docs/guide.md", GUIDE.as_bytes());
    write("docs/other.rst", b"Other\n=====\n\nNothing that matters here.\n");
    write("docs/logo.md", &[0xff, 0xfe, 0x00]);
    write("image.png", b"x");
    write("node_modules/x/README.md", b"# Not ours\n\nrequest_timeout\n");
    folder
}

fn signpost(args: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_signpost")).args(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn ask_speaks_the_contract() {
    let folder = folder();
    let corpus = folder.path().to_str().unwrap();
    let question = "How do I change the time limit of a request?";
    // With every error allowed the best candidate is quoted, whatever its score.
    let bold = ["ask", "--corpus", corpus, "--project", "acme/docs", "--json", "--max-wrong", "1", question];
    let report = json(&signpost(&bold));
    assert_eq!(report["decision"], "answer");
    assert_eq!(report["question"], true);
    let target = &report["targets"][0];
    assert_eq!(target["path"], "docs/guide.md");
    assert_eq!(target["anchor"], "time-limits-limits");
    let (first, last) = (target["lines"][0].as_u64().unwrap(), target["lines"][1].as_u64().unwrap());
    let lines: Vec<&str> = GUIDE.lines().collect();
    assert_eq!(target["quote"].as_str().unwrap(), lines[first as usize - 1..last as usize].join("\n"));
    assert!(target["quote"].as_str().unwrap().contains("request_timeout = \"45s\""));
    let words = report["reasons"].to_string();
    assert!(!words.contains("change the time limit"), "reasons repeat nothing of the question");

    // With none allowed nothing is answered.
    let shy = ["ask", "--corpus", corpus, "--json", "--max-wrong", "0", question];
    assert_eq!(json(&signpost(&shy))["decision"], "gap");
}

#[test]
fn eval_counts() {
    let folder = folder();
    let cases = folder.path().join("cases.jsonl");
    let rows = [
        r#"{"id":"a","title":"How do I change the time limit of a request?","description":"","expect":["docs/guide.md#time-limits"],"kind":"answerable"}"#,
        r#"{"id":"b","title":"Crash on start","description":"thread panicked","expect":[],"kind":"not-a-question"}"#,
    ];
    std::fs::write(&cases, rows.join("\n")).unwrap();
    let (corpus, cases) = (folder.path().to_str().unwrap(), cases.to_str().unwrap());
    let report = json(&signpost(&["eval", "--corpus", corpus, "--cases", cases, "--json", "--verbose"]));
    for key in [
        "answered",
        "precision",
        "coverage",
        "gap_recall",
        "gap_precision",
        "false_answers_on_gaps",
        "labelled_non_questions",
        "hit1",
        "hit3",
        "mrr10",
    ] {
        assert!(report[key].is_number(), "{key}");
    }
    assert_eq!(report["hit1"], 1.0);
    let skipped = report["sets"][0]["skipped"].to_string();
    for path in ["docs/logo.md", "image.png", "node_modules", "cases.jsonl"] {
        assert!(skipped.contains(path), "{path} is skipped with a reason");
    }
}

#[test]
fn a_broken_case_is_named_by_line_and_not_quoted() {
    let folder = folder();
    let cases = folder.path().join("cases.jsonl");
    std::fs::write(&cases, "{\"id\":\"a\",\"title\":\"secret words\"}\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_signpost"))
        .args(["eval", "--lexical", "--corpus"])
        .args([folder.path(), Path::new("--cases"), &cases])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("cases.jsonl:1") && !error.contains("secret"));
}
