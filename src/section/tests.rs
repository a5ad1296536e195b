use proptest::prelude::*;

use super::*;

fn path(name: &str) -> RepoPath {
    RepoPath::parse(name).unwrap()
}

fn titles(name: &str, text: &str) -> Vec<(String, Option<String>, u32, u32)> {
    let row = |s: Section| (s.heading_path.join(" > "), s.anchor, s.lines.first, s.lines.last);
    cut(&path(name), text).into_iter().map(row).collect()
}

fn row(title: &str, anchor: &str, first: u32, last: u32) -> (String, Option<String>, u32, u32) {
    (title.to_owned(), (!anchor.is_empty()).then(|| anchor.to_owned()), first, last)
}

#[test]
fn markdown_is_cut_at_headings() {
    let text = "intro\n\n# Guide\ntext\n\n## Set *up* `x`\n\n```sh\n# no heading\n```\n\nSetext\n------\n\n> # quoted\n\n## Set up x\n";
    let expected = vec![
        row("Guide", "", 1, 2),
        row("Guide", "guide", 3, 5),
        row("Guide > Set up x", "set-up-x", 6, 11),
        row("Guide > Setext", "setext", 12, 16),
        row("Guide > Set up x", "set-up-x-1", 17, 17),
    ];
    assert_eq!(titles("a.md", text), expected);
}

#[test]
fn anchors_keep_runs_of_hyphens() {
    let text =
        "# foo_bar -- baz\n# Über config.toml & C++\n# What's new in 3.5 (beta)?\n# `--output <mode>`\n";
    let anchors: Vec<_> = titles("a.md", text).into_iter().filter_map(|row| row.1).collect();
    assert_eq!(anchors, ["foo_bar----baz", "über-configtoml--c", "whats-new-in-35-beta", "--output-mode"]);
}

#[test]
fn front_matter_gives_the_title_and_no_text() {
    let text =
        "---\ntitle: \"The guide\"\nlayout: x\n---\n\nHello.\n\n## Part {#own-id}\nx\n### Sub { #sub .c }\n";
    let sections = cut(&path("a.md"), text);
    assert_eq!(sections[0].heading_path, ["The guide"]);
    assert_eq!(sections[0].lines, Lines { first: 5, last: 7 });
    assert_eq!(sections[1].heading_path, ["The guide", "Part"]);
    assert_eq!(sections[1].explicit_id.as_deref(), Some("own-id"));
    assert_eq!(sections[1].anchor.as_deref(), Some("part-own-id"));
    assert_eq!(sections[2].heading_path, ["The guide", "Part", "Sub"]);
    assert_eq!(sections[2].explicit_id.as_deref(), Some("sub"));
}

#[test]
fn restructured_text_is_cut_at_titles() {
    let text = "=====\nTitle\n=====\n\nHello\n\n.. _here:\n\nPart one\n--------\n\ncode::\n\n    x\n    ----\n\nSub\n~~~\ny\n\nPart one\n--------\nz\n";
    let expected = vec![
        row("Title", "title", 1, 6),
        row("Title > Part one", "part-one", 7, 16),
        row("Title > Part one > Sub", "sub", 17, 20),
        row("Title > Part one", "id1", 21, 23),
    ];
    assert_eq!(titles("a.rst", text), expected);
    assert_eq!(cut(&path("a.rst"), text)[1].explicit_id.as_deref(), Some("here"));
}

#[test]
fn asciidoc_is_cut_at_titles() {
    let text = "= Title\n:toc:\n\nHello\n\n[#own]\n== What's new in 3.5 (beta)?\n----\n== no title\n----\n\n=== Deeper\nx\n== Deeper\n";
    let expected = vec![
        row("Title", "title", 1, 5),
        row("Title > What's new in 3.5 (beta)?", "own", 6, 11),
        row("Title > What's new in 3.5 (beta)? > Deeper", "deeper", 12, 13),
        row("Title > Deeper", "deeper-2", 14, 14),
    ];
    assert_eq!(titles("a.adoc", text), expected);
}

#[test]
fn code_is_cut_into_documented_items() {
    let rust = "//! What this module is for.\n\nuse x;\n\n/// Adds two numbers together.\n#[inline]\npub fn add(a: u8, b: u8) -> u8 {\n    a + b\n}\n\nfn bare() {}\n";
    assert_eq!(titles("a.rs", rust), [row("a.rs", "", 1, 1), row("a.rs > add", "", 5, 9)]);
    let go = "// Package x does a thing well.\npackage x\n\n// Start runs the service until the end.\nfunc (c *C) Start(ctx context.Context) error {\n\treturn nil\n}\n";
    assert_eq!(titles("a.go", go), [row("a.go > x", "", 1, 2), row("a.go > Start", "", 4, 7)]);
    let python = "\"\"\"The module's purpose.\"\"\"\n\ndef run(\n    a,\n) -> int:\n    \"\"\"Runs it.\n\n    More.\n    \"\"\"\n    return 1\n";
    assert_eq!(titles("a.py", python), [row("a.py", "", 1, 1), row("a.py > run", "", 3, 9)]);
    let script = "/**\n * Builds the whole site from the sources.\n */\nexport async function build(options) {\n  return 1;\n}\n";
    assert_eq!(titles("a.ts", script), [row("a.ts > build", "", 1, 6)]);
    let yaml = "# How many workers run side by side.\nworkers: 4\n\nplain: 1\n";
    assert_eq!(titles("a.yml", yaml), [row("a.yml > workers", "", 1, 2)]);
}

#[test]
fn bodies_begin_after_the_heading() {
    for (name, text) in [
        ("a.md", "# T\nbody\n"),
        ("a.md", "T\n===\nbody\n"),
        ("a.md", "two\nlines\n---\nbody\n"),
        ("a.rst", "T\n===\nbody\n"),
        ("a.rst", "===\n T\n===\nbody\n"),
        ("a.adoc", "[#x]\n== T\nbody\n"),
        ("a.txt", "body\n"),
    ] {
        let section = cut(&path(name), text).pop().unwrap();
        assert_eq!(text[body(&section, text)].trim(), "body", "{text:?}");
    }
}

#[test]
fn a_quote_joins_words_and_code() {
    let text = "# T\n\nIntro about other things.\n\nSet the limit so:\n\n```toml\nlimit = 3\n```\n\nFarewell, and thanks for all of it.\n";
    let text = format!("{text}\n{}\n", "Filler that makes it long. ".repeat(40));
    let section = cut(&path("a.md"), &text).pop().unwrap();
    let score = |texts: &[&str]| texts.iter().map(|text| f32::from(text.contains("limit ="))).collect();
    let quote = best_quote(&section, &text, score).unwrap();
    assert_eq!(&text[quote.bytes], "Set the limit so:\n\n```toml\nlimit = 3\n```");
    assert_eq!(quote.lines, Lines { first: 5, last: 9 });
}

/// What is quoted of a page whose best block is the one that contains `best`, between two long paragraphs.
fn quoted(name: &str, middle: &str, best: &str) -> String {
    let filler = |word: &str| format!("{word} ").repeat(70);
    let text = format!("{}\n\n{middle}\n\n{}\n", filler("before"), filler("after"));
    let section = cut(&path(name), &text).remove(0);
    let score = |texts: &[&str]| texts.iter().map(|text| f32::from(u8::from(text.contains(best)))).collect();
    text[best_quote(&section, &text, score).expect("a quote").bytes].to_owned()
}

#[test]
fn words_are_quoted_with_what_they_lead_to() {
    let rows = [
        ("a.md", "Run this:\n\n```sh\nx\n```"),
        ("a.md", "Run this:\n\n<!-- prettier-ignore -->\n```sh\nx\n```"),
        ("a.md", "Run this:\n\n1. Stop.\n2. Start.\n3. Look."),
        ("a.md", "Run this:\n\n=== \"Linux\"\n\n    ```sh\n    x\n    ```"),
        ("a.md", "Run this:\n\n::: code-group\n```sh\nx\n```\n:::"),
        ("a.rst", "Run this:\n\n.. code-block:: sh\n\n   x"),
        ("a.adoc", "Run this:\n\n[source,bash]\n----\nx\n----"),
        ("a.adoc", "Run this:\n\n.On the server\n[source,bash]\n----\nx\n----"),
        ("a.adoc", ". Run this:\n+\n[source,bash]\n----\nx\n----"),
        ("a.adoc", "Run this:\n\n|===\n|a |b\n\n|c |d\n|==="),
    ];
    for (name, middle) in rows {
        assert_eq!(quoted(name, middle, "Run this"), middle, "{name}");
    }
}

#[test]
fn what_no_reader_sees_is_not_quoted() {
    let rows = [
        ("a.md", "<!--\nOLD: run this as root\n-->"),
        (
            "a.md",
            "<!-- OLD, and broken since the third release, do not publish this any more: run this as root on the server -->",
        ),
        ("a.rst", ".. OLD: run this as root\n   and hope"),
        ("a.rst", "..\n   OLD: run this as root"),
        ("a.adoc", "////\nOLD: run this as root\n\nand hope\n////"),
    ];
    for (name, hidden) in rows {
        let quote = quoted(name, hidden, "run this");
        assert!(!quote.contains("OLD") && !quote.contains("hope"), "{name}: {quote}");
        let text = format!("One.\n\n{hidden}\n\nTwo.\n");
        let section = cut(&path(name), &text).remove(0);
        let passages: Vec<&str> = passages(&section, &text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(passages, ["One.", "Two."], "{name}");
        let whole = best_quote(&section, &text, |texts| vec![1.0; texts.len()]).expect("a quote");
        assert!(!text[whole.bytes].contains("OLD"), "{name}: a quotation goes across it");
    }
    assert!(quoted("a.rst", ".. note::\n\n   Run this.", "Run this").ends_with(".. note::\n\n   Run this."));
}

#[test]
fn rules_between_paragraphs_are_no_code_and_tables_stay_whole() {
    let ruled = "-----\n\nFirst words.\n\nRun this.\n\n-----";
    assert_eq!(quoted("a.md", ruled, "Run this"), "Run this.");
    let table = "Name | Use\n--- | ---\n`a` | Run this.\n`b` | Do not.";
    assert!(quoted("a.md", table, "Run this").ends_with(table));
    let text = "== One\n\n```bash\nx\n```\n\n== Two\n\ny\n";
    assert_eq!(titles("a.adoc", text).len(), 2, "a fence with a language is closed");
}

#[test]
fn long_paragraphs_are_quoted_by_sentences() {
    let text = format!(
        "# T\n\n{}The asked fact stands here. {}",
        "Nothing here. ".repeat(120),
        "Nor here. ".repeat(90)
    );
    let section = cut(&path("a.md"), &text).pop().unwrap();
    let score = |texts: &[&str]| texts.iter().map(|text| f32::from(text.contains("asked fact"))).collect();
    let quote = best_quote(&section, &text, score).unwrap();
    assert!(text[quote.bytes.clone()].contains("asked fact") && quote.bytes.len() <= QUOTE_MAX);
    assert!(text[quote.bytes].ends_with('.'));
}

#[test]
fn passages_never_cut_code() {
    let code = format!("```\n{}\n```", "a line of code\n\n".repeat(200));
    let text = format!("# T\n\n{}\n\n{code}\n\n{}\n", "word ".repeat(180), "word ".repeat(180));
    let section = cut(&path("a.md"), &text).pop().unwrap();
    let passages = passages(&section, &text);
    assert_eq!(passages.len(), 3);
    assert_eq!(text[passages[1].clone()].trim(), code.trim());
}

fn names() -> impl Strategy<Value = &'static str> {
    let names = [
        "a.md", "a.mdx", "a.rst", "a.adoc", "a.txt", "a.rs", "a.go", "a.py", "a.ts", "A.java", "a.c", "a.rb",
        "a.sh", "a.toml", "LICENSE",
    ];
    prop::sample::select(names.to_vec())
}

/// Documents made of what the cutters look for, in any order.
fn documents() -> impl Strategy<Value = String> {
    let pieces = [
        "# Head\n",
        "## Häd\n",
        "Title\n===\n",
        "---\n",
        "===\nOver\n===\n",
        "```\n",
        "~~~~\n",
        "- item\n",
        "  more\n",
        "| a | b |\n",
        "\n",
        "\r\n",
        "\r",
        "text. More text? ",
        "Ω日本。",
        "/// doc comment here\n",
        "fn x() {\n",
        "}\n",
        "// a comment of some length\n",
        "func F(\n",
        "\"\"\"",
        "def f():\n",
        "/*\n",
        "*/\n",
        "= T\n",
        "[#i]\n",
        "----\n",
        ".. _l:\n",
        "::\n",
        "    indented\n",
        "\t",
        "+++\n",
        "title: x\n",
        "!!! note\n",
        "\u{feff}",
        "> # q\n",
        "key: 1\n",
        "# a comment that is long enough\n",
        "<!-- ",
        "-->\n",
        "\0",
        "{#id}\n",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn ranges_are_exact(name in names(), text in documents()) {
        let index = LineIndex::new(&text);
        let mut end = 0;
        for section in cut(&path(name), &text) {
            prop_assert!(section.bytes.start >= end && section.bytes.end > section.bytes.start);
            end = section.bytes.end;
            prop_assert!(text.get(section.bytes.clone()).is_some());
            prop_assert_eq!(section.lines, index.lines_of(&section.bytes));
            let body = body(&section, &text);
            prop_assert!(body.start >= section.bytes.start && body.end <= section.bytes.end);
            let mut at = body.start;
            for passage in passages(&section, &text) {
                prop_assert!(passage.start >= at && passage.end <= body.end && !passage.is_empty());
                prop_assert!(text.get(passage.clone()).is_some());
                at = passage.end;
            }
            if let Some(quote) = best_quote(&section, &text, |texts| vec![1.0; texts.len()]) {
                prop_assert!(quote.bytes.start >= body.start && quote.bytes.end <= body.end);
                prop_assert_eq!(quote.lines, index.lines_of(&quote.bytes));
                prop_assert!(text[quote.bytes.clone()].len() <= QUOTE_MAX);
            }
        }
        prop_assert!(end <= text.len());
    }

    #[test]
    fn nothing_panics(name in names(), text in "\\PC{0,200}|[#=\\-`~ \n|.:*>]{0,200}") {
        for section in cut(&path(name), &text) {
            passages(&section, &text);
            best_quote(&section, &text, |texts| vec![0.0; texts.len()]);
        }
    }
}

#[test]
fn hostile_text_takes_linear_time() {
    let hostile = [
        "#",
        "# ",
        "/*\n",
        "\"\"\"\n",
        "def f(\n",
        "- ",
        "> ",
        "```\n",
        "\n",
        "=\n",
        "a\n=\n",
        "[[\n",
        ":::a\n",
        ".a\n",
        "[a]\n",
        ". a\n+\n",
        "<!--\n",
        "..\n",
        "////a\n",
        "|===\n\n",
        "a | b\n",
        "    x\n\n",
        "a. ",
    ];
    for (piece, name) in hostile
        .iter()
        .flat_map(|piece| ["a.md", "a.rst", "a.adoc", "a.go", "a.py", "a.yml"].map(|n| (piece, n)))
    {
        let text = piece.repeat(60_000 / piece.len());
        let begun = std::time::Instant::now();
        let sections = cut(&path(name), &text);
        for section in sections.iter().take(100) {
            passages(section, &text);
        }
        assert!(begun.elapsed().as_secs() < 5, "{name} {piece:?} took {:?}", begun.elapsed());
    }
}
