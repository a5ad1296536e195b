//! Who may import whom, checked by machine. The table is the plan of the house: `docs/architecture.md` explains it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Each module with the modules it may import, besides itself.
const MAY: &[(&str, &[&str])] = &[
    ("clock", &[]),
    ("reference", &[]),
    ("config", &["reference"]),
    ("prose", &["reference"]),
    ("section", &["reference"]),
    ("search", &["prose", "reference", "section", "target"]),
    ("judge", &["clock", "config", "prose", "reference", "search", "section"]),
    ("target", &["reference", "section", "prose", "judge"]),
    ("docsite", &["config", "reference", "section"]),
    ("reply", &["reference", "section", "target"]),
    ("gitlab", &["clock", "docsite", "prose", "reference", "reply", "section", "target"]),
    ("store", &["clock", "reference", "target"]),
    ("telemetry", &["clock"]),
    ("hook", &["clock", "store", "telemetry"]),
    ("library", &["clock", "prose", "reference", "search", "section", "store", "target"]),
    ("sync", &["clock", "docsite", "gitlab", "library", "reference", "search", "section", "store", "target"]),
    (
        "answer",
        &[
            "clock",
            "config",
            "docsite",
            "gitlab",
            "hook",
            "judge",
            "library",
            "prose",
            "reference",
            "reply",
            "search",
            "section",
            "store",
            "sync",
            "target",
        ],
    ),
    (
        "gaps",
        &["answer", "clock", "config", "gitlab", "judge", "reference", "reply", "search", "store", "target"],
    ),
    ("history", &["answer", "gitlab"]),
    ("reask", &["answer", "clock", "search", "store", "target"]),
    ("sweep", &["answer", "clock", "gitlab", "store"]),
    ("project_hooks", &["config", "gitlab", "target"]),
    (
        "worker",
        &[
            "answer",
            "clock",
            "gaps",
            "gitlab",
            "project_hooks",
            "reask",
            "store",
            "sync",
            "target",
            "telemetry",
        ],
    ),
];

/// Modules without input and output: nothing in them waits.
const PURE: &[&str] =
    &["clock", "reference", "config", "prose", "section", "search", "target", "docsite", "reply"];

/// Modules at the rim, which may import everything.
const RIM: &[&str] = &["admin", "app", "cli", "main", "lib"];

fn sources(module: &str) -> Vec<PathBuf> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut open = vec![src.join(module)];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    let file = src.join(format!("{module}.rs"));
    if file.exists() {
        found.push(file);
    }
    found
}

/// The code of a file: without comments and without its tests.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).expect("a source file");
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

#[test]
fn modules_import_only_what_the_table_allows() {
    let import = regex::Regex::new(r"crate::(\w+)").expect("a pattern");
    let mut faults = Vec::new();
    for (module, allowed) in MAY {
        let files = sources(module);
        assert!(!files.is_empty(), "the table names `{module}`, which is gone");
        for file in files.iter().filter(|f| !f.ends_with("tests.rs") && !f.ends_with("testing.rs")) {
            for found in import.captures_iter(&code(file)) {
                let other = &found[1];
                let is_module = MAY.iter().any(|(m, _)| *m == other) || RIM.contains(&other);
                if is_module && other != *module && !allowed.contains(&other) {
                    faults.push(format!("{}: `{module}` may not import `{other}`", file.display()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_module_is_in_the_table() {
    let lib = code(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs"));
    let declared: BTreeSet<&str> =
        lib.lines().filter_map(|l| l.trim().strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    let known: BTreeSet<&str> = MAY.iter().map(|(m, _)| *m).chain(RIM.iter().copied()).collect();
    let missing: Vec<_> = declared.difference(&known).collect();
    assert!(missing.is_empty(), "not in the table: {missing:?}");
}

#[test]
fn the_heart_does_not_wait() {
    for module in PURE {
        for file in sources(module).into_iter().filter(|f| !f.ends_with("tests.rs")) {
            let text = code(&file);
            assert!(
                !text.contains("async ") && !text.contains(".await"),
                "{} has `async` in it",
                file.display()
            );
        }
    }
}

#[test]
fn prose_is_read_in_one_place_and_sql_in_one() {
    for file in sources("").iter().filter(|f| !f.components().any(|c| c.as_os_str() == "store")) {
        assert!(!code(file).contains("sqlx::query"), "{} speaks SQL", file.display());
    }
}
