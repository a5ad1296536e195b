//! What a posted text does.

use crate::gitlab::effects::{Act, read};

const INSTANCE: &str = "https://gitlab.example.com";

fn acts(text: &str) -> Vec<Act> {
    read(text, INSTANCE).acts
}

fn commands(text: &str) -> Vec<String> {
    read(text, INSTANCE)
        .commands
        .into_iter()
        .map(|command| format!("{} {}", command.name, command.argument))
        .collect()
}

#[test]
fn a_slash_in_the_first_column_of_a_paragraph_is_a_command() {
    assert_eq!(commands("/close"), ["close "]);
    assert_eq!(commands("Words\n/label ~\"a b\"\nmore"), ["label ~\"a b\""]);
    assert_eq!(commands("Words\n\r/Close"), ["close "]);
    assert_eq!(read("Words\n/close\nmore", INSTANCE).text, "Words\nmore");
}

#[test]
fn a_slash_elsewhere_is_none() {
    let inert = [
        "```\n/close\n```",
        "    /close",
        "> /close",
        "- /close",
        "# /close",
        " /close",
        "\\/close",
        "`a\n/close\nb`",
        "<!--\n/close\n-->",
        "<div>\n/close\n</div>",
        ">>>\n/close\n>>>",
        "/etc/passwd is a file",
        "// a remark",
    ];
    for text in inert {
        assert!(commands(text).is_empty(), "{text:?} ran {:?}", commands(text));
    }
}

#[test]
fn people_are_notified_outside_code_only() {
    let mention = |name: &str| Act::Mention { name: name.into() };
    assert_eq!(
        acts("Hello @mara and @acme/platform, @all."),
        [mention("mara"), mention("acme/platform"), mention("all")]
    );
    assert_eq!(acts("an entity: &#64;mara"), [mention("mara")]);
    for inert in [
        "`@mara`",
        "```\n@mara\n```",
        "\\@mara",
        "<!-- @mara -->",
        "mail to a@example.com",
        "[@mara](https://example.org)",
    ] {
        assert!(!acts(inert).contains(&mention("mara")), "{inert}: {:?}", acts(inert));
    }
}

#[test]
fn issues_and_merge_requests_hear_of_references() {
    let issue = |project: Option<&str>, iid| Act::Issue { project: project.map(str::to_owned), iid };
    let merge = |project: Option<&str>, iid| Act::MergeRequest { project: project.map(str::to_owned), iid };
    assert_eq!(
        acts("see #17, acme/api#3 and api!4"),
        [issue(None, 17), issue(Some("acme/api"), 3), merge(Some("api"), 4)]
    );
    assert_eq!(acts("GL-9 [issue:acme/api/4]"), [issue(None, 9), issue(Some("acme/api"), 4)]);
    assert_eq!(
        acts("https://gitlab.example.com/acme/api/-/work_items/17#note_3"),
        [issue(Some("acme/api"), 17)]
    );
    assert_eq!(
        acts("[x](https://gitlab.example.com/acme/api/merge_requests/4/diffs)"),
        [merge(Some("acme/api"), 4)]
    );
    for inert in [
        "`#17`",
        "\\#17",
        "https://gitlab.example.com/acme/api/-/blob/main/a.md#L17",
        "page.md#17th",
        "issue # 17",
    ] {
        assert!(acts(inert).is_empty(), "{inert}: {:?}", acts(inert));
    }
}

#[test]
fn commits_are_named_by_seven_digits_and_more() {
    let commit =
        |project: Option<&str>| Act::Commit { project: project.map(str::to_owned), sha: "9ba12248".into() };
    assert_eq!(acts("since 9ba12248."), [commit(None)]);
    assert_eq!(acts("since acme/api@9ba12248"), [commit(Some("acme/api"))]);
    assert_eq!(acts("https://gitlab.example.com/acme/api/-/commit/9ba12248"), [commit(Some("acme/api"))]);
    assert!(acts("`9ba12248` and abc123").is_empty());
}

#[test]
fn what_is_drawn_or_fetched_is_named() {
    assert_eq!(
        acts("![x](https://example.org/a.png)"),
        [Act::Image { url: "https://example.org/a.png".into() }]
    );
    assert_eq!(acts("a [![x](b.png)](c)"), [Act::Image { url: "b.png".into() }]);
    assert_eq!(acts("```mermaid\ngraph\n```"), [Act::Diagram { language: "mermaid".into() }]);
    assert_eq!(acts("```json:table\n{}\n```"), [Act::Diagram { language: "json:table".into() }]);
    assert_eq!(acts("$`a`$ and $$b$$"), [Act::Math, Act::Math]);
    assert_eq!(acts("> [!note]\n> words"), [Act::Alert]);
    assert_eq!(acts("- [ ] do it"), [Act::Task]);
    assert_eq!(acts("%{project_name}"), [Act::Placeholder { name: "project_name".into() }]);
    assert_eq!(acts("now {+ new +} and [- old -]"), [Act::InlineDiff, Act::InlineDiff]);
    assert_eq!(acts("a :tada: b"), [Act::Emoji { name: "tada".into() }]);
    assert!(matches!(acts("[[_TOC_]]")[..], [Act::Wiki { .. }]));
    assert_eq!(acts("a <b>c</b>").len(), 2);
    assert!(matches!(&acts("<img src=x>")[..], [Act::Html { .. }]));
}

#[test]
fn plain_words_comments_and_code_do_nothing() {
    let inert = [
        "Plain *words* with a [link](https://example.org).",
        "<!-- signpost: 1 @all #3 -->",
        "```toml\nkey = \"@a #1\"\n```",
        "> quoted **words**",
        "| a | b |\n|---|---|\n| c | d |",
        "1. one\n2. two",
        "`%{x}` `{+ a +}` `$x$` `:tada:` `<b>`",
        "costs 5$ or 10$",
        "std::vec::Vec",
        "12:30:45",
        "\\%\\{x\\} \\{\\+ a \\+\\} \\:tada\\: \\<b\\> \\[\\[x\\]\\]",
    ];
    for text in inert {
        assert!(acts(text).is_empty(), "{text:?}: {:?}", acts(text));
    }
}
