//! Webhooks: whom an event reaches, and how a hook that fails is switched off.

use super::{Project, World};
use crate::gitlab::hook::{Delivery, encode, uuid};
use crate::gitlab::time::Millis;
use serde_json::Value;
use std::collections::BTreeMap;

/// The switches that both kinds of hook have; all are off in a new hook but `push_events`.
pub const SWITCHES: [&str; 16] = [
    "push_events",
    "tag_push_events",
    "issues_events",
    "confidential_issues_events",
    "note_events",
    "confidential_note_events",
    "merge_requests_events",
    "job_events",
    "pipeline_events",
    "wiki_page_events",
    "deployment_events",
    "feature_flag_events",
    "releases_events",
    "milestone_events",
    "emoji_events",
    "resource_access_token_events",
];

/// The switches that only group hooks have.
pub const GROUP_SWITCHES: [&str; 3] = ["member_events", "subgroup_events", "project_events"];

/// What a hook was installed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    Group(u64),
    Project(u64),
}

/// A webhook.
#[derive(Clone, Debug)]
pub struct Hook {
    pub id: u64,
    pub owner: Owner,
    pub url: String,
    pub name: String,
    pub description: String,
    pub switches: BTreeMap<&'static str, bool>,
    pub token: Option<String>,
    pub signing_token: Option<String>,
    pub enable_ssl_verification: bool,
    pub push_events_branch_filter: Option<String>,
    pub branch_filter_strategy: String,
    pub custom_webhook_template: Option<String>,
    pub custom_headers: Vec<(String, String)>,
    /// Failures in a row.
    pub failures: u32,
    pub disabled_until: Option<Millis>,
    pub created_at: Millis,
}

/// This many failures in a row disable a hook for a while, doubling from a minute to a day …
const TEMPORARILY: u32 = 4;
/// … and this many for good.
const FOR_GOOD: u32 = 40;
const MINUTE: Millis = 60_000;
const DAY: Millis = 24 * 60 * MINUTE;

impl Hook {
    /// `executable`, `temporarily_disabled` or `disabled`.
    pub fn alert_status(&self, now: Millis) -> &'static str {
        match (self.failures >= FOR_GOOD, self.disabled_until) {
            (true, _) => "disabled",
            (false, Some(until)) if now < until => "temporarily_disabled",
            _ => "executable",
        }
    }

    /// Counts the outcome of a delivery: 2xx and 3xx are fine.
    pub fn settle(&mut self, status: Option<u16>, now: Millis) {
        if status.is_some_and(|status| (200..400).contains(&status)) {
            (self.failures, self.disabled_until) = (0, None);
            return;
        }
        self.failures += 1;
        if self.failures >= TEMPORARILY {
            let doubled = MINUTE << (self.failures - TEMPORARILY).min(11);
            self.disabled_until = Some(now + doubled.min(DAY));
        }
    }
}

/// Something that hooks may hear of.
pub struct Happening {
    project: Option<u64>,
    /// The group whose hooks hear of it, when it is not about a project.
    group: Option<u64>,
    switch: &'static str,
    event: &'static str,
    branch: Option<String>,
    group_hooks_only: bool,
    body: Value,
}

impl Happening {
    fn of_project(project: u64, switch: &'static str, event: &'static str, body: Value) -> Happening {
        Happening {
            project: Some(project),
            group: None,
            switch,
            event,
            branch: None,
            group_hooks_only: false,
            body,
        }
    }

    pub(crate) fn issue(project: u64, confidential: bool, body: Value) -> Happening {
        match confidential {
            true => {
                Happening::of_project(project, "confidential_issues_events", "Confidential Issue Hook", body)
            }
            false => Happening::of_project(project, "issues_events", "Issue Hook", body),
        }
    }

    pub(crate) fn note(project: u64, confidential: bool, body: Value) -> Happening {
        match confidential {
            true => {
                Happening::of_project(project, "confidential_note_events", "Confidential Note Hook", body)
            }
            false => Happening::of_project(project, "note_events", "Note Hook", body),
        }
    }

    pub(crate) fn emoji(project: u64, body: Value) -> Happening {
        Happening::of_project(project, "emoji_events", "Emoji Hook", body)
    }

    pub(crate) fn merge_request(project: u64, body: Value) -> Happening {
        Happening::of_project(project, "merge_requests_events", "Merge Request Hook", body)
    }

    pub(crate) fn push(project: u64, branch: &str, body: Value) -> Happening {
        let push = Happening::of_project(project, "push_events", "Push Hook", body);
        Happening { branch: Some(branch.to_owned()), ..push }
    }

    pub(crate) fn project_lifecycle(project: u64, body: Value) -> Happening {
        let event = Happening::of_project(project, "project_events", "Project Hook", body);
        Happening { group_hooks_only: true, ..event }
    }

    pub(crate) fn subgroup(parent: u64, body: Value) -> Happening {
        let event = Happening::of_project(0, "subgroup_events", "Subgroup Hook", body);
        Happening { project: None, group: Some(parent), group_hooks_only: true, ..event }
    }

    pub(crate) fn token_expiring(group: u64, body: Value) -> Happening {
        let event =
            Happening::of_project(0, "resource_access_token_events", "Resource Access Token Hook", body);
        Happening { project: None, group: Some(group), ..event }
    }
}

impl World {
    /// A hook on a group or project (full path), with nothing switched on but pushes.
    pub fn add_hook(&mut self, place: &str, url: &str) -> &mut Hook {
        let owner = match self.find_project(place) {
            Some(project) => Owner::Project(project.id),
            None => Owner::Group(self.group(place).id),
        };
        self.create_hook(owner, url)
    }

    pub(crate) fn create_hook(&mut self, owner: Owner, url: &str) -> &mut Hook {
        let (id, created_at) = (self.next_id("hook"), self.time.now());
        let mut switches: BTreeMap<&'static str, bool> =
            SWITCHES.iter().map(|name| (*name, *name == "push_events")).collect();
        if matches!(owner, Owner::Group(_)) {
            switches.extend(GROUP_SWITCHES.iter().map(|name| (*name, false)));
        }
        let hook = Hook {
            id,
            owner,
            url: url.to_owned(),
            name: String::new(),
            description: String::new(),
            switches,
            token: None,
            signing_token: None,
            enable_ssl_verification: true,
            push_events_branch_filter: None,
            branch_filter_strategy: "wildcard".into(),
            custom_webhook_template: None,
            custom_headers: Vec::new(),
            failures: 0,
            disabled_until: None,
            created_at,
        };
        self.hooks.entry(id).insert_entry(hook).into_mut()
    }

    /// Puts a delivery into the outbox for every hook that listens to this.
    pub(crate) fn emit(&mut self, happening: Happening) {
        let reached: Vec<u64> =
            self.hooks.values().filter(|hook| self.listens(hook, &happening)).map(|hook| hook.id).collect();
        let now = if reached.is_empty() { 0 } else { self.time.now() };
        for id in reached {
            if self.hooks[&id].alert_status(now) != "executable" {
                self.dropped_events += 1;
                continue;
            }
            let chain = self.chain.clone().unwrap_or_else(uuid);
            // A hook that already fired in this chain is not fired again: GitLab's recursion guard.
            if !self.chains.entry(chain.clone()).or_default().insert(id) {
                continue;
            }
            self.queue(id, happening.event, &happening.body, chain);
        }
    }

    /// Queues one delivery for a hook, whatever its state.
    pub(crate) fn queue(&mut self, hook: u64, event: &'static str, body: &Value, chain: String) {
        let (id, hook) = (self.next_id("delivery"), &self.hooks[&hook]);
        let bytes = match &hook.custom_webhook_template {
            Some(template) => template.clone().into_bytes(),
            None => encode(body),
        };
        let (key, url) = (uuid(), hook.url.clone());
        self.outbox.push_back(Delivery { id, hook: hook.id, url, event, key, chain, body: bytes.into() });
    }

    fn listens(&self, hook: &Hook, happening: &Happening) -> bool {
        let near = match (hook.owner, happening.project, happening.group) {
            (Owner::Project(id), Some(project), _) => id == project && !happening.group_hooks_only,
            (Owner::Group(id), Some(project), _) => {
                self.group_chain(self.projects[&project].namespace).contains(&id)
            }
            (Owner::Group(id), None, Some(group)) => self.group_chain(group).contains(&id),
            _ => false,
        };
        let branch = match (&hook.push_events_branch_filter, &happening.branch) {
            (Some(filter), Some(branch)) if !filter.is_empty() => wildcard(filter, branch),
            _ => true,
        };
        near && branch && hook.switches.get(happening.switch) == Some(&true)
    }

    /// Tells the group's hooks that a token dies in a few days.
    pub fn token_expires_soon(&mut self, group: &str, secret: &str) {
        let (group, token) = (self.group(group).clone(), self.tokens[secret].clone());
        let body = crate::gitlab::hook::payload::token_expiring(self, &group, &token);
        self.emit(Happening::token_expiring(group.id, body));
    }

    /// The hooks installed on a project or group.
    pub fn hooks_of(&self, owner: Owner) -> Vec<&Hook> {
        self.hooks.values().filter(|hook| hook.owner == owner).collect()
    }

    /// The first project at or under what a hook was installed on: test deliveries describe its data.
    pub(crate) fn sample_project(&self, owner: Owner) -> Option<&Project> {
        self.projects.values().find(|project| match owner {
            Owner::Project(id) => project.id == id,
            Owner::Group(id) => self.group_chain(project.namespace).contains(&id),
        })
    }
}

fn wildcard(filter: &str, branch: &str) -> bool {
    match filter.split_once('*') {
        None => filter == branch,
        Some((head, tail)) => {
            branch.len() >= head.len() + tail.len() && branch.starts_with(head) && branch.ends_with(tail)
        }
    }
}
