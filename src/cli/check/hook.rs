//! The hook: whether it is there, delivers, proves its origin and sends what is needed.

use std::sync::Arc;

use futures_util::StreamExt as _;

use super::Report;
use crate::cli::invocation::Invocation;
use crate::config::{Config, Secrets};
use crate::gitlab::{AlertStatus, Error, GitLab, Hook, HookOwner};
use crate::target::Project;

/// Projects whose own hooks are looked at, and how many at once.
const PROJECTS: usize = 200;
const AT_ONCE: usize = 6;

/// Looks at the group's hook, or where it has none at the hooks of its projects. An installer's token sees more
/// than the bot's.
pub(super) async fn look(
    config: &Config,
    secrets: &Secrets,
    gitlab: &GitLab,
    projects: &[Arc<Project>],
    report: &mut Report,
) {
    let owners = secrets.install.clone().and_then(|token| Invocation::gitlab_with(config, token).ok());
    let gitlab = owners.as_ref().unwrap_or(gitlab);
    let of_group = ours(config, gitlab, &HookOwner::Group(config.group().to_owned())).await;
    match of_group {
        Err(Error::Denied(_)) | Ok(None) if of_projects(config, secrets, gitlab, projects, report).await => {}
        Ok(Some(hooks)) if hooks.is_empty() => {
            if !of_projects(config, secrets, gitlab, projects, report).await {
                report.fault(
                    "hook",
                    "no hook of the group leads here",
                    "run `signpost install --hook-url https://…/hook`, and set hook.public_url",
                );
            }
        }
        Ok(Some(hooks)) => {
            these(secrets, &hooks, report);
            beside(&hooks, &of_each(config, gitlab, projects).await, report);
        }
        Ok(None) | Err(Error::Denied(_)) => report.warn(
            "hook",
            "this token may not look at the group's hooks",
            "nothing, if hooks arrive: looking needs an Owner's token (SIGNPOST_INSTALL_TOKEN), running does not",
        ),
        Err(error) => report.warn("hook", error.to_string(), "try again"),
    }
}

/// The hooks that lead here; `None` where the owner has none that this token may see.
async fn ours(config: &Config, gitlab: &GitLab, owner: &HookOwner) -> Result<Option<Vec<Hook>>, Error> {
    let leads_here = |hook: &Hook| match &config.hook.public_url {
        Some(url) => hook.url == url.as_str(),
        None => hook.url.trim_end_matches('/').ends_with("/hook"),
    };
    let hooks = gitlab.hooks(owner).await?;
    Ok(hooks.map(|hooks| hooks.into_iter().filter(leads_here).collect()))
}

/// The hooks of single projects that lead here, as far as the token may look.
async fn of_each(
    config: &Config,
    gitlab: &GitLab,
    projects: &[Arc<Project>],
) -> Vec<(Arc<Project>, Vec<Hook>)> {
    let looks = projects.iter().take(PROJECTS).map(|project| async move {
        let hooks = ours(config, gitlab, &HookOwner::Project(project.id)).await;
        // A token that may not look tells nothing about the hook.
        hooks.ok().flatten().map(|hooks| (Arc::clone(project), hooks))
    });
    futures_util::stream::iter(looks).buffered(AT_ONCE).filter_map(std::future::ready).collect().await
}

/// Hooks of single projects beside the group's own.
fn beside(group: &[Hook], of_each: &[(Arc<Project>, Vec<Hook>)], report: &mut Report) {
    let name =
        |(project, hook): (&Arc<Project>, &Hook)| format!("hook {} of {}", hook.id, project.path.as_str());
    let others: Vec<String> = of_each
        .iter()
        .flat_map(|(project, hooks)| hooks.iter().map(move |h| (project, h)))
        .map(name)
        .collect();
    if !others.is_empty() {
        report.fault(
            "hook",
            format!("beside the group's {} lead here: {}", named(group), others.join(", ")),
            "remove these or the group's: every event of theirs arrives twice",
        );
    }
}

fn named(hooks: &[Hook]) -> String {
    let ids: Vec<String> = hooks.iter().map(|hook| hook.id.to_string()).collect();
    format!("hook {}", ids.join(" and hook "))
}

/// Looks at the projects' own hooks; false when no project has one.
async fn of_projects(
    config: &Config,
    secrets: &Secrets,
    gitlab: &GitLab,
    projects: &[Arc<Project>],
    report: &mut Report,
) -> bool {
    let (mut found, mut without) = (Vec::new(), Vec::new());
    for (project, hooks) in of_each(config, gitlab, projects).await {
        match hooks.is_empty() {
            true => without.push(project.path.as_str().to_owned()),
            false => found.push(hooks),
        }
    }
    if found.is_empty() {
        return false;
    }
    if !without.is_empty() {
        report.fault(
            "hook",
            format!("no hook of these projects leads here: {}", without.join(", ")),
            "run `signpost install --projects` again",
        );
    }
    for hooks in &found {
        these(secrets, hooks, report);
    }
    true
}

/// The hooks of one owner that lead here: one, and well.
fn these(secrets: &Secrets, hooks: &[Hook], report: &mut Report) {
    match hooks {
        [hook] => one(secrets, hook, report),
        several if several.iter().any(|hook| hook.url != several[0].url) => report.fault(
            "hook",
            format!("{} all end in /hook, and which of them leads here is not known", named(several)),
            "set hook.public_url to the address that `signpost install` was given",
        ),
        several => report.fault(
            "hook",
            format!("{} all lead here", named(several)),
            "remove all but one: every event arrives twice",
        ),
    }
}

fn one(secrets: &Secrets, hook: &Hook, report: &mut Report) {
    delivers(hook, report);
    proves(secrets, hook, report);
    sends(hook, report);
    if !hook.verify_tls {
        report.fault(
            "hook_tls",
            "GitLab does not verify the bot's certificate: whoever stands between may read what is sent",
            "switch SSL verification on in the hook's settings, or run `signpost install` again",
        );
    }
}

fn delivers(hook: &Hook, report: &mut Report) {
    match hook.alert {
        AlertStatus::Disabled => report.fault(
            "hook_disabled",
            format!("GitLab has switched hook {} off after too many failures", hook.id),
            "mend what failed (Recent events in the hook's settings show each answer; 401: the bot has another token than the hook, run `signpost install` again), then press Test there: a success switches it on",
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
                "mend what failed (Recent events in the hook's settings show each answer; 401: the bot has another token than the hook, run `signpost install` again); it comes back by itself. The sweep finds what was missed",
            );
        }
        AlertStatus::Executable | AlertStatus::Unknown => {
            report.ok("hook", format!("hook {} delivers", hook.id))
        }
    }
}

fn proves(secrets: &Secrets, hook: &Hook, report: &mut Report) {
    match (hook.signed, hook.token) {
        (Some(true), plain)
            if secrets.signing.is_empty() && (plain != Some(true) || secrets.plain.is_empty()) =>
        {
            report.fault(
                "hook_signed",
                "deliveries are signed, and SIGNPOST_SIGNING_TOKEN is not set: each is refused",
                "set it to the token that `signpost install` printed, or run `signpost install` again",
            );
        }
        (Some(true), _) => report.ok("hook_signed", "deliveries are signed"),
        (_, _) if !secrets.signing.is_empty() => report.fault(
            "hook_signed",
            "deliveries are not signed, and SIGNPOST_SIGNING_TOKEN is set: each is refused",
            "run `signpost install` again and put its token into the bot's environment",
        ),
        (Some(false), Some(true)) => report.warn(
            "hook_signed",
            "deliveries carry a plain token, no signature",
            "run `signpost install` again for a signing token",
        ),
        (None, Some(true)) => {
            report.ok("hook_signed", "deliveries carry a plain token: this GitLab does not sign")
        }
        (None, None) => report.warn(
            "hook_signed",
            "this GitLab does not tell whether deliveries carry a token",
            "nothing, if they are accepted: the bot takes none without",
        ),
        _ => report.fault("hook_signed", "deliveries carry no proof", "run `signpost install` again"),
    }
}

fn sends(hook: &Hook, report: &mut Report) {
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
        report.warn(
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
}
