//! Code fences: the one form in which any text is inert.

use std::ops::Range;

use crate::reference::RepoPath;
use crate::reply::place;

use super::blocks::common_indent;
use super::{Draft, Op};

/// Languages that GitLab highlights and does nothing else with. Diagrams, maths, `json:table` and `suggestion`
/// are not among them.
const HIGHLIGHTED: &[&str] = &[
    "apache",
    "asciidoc",
    "adoc",
    "awk",
    "bash",
    "bat",
    "c",
    "c++",
    "clojure",
    "cmake",
    "conf",
    "console",
    "cpp",
    "crystal",
    "cs",
    "csharp",
    "css",
    "csv",
    "dart",
    "diff",
    "docker",
    "dockerfile",
    "elixir",
    "elm",
    "erlang",
    "fish",
    "fsharp",
    "go",
    "golang",
    "gradle",
    "graphql",
    "groovy",
    "haskell",
    "hcl",
    "html",
    "http",
    "ini",
    "java",
    "javascript",
    "jinja",
    "js",
    "json",
    "json5",
    "jsonc",
    "jsonnet",
    "jsx",
    "julia",
    "kotlin",
    "less",
    "lua",
    "make",
    "makefile",
    "markdown",
    "md",
    "nginx",
    "nix",
    "nu",
    "nushell",
    "ocaml",
    "patch",
    "perl",
    "php",
    "plaintext",
    "powershell",
    "properties",
    "proto",
    "protobuf",
    "ps1",
    "python",
    "py",
    "r",
    "rb",
    "rs",
    "rst",
    "ruby",
    "rust",
    "scala",
    "scss",
    "sh",
    "shell",
    "sql",
    "starlark",
    "svelte",
    "swift",
    "systemd",
    "tcl",
    "terraform",
    "text",
    "tf",
    "toml",
    "ts",
    "tsx",
    "txt",
    "typescript",
    "vim",
    "vue",
    "xml",
    "yaml",
    "yml",
    "zig",
    "zsh",
];

/// The bytes as a fenced block, with the highlighting of the path's ending.
pub(super) fn draft(path: &RepoPath, text: &str, range: Range<usize>) -> Draft {
    let body = &text[range.clone()];
    let whole = range.start == 0 || text[..range.start].ends_with('\n');
    let indent = if whole { common_indent(body.split('\n')) } else { 0 };
    let mut kept: Vec<Range<usize>> = Vec::new();
    let mut at = range.start;
    for line in body.split_inclusive('\n') {
        let blank = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let from = at + blank.min(indent);
        at += line.len();
        match kept.last_mut() {
            Some(last) if last.end == from => last.end = at,
            _ => kept.push(from..at),
        }
    }
    let flat: String = kept.iter().map(|kept| &text[kept.clone()]).collect();
    let longest = flat.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let ending = place::extension(path);
    let language = if HIGHLIGHTED.contains(&ending.as_str()) { ending.as_str() } else { "" };
    Draft { markdown: format!("{fence}{language}\n{flat}\n{fence}"), kept }
}

/// What stays of a line that opens a fenced block: everything but a language that is not only highlighted, and
/// what follows the language.
pub(super) fn open(text: &str, line: Range<usize>) -> Vec<Op> {
    let bytes = &text[line.clone()];
    let start = bytes.find("```").into_iter().chain(bytes.find("~~~")).min().unwrap_or(0);
    let fence = bytes[start..].chars().next().unwrap_or_default();
    let run = bytes[start..].len() - bytes[start..].trim_start_matches(fence).len();
    let info = &bytes[start + run..];
    let blank = info.len() - info.trim_start().len();
    let name = info
        .trim_start()
        .bytes()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b':'));
    let name = blank..blank + name.count();
    let safe = HIGHLIGHTED.contains(&info[name.clone()].to_ascii_lowercase().as_str());
    let end = start + run + if safe { name.end } else { 0 };
    vec![Op::Keep(line.start..line.start + end)]
}

/// Whether an info string names a language that is only highlighted.
pub(super) fn is_highlighted(info: &str) -> bool {
    HIGHLIGHTED.contains(&info.to_ascii_lowercase().as_str())
}
