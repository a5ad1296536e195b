//! Is it a question about using the software? A linear model over hashed words and a few dozen marks.

/// Buckets of the hashed features.
pub const BUCKETS: usize = 1 << 16;
/// Words looked at, of the title and of the prose.
const MOST_WORDS: usize = 400;
const LONGEST_TEXT: usize = 32 * 1024;

static WEIGHTS: &[u8] = include_bytes!("../model/gate.bin");

const ASKING: &[&str] = &[
    "how", "what", "why", "where", "which", "when", "who", "is", "are", "can", "could", "does", "do", "did",
    "should", "would", "will", "am", "has", "have", "any", "anyone", "may", "must",
];
const IMPERATIVES: &[&str] = &[
    "add",
    "support",
    "allow",
    "make",
    "remove",
    "implement",
    "update",
    "bump",
    "fix",
    "improve",
    "change",
    "rename",
    "drop",
    "expose",
    "introduce",
    "migrate",
    "refactor",
    "use",
    "provide",
    "enable",
    "document",
    "replace",
    "create",
    "move",
    "extend",
    "release",
    "upgrade",
    "deprecate",
    "show",
    "handle",
    "print",
    "include",
    "accept",
    "let",
    "ship",
    "split",
    "merge",
    "clean",
    "test",
    "publish",
];
const COMMIT_TYPES: &[&str] = &[
    "feat", "fix", "chore", "docs", "doc", "ci", "build", "refactor", "test", "tests", "perf", "style",
    "revert", "deps", "release",
];
const PHRASES: &[&str] = &[
    "how do i",
    "how can i",
    "how to",
    "how should",
    "is there a",
    "is there any",
    "is it possible",
    "what is the",
    "what's the",
    "should i",
    "am i",
    "can i",
    "do i need",
    "does anyone",
    "any way to",
    "best way",
    "right way",
    "correct way",
    "wondering",
    "my question",
    "confused",
    "not sure",
    "is this expected",
    "is that expected",
    "is it expected",
    "by design",
    "documentation",
    "the docs",
    "i don't understand",
    "not clear",
    "recommended",
    "any idea",
    "any suggestion",
    "any help",
    "what am i",
    "doing wrong",
    "is there something",
    "do you have",
    "where can i",
    "where do",
    "why does",
    "why is",
    "which one",
    "would like to know",
    "i'd like to",
    "steps to reproduce",
    "to reproduce",
    "expected behavior",
    "expected behaviour",
    "actual behavior",
    "expected:",
    "actual:",
    "expected result",
    "actual result",
    "stack trace",
    "traceback",
    "regression",
    "crash",
    "panicked",
    "segfault",
    "bug",
    "broken",
    "no longer",
    "used to work",
    "works fine in",
    "works in",
    "minimal",
    "repro",
    "reproducible",
    "bisect",
    "should be",
    "instead of",
    "should not",
    "incorrect",
    "wrong",
    "memory leak",
    "since upgrading",
    "after upgrading",
    "feature request",
    "would be nice",
    "would be great",
    "would be useful",
    "please add",
    "please support",
    "please make",
    "support for",
    "proposal",
    "propose",
    "suggest",
    "enhancement",
    "consider",
    "happy to send",
    "happy to open",
    "pull request",
    "send a pr",
    "it should",
    "must not",
    "use case",
    "alternatives",
    "we should",
    "need to",
    "follow-up",
    "follow up",
    "part of",
    "milestone",
    "checklist",
    "release",
    "this mr",
    "automated",
    "dependency dashboard",
    "renovate",
    "dependabot",
    "good first issue",
];

/// The gate; a value of this type holds nothing but a view of the embedded weights.
pub struct Gate {
    weights: &'static [u8],
}

impl Gate {
    /// Loads the embedded weights, at no cost.
    pub fn load() -> Gate {
        Gate { weights: WEIGHTS }
    }

    /// The probability that the issue asks how to use or understand the software.
    ///
    /// Bug reports, feature requests, chores, release notes and bot text come out low. Labels and the issue type (as
    /// GitLab names it) are evidence beside the text, never proof. Linear in the length of the text, of which the first
    /// few hundred words are read.
    pub fn question(&self, title: &str, description: &str, labels: &[&str], issue_type: &str) -> f32 {
        let scale = self.number(0);
        let text: f32 = features(title, description)
            .into_iter()
            .map(|(bucket, value)| {
                value * scale * f32::from(self.weights.get(8 + bucket).map_or(0, |b| *b as i8))
            })
            .sum();
        let logit = self.number(1) + text + declared(labels, issue_type);
        1.0 / (1.0 + (-logit).exp())
    }

    fn number(&self, index: usize) -> f32 {
        self.weights
            .get(4 * index..4 * index + 4)
            .map_or(0.0, |b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }
}

/// What labels and type say, as log odds. No data set has them the way GitLab groups use them, so these are set by hand.
fn declared(labels: &[&str], issue_type: &str) -> f32 {
    let any = |words: &[&str]| {
        labels.iter().any(|l| {
            let label = l.to_lowercase();
            label.split(|c: char| !c.is_alphanumeric()).any(|part| words.contains(&part))
        })
    };
    let mut logit = 0.0;
    if any(&["question", "questions", "support", "help", "howto"]) {
        logit += 2.0;
    }
    if any(&[
        "bug",
        "defect",
        "regression",
        "feature",
        "enhancement",
        "chore",
        "task",
        "maintenance",
        "release",
        "epic",
        "incident",
    ]) {
        logit -= 2.0;
    }
    if matches!(issue_type.to_lowercase().as_str(), "incident" | "test_case" | "requirement" | "epic") {
        logit -= 1.5;
    }
    logit
}

/// The features of an issue as `(bucket, value)`; the recipe trains on the same function.
pub fn features(title: &str, description: &str) -> Vec<(usize, f32)> {
    let prose = Prose::read(description);
    let title = title.to_lowercase();
    let mut out = Vec::new();
    block(&mut out, "t", &words(&title), 1.0);
    block(&mut out, "b", &words(&prose.text), 1.0);
    letters(&mut out, &title);
    let mut marks = marks(&title, &prose);
    for heading in &prose.headings {
        marks.push(format!("h:{heading}"));
    }
    out.extend(marks.iter().map(|m| (bucket("m", m), 0.5)));
    out
}

/// Words and pairs of neighbours, as a vector of length `weight`.
fn block(out: &mut Vec<(usize, f32)>, name: &str, words: &[String], weight: f32) {
    let mut found: Vec<usize> = words.iter().map(|w| bucket(name, w)).collect();
    found.extend(words.windows(2).map(|w| bucket(name, &format!("{} {}", w[0], w[1]))));
    push_block(out, found, weight);
}

fn push_block(out: &mut Vec<(usize, f32)>, mut found: Vec<usize>, weight: f32) {
    found.sort_unstable();
    found.dedup();
    let value = weight / (found.len().max(1) as f32).sqrt();
    out.extend(found.into_iter().map(|b| (b, value)));
}

/// Runs of three to five characters of the title: they see through inflection and misspelling.
fn letters(out: &mut Vec<(usize, f32)>, title: &str) {
    let text = format!(" {} ", words(title).join(" "));
    let chars: Vec<char> = text.chars().take(200).collect();
    let mut run = String::new();
    let mut found: Vec<usize> = Vec::with_capacity(3 * chars.len());
    for length in 3..=5 {
        for window in chars.windows(length) {
            run.clear();
            run.extend(window);
            found.push(bucket("c", &run));
        }
    }
    push_block(out, found, 1.0);
}

/// FNV-1a, so that the recipe's hashes and these are the same for ever.
fn bucket(name: &str, word: &str) -> usize {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in name.bytes().chain([b':']).chain(word.bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
    ((hash >> 24) as usize) & (BUCKETS - 1)
}

/// Lower-case words; numbers are all the same number, and a question mark is a word.
fn words(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for chunk in text.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '?')) {
        let (word, asks) = chunk.split_once('?').map_or((chunk, false), |(w, _)| (w, true));
        let word = word.trim_matches('\'');
        if !word.is_empty() && word.len() <= 30 {
            out.push(if word.starts_with(|c: char| c.is_ascii_digit()) {
                "0".to_owned()
            } else {
                word.to_owned()
            });
        }
        if asks {
            out.push("?".to_owned());
        }
        if out.len() >= MOST_WORDS {
            break;
        }
    }
    out
}

/// A description without its code, comments and addresses, in lower case.
#[derive(Default)]
struct Prose {
    text: String,
    last: String,
    headings: Vec<String>,
    questions: usize,
    asking_sentences: usize,
    code_lines: usize,
    frames: usize,
    boxes: usize,
}

impl Prose {
    fn read(description: &str) -> Self {
        let mut end = description.len().min(LONGEST_TEXT);
        while !description.is_char_boundary(end) {
            end -= 1;
        }
        let mut prose = Self::default();
        let (mut fenced, mut comment) = (false, false);
        for line in description[..end].lines() {
            let line = line.trim();
            if line.starts_with("```") || line.starts_with("~~~") {
                fenced = !fenced;
            } else if fenced {
                prose.code_lines += 1;
                prose.frames += usize::from(is_frame(line));
            } else {
                comment |= line.contains("<!--");
                if !comment {
                    prose.line(line);
                }
                comment &= !line.contains("-->");
            }
        }
        prose
    }

    fn line(&mut self, line: &str) {
        self.frames += usize::from(is_frame(line));
        let bare = line.trim_start_matches(['-', '*', ' ']);
        self.boxes +=
            usize::from(bare.starts_with("[ ]") || bare.starts_with("[x]") || bare.starts_with("[X]"));
        let lower = line.to_lowercase();
        if line.starts_with('#') || (line.starts_with("**") && line.trim_end_matches(':').ends_with("**")) {
            let heading: String = lower.chars().filter(|c| c.is_alphabetic() || *c == ' ').collect();
            if self.headings.len() < 16 {
                self.headings.push(heading.trim().to_owned());
            }
            return;
        }
        let mut code = false;
        let mut visible = String::with_capacity(lower.len());
        for word in lower.split_whitespace().filter(|w| !w.contains("://")) {
            // What stands in a code span is read as words, but a question mark in it asks nothing.
            let ticks = word.bytes().filter(|b| *b == b'`').count();
            let inside = code || ticks > 0;
            code ^= ticks % 2 == 1;
            if inside {
                visible.push_str(&word.replace(['`', '?'], " "));
            } else {
                visible.push_str(word);
            }
            visible.push(' ');
        }
        for sentence in visible.split_inclusive(['.', '?', '!']) {
            let sentence = sentence.trim();
            let first = sentence.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            self.questions += usize::from(sentence.ends_with('?'));
            self.asking_sentences += usize::from(sentence.ends_with('?') && ASKING.contains(&first));
            if sentence.chars().any(char::is_alphabetic) {
                sentence.clone_into(&mut self.last);
            }
        }
        self.text.push_str(&visible);
        self.text.push('\n');
    }
}

fn is_frame(line: &str) -> bool {
    (line.starts_with("at ") && line.contains(':'))
        || (line.starts_with("File \"") && line.contains("line "))
        || line.contains("Traceback (most")
        || line.starts_with("goroutine ")
        || line.starts_with("thread '")
}

/// What a person would look for.
fn marks(title: &str, prose: &Prose) -> Vec<String> {
    let first = title.split(|c: char| !c.is_alphanumeric()).find(|w| !w.is_empty()).unwrap_or_default();
    let commit = title.split_once(':').is_some_and(|(head, _)| {
        COMMIT_TYPES.contains(&head.split('(').next().unwrap_or_default().trim().trim_end_matches('!'))
    });
    let asks = title.contains('?') || prose.questions > 0;
    let flags = [
        ("title?", title.contains('?')),
        ("body?", prose.questions > 0),
        ("body??", prose.questions > 1),
        ("any?", asks),
        ("none?", !asks),
        ("last?", prose.last.ends_with('?')),
        ("asking sentence", prose.asking_sentences > 0),
        ("asking title", ASKING.contains(&first)),
        ("asking title no mark", ASKING.contains(&first) && !title.contains('?')),
        ("imperative", IMPERATIVES.contains(&first)),
        ("imperative none?", IMPERATIVES.contains(&first) && !asks),
        ("commit", commit),
        ("bracket", title.starts_with('[')),
        ("frames", prose.frames > 0),
        ("code", prose.code_lines > 0),
        ("long code", prose.code_lines > 15),
        ("code none?", prose.code_lines > 0 && !asks),
        ("boxes", prose.boxes > 0),
        ("boxes none?", prose.boxes > 0 && !asks),
        ("headings", prose.headings.len() > 2),
        ("empty", prose.text.trim().is_empty()),
        ("short", prose.text.len() < 120),
        ("long", prose.text.len() > 900),
    ];
    let mut out: Vec<String> =
        flags.into_iter().filter(|(_, on)| *on).map(|(name, _)| name.to_owned()).collect();
    for phrase in PHRASES {
        if title.contains(phrase) {
            out.push(format!("t {phrase}"));
        }
        if prose.text.contains(phrase) {
            out.push(format!("b {phrase}"));
        }
    }
    out
}
