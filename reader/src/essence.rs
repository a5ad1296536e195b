//! What a question asks, without what its form, its logs and its manners add.

use crate::text::squeeze;

/// The essence is at most about this long, in characters.
const LONGEST: usize = 1_200;
/// Of that, code and error lines may take this much.
const CODE: usize = 400;
/// A description is cut here before anything looks at it.
const LONGEST_TEXT: usize = 64 * 1024;

/// Headings of issue forms whose answers say nothing about what is asked.
const NOISE_HEADINGS: &[&str] = &[
    "version",
    "versions",
    "platform",
    "operating system",
    "os",
    "environment",
    "system info",
    "system information",
    "your environment",
    "environment info",
    "experiments enabled",
    "logs",
    "log output",
    "relevant log output",
    "verbose output",
    "debug output",
    "browser",
    "browsers",
    "package manager",
    "used package manager",
    "validations",
    "checklist",
    "prerequisites",
    "self-service",
    "screenshots",
    "code of conduct",
    "severity",
    "are you willing to submit",
    "before submitting",
    "reproduction",
    "related issues",
    "labels",
    "configuration",
    "installation method",
    "how did you install",
    "desktop",
    "smartphone",
    "python version",
    "node version",
    "hardware",
    "preflight",
    "before you",
    "search",
    "link to",
    "host",
    "diagnostics",
    "doctor",
];
/// Headings that only say that the question follows.
const PLAIN_HEADINGS: &[&str] = &[
    "question",
    "description",
    "summary",
    "what",
    "details",
    "describe",
    "problem",
    "context",
    "additional",
    "issue",
    "steps",
    "expected",
    "actual",
    "current",
    "motivation",
    "help",
    "how",
    "example",
    "proposal",
    "overview",
    "background",
    "request",
    "bug",
    "to reproduce",
    "reproduce",
    "related",
    "solution",
    "how would",
    "any",
    "is your",
    "could you",
    "your",
    "i have",
    "your question",
    "the problem",
    "feature",
];
/// Keys of version tables.
const KEYS: &[&str] = &[
    "key",
    "version",
    "os",
    "platform",
    "operating system",
    "node",
    "nodejs",
    "node.js",
    "npm",
    "python",
    "browser",
    "shell",
    "arch",
    "architecture",
    "kernel",
    "cpu",
    "memory",
    "system",
    "distro",
    "distribution",
    "docker",
    "go",
    "rustc",
    "cargo",
    "environment",
    "terminal",
    "gitlab",
    "gitlab version",
    "runner",
    "helm",
    "kubectl",
    "kubernetes",
    "php",
    "java",
    "experiments",
    "build",
    "commit",
    "features",
    "installed_plugins",
    "rust_channel",
    "rust_version",
    "branch",
    "commit_hash",
    "build_os",
    "build_target",
    "allocator",
];
const SYSTEMS: &[&str] = &[
    "linux",
    "windows",
    "macos",
    "ubuntu",
    "debian",
    "fedora",
    "arch",
    "darwin",
    "sonoma",
    "sequoia",
    "ventura",
    "alpine",
    "x86_64",
    "arm64",
    "aarch64",
    "amd64",
    "wsl2",
    "wsl",
    "nixos",
    "docker",
    "powershell",
    "bash",
    "zsh",
    "msys",
    "m1",
    "m2",
    "m3",
];
const GREETINGS: &[&str] = &[
    "hi",
    "hello",
    "hey",
    "thanks",
    "thank",
    "thx",
    "cheers",
    "dear",
    "greetings",
    "regards",
    "best",
    "sorry",
    "good",
    "morning",
    "ta",
    "love",
    "great",
    "apologies",
    "ps",
];

/// The question's text with form boilerplate, version tables, logs and greetings removed or shortened.
///
/// The title comes first, then the prose (sentences that ask are kept before others when room is short), then what
/// little of code and error messages helps to find a passage. Used for retrieval and reading alike. Linear in the
/// length of its input, and the same for the same input.
pub fn essence(title: &str, description: &str) -> String {
    let mut split = Split::default();
    split.read(cut(description));
    let title = squeeze(&title.replace('`', " "));
    let mut out = title;
    let room = LONGEST.saturating_sub(out.len());
    let prose = pick(&split.prose, room.saturating_sub(split.code_len().min(CODE)));
    for line in prose.into_iter().chain(split.code_lines(room)) {
        out.push('\n');
        out.push_str(line);
    }
    out
}

/// The sentences that fit, in their order; those that ask go before the others.
fn pick(sentences: &[String], room: usize) -> Vec<&str> {
    let asks = |s: &str| s.contains('?');
    let mut kept = vec![false; sentences.len()];
    let mut left = room;
    let first = sentences.iter().position(|s| !asks(s));
    let order = (0..sentences.len())
        .filter(|&i| asks(&sentences[i]))
        .chain(first)
        .chain((0..sentences.len()).filter(|&i| !asks(&sentences[i]) && Some(i) != first));
    for i in order {
        if sentences[i].len() < left {
            left -= sentences[i].len() + 1;
            kept[i] = true;
        }
    }
    sentences.iter().zip(kept).filter(|(_, k)| *k).map(|(s, _)| s.as_str()).collect()
}

#[derive(Default)]
struct Split {
    prose: Vec<String>,
    code: Vec<String>,
    errors: Vec<String>,
    fence: Option<&'static str>,
    skip_section: bool,
    skip_details: bool,
    comment: bool,
    table_noise: bool,
    fence_lines: usize,
}

impl Split {
    fn read(&mut self, text: &str) {
        for line in text.lines() {
            self.line(line);
        }
    }

    fn line(&mut self, raw: &str) {
        let trimmed = raw.trim();
        let fence = ["```", "~~~"].into_iter().find(|f| trimmed.starts_with(f));
        match (self.fence, fence) {
            (Some(open), Some(close)) if open == close => {
                self.fence = None;
                return;
            }
            // A fence opened and closed on one line is a code span.
            (None, Some(open)) if trimmed.len() < 6 || !trimmed[3..].contains(open) => {
                self.fence = Some(open);
                self.fence_lines = 0;
                return;
            }
            _ => {}
        }
        if self.fence.is_some() {
            if !self.skip_section && !self.skip_details {
                self.code_line(trimmed);
            }
            return;
        }
        self.text_line(raw, trimmed);
    }

    fn text_line(&mut self, raw: &str, trimmed: &str) {
        let visible = self.uncomment(trimmed);
        let visible = self.details(visible.trim());
        if visible.is_empty() {
            self.table_noise = false;
            return;
        }
        if self.skip_details {
            return;
        }
        if let Some(heading) = heading(&visible) {
            self.skip_section = starts_with_any(&heading, NOISE_HEADINGS);
            if !self.skip_section && !starts_with_any(&heading, PLAIN_HEADINGS) {
                self.prose.push(heading);
            }
            return;
        }
        if self.skip_section && !visible.contains('?') {
            return;
        }
        if raw.starts_with("    ") && !is_list(trimmed) {
            self.code_line(trimmed);
            return;
        }
        if is_checkbox(trimmed)
            || is_empty_answer(&visible)
            || self.table_row(&visible)
            || is_version(&visible)
        {
            return;
        }
        if is_log(&visible) {
            self.code_line(&visible);
            return;
        }
        self.sentences(&visible);
    }

    /// Drops `<!-- … -->`, also over several lines.
    fn uncomment(&mut self, line: &str) -> String {
        let mut out = String::new();
        let mut rest = line;
        loop {
            if self.comment {
                match rest.split_once("-->") {
                    Some((_, after)) => {
                        self.comment = false;
                        rest = after;
                    }
                    None => return out,
                }
            } else {
                match rest.split_once("<!--") {
                    Some((before, after)) => {
                        out.push_str(before);
                        self.comment = true;
                        rest = after;
                    }
                    None => {
                        out.push_str(rest);
                        return out;
                    }
                }
            }
        }
    }

    /// Folded parts hold logs and version tables; what is visible around them stays.
    fn details(&mut self, line: &str) -> String {
        let lower = line.to_ascii_lowercase();
        if lower.starts_with("<details") {
            self.skip_details = !lower.contains("</details>");
            return String::new();
        }
        if lower.contains("</details>") {
            self.skip_details = false;
            return String::new();
        }
        line.to_owned()
    }

    /// Tables in issues list versions; a row is kept only where no cell of its table looks like one.
    fn table_row(&mut self, line: &str) -> bool {
        if !line.starts_with('|') {
            self.table_noise = false;
            return false;
        }
        let lower = line.to_lowercase();
        let rule = line.chars().all(|c| "|-: ".contains(c));
        self.table_noise |= lower.split('|').any(|cell| KEYS.contains(&cell.trim()))
            || line.split_whitespace().any(is_version_number);
        self.table_noise || rule
    }

    fn code_line(&mut self, line: &str) {
        self.fence_lines += 1;
        let line = squeeze(line);
        if line.is_empty() || line.len() > 2_000 || line.contains("--version") || line.contains("uname") {
            return;
        }
        if is_error(&line) {
            self.errors.push(shorten(&line, 200));
        } else if !is_log(&line) && !is_version(&line) && self.fence_lines <= 12 {
            self.code.push(shorten(&line, 100));
        }
    }

    fn sentences(&mut self, line: &str) {
        let line = line.trim_start_matches(['>', ' ', '*', '-', '+', '#']);
        let mut from = 0;
        let bytes = line.as_bytes();
        for (at, c) in line.char_indices() {
            let ends = matches!(c, '.' | '!' | '?') && bytes.get(at + 1).is_none_or(|b| *b == b' ');
            if ends {
                self.sentence(&line[from..=at]);
                from = at + 1;
            }
        }
        self.sentence(&line[from..]);
    }

    fn sentence(&mut self, sentence: &str) {
        let words: Vec<&str> = sentence.split_whitespace().filter(|w| !is_clutter(w)).collect();
        let first = words.first().map(|w| w.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
        let greets = first.is_some_and(|w| GREETINGS.contains(&w.as_str()));
        if words.is_empty() || (greets && words.len() <= 7 && !sentence.contains('?')) {
            return;
        }
        let text = words.join(" ").replace('`', " ");
        if text.chars().any(char::is_alphanumeric) {
            self.prose.push(squeeze(&text));
        }
    }

    fn code_len(&self) -> usize {
        self.errors.iter().chain(&self.code).map(|l| l.len() + 1).sum()
    }

    /// Error messages first: they are what documentation quotes.
    fn code_lines(&self, room: usize) -> Vec<&str> {
        let mut left = room.min(CODE);
        let mut kept = Vec::new();
        for line in self.errors.iter().take(3).chain(self.code.iter().take(8)) {
            if line.len() >= left {
                break;
            }
            left -= line.len() + 1;
            kept.push(line.as_str());
        }
        kept
    }
}

fn cut(text: &str) -> &str {
    shorten_at(text, LONGEST_TEXT)
}

fn shorten(line: &str, most: usize) -> String {
    shorten_at(line, most).to_owned()
}

fn shorten_at(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// `## Heading`, or a line that is bold as a whole.
fn heading(line: &str) -> Option<String> {
    let hashed = line.trim_start_matches('#');
    let text = if hashed.len() < line.len() && hashed.starts_with(' ') {
        hashed
    } else {
        let inner = line.trim_end_matches(':').strip_prefix("**")?;
        let inner = inner.trim_end_matches(':').strip_suffix("**")?;
        if inner.contains("**") { return None } else { inner }
    };
    let text = text.trim_matches(|c: char| !c.is_alphanumeric() && c != '?' && c != '`');
    Some(squeeze(text)).filter(|t| !t.is_empty())
}

fn starts_with_any(heading: &str, list: &[&str]) -> bool {
    let lower = heading.to_lowercase();
    list.iter()
        .any(|h| lower.strip_prefix(h).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric())))
        || (lower.ends_with(" version") && list.contains(&"version"))
}

fn is_list(line: &str) -> bool {
    line.starts_with("- ") || line.starts_with("* ") || line.starts_with(|c: char| c.is_ascii_digit())
}

fn is_checkbox(line: &str) -> bool {
    let line = line.trim_start_matches(['-', '*', '+', ' ']);
    ["[ ]", "[x]", "[X]"].iter().any(|b| line.starts_with(b))
}

fn is_empty_answer(line: &str) -> bool {
    matches!(
        line.trim_matches(|c: char| !c.is_alphanumeric() && c != '/').to_lowercase().as_str(),
        "no response" | "n/a" | "none" | "nothing" | "not applicable" | "" | "no" | "yes" | "-"
    )
}

/// `3.14`, `v0.9.1-rc2`, `(h1:…)`: digits on both sides of a dot.
fn is_version_number(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let digits = word.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    word.len() - digits.len() <= 4
        && digits.split_once('.').is_some_and(|(a, b)| {
            !a.is_empty()
                && a.bytes().all(|c| c.is_ascii_digit())
                && b.starts_with(|c: char| c.is_ascii_digit())
        })
}

/// A short line that names versions or systems and asks nothing.
fn is_version(line: &str) -> bool {
    if line.len() > 110 || line.contains('?') {
        return false;
    }
    let bare = line.replace(['*', '`', '_', '"'], " ").to_lowercase();
    let bare = bare.trim_matches(|c: char| !c.is_alphanumeric());
    if let Some((name, value)) = bare.split_once(':').or_else(|| bare.split_once('=')) {
        let name = name.trim();
        let known = KEYS.contains(&name) || name.ends_with(" version") || name.ends_with(" os");
        if known && value.split_whitespace().count() <= 8 {
            return true;
        }
    }
    let words: Vec<&str> = bare
        .split(|c: char| c.is_whitespace() || c == ',' || c == ';' || c == '|')
        .filter(|w| !w.is_empty())
        .collect();
    let marks = words
        .iter()
        .filter(|w| {
            is_version_number(w)
                || SYSTEMS.contains(&w.trim_matches(|c: char| !c.is_alphanumeric()))
                || KEYS.contains(w)
        })
        .count();
    marks > 0 && words.len() <= 14 && marks * 3 >= words.len()
}

/// Time stamps, levels, stack frames, addresses.
fn is_log(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or_default();
    let bare = first.trim_matches(|c: char| !c.is_alphanumeric());
    let level = matches!(bare, "DEBUG" | "TRACE" | "INFO" | "WARN" | "VERBOSE" | "NOTICE");
    let time = bare.len() >= 8
        && bare.bytes().filter(u8::is_ascii_digit).count() >= 6
        && bare.bytes().any(|b| b == b':' || b == b'-');
    let frame = (first == "at" && line.contains('(') && line.contains(':'))
        || (first == "File" && line.contains(", line "));
    level || time || frame || first.starts_with("0x")
}

/// A line that carries a message worth finding in documentation.
fn is_error(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    !is_log(line)
        && [
            "error",
            "warning",
            "failed",
            "fatal",
            "panic",
            "cannot",
            "can't",
            "denied",
            "not found",
            "invalid",
            "unknown",
        ]
        .iter()
        .any(|w| lower.contains(w))
}

/// Addresses and hashes.
fn is_clutter(word: &str) -> bool {
    word.contains("://")
        || word.len() > 80
        || (word.len() >= 16
            && word.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
            && word.bytes().any(|b| b.is_ascii_digit()))
}
