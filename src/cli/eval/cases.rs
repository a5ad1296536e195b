//! The labelled cases, and the section names that they use.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::LazyLock;

use anyhow::Context;
use regex::Regex;
use serde::Deserialize;

use crate::cli::folder::Folder;
use crate::prose::{Prose, Question};

/// What a case is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Label {
    /// The corpus answers it.
    Answerable,
    /// Nothing in the corpus answers it.
    #[serde(alias = "near-miss")]
    Gap,
    /// Bug report, feature request, chore.
    NotAQuestion,
}

impl Label {
    /// The name, as the cases write it.
    pub fn name(self) -> &'static str {
        match self {
            Label::Answerable => "answerable",
            Label::Gap => "gap",
            Label::NotAQuestion => "not-a-question",
        }
    }
}

/// A labelled issue.
#[derive(Deserialize)]
pub struct Case {
    /// The name.
    pub id: String,
    title: Prose,
    description: Prose,
    /// Sections that answer it by themselves: `path#slug`, or `path` for any section of that page.
    pub expect: HashSet<String>,
    /// The kind.
    pub kind: Label,
    /// Labels that the issue carries.
    #[serde(default)]
    pub labels: Vec<String>,
    /// GitLab's issue type.
    #[serde(default)]
    pub issue_type: Option<String>,
}

impl Case {
    /// The question asked.
    pub fn question(&self) -> Question {
        Question::new(&self.title, &self.description)
    }

    /// Whether `name` (`path#slug` or `path`) is one of the expected sections.
    pub fn expects(&self, name: &str) -> bool {
        let page = name.split_once('#').map_or(name, |(page, _)| page);
        self.expect.contains(name) || self.expect.contains(page)
    }
}

/// Reads a file of cases, one JSON object a line.
pub fn read(path: &Path) -> anyhow::Result<Vec<Case>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let rows = text.lines().enumerate().filter(|(_, row)| !row.trim().is_empty());
    rows.map(|(number, row)| {
        // The parser's own message would quote the line, which is somebody's prose.
        serde_json::from_str(row).map_err(|error| {
            let kind = error.classify();
            anyhow::anyhow!("{}:{}: not a case ({kind:?} error)", path.display(), number + 1)
        })
    })
    .collect()
}

/// The names of all sections of a folder, as the cases write them: by page the line at which each begins.
///
/// The cases are cut and named by a rule of their own, which differs from GitLab's in repeated hyphens and in what
/// counts as a heading; so hits are compared by the line they begin at.
pub struct Names(HashMap<String, Vec<(u32, String)>>);

impl Names {
    /// Names the sections of a folder.
    pub fn of(folder: &Folder) -> Names {
        let pages = folder.files.iter().map(|file| {
            let path = file.path.as_str();
            let markdown = path.ends_with(".md") || path.ends_with(".mdx");
            let sections = if markdown { sections(path, &file.text) } else { vec![(1, path.to_owned())] };
            (path.to_owned(), sections)
        });
        Names(pages.collect())
    }

    /// The name of the section that holds `line` of `path`.
    pub fn at(&self, path: &str, line: u32) -> String {
        let known = self.0.get(path).and_then(|sections| {
            let at = sections.partition_point(|(first, _)| *first <= line);
            sections.get(at.saturating_sub(1))
        });
        known.map_or_else(|| path.to_owned(), |(_, name)| name.clone())
    }
}

fn sections(path: &str, text: &str) -> Vec<(u32, String)> {
    let mut found = vec![(1, path.to_owned())];
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut fence: Option<String> = None;
    let rows: Vec<&str> = text.split('\n').collect();
    let front = rows.first().is_some_and(|row| row.trim() == "---");
    let end =
        if front { rows.iter().skip(1).position(|row| row.trim() == "---").map(|at| at + 2) } else { None };
    for (number, row) in rows.iter().enumerate().skip(end.unwrap_or(0)) {
        let bare = row.trim_start();
        let mark = bare.chars().next().filter(|mark| "`~".contains(*mark));
        let length = mark.map_or(0, |mark| bare.len() - bare.trim_start_matches(mark).len());
        if let Some(open) = &fence {
            if length >= 3
                && bare.starts_with(open.as_str())
                && bare.trim().trim_matches(|c| open.starts_with(c)).is_empty()
            {
                fence = None;
            }
            continue;
        }
        if length >= 3 {
            fence = Some(bare[..length].to_owned());
        } else if let Some(heading) = HEADING.captures(row.trim_end_matches('\r')) {
            let slug = slug(&heading[1]);
            let count = seen.entry(slug.clone()).and_modify(|count| *count += 1).or_insert(0);
            let name = if *count == 0 { slug } else { format!("{slug}-{count}") };
            let line = u32::try_from(number + 1).unwrap_or(u32::MAX);
            found.push((line, format!("{path}#{name}")));
        }
    }
    found
}

macro_rules! pattern {
    ($name:ident, $pattern:literal) => {
        static $name: LazyLock<Regex> = LazyLock::new(|| Regex::new($pattern).expect("the pattern is valid"));
    };
}
pattern!(HEADING, r"^#{1,6}\s+(.*?)\s*#*\s*$");
pattern!(IMAGE, r"!\[[^\]]*\]\([^)]*\)");
pattern!(LINK, r"\[([^\]]*)\]\([^)]*\)");
pattern!(REFERENCE, r"\[([^\]]*)\]\[[^\]]*\]");
pattern!(ATTRIBUTES, r"\s*\{[^{}]*\}\s*$");
pattern!(TAG, r"<[^>]+>");
pattern!(SPAN, r"`+[^`]*`+");
pattern!(RUN, r"-{2,}");

/// The cases' rule for names of headings.
fn slug(heading: &str) -> String {
    let text = plain(heading).to_lowercase();
    let kept: String = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ')).collect();
    RUN.replace_all(&kept.trim().replace(' ', "-"), "-").into_owned()
}

fn plain(heading: &str) -> String {
    let code = heading.trim_end().ends_with('`');
    let text = if code { heading.to_owned() } else { ATTRIBUTES.replace(heading, "").into_owned() };
    let text = IMAGE.replace_all(&text, "");
    let text = LINK.replace_all(&text, "$1");
    let text = REFERENCE.replace_all(&text, "$1").into_owned();
    let mut out = String::new();
    let mut from = 0;
    for span in SPAN.find_iter(&text) {
        out.push_str(&untagged(&text[from..span.start()]));
        out.push_str(span.as_str());
        from = span.end();
    }
    out.push_str(&untagged(&text[from..]));
    let out = out.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    out.replace('`', "").trim().to_owned()
}

/// Without HTML tags; `\<` is a plain `<`.
fn untagged(text: &str) -> String {
    let text = text.replace("\\<", "\u{1}").replace("\\>", "\u{2}");
    TAG.replace_all(&text, "").replace('\u{1}', "<").replace('\u{2}', ">")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_follow_the_rule_of_the_cases() {
        for (heading, expected) in [
            ("`--output <mode>`", "-output-mode"),
            ("foo_bar -- baz", "foo_bar-baz"),
            ("Über config.toml & C++", "über-configtoml-c"),
            ("What's new in 3.5 (beta)?", "whats-new-in-35-beta"),
            ("[Link](https://example.com) <b>bold</b> ![img](x.png)", "link-bold"),
            ("Own { #id .class }", "own"),
            ("A \\<T>", "a-t"),
        ] {
            assert_eq!(slug(heading), expected, "{heading}");
        }
    }

    #[test]
    fn lines_belong_to_the_last_heading() {
        let text = "---\ntitle: x\n# no\n---\nintro\n# A\ntext\n```\n# no\n```\n## A\nmore\n";
        let names = Names(HashMap::from([("p.md".to_owned(), sections("p.md", text))]));
        let at = |line| names.at("p.md", line);
        assert_eq!([at(5), at(6), at(9), at(12)], ["p.md", "p.md#a", "p.md#a", "p.md#a-1"]);
        assert_eq!(names.at("other.go", 3), "other.go");
    }

    #[test]
    fn a_page_stands_for_all_its_sections() {
        let case = r#"{"id":"1","title":"t","description":null,"expect":["a.md","b.md#x"],"kind":"answerable","note":""}"#;
        let case: Case = serde_json::from_str(case).unwrap();
        assert!(case.expects("a.md#anything") && case.expects("a.md") && case.expects("b.md#x"));
        assert!(!case.expects("b.md") && !case.expects("b.md#y"));
    }
}
