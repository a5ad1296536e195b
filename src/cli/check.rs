//! `signpost check`: each fault by name with its cure.

use chrono::NaiveDate;
use serde::Serialize;

use crate::answer::breaker_open;
use crate::cli::Verdict;
use crate::cli::invocation::Invocation;
use crate::clock::{Clock, Millis};
use crate::config::{Config, Secrets};
use crate::gitlab::{AlertStatus, Error, GitLab, Hook, HookOwner, Role, Token};
use crate::store::Store;

/// A token that dies within this time is named.
const EXPIRES_SOON_DAYS: i64 = 14;
/// A row that has been due for this long means that nobody works.
const STUCK: Millis = 15 * 60_000;

/// Arguments of `signpost check`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// It is well.
    Ok,
    /// It may be well; look at it.
    Warning,
    /// It is not.
    Fault,
}

/// One line of the report.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The stable name of what was looked at.
    pub name: &'static str,
    /// How bad it is.
    pub level: Level,
    /// What was seen.
    pub what: String,
    /// What to do about it; empty when all is well.
    pub cure: String,
}

/// Collects findings.
#[derive(Default)]
struct Report(Vec<Finding>);

impl Report {
    fn ok(&mut self, name: &'static str, what: impl Into<String>) {
        self.0.push(Finding { name, level: Level::Ok, what: what.into(), cure: String::new() });
    }
    fn warn(&mut self, name: &'static str, what: impl Into<String>, cure: impl Into<String>) {
        self.0.push(Finding { name, level: Level::Warning, what: what.into(), cure: cure.into() });
    }
    fn fault(&mut self, name: &'static str, what: impl Into<String>, cure: impl Into<String>) {
        self.0.push(Finding { name, level: Level::Fault, what: what.into(), cure: cure.into() });
    }
}

/// Looks at everything and prints what it finds; exit code 1 on any fault.
///
/// # Errors
/// The configuration cannot be read.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<Verdict> {
    let (config, secrets) = invocation.load()?;
    let findings = Invocation::block_on(async { Ok(look(&config, &secrets).await) })?;
    let faults = findings.iter().filter(|f| f.level == Level::Fault).count();
    if args.json {
        println!("{}", serde_json::json!({ "faults": faults, "findings": findings }));
    } else {
        for finding in &findings {
            let mark = match finding.level {
                Level::Ok => "ok     ",
                Level::Warning => "warning",
                Level::Fault => "FAULT  ",
            };
            println!("{mark}  {:<16} {}", finding.name, finding.what);
            if !finding.cure.is_empty() {
                println!("         {:<16} → {}", "", finding.cure);
            }
        }
        println!("{}", if faults == 0 { "no fault".to_owned() } else { format!("{faults} faults") });
    }
    Ok(if faults == 0 { Verdict::Fine } else { Verdict::Wrong })
}

async fn look(config: &Config, secrets: &Secrets) -> Vec<Finding> {
    let mut report = Report::default();
    if let Err(error) = secrets.require_for_serve(config) {
        report.fault(
            "secrets",
            error.to_string(),
            "set the variable, in the environment or as a file with …_FILE",
        );
    }
    store(config, &mut report).await;
    match Invocation::gitlab(config, secrets) {
        Ok(gitlab) => remote(config, &gitlab, &mut report).await,
        Err(error) => report.fault("token", error.to_string(), "set SIGNPOST_GITLAB_TOKEN"),
    }
    report.0
}

async fn remote(config: &Config, gitlab: &GitLab, report: &mut Report) {
    let user = match gitlab.user().await {
        Ok(user) => user,
        Err(Error::Denied(_)) => {
            return report.fault(
                "token",
                "GitLab does not accept the token",
                "it is wrong, revoked or expired: make a group access token (scope api, role Reporter) and set SIGNPOST_GITLAB_TOKEN",
            );
        }
        Err(error) => {
            return report.fault(
                "gitlab",
                format!("{} cannot be reached: {error}", config.gitlab.url),
                "check gitlab.url, the network and the certificate",
            );
        }
    };
    report.ok("gitlab", format!("{} answers; the bot is user {}", config.gitlab.url, user.id));
    clock(gitlab, report).await;
    token(gitlab.token().await, report);
    match gitlab.group(config.group()).await {
        Ok(Some(group)) if group.deletion_scheduled => {
            report.fault(
                "group",
                format!("{} is scheduled for deletion", group.path),
                "restore it, or set another gitlab.group",
            );
        }
        Ok(Some(group)) => report.ok("group", group.path),
        Ok(None) => {
            return report.fault(
                "group",
                format!("{} is not there, or not for this token", config.group()),
                "check gitlab.group; the token must be the group's own or its user a member",
            );
        }
        Err(error) => return report.fault("group", error.to_string(), "try again"),
    }
    role(config, gitlab, user.id, report).await;
    hook(config, gitlab, report).await;
    label(config, gitlab, report).await;
}

/// Hooks carry GitLab's time; more than five minutes of difference would refuse them all.
async fn clock(gitlab: &GitLab, report: &mut Report) {
    let Some(skew) = gitlab.clock_skew() else { return };
    let seconds = skew / 1000;
    if seconds.abs() > 120 {
        report.fault(
            "clock",
            format!("this machine's clock differs from GitLab's by {seconds} s"),
            "synchronise both clocks (NTP); signatures are refused from five minutes on",
        );
    } else {
        report.ok("clock", format!("within {} s of GitLab's", seconds.abs().max(1)));
    }
}

fn token(token: Result<Option<Token>, Error>, report: &mut Report) {
    let token = match token {
        Ok(Some(token)) => token,
        Ok(None) => {
            return report.warn(
                "token",
                "GitLab does not tell about this kind of token",
                "a group access token is easier to look after",
            );
        }
        Err(Error::Denied(_)) => {
            return report.warn("token", "the token may not look at itself", "nothing, if the rest is well");
        }
        Err(error) => return report.warn("token", error.to_string(), "try again"),
    };
    if !token.active {
        return report.fault(
            "token",
            "the token is revoked or expired",
            "make a new one and set SIGNPOST_GITLAB_TOKEN",
        );
    }
    if !token.scopes.iter().any(|scope| scope == "api") {
        return report.fault(
            "scope",
            format!("the token's scopes are {}", token.scopes.join(", ")),
            "posting notes and labels needs the scope api: make a token with it",
        );
    }
    report.ok("scope", "api");
    let today = chrono::DateTime::from_timestamp_millis(Clock::System.now()).map(|now| now.date_naive());
    let expires = token.expires_at.as_deref().and_then(|day| NaiveDate::parse_from_str(day, "%Y-%m-%d").ok());
    match (expires, today) {
        (Some(day), Some(today)) if (day - today).num_days() < EXPIRES_SOON_DAYS => report.fault(
            "expiry",
            format!("the token expires on {day}"),
            "rotate it now: its user stays the same, so nothing else changes",
        ),
        (Some(day), _) => report.ok("expiry", format!("the token lives until {day}")),
        (None, _) => report.ok("expiry", "the token has no end"),
    }
}

/// Any admitted project shows which role the bot has there.
async fn role(config: &Config, gitlab: &GitLab, me: u64, report: &mut Report) {
    let page = match gitlab.group_projects(config.group()) {
        Ok(mut pages) => pages.next().await,
        Err(error) => Err(error),
    };
    let Ok(Some(projects)) = page else {
        return report.warn(
            "role",
            "the group's projects cannot be listed",
            "the token needs the role Reporter in the group",
        );
    };
    let Some(project) = projects.first() else {
        return report.fault("projects", "the group has no projects", "check gitlab.group");
    };
    match gitlab.role(project.id, me).await {
        Ok(role) if role >= Role::Reporter => report.ok("role", format!("{role:?}")),
        Ok(role) => report.fault(
            "role",
            format!("the bot's role is {role:?}"),
            "it needs Reporter: to read private code it may quote, and to set labels",
        ),
        Err(error) => report.warn("role", error.to_string(), "try again"),
    }
}

async fn hook(config: &Config, gitlab: &GitLab, report: &mut Report) {
    let hooks = match gitlab.hooks(&HookOwner::Group(config.group().to_owned())).await {
        Ok(Some(hooks)) => hooks,
        Ok(None) | Err(Error::Denied(_)) => {
            return report.warn(
                "hook",
                "this token may not look at the group's hooks",
                "nothing, if hooks arrive: looking needs an Owner's token, running does not",
            );
        }
        Err(error) => return report.warn("hook", error.to_string(), "try again"),
    };
    let ours: Vec<&Hook> = match &config.hook.public_url {
        Some(url) => hooks.iter().filter(|hook| hook.url == url.as_str()).collect(),
        None => hooks.iter().filter(|hook| hook.url.trim_end_matches('/').ends_with("/hook")).collect(),
    };
    match ours.as_slice() {
        [] => report.fault(
            "hook",
            "no hook of the group leads here",
            "run `signpost install --hook-url https://…/hook`, and set hook.public_url",
        ),
        [hook] => one_hook(hook, report),
        several => {
            let ids: Vec<String> = several.iter().map(|hook| hook.id.to_string()).collect();
            report.fault(
                "hook",
                format!("{} hooks lead here: {}", ids.len(), ids.join(", ")),
                "remove all but one: every event arrives twice",
            );
        }
    }
}

fn one_hook(hook: &Hook, report: &mut Report) {
    match hook.alert {
        AlertStatus::Disabled => report.fault(
            "hook_disabled",
            format!("GitLab has switched hook {} off after too many failures", hook.id),
            "mend what failed, then press Test in the hook's settings: a success switches it on",
        ),
        AlertStatus::TemporarilyDisabled(until) => {
            let when = until
                .and_then(chrono::DateTime::from_timestamp_millis)
                .map(|t| format!(" until {}", t.format("%H:%M UTC")));
            report.fault(
                "hook_paused",
                format!(
                    "GitLab does not deliver hook {}{} after failures in a row",
                    hook.id,
                    when.unwrap_or_default()
                ),
                "mend what failed; it comes back by itself. The sweep finds what was missed",
            );
        }
        AlertStatus::Executable | AlertStatus::Unknown => {
            report.ok("hook", format!("hook {} delivers", hook.id))
        }
    }
    match (hook.signed, hook.token) {
        (Some(true), _) => report.ok("hook_signed", "deliveries are signed"),
        (_, Some(true)) => report.warn(
            "hook_signed",
            "deliveries carry a plain token, no signature",
            "from GitLab 19.0 on: run `signpost install` again for a signing token",
        ),
        _ => report.fault("hook_signed", "deliveries carry no proof", "run `signpost install` again"),
    }
    if !hook.missing.is_empty() {
        report.fault(
            "hook_events",
            format!("switched off: {}", hook.missing.join(", ")),
            "run `signpost install` again",
        );
    }
    if !hook.superfluous.is_empty() {
        report.warn(
            "hook_events",
            format!("not needed: {}", hook.superfluous.join(", ")),
            "switch them off: what does not arrive cannot leak",
        );
    }
    if hook.custom_template {
        report.fault(
            "hook_template",
            "the hook's body is replaced by a custom template",
            "remove the template: the bot needs GitLab's own body",
        );
    }
    if hook.branch_filter {
        report.warn(
            "hook_branches",
            "pushes of some branches only are sent",
            "set the filter to all branches, or changes may be missed",
        );
    }
    if !hook.verify_tls {
        report.warn(
            "hook_tls",
            "GitLab does not verify the bot's certificate",
            "switch verification on in the hook's settings",
        );
    }
}

async fn label(config: &Config, gitlab: &GitLab, report: &mut Report) {
    let name = &config.gap.label;
    match gitlab.find_group_label(config.group(), name).await {
        Ok(Some(_)) => report.ok("label", name.clone()),
        Ok(None) => report.fault(
            "label",
            format!("the group has no label {name}; one of a single project does not count"),
            "run `signpost install`, or create it in the group",
        ),
        Err(error) => report.warn("label", error.to_string(), "try again"),
    }
}

async fn store(config: &Config, report: &mut Report) {
    let store = match Store::open(&config.database.url).await {
        Ok(store) => store,
        Err(error) => {
            return report.fault(
                "database",
                error.to_string(),
                "check database.url, the file's folder and its rights, or the server",
            );
        }
    };
    let outcome = async {
        store.set("check", "writable").await?;
        report.ok("database", if store.is_sqlite() { "SQLite, writable" } else { "Postgres, writable" });
        let size = store.corpus_size().await?;
        if size.sections == 0 {
            report.fault("corpus", "the corpus is empty", "run `signpost sync` and read its summary: which projects were refused, and why");
        } else {
            report.ok("corpus", format!("{} sections of {} files in {} projects", size.sections, size.files, size.admitted));
        }
        let now = Clock::System.now();
        let depth = store.depth().await?;
        match depth.oldest.map(|at| now - at) {
            Some(age) if age > STUCK => report.fault(
                "queue",
                format!("{} rows wait, the longest for {} minutes", depth.ready, age / 60_000),
                "is `signpost serve` running? Its log says what fails",
            ),
            _ => report.ok("queue", format!("{} rows wait", depth.ready)),
        }
        let buried = store.buried().await?;
        match buried.first() {
            None => report.ok("buried", "none"),
            Some((place, why, _)) => report.fault(
                "buried",
                format!("{} rows were given up; the newest: project {} issue {} ({why})", depth.buried, place.project, place.iid),
                "mend the cause, then `signpost queue unbury`",
            ),
        }
        if breaker_open(&store, config).await.unwrap_or(false) {
            report.fault(
                "breaker",
                "humans undid too many of the last 20 notes: only labels are set",
                "read the withdrawn answers in the admin pages; mend the documentation, or raise budget.undo_limit",
            );
        }
        for row in store.projects().await? {
            let used = store.posted_since(row.project.id, now - 3_600_000).await?;
            if used >= config.budget.per_project_hour {
                report.warn("budget", format!("project {} has used up its {used} notes of this hour", row.project.id), "wait, or raise budget.per_project_hour");
            }
        }
        docsites(config, &store, report).await?;
        Ok::<_, crate::store::StoreError>(())
    }
    .await;
    if let Err(error) = outcome {
        report.fault("database", error.to_string(), "check the database");
    }
    store.close().await;
}

/// A declared documentation site must lead to a project that is admitted.
async fn docsites(
    config: &Config,
    store: &Store,
    report: &mut Report,
) -> Result<(), crate::store::StoreError> {
    let projects = store.projects().await?;
    for site in &config.corpus.docsite {
        let found = projects.iter().any(|row| {
            row.refusal.is_none() && row.project.path.as_str().eq_ignore_ascii_case(&site.project)
        });
        if !found {
            report.fault(
                "docsite",
                format!("{} is mapped to {}, which is not in the corpus", site.url, site.project),
                "check corpus.docsite.project and corpus.exclude, then run `signpost sync`",
            );
        }
    }
    Ok(())
}
