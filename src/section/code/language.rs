//! The languages of source files, and how each comments and declares.

/// A language as far as cutting needs to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Rust.
    Rust,
    /// Go.
    Go,
    /// Python: documented below the signature.
    Python,
    /// JavaScript and TypeScript.
    Script,
    /// Java, Kotlin, Scala, C#, Swift, PHP, Dart: block comments above declarations.
    Java,
    /// C, C++ and their headers.
    C,
    /// Ruby, Elixir, Perl, Lua: line comments above `def` and the like.
    Ruby,
    /// Shells.
    Shell,
    /// Commented configuration: YAML, TOML, INI, HCL, dotenv, make.
    Config,
}

impl Language {
    /// The language of a file by its lower-case name and extension.
    pub(in crate::section) fn of(name: &str, extension: &str) -> Option<Language> {
        Some(match extension {
            "rs" => Language::Rust,
            "go" => Language::Go,
            "py" | "pyi" => Language::Python,
            "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" | "vue" | "svelte" => {
                Language::Script
            }
            "java" | "kt" | "kts" | "scala" | "cs" | "swift" | "php" | "dart" | "groovy" => Language::Java,
            "c" | "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" | "proto" => Language::C,
            "rb" | "ex" | "exs" | "pl" | "pm" | "lua" | "cr" => Language::Ruby,
            "sh" | "bash" | "zsh" | "fish" | "nu" => Language::Shell,
            "yml" | "yaml" | "toml" | "ini" | "cfg" | "conf" | "tf" | "hcl" | "env" | "properties" | "mk" => {
                Language::Config
            }
            _ if matches!(name, "makefile" | "justfile" | "dockerfile" | "containerfile") => Language::Config,
            _ => return None,
        })
    }

    /// Whether `row`, trimmed, is a line comment that documents what follows, and the comment's text.
    pub(super) fn line_comment(self, row: &str) -> Option<&str> {
        let marks: &[&str] = match self {
            Language::Rust => &["///", "//!"],
            Language::Go | Language::Script | Language::Java | Language::C => &["///", "//"],
            Language::Python | Language::Ruby | Language::Shell | Language::Config => &["#"],
        };
        let marks = marks.iter().find_map(|mark| row.strip_prefix(mark));
        marks.filter(|rest| !rest.starts_with('!') || self == Language::Rust)
    }

    /// Whether block comments `/* … */` (or `/** … */`) document what follows.
    pub(super) fn has_block_comments(self) -> bool {
        matches!(self, Language::Script | Language::Java | Language::C | Language::Go)
    }

    /// Whether a row between comment and declaration belongs to the declaration: attributes, annotations.
    pub(super) fn is_attribute(self, row: &str) -> bool {
        match self {
            Language::Rust => row.starts_with("#[") || row.starts_with(")]"),
            Language::Java | Language::Script => row.starts_with('@'),
            Language::C => row.starts_with("template") || row.starts_with("[["),
            _ => false,
        }
    }

    /// The name that the declaration in `row` introduces; `None` when the row declares nothing.
    pub(super) fn declared(self, row: &str) -> Option<&str> {
        match self {
            Language::Rust => after_keyword(row, RUST),
            Language::Go => after_keyword(row, &["func", "type", "const", "var", "package"]),
            Language::Python => after_keyword(row, &["def", "class"]),
            Language::Script => after_keyword(row, SCRIPT).or_else(|| called(row)),
            Language::Java => after_keyword(row, JAVA).or_else(|| called(row)),
            Language::C => after_keyword(row, C).or_else(|| called(row)),
            Language::Ruby => {
                after_keyword(row, &["def", "defp", "class", "module", "defmodule", "sub", "function"])
            }
            Language::Shell => after_keyword(row, &["function", "def"]).or_else(|| called(row)),
            Language::Config => None,
        }
    }
}

const RUST: &[&str] =
    &["fn", "struct", "enum", "trait", "mod", "type", "const", "static", "macro_rules!", "union", "impl"];
const SCRIPT: &[&str] =
    &["function", "class", "interface", "type", "enum", "const", "let", "var", "namespace"];
const JAVA: &[&str] = &[
    "class",
    "interface",
    "enum",
    "record",
    "fun",
    "val",
    "var",
    "object",
    "trait",
    "def",
    "func",
    "struct",
    "protocol",
    "function",
];
const C: &[&str] =
    &["struct", "class", "enum", "union", "namespace", "define", "typedef", "message", "service", "rpc"];

/// The identifier after the first of `keywords` that stands as a word among the first words of `row`.
fn after_keyword<'a>(row: &'a str, keywords: &[&str]) -> Option<&'a str> {
    let mut rest = row.trim_start().trim_start_matches('#');
    for _ in 0..6 {
        let end = rest.find(|c: char| c.is_whitespace() || c == '(' || c == '<').unwrap_or(rest.len());
        let word = &rest[..end];
        let after = rest[end..].trim_start();
        if keywords.contains(&word) {
            // A Go method's receiver and a Rust impl's generics stand before the name.
            let after = match after.as_bytes().first() {
                Some(b'(') => after.split_once(')').map_or("", |(_, rest)| rest.trim_start()),
                Some(b'<') => after.split_once('>').map_or("", |(_, rest)| rest.trim_start()),
                _ => after,
            };
            return Some(identifier(after));
        }
        let modifier = word.chars().all(|c| c.is_ascii_alphanumeric() || "_-:@".contains(c));
        if after.is_empty() || after.len() == rest.len() || (!modifier && !word.starts_with("pub")) {
            return None;
        }
        rest = if after.starts_with('(') && word == "pub" {
            after.split_once(')').map_or("", |(_, rest)| rest.trim_start())
        } else {
            after
        };
    }
    None
}

/// The name before the first parenthesis, as in `static int name(…`.
fn called(row: &str) -> Option<&str> {
    let (head, _) = row.split_once('(')?;
    let name = head.trim_end().rsplit(|c: char| c.is_whitespace() || "*&:.".contains(c)).next()?;
    let known = matches!(name, "if" | "for" | "while" | "switch" | "return" | "catch" | "");
    (!known && identifier(name).len() == name.len()).then_some(name)
}

/// The identifier that `text` begins with.
fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && !"_$!?.".contains(c)).unwrap_or(text.len());
    &text[..end]
}
