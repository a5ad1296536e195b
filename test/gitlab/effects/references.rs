//! References inside the words of a text, and in the address of a link.

use super::Act;
use regex::Regex;
use std::sync::LazyLock;

/// Stands where words are interrupted (code, a link, an escaped character): nothing matches across it.
pub const GAP: char = '\u{fffc}';

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a valid pattern")
}

static MENTION: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?:^|[^\w])@([A-Za-z0-9_][\w.-]*(?:/[A-Za-z0-9_][\w.-]*)*)"));
static SHORT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?:^|[^\w./-])((?:[\w.-]+/)*[\w.-]+)?([#!&])(\d+)(?:\+s?)?(?:[^\w]|$)"));
static NUMBERED: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?:^|[^\w])GL-(\d+)(?:[^\w]|$)"));
static BRACKETED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\[(issue|work_item|epic):(?:([\w./-]+)/)?(\d+)\]"));
static SHA: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?:^|[^\w@/.-])(?:((?:[\w.-]+/)*[\w.-]+)@)?([0-9a-f]{7,40})(?:[^\w]|$)"));
static LABEL: LazyLock<Regex> = LazyLock::new(|| pattern(r#"(?:^|[^\w])~(?:"([^"]+)"|([\w?!&:.-]+))"#));
static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| pattern(r"%\{(\w+)\}"));
static INLINE_DIFF: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\{\+.*?\+\}|\[\+.*?\+\]|\{-.*?-\}|\[-.*?-\]"));
static EMOJI: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?:^|[^\w:]):([a-z0-9_+-]+):(?:[^\w:]|$)"));
static TOC: LazyLock<Regex> = LazyLock::new(|| pattern(r"\[\[[^\]\n]+\]\]|\[TOC\]"));
static OBJECT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^/(?:groups/)?([\w./-]+?)/(?:-/)?(issues|work_items|epics|merge_requests|commit)/([0-9a-f]+)(?:[/?#+.].*)?$",
    )
});

/// Emoji that people and documents use; GitLab knows some 1,800.
const EMOJI_NAMES: [&str; 24] = [
    "+1",
    "-1",
    "100",
    "bulb",
    "bug",
    "cry",
    "eyes",
    "fire",
    "grin",
    "heart",
    "info",
    "information_source",
    "joy",
    "memo",
    "rocket",
    "smile",
    "star",
    "tada",
    "thumbsdown",
    "thumbsup",
    "warning",
    "white_check_mark",
    "x",
    "zap",
];

/// The acts in a run of words.
pub fn of_words(words: &str, acts: &mut Vec<Act>) {
    acts.extend(
        overlapping(&MENTION, words)
            .map(|found| Act::Mention { name: found[1].trim_end_matches(['.', '-']).to_owned() }),
    );
    for found in overlapping(&SHORT, words) {
        let (project, iid) = (found.get(1).map(|text| text.as_str().to_owned()), number(&found[3]));
        match &found[2] {
            "!" => acts.push(Act::MergeRequest { project, iid }),
            _ => acts.push(Act::Issue { project, iid }),
        }
    }
    acts.extend(
        overlapping(&NUMBERED, words).map(|found| Act::Issue { project: None, iid: number(&found[1]) }),
    );
    for found in BRACKETED.captures_iter(words) {
        acts.push(Act::Issue {
            project: found.get(2).map(|text| text.as_str().to_owned()),
            iid: number(&found[3]),
        });
    }
    for found in overlapping(&SHA, words) {
        acts.push(Act::Commit {
            project: found.get(1).map(|text| text.as_str().to_owned()),
            sha: found[2].to_owned(),
        });
    }
    for found in overlapping(&LABEL, words) {
        let name = found.get(1).or_else(|| found.get(2)).map_or("", |text| text.as_str());
        acts.push(Act::Label { name: name.to_owned() });
    }
    acts.extend(PLACEHOLDER.captures_iter(words).map(|found| Act::Placeholder { name: found[1].to_owned() }));
    acts.extend(INLINE_DIFF.find_iter(words).map(|_| Act::InlineDiff));
    acts.extend(TOC.find_iter(words).map(|found| Act::Wiki { text: found.as_str().to_owned() }));
    let known = overlapping(&EMOJI, words).filter(|found| EMOJI_NAMES.contains(&&found[1]));
    acts.extend(known.map(|found| Act::Emoji { name: found[1].to_owned() }));
}

/// Matches whose last character may begin the next one (`@a @b` share the space between them).
fn overlapping<'t>(pattern: &'static Regex, words: &'t str) -> impl Iterator<Item = regex::Captures<'t>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let found = pattern.captures_at(words, from)?;
        let whole = found.get(0).expect("group 0 is the match");
        let last = whole.as_str().chars().next_back().map_or(1, char::len_utf8);
        from = if last < whole.len() { whole.end() - last } else { whole.end() };
        (from <= words.len()).then_some(found)
    })
}

fn number(digits: &str) -> u64 {
    digits.parse().unwrap_or(u64::MAX)
}

/// The issue, merge request or commit that a link leads to, on this instance. Files are no such objects.
pub fn of_url(url: &str, instance: &str) -> Option<Act> {
    let path = url.strip_prefix(instance).filter(|_| !instance.is_empty())?;
    let found = OBJECT.captures(path)?;
    let project = Some(found[1].trim_end_matches("/-").to_owned());
    match &found[2] {
        "commit" => Some(Act::Commit { project, sha: found[3].to_owned() }),
        "merge_requests" => found[3].parse().ok().map(|iid| Act::MergeRequest { project, iid }),
        _ => found[3].parse().ok().map(|iid| Act::Issue { project, iid }),
    }
}
