//! What GitLab tells: who the bot is, what its token may, the group, the label.

use std::sync::Arc;

use chrono::NaiveDate;

use super::{Report, hook};
use crate::clock::Clock;
use crate::config::{Config, Secrets};
use crate::gitlab::{Error, GitLab, Role, Token};
use crate::target::corpus::{Corpus, Scope};
use crate::target::{Access, Project};

/// A token that dies within this time is named.
const EXPIRES_SOON_DAYS: i64 = 14;

/// Looks at everything that GitLab tells.
pub(super) async fn look(
    config: &Config,
    secrets: &Secrets,
    gitlab: &GitLab,
    remembered: Option<u64>,
    report: &mut Report,
) {
    let user = match gitlab.user().await {
        Ok(user) => user,
        Err(Error::Denied(call)) if call.status == Some(403) => {
            return report.fault(
                "scope",
                "GitLab accepts the token, but not for this",
                "posting notes and labels needs the scope api: make a token with it",
            );
        }
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
    let projects = projects(config, gitlab, report).await;
    role(gitlab, user.id, &projects, report).await;
    hook::look(config, secrets, gitlab, &projects, report).await;
    label(config, gitlab, &projects, remembered, report).await;
    report_home(config, &projects, report);
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

/// The projects whose issues are served.
async fn projects(config: &Config, gitlab: &GitLab, report: &mut Report) -> Vec<Arc<Project>> {
    let scope = Scope {
        group: config.group().to_owned(),
        exclude: config.corpus.exclude.clone(),
        ..Scope::default()
    };
    let listed = async {
        let mut all = Vec::new();
        let mut pages = gitlab.group_projects(config.group())?;
        while let Some(page) = pages.next().await? {
            all.extend(page);
        }
        Ok::<_, Error>(all)
    };
    let (corpus, all) = match (Corpus::new(&scope), listed.await) {
        (Ok(corpus), Ok(all)) => (corpus, all),
        (Err(error), _) => {
            report.fault("projects", error.to_string(), "mend corpus.exclude");
            return Vec::new();
        }
        (_, Err(error)) => {
            report.warn(
                "projects",
                format!("the group's projects cannot be listed: {error}"),
                "the token needs the role Reporter in the group",
            );
            return Vec::new();
        }
    };
    let count = all.len();
    let served: Vec<_> = all.into_iter().filter(|project| corpus.admit_thread(project).is_ok()).collect();
    match served.len() {
        0 => report.fault(
            "projects",
            format!("of the group's {count} projects none is served"),
            "check gitlab.group and corpus.exclude; the bot must be able to see the projects",
        ),
        some => report.ok("projects", format!("{some} of {count} are served")),
    }
    served
}

/// Any served project shows which role the bot has there.
async fn role(gitlab: &GitLab, me: u64, projects: &[Arc<Project>], report: &mut Report) {
    let Some(project) = projects.first() else { return };
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

/// Projects in which a label of the gap label's name is looked for, where the group has none.
const LABELLED: usize = 20;

/// The label must be the group's: one of a single project cannot be set anywhere else. `remembered` is the id of the one
/// that was used under the configured name.
async fn label(
    config: &Config,
    gitlab: &GitLab,
    projects: &[Arc<Project>],
    remembered: Option<u64>,
    report: &mut Report,
) {
    let name = &config.gap.label;
    match gitlab.find_group_label(config.group(), name).await {
        Ok(Some(_)) => return report.ok("label", name.clone()),
        Ok(None) => {}
        Err(error) => return report.warn("label", error.to_string(), "try again"),
    }
    if let Some(id) = remembered
        && let Ok(Some(renamed)) = gitlab.find_group_label_by_id(config.group(), id).await
    {
        return report.warn(
            "label",
            format!("the gap label was renamed: {name} is {} now, and goes on working", renamed.name()),
            format!("set gap.label = \"{}\"", renamed.name()),
        );
    }
    for project in projects.iter().take(LABELLED) {
        if gitlab.find_label(project.id, name).await.is_ok_and(|label| label.is_some()) {
            return report.fault(
                "label",
                format!("{name} is a label of the project {} only", project.path.as_str()),
                "promote it to a group label in the project's labels, or run `signpost install`",
            );
        }
    }
    report.fault(
        "label",
        format!("the group has no label {name}"),
        "run `signpost install`, or create it in the group",
    );
}

/// The report issue needs a project that is served, and that has issues.
fn report_home(config: &Config, projects: &[Arc<Project>], report: &mut Report) {
    let Some(path) = &config.gap.report_project else { return };
    let home = projects.iter().find(|project| project.path.as_str().eq_ignore_ascii_case(path));
    match home.map(|project| project.issues) {
        Some(Some(Access::Disabled)) => report.fault(
            "report",
            format!("{path}, which is to hold the report issue, has no issues"),
            "switch its issues on, or set another gap.report_project",
        ),
        Some(_) => report.ok("report", path.clone()),
        None => report.fault(
            "report",
            format!("{path}, which is to hold the report issue, is not served"),
            "set gap.report_project to the full path of a project of the group that is not excluded",
        ),
    }
}
