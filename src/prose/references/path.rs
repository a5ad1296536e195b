//! File paths in text and code spans (rule 9).

use crate::prose::references::ExtractContext;
use crate::prose::references::marks::{closes, opens};
use crate::prose::references::shorthand::leading_digits;
use crate::prose::references::words::{Atom, atom_reach};
use crate::reference::{Lines, Reference, RepoPath};

/// The file that `atom` names in text, and how many bytes behind the atom belong to it.
pub(super) fn in_text(atom: Atom<'_>, context: &ExtractContext) -> Option<(Reference, usize)> {
    if !atom.text.contains('/') || !opens(atom.before) {
        return None;
    }
    // `./a.rs` has lost its only slash here.
    let path = repo_path(atom.text).filter(|path| path.contains('/'))?;
    let tail = Tail::parse(atom.rest);
    closes(&atom.rest[tail.length..]).then_some(())?;
    Some((file(path, tail.lines, context)?, tail.length))
}

/// The file that a code span names as a whole.
pub(super) fn in_code(span: &str, context: &ExtractContext) -> Option<Reference> {
    let (written, rest) = span.split_at(atom_reach(span));
    let path = repo_path(written)?;
    let tail = Tail::parse(rest);
    (tail.length == rest.len()).then(|| file(path, tail.lines, context))?
}

fn file(path: &str, lines: Option<Lines>, context: &ExtractContext) -> Option<Reference> {
    let path = RepoPath::parse(path)?;
    Some(Reference::File { project: context.project.clone(), git_ref: None, path, lines })
}

/// `written` as a path from the root of a repository.
fn repo_path(written: &str) -> Option<&str> {
    let path = written.strip_prefix("./").unwrap_or(written);
    (!written.starts_with('@') && names_file(path)).then_some(path)
}

/// The file test: a known name or extension at the end, and no host at the start.
pub(super) fn names_file(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').map_or((None, path), |(folders, name)| (Some(folders), name));
    let first = folders.map(|folders| folders.split('/').next().unwrap_or(folders));
    (is_known_name(name) || has_known_extension(name)) && !first.is_some_and(is_host)
}

/// Whether the first segment of a path looks like a host: `github.com`, but not `v1.2` or `.gitlab`.
fn is_host(segment: &str) -> bool {
    segment.rsplit_once('.').is_some_and(|(before, last)| {
        !before.is_empty() && last.len() >= 2 && last.bytes().all(|b| b.is_ascii_alphabetic())
    })
}

/// What may follow a path: lines, a test id or a heading.
#[derive(Clone, Copy, Debug, Default)]
struct Tail {
    lines: Option<Lines>,
    length: usize,
}

impl Tail {
    /// The tail that begins `text`; an empty one where there is none.
    fn parse(text: &str) -> Tail {
        let parse = match text.as_bytes().first() {
            Some(b':') if text.starts_with("::") => Tail::test_id,
            Some(b':') => Tail::colon,
            Some(b'#') => Tail::fragment,
            Some(b'(') => Tail::parenthesis,
            _ => return Tail::default(),
        };
        parse(text).unwrap_or_default()
    }

    /// `:N`, `:N:C`, `:N-M`.
    fn colon(text: &str) -> Option<Tail> {
        let (lines, rest) = colon_lines(text)?;
        Some(Tail { lines: Some(lines), length: text.len() - rest.len() })
    }

    /// `#L…`, or a heading.
    fn fragment(text: &str) -> Option<Tail> {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '%');
        let end = text[1..].find(|c| !is_part(c)).unwrap_or(text.len() - 1);
        let fragment = text[1..1 + end].trim_end_matches('.');
        (!fragment.is_empty()).then(|| Tail { lines: fragment_lines(fragment), length: 1 + fragment.len() })
    }

    /// `(N)`, `(N,C)`.
    fn parenthesis(text: &str) -> Option<Tail> {
        let (line, rest) = leading_number(&text[1..])?;
        let rest = match rest.strip_prefix(',') {
            Some(rest) => leading_number(rest)?.1,
            None => rest,
        };
        let rest = rest.strip_prefix(')')?;
        Some(Tail { lines: Some(Lines::between(line, line)?), length: text.len() - rest.len() })
    }

    /// `::name…`, as test runners write it.
    fn test_id(text: &str) -> Option<Tail> {
        let name = &text[2..];
        let ends =
            |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '[' | ']' | '/' | '='));
        let name = &name[..name.find(ends).unwrap_or(name.len())];
        let name = name.trim_end_matches(['.', ':']);
        name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            .then_some(Tail { lines: None, length: 2 + name.len() })
    }
}

/// The lines that begin `text` as `:N`, `:N:C` or `:N-M`, and what follows them.
pub(super) fn colon_lines(text: &str) -> Option<(Lines, &str)> {
    let (first, rest) = leading_number(text.strip_prefix(':')?)?;
    if let Some((last, rest)) = rest.strip_prefix('-').and_then(leading_number) {
        return Some((Lines::between(first, last)?, rest));
    }
    let column = rest.strip_prefix(':').map(leading_digits).filter(|digits| !digits.is_empty());
    let rest = column.map_or(rest, |digits| &rest[1 + digits.len()..]);
    Some((Lines::between(first, first)?, rest))
}

/// The lines of a fragment `L10`, `L10-20` or `L10-L20`.
pub(super) fn fragment_lines(fragment: &str) -> Option<Lines> {
    let range = fragment.strip_prefix('L')?;
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    Lines::between(number(first)?, number(last.strip_prefix('L').unwrap_or(last))?)
}

fn leading_number(text: &str) -> Option<(u32, &str)> {
    let digits = leading_digits(text);
    Some((number(digits)?, &text[digits.len()..]))
}

/// A number in ASCII digits and nothing else (`parse` alone would take a sign).
fn number(digits: &str) -> Option<u32> {
    if digits.bytes().all(|b| b.is_ascii_digit()) { digits.parse().ok() } else { None }
}

/// Files that are known by their whole name.
fn is_known_name(name: &str) -> bool {
    matches!(
        name,
        "Dockerfile"
            | "Containerfile"
            | "Makefile"
            | "GNUmakefile"
            | "Justfile"
            | "justfile"
            | "Gemfile"
            | "Rakefile"
            | "Procfile"
            | "Jenkinsfile"
            | "Vagrantfile"
            | "Brewfile"
            | "Podfile"
            | "Fastfile"
            | "LICENSE"
            | "LICENCE"
            | "COPYING"
            | "README"
            | "CHANGELOG"
            | "CONTRIBUTING"
            | "CODEOWNERS"
            | "AUTHORS"
            | "MAINTAINERS"
            | "go.mod"
            | "go.sum"
            | "Cargo.lock"
            | "Gemfile.lock"
            | "yarn.lock"
            | "poetry.lock"
            | "composer.lock"
            | ".gitignore"
            | ".gitattributes"
            | ".gitmodules"
            | ".dockerignore"
            | ".editorconfig"
    )
}

fn has_known_extension(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        let in_capitals = || {
            extension.bytes().any(|b| b.is_ascii_uppercase())
                && is_known_extension(&extension.to_ascii_lowercase())
        };
        !stem.is_empty() && (is_known_extension(extension) || in_capitals())
    })
}

/// Extensions of documentation, code and configuration, in lower case.
fn is_known_extension(extension: &str) -> bool {
    matches!(
        extension,
        "adoc"
            | "asciidoc"
            | "bash"
            | "bat"
            | "c"
            | "cc"
            | "cfg"
            | "clj"
            | "cmake"
            | "conf"
            | "cpp"
            | "cs"
            | "css"
            | "csproj"
            | "cxx"
            | "dart"
            | "erb"
            | "erl"
            | "ex"
            | "exs"
            | "fish"
            | "go"
            | "gql"
            | "gradle"
            | "graphql"
            | "groovy"
            | "h"
            | "haml"
            | "hbs"
            | "hcl"
            | "hpp"
            | "hrl"
            | "hs"
            | "htm"
            | "html"
            | "hxx"
            | "ini"
            | "ipynb"
            | "java"
            | "jl"
            | "js"
            | "json"
            | "json5"
            | "jsonc"
            | "jsx"
            | "kt"
            | "kts"
            | "less"
            | "lua"
            | "markdown"
            | "md"
            | "mdx"
            | "mjs"
            | "mts"
            | "nix"
            | "php"
            | "proto"
            | "ps1"
            | "py"
            | "pyi"
            | "rake"
            | "rb"
            | "rs"
            | "rst"
            | "sass"
            | "sbt"
            | "scala"
            | "scss"
            | "sh"
            | "sol"
            | "sql"
            | "svelte"
            | "swift"
            | "tex"
            | "tf"
            | "tfvars"
            | "toml"
            | "ts"
            | "tsx"
            | "txt"
            | "vue"
            | "xml"
            | "yaml"
            | "yml"
            | "zig"
            | "zsh"
    )
}
