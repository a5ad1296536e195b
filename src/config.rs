//! `signpost.toml`, the environment and the secrets, read once at start.
//!
//! `signpost.example.toml` is the manual: every key with its default and its reason.

use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use secrecy::SecretString;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use url::Url;

/// Why the configuration cannot be used: names the key or variable, and the cure.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(String);

fn wrong<T>(message: impl Into<String>) -> Result<T, ConfigError> {
    Err(ConfigError(message.into()))
}

/// The whole configuration, defaults filled in.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The GitLab instance and the group that is served.
    pub gitlab: Gitlab,
    /// The public listener.
    #[serde(default)]
    pub hook: Hook,
    /// The admin listener.
    #[serde(default)]
    pub admin: Admin,
    /// Where the queue, the corpus and the gaps are kept.
    #[serde(default)]
    pub database: Database,
    /// What may be cited.
    #[serde(default)]
    pub corpus: Corpus,
    /// When and how to answer.
    #[serde(default)]
    pub answer: Answer,
    /// How much may be posted.
    #[serde(default)]
    pub budget: Budget,
    /// The gap label and report.
    #[serde(default)]
    pub gap: Gap,
    /// The periodic look at what hooks cannot tell.
    #[serde(default)]
    pub sweep: Sweep,
    /// An optional endpoint as judge.
    #[serde(default)]
    pub judge: Judge,
    /// How to log.
    #[serde(default)]
    pub log: Log,
}

/// `[gitlab]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Gitlab {
    /// Base URL of the instance; `https`, or `http` on a loopback address only. A relative root is kept.
    #[serde(with = "address")]
    pub url: Url,
    /// Full path of the group whose issues are answered and whose projects are the corpus.
    pub group: String,
}

/// `[hook]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Hook {
    /// Address of the public listener.
    pub listen: SocketAddr,
    /// The address under which GitLab reaches the hook; written down by `install`, tells which hook is ours.
    #[serde(with = "address::optional")]
    pub public_url: Option<Url>,
    /// Each project has a hook of its own (`install --projects`): one that joins the group gets its own too.
    pub projects: bool,
}

/// `[admin]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Admin {
    /// Address of the admin listener; not loopback requires `SIGNPOST_ADMIN_TOKEN`.
    pub listen: SocketAddr,
}

/// `[database]`.
#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Database {
    /// `sqlite://relative`, `sqlite:///absolute/path` or `postgres://…`.
    pub url: String,
}

/// `[corpus]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Corpus {
    /// Projects and subgroups that are never read: exact paths, prefixes by segment, or globs.
    #[serde(deserialize_with = "list")]
    pub exclude: Vec<String>,
    /// Globs of documentation files.
    #[serde(deserialize_with = "list")]
    pub docs: Vec<String>,
    /// Globs of source files.
    #[serde(deserialize_with = "list")]
    pub code: Vec<String>,
    /// Globs of files that are never read.
    #[serde(deserialize_with = "list")]
    pub ignore: Vec<String>,
    /// Whether a private project's threads may be answered from that project itself.
    pub members: bool,
    /// Documentation sites that are not discovered from the repositories.
    pub docsite: Vec<Docsite>,
}

/// `[[corpus.docsite]]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Docsite {
    /// Base URL of the site.
    #[serde(with = "address")]
    pub url: Url,
    /// Full path of the project that holds its source.
    pub project: String,
    /// Folder of the source within the repository.
    #[serde(default)]
    pub root: String,
    /// The generator, which decides the URL rule.
    pub generator: Generator,
}

/// Generators of documentation sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Generator {
    /// MkDocs.
    Mkdocs,
    /// Zensical.
    Zensical,
    /// mdBook.
    Mdbook,
    /// Hugo.
    Hugo,
    /// Docusaurus.
    Docusaurus,
    /// Sphinx.
    Sphinx,
    /// VitePress.
    Vitepress,
    /// Antora.
    Antora,
    /// Files served as they are.
    Plain,
}

/// `[answer]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Answer {
    /// Whether anything is posted.
    pub mode: Mode,
    /// Which issues are answered.
    pub when: When,
    /// The promised share of wrong answers, above 0 and below 1.
    pub max_wrong: f32,
    /// An issue that carries this label is left alone.
    pub off_label: String,
    /// Language of the fixed sentences: `en`, `de`, `fr`, `es`, `pt`, or `auto`: that of what is quoted.
    pub language: String,
    /// Threads older than this are not answered any more.
    #[serde(with = "duration")]
    pub max_age: Duration,
}

/// `answer.mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Notes and labels are written.
    Reply,
    /// Everything is decided, nothing is written.
    Observe,
}

/// `answer.when`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// Only issues that ask a question.
    Question,
    /// Any issue; labels still go to questions only.
    Always,
}

/// `[budget]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Notes per project and hour.
    pub per_project_hour: u32,
    /// Share of the last 20 notes that humans may undo before the bot falls back to labels only.
    pub undo_limit: f32,
}

/// `[gap]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Gap {
    /// Exact name of the label.
    pub label: String,
    /// Project that holds the report issue, if one is wanted.
    pub report_project: Option<String>,
}

/// `[sweep]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sweep {
    /// Time between two sweeps.
    #[serde(with = "duration")]
    pub every: Duration,
}

/// `[judge]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Judge {
    /// Base URL of an OpenAI-compatible chat endpoint; none by default.
    #[serde(with = "address::optional")]
    pub endpoint: Option<Url>,
    /// Model name sent to the endpoint.
    pub model: String,
    /// How long one verdict may take.
    #[serde(with = "duration")]
    pub timeout: Duration,
}

/// `[log]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// `auto` (text on a terminal, JSON elsewhere), `text` or `json`.
    pub format: String,
}

impl Default for Hook {
    fn default() -> Self {
        Hook { listen: SocketAddr::from(([0, 0, 0, 0], 8080)), public_url: None, projects: false }
    }
}
impl Default for Admin {
    fn default() -> Self {
        Admin { listen: SocketAddr::from(([127, 0, 0, 1], 9090)) }
    }
}
impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("url", &redacted(&self.url)).finish()
    }
}
impl Default for Database {
    fn default() -> Self {
        Database { url: "sqlite://signpost.db".into() }
    }
}
impl Default for Corpus {
    fn default() -> Self {
        let owned = |globs: &[&str]| globs.iter().map(|g| (*g).to_owned()).collect();
        Corpus {
            exclude: Vec::new(),
            docs: owned(DOCS),
            code: owned(CODE),
            ignore: owned(IGNORE),
            members: false,
            docsite: Vec::new(),
        }
    }
}
impl Default for Answer {
    fn default() -> Self {
        Answer {
            mode: Mode::Reply,
            when: When::Question,
            max_wrong: 0.05,
            off_label: "signpost::off".into(),
            language: "auto".into(),
            max_age: Duration::from_secs(7 * 24 * 3600),
        }
    }
}
impl Default for Budget {
    fn default() -> Self {
        Budget { per_project_hour: 20, undo_limit: 0.1 }
    }
}
impl Default for Gap {
    fn default() -> Self {
        Gap { label: "documentation-gap".into(), report_project: None }
    }
}
impl Default for Sweep {
    fn default() -> Self {
        Sweep { every: Duration::from_secs(300) }
    }
}
impl Default for Judge {
    fn default() -> Self {
        Judge { endpoint: None, model: String::new(), timeout: Duration::from_secs(20) }
    }
}
impl Default for Log {
    fn default() -> Self {
        Log { format: "auto".into() }
    }
}

/// Documentation: the usual folders, and Markdown at the root.
const DOCS: &[&str] = &[
    "docs/**",
    "doc/**",
    "documentation/**",
    "content/**",
    "book/**",
    "website/**/*.md",
    "website/**/*.mdx",
    "README*",
    "**/README.md",
    "*.md",
    "*.mdx",
    "*.rst",
    "*.adoc",
];
/// Source files whose documented items are worth quoting.
const CODE: &[&str] = &[
    "**/*.rs",
    "**/*.go",
    "**/*.py",
    "**/*.rb",
    "**/*.js",
    "**/*.mjs",
    "**/*.ts",
    "**/*.tsx",
    "**/*.jsx",
    "**/*.java",
    "**/*.kt",
    "**/*.scala",
    "**/*.c",
    "**/*.h",
    "**/*.cc",
    "**/*.cpp",
    "**/*.hpp",
    "**/*.cs",
    "**/*.swift",
    "**/*.php",
    "**/*.ex",
    "**/*.exs",
    "**/*.erl",
    "**/*.hs",
    "**/*.lua",
    "**/*.sh",
    "**/*.sql",
    "**/*.proto",
    "**/*.graphql",
    "**/*.tf",
    "**/*.toml",
    "**/*.yml",
    "**/*.yaml",
];
/// Generated, vendored and historical trees: they repeat or contradict the documentation.
const IGNORE: &[&str] = &[
    "**/vendor/**",
    "**/node_modules/**",
    "**/third_party/**",
    "**/testdata/**",
    "**/fixtures/**",
    "**/dist/**",
    "**/target/**",
    "**/.git/**",
    "**/*.min.js",
    "**/*.lock",
    "**/package-lock.json",
    "**/pnpm-lock.yaml",
    "**/CHANGELOG*",
    "CHANGELOG*",
];

mod duration {
    use super::*;

    pub(super) fn serialize<S: Serializer>(value: &Duration, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(&humantime::format_duration(*value))
    }
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
        let text = String::deserialize(d)?;
        humantime::parse_duration(&text).map_err(|e| {
            serde::de::Error::custom(format!("`{text}` is no duration such as \"5m\" or \"7d\": {e}"))
        })
    }
}

mod address {
    use super::*;

    pub(super) fn serialize<S: Serializer>(value: &Url, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(value.as_str())
    }
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Url, D::Error> {
        let text = String::deserialize(d)?;
        Url::parse(&text).map_err(|e| serde::de::Error::custom(format!("`{text}` is no URL: {e}")))
    }

    pub(super) mod optional {
        use super::*;

        pub(in crate::config) fn serialize<S: Serializer>(
            value: &Option<Url>,
            s: S,
        ) -> Result<S::Ok, S::Error> {
            value.as_ref().map(Url::as_str).serialize(s)
        }
        pub(in crate::config) fn deserialize<'de, D: Deserializer<'de>>(
            d: D,
        ) -> Result<Option<Url>, D::Error> {
            super::deserialize(d).map(Some)
        }
    }
}

/// A list, or in the environment one string with commas.
fn list<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        List(Vec<String>),
        One(String),
    }
    Ok(match Either::deserialize(d)? {
        Either::List(list) => list,
        Either::One(text) => {
            text.split(',').map(str::trim).filter(|s| !s.is_empty()).map(str::to_owned).collect()
        }
    })
}

/// The variables of secrets; each may be read from a file by the same name with `_FILE`.
const SECRETS: [&str; 6] = [
    "SIGNPOST_GITLAB_TOKEN",
    "SIGNPOST_INSTALL_TOKEN",
    "SIGNPOST_SIGNING_TOKEN",
    "SIGNPOST_SECRET_TOKEN",
    "SIGNPOST_ADMIN_TOKEN",
    "SIGNPOST_JUDGE_KEY",
];

/// Every key that can be set, for the environment and for the nearest name of an unknown one.
const KEYS: &[&str] = &[
    "gitlab.url",
    "gitlab.group",
    "hook.listen",
    "hook.public_url",
    "hook.projects",
    "admin.listen",
    "database.url",
    "corpus.exclude",
    "corpus.docs",
    "corpus.code",
    "corpus.ignore",
    "corpus.members",
    "corpus.docsite",
    "answer.mode",
    "answer.when",
    "answer.max_wrong",
    "answer.off_label",
    "answer.language",
    "answer.max_age",
    "budget.per_project_hour",
    "budget.undo_limit",
    "gap.label",
    "gap.report_project",
    "sweep.every",
    "judge.endpoint",
    "judge.model",
    "judge.timeout",
    "log.format",
];

/// Where the configuration is looked for when nothing else is said.
pub const DEFAULT_FILE: &str = "./signpost.toml";

/// The environment, as an argument: tests pass their own.
pub type Environment = Vec<(String, String)>;

impl Config {
    /// Reads the file at `path` and lays the environment over it. Where the file of the default name is missing, it is
    /// taken for empty, so that a container can be configured by its environment alone.
    ///
    /// # Errors
    /// Unknown keys (with line and nearest name), wrong values, and combinations that cannot work.
    pub fn load(path: &Path, environment: &Environment) -> Result<Config, ConfigError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound && path == Path::new(DEFAULT_FILE) => {
                String::new()
            }
            Err(e) => return wrong(format!("{}: {e}", path.display())),
        };
        Config::parse(&text, &path.display().to_string(), environment)
    }

    /// The same from the text of a file called `name`.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn parse(text: &str, name: &str, environment: &Environment) -> Result<Config, ConfigError> {
        let mut table: toml::Table =
            toml::from_str(text).map_err(|e| ConfigError(format!("{name}: {}", e.to_string().trim_end())))?;
        refuse_unknown(&table, text, name)?;
        let mut file = table.clone();
        for (variable, value) in environment {
            overlay(&mut table, variable, value)?;
        }
        for key in ["url", "group"] {
            if table.get("gitlab").and_then(|g| g.get(key)).is_none() {
                return wrong(format!(
                    "{name}: gitlab.{key} is missing: set it in the file, or SIGNPOST_GITLAB__{} in the environment",
                    key.to_uppercase()
                ));
            }
        }
        // Whose value is wrong: with what must be there, the file's alone may be fine.
        if let Some(gitlab) = table.get("gitlab") {
            file.insert("gitlab".to_owned(), gitlab.clone());
        }
        let config: Config = table.try_into().map_err(|e| {
            let place = if file.try_into::<Config>().is_ok() { "the environment" } else { name };
            ConfigError(format!("{place}: {}", e.to_string().trim_end()))
        })?;
        config.validate()?;
        Ok(config)
    }

    fn validate(&self) -> Result<(), ConfigError> {
        let host = self.gitlab.url.host_str().unwrap_or_default();
        let loopback = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
        match self.gitlab.url.scheme() {
            "https" => {}
            "http" if loopback => {}
            _ => {
                return wrong(
                    "gitlab.url: must be https:// (http:// is allowed for a loopback address only)",
                );
            }
        }
        let group = self.gitlab.group.trim_matches('/');
        if group.is_empty() || !group.split('/').all(crate::reference::ProjectPath::is_segment) {
            return wrong(format!(
                "gitlab.group: `{}` is no group path such as \"acme\" or \"acme/tools\"",
                self.gitlab.group
            ));
        }
        if !(self.answer.max_wrong > 0.0 && self.answer.max_wrong < 1.0) {
            return wrong("answer.max_wrong: must lie between 0 and 1, such as 0.05");
        }
        if !(0.0..=1.0).contains(&self.budget.undo_limit) {
            return wrong("budget.undo_limit: must lie between 0 and 1, such as 0.1");
        }
        if !matches!(self.answer.language.as_str(), "auto" | "en" | "de" | "fr" | "es" | "pt") {
            return wrong("answer.language: must be auto, en, de, fr, es or pt");
        }
        if !matches!(self.log.format.as_str(), "auto" | "text" | "json") {
            return wrong("log.format: must be auto, text or json");
        }
        if self.gap.label.is_empty() || self.gap.label.contains(',') {
            return wrong("gap.label: must not be empty or hold a comma (GitLab separates labels by commas)");
        }
        if !(self.database.url.starts_with("sqlite:") || self.database.url.starts_with("postgres")) {
            return wrong("database.url: must begin with sqlite:// or postgres://");
        }
        if self.hook.projects && self.hook.public_url.is_none() {
            return wrong("hook.projects: needs hook.public_url, the address that the hooks lead to");
        }
        if self.sweep.every < Duration::from_secs(1) {
            return wrong("sweep.every: must be a second or more");
        }
        Ok(())
    }

    /// Every key that can be set, as `section.key`.
    pub fn keys() -> &'static [&'static str] {
        KEYS
    }

    /// The same without what a URL may hold of secrets: for printing.
    pub fn redacted(mut self) -> Config {
        self.database.url = redacted(&self.database.url);
        for url in [&mut self.hook.public_url, &mut self.judge.endpoint].into_iter().flatten() {
            if let Ok(clean) = Url::parse(&redacted(url.as_str())) {
                *url = clean;
            }
        }
        self
    }

    /// The group's path without slashes at its ends.
    pub fn group(&self) -> &str {
        self.gitlab.group.trim_matches('/')
    }
}

/// A URL with `redacted` in place of its password, and of parameters that name a secret.
fn redacted(url: &str) -> String {
    let Ok(mut parsed) = Url::parse(url) else {
        return url.split('@').next_back().unwrap_or_default().to_owned();
    };
    if parsed.password().is_some() && parsed.set_password(Some("redacted")).is_err() {
        return "redacted".to_owned();
    }
    let secret =
        |name: &str| ["password", "passfile", "token", "secret", "key"].iter().any(|s| name.contains(s));
    if parsed.query_pairs().any(|(name, _)| secret(&name)) {
        let pairs: Vec<(String, String)> = parsed
            .query_pairs()
            .map(|(name, value)| {
                let value = if secret(&name) { "redacted".to_owned() } else { value.into_owned() };
                (name.into_owned(), value)
            })
            .collect();
        parsed.query_pairs_mut().clear().extend_pairs(pairs);
        return parsed.to_string();
    }
    if parsed.password().is_some() { parsed.to_string() } else { url.to_owned() }
}

/// The keys of one `[[corpus.docsite]]`.
const DOCSITE: [&str; 4] = ["url", "project", "root", "generator"];

/// Refuses a key that does not exist, with its line and the nearest name that does.
fn refuse_unknown(table: &toml::Table, text: &str, name: &str) -> Result<(), ConfigError> {
    for (section, value) in table {
        let known = KEYS.iter().any(|k| k.split('.').next() == Some(section));
        let Some(inner) = value.as_table().filter(|_| known) else {
            return unknown(section, section, text, name);
        };
        for key in inner.keys() {
            let full = format!("{section}.{key}");
            if !KEYS.contains(&full.as_str()) {
                return unknown(&full, key, text, name);
            }
        }
        let sites = inner.get("docsite").and_then(|sites| sites.as_array()).into_iter().flatten();
        for key in sites.filter_map(|site| site.as_table()).flat_map(|site| site.keys()) {
            if !DOCSITE.contains(&key.as_str()) {
                return unknown(&format!("corpus.docsite.{key}"), key, text, name);
            }
        }
    }
    Ok(())
}

fn unknown(full: &str, key: &str, text: &str, name: &str) -> Result<(), ConfigError> {
    let line = line_of(full, key, text);
    let secret = ["token", "secret", "password", "key"].iter().any(|s| key.contains(s));
    let cure = if secret {
        " (secrets come only from the environment or from files: SIGNPOST_GITLAB_TOKEN, SIGNPOST_SIGNING_TOKEN, …)".to_owned()
    } else {
        nearest(full).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
    };
    wrong(format!("{name}:{line}: unknown key `{full}`{cure}"))
}

/// The line of a key: the first that assigns it, or opens it, within its section.
fn line_of(full: &str, key: &str, text: &str) -> usize {
    let section = full.rsplit_once('.').map_or(full, |(section, _)| section);
    let mut inside = full == key;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('[') {
            let header = line.trim_matches(['[', ']']);
            if header == full || (full == key && header.split('.').next() == Some(key)) {
                return number + 1;
            }
            inside = header == section;
        }
        let assigns = |name: &str| {
            line.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with(['=', '.']))
        };
        if (inside && assigns(key)) || assigns(full) {
            return number + 1;
        }
    }
    1
}

fn nearest(full: &str) -> Option<&'static str> {
    let ranked = KEYS.iter().map(|k| (distance(full, k), *k)).min_by_key(|(d, _)| *d)?;
    (ranked.0 <= 4).then_some(ranked.1)
}

/// Levenshtein distance; names are short.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let cost = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// Lays `SIGNPOST_SECTION__KEY` over the table. Other variables of the prefix are not configuration keys.
fn overlay(table: &mut toml::Table, variable: &str, value: &str) -> Result<(), ConfigError> {
    let Some((section, key)) = variable.strip_prefix("SIGNPOST_").and_then(|rest| rest.split_once("__"))
    else {
        return match meant(variable) {
            Some(meant) => wrong(format!("{variable}: there is no such variable; did you mean {meant}?")),
            None => Ok(()),
        };
    };
    let (section, key) = (section.to_lowercase(), key.to_lowercase());
    let full = format!("{section}.{key}");
    if !KEYS.contains(&full.as_str()) {
        let cure = nearest(&full)
            .map(|near| format!("; did you mean SIGNPOST_{}?", near.to_uppercase().replace('.', "__")))
            .unwrap_or_default();
        return wrong(format!("{variable}: there is no key `{full}`{cure}"));
    }
    let value = typed(&full, value).map_err(|e| ConfigError(format!("{variable}: {e}")))?;
    let inner = table.entry(section).or_insert_with(|| toml::Value::Table(toml::Table::new()));
    if let Some(inner) = inner.as_table_mut() {
        inner.insert(key, value);
    }
    Ok(())
}

/// What a variable without `__` was meant to be: a secret with a slip of the finger, or a key with one underscore. Others may
/// be anybody's: Kubernetes sets `SIGNPOST_PORT` and more for a service of this name.
fn meant(variable: &str) -> Option<String> {
    let bare = variable.strip_suffix("_FILE").unwrap_or(variable);
    if SECRETS.contains(&bare) {
        return None;
    }
    let key = KEYS.iter().map(|key| format!("SIGNPOST_{}", key.to_uppercase().replace('.', "__")));
    key.into_iter().find(|key| key.replace("__", "_") == variable).or_else(|| {
        SECRETS.iter().find(|secret| distance(bare, secret) <= 2).map(|secret| (*secret).to_owned())
    })
}

fn typed(full: &str, value: &str) -> Result<toml::Value, String> {
    Ok(match full {
        "corpus.members" | "hook.projects" => {
            toml::Value::Boolean(value.parse().map_err(|_| "must be true or false")?)
        }
        "answer.max_wrong" | "budget.undo_limit" => {
            toml::Value::Float(value.parse().map_err(|_| "must be a number such as 0.05")?)
        }
        "budget.per_project_hour" => {
            toml::Value::Integer(value.parse().map_err(|_| "must be a whole number")?)
        }
        "corpus.docsite" => parse_inline(value)?,
        _ if value.trim_start().starts_with('[') && full.starts_with("corpus.") => parse_inline(value)?,
        _ => toml::Value::String(value.to_owned()),
    })
}

fn parse_inline(value: &str) -> Result<toml::Value, String> {
    let mut table: toml::Table =
        toml::from_str(&format!("v = {value}")).map_err(|e| e.message().to_owned())?;
    table.remove("v").ok_or_else(|| "is empty".to_owned())
}

/// The secrets: from the environment, or from the files that `…_FILE` variables name.
#[derive(Clone, Default)]
pub struct Secrets {
    /// `SIGNPOST_GITLAB_TOKEN`.
    pub gitlab: Option<SecretString>,
    /// `SIGNPOST_INSTALL_TOKEN`, an Owner's, for `install` and `uninstall` only.
    pub install: Option<SecretString>,
    /// `SIGNPOST_SIGNING_TOKEN`: `whsec_…`, several separated by spaces.
    pub signing: Vec<SecretString>,
    /// `SIGNPOST_SECRET_TOKEN`, likewise.
    pub plain: Vec<SecretString>,
    /// `SIGNPOST_ADMIN_TOKEN`.
    pub admin: Option<SecretString>,
    /// `SIGNPOST_JUDGE_KEY`, for the optional endpoint.
    pub judge: Option<SecretString>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets(…)")
    }
}

impl Secrets {
    /// Reads the secrets from `environment`; an empty variable is none.
    ///
    /// # Errors
    /// A file that cannot be read, or a variable beside its `_FILE`, by the variable's name.
    pub fn load(environment: &Environment) -> Result<Secrets, ConfigError> {
        let one = |name: &str| -> Result<Option<String>, ConfigError> {
            let find = |wanted: &str| {
                let set = environment.iter().find(|(k, _)| k == wanted);
                set.map(|(_, v)| v.trim().to_owned()).filter(|v| !v.is_empty())
            };
            let file = match (find(name), find(&format!("{name}_FILE"))) {
                (Some(_), Some(_)) => {
                    return wrong(format!("{name} and {name}_FILE are both set: unset one of them"));
                }
                (Some(value), None) => return Ok(Some(value)),
                (None, None) => return Ok(None),
                (None, Some(file)) => file,
            };
            let text = std::fs::read_to_string(&file)
                .map_err(|e| ConfigError(format!("{name}_FILE: {file} cannot be read: {e}")))?;
            Ok(Some(text.trim().to_owned()).filter(|v| !v.is_empty()))
        };
        let several = |name: &str| -> Result<Vec<SecretString>, ConfigError> {
            Ok(one(name)?.unwrap_or_default().split_whitespace().map(SecretString::from).collect())
        };
        Ok(Secrets {
            gitlab: one("SIGNPOST_GITLAB_TOKEN")?.map(SecretString::from),
            install: one("SIGNPOST_INSTALL_TOKEN")?.map(SecretString::from),
            signing: several("SIGNPOST_SIGNING_TOKEN")?,
            plain: several("SIGNPOST_SECRET_TOKEN")?,
            admin: one("SIGNPOST_ADMIN_TOKEN")?.map(SecretString::from),
            judge: one("SIGNPOST_JUDGE_KEY")?.map(SecretString::from),
        })
    }

    /// What `serve` needs beyond the configuration.
    ///
    /// # Errors
    /// No GitLab token, neither a signing nor a secret token, or an admin listener that is not loopback
    /// without its token.
    pub fn require_for_serve(&self, config: &Config) -> Result<(), ConfigError> {
        if self.gitlab.is_none() {
            return wrong(
                "SIGNPOST_GITLAB_TOKEN is not set: give the bot a group access token with scope `api` and role Reporter",
            );
        }
        if self.signing.is_empty() && self.plain.is_empty() {
            return wrong(
                "neither SIGNPOST_SIGNING_TOKEN nor SIGNPOST_SECRET_TOKEN is set: without one anybody could post to /hook; `signpost install` makes a signing token",
            );
        }
        if !config.admin.listen.ip().is_loopback() && self.admin.is_none() {
            return wrong(format!(
                "admin.listen is {}, which others can reach, and SIGNPOST_ADMIN_TOKEN is not set: set it, or listen on 127.0.0.1",
                config.admin.listen
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINIMAL: &str = "[gitlab]\nurl = \"https://gitlab.example.com\"\ngroup = \"acme\"\n";

    fn error(text: &str, env: &[(&str, &str)]) -> String {
        let env = env.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Config::parse(text, "signpost.toml", &env).expect_err("refused").to_string()
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_line_and_the_nearest_name() {
        let message = error(&format!("{MINIMAL}[answer]\nmaxwrong = 0.1\n"), &[]);
        assert_eq!(
            message,
            "signpost.toml:5: unknown key `answer.maxwrong`; did you mean `answer.max_wrong`?"
        );
    }

    #[test]
    fn a_secret_in_the_file_is_an_unknown_key_that_says_where_secrets_go() {
        let message = error("[gitlab]\nurl = \"https://x\"\ngroup = \"g\"\ntoken = \"glpat\"\n", &[]);
        assert!(
            message.starts_with("signpost.toml:4: unknown key `gitlab.token` (secrets come only from"),
            "{message}"
        );
    }

    #[test]
    fn the_environment_overrides_the_file_and_is_refused_by_name() {
        let env = vec![
            ("SIGNPOST_CORPUS__EXCLUDE".into(), "acme/infra, acme/customers/*".into()),
            ("SIGNPOST_SWEEP__EVERY".into(), "90s".into()),
            ("SIGNPOST_GITLAB__GROUP".into(), "2048".into()),
            ("SIGNPOST_SIGNING_TOKEN".into(), "ignored here".into()),
        ];
        let config = Config::parse(MINIMAL, "f", &env).expect("valid");
        assert_eq!(config.corpus.exclude, ["acme/infra", "acme/customers/*"]);
        assert_eq!((config.sweep.every.as_secs(), config.group()), (90, "2048"));
        assert_eq!(
            error(MINIMAL, &[("SIGNPOST_GAP__LABLE", "x")]),
            "SIGNPOST_GAP__LABLE: there is no key `gap.lable`; did you mean SIGNPOST_GAP__LABEL?"
        );
        for (slip, meant) in [
            ("SIGNPOST_CORPUS_EXCLUDE", "SIGNPOST_CORPUS__EXCLUDE"),
            ("SIGNPOST_GITLAB_TOKN", "SIGNPOST_GITLAB_TOKEN"),
        ] {
            let told = format!("{slip}: there is no such variable; did you mean {meant}?");
            assert_eq!(error(MINIMAL, &[(slip, "x")]), told);
        }
        for anybodys in
            ["SIGNPOST_PORT", "SIGNPOST_SERVICE_HOST", "SIGNPOST_GITLAB_TOKEN_FILE", "SIGNPOST_CONFIG"]
        {
            assert!(
                Config::parse(MINIMAL, "test", &vec![(anybodys.into(), "x".into())]).is_ok(),
                "{anybodys}"
            );
        }
    }

    #[test]
    fn the_admin_listener_is_public_with_a_token_only() {
        let set = |names: &[&str]| {
            let environment: Vec<_> =
                names.iter().map(|name| ((*name).to_owned(), "secret".to_owned())).collect();
            Secrets::load(&environment).expect("loaded")
        };
        let listening = |address: &str| {
            let text = format!("{MINIMAL}[admin]\nlisten = \"{address}\"\n");
            Config::parse(&text, "signpost.toml", &Vec::new()).expect("valid")
        };
        let without = set(&["SIGNPOST_GITLAB_TOKEN", "SIGNPOST_SECRET_TOKEN"]);
        let with = set(&["SIGNPOST_GITLAB_TOKEN", "SIGNPOST_SECRET_TOKEN", "SIGNPOST_ADMIN_TOKEN"]);
        for public in ["0.0.0.0:9090", "[::]:9090", "10.1.2.3:9090"] {
            let refused = without.require_for_serve(&listening(public)).expect_err("refused").to_string();
            assert!(refused.contains(public) && refused.contains("SIGNPOST_ADMIN_TOKEN"), "{refused}");
            assert!(with.require_for_serve(&listening(public)).is_ok());
        }
        for own in ["127.0.0.1:9090", "[::1]:9090"] {
            assert!(without.require_for_serve(&listening(own)).is_ok());
        }
    }

    #[test]
    fn plain_http_is_for_loopback_only() {
        assert!(
            error("[gitlab]\nurl = \"http://gitlab.example.com\"\ngroup = \"g\"", &[]).contains("gitlab.url")
        );
        assert!(
            Config::parse("[gitlab]\nurl = \"http://127.0.0.1:81\"\ngroup = \"g\"", "f", &vec![]).is_ok()
        );
    }
}
