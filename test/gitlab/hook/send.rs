//! Posting deliveries: at once, by hand, twice, again.

use super::{Delivery, headers, uuid};
use crate::gitlab::hook::payload::{self, Push};
use crate::gitlab::time::Millis;
use crate::gitlab::world::hooks::Owner;
use crate::gitlab::world::{Issue, World};
use crate::gitlab::{FakeGitLab, State, lock};
use serde_json::Value;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// One try to deliver.
#[derive(Clone, Debug)]
pub struct Attempt {
    pub delivery: Delivery,
    pub at: Millis,
    /// The receiver's answer; none when there was none.
    pub status: Option<u16>,
    /// How long the receiver took.
    pub took: Duration,
}

/// GitLab waits ten seconds for a receiver.
pub const PATIENCE: Duration = Duration::from_secs(10);

impl FakeGitLab {
    /// Sends what is in the outbox, in order, and returns how many deliveries that were. Two callers at once
    /// do not overtake each other.
    pub async fn deliver(&self) -> usize {
        let _turn = self.inner.state.sending.lock().await;
        let mut sent = 0;
        loop {
            let next = self.world().outbox.pop_front();
            let Some(delivery) = next else { return sent };
            self.attempt(&delivery).await;
            sent += 1;
        }
    }

    /// Sends everything at once, each delivery in its own request, as GitLab's queue does.
    pub async fn deliver_all_at_once(&self) -> Vec<Option<u16>> {
        let deliveries: Vec<Delivery> = self.world().outbox.drain(..).collect();
        let all = deliveries.iter().map(|delivery| self.attempt(delivery));
        futures_util::future::join_all(all).await
    }

    /// Takes the outbox away: what a test wants to reorder, alter or lose.
    pub fn drain_outbox(&self) -> Vec<Delivery> {
        self.world().outbox.drain(..).collect()
    }

    /// Sends one delivery (again): same key, fresh timestamp and signature. Returns the answer's status.
    pub async fn attempt(&self, delivery: &Delivery) -> Option<u16> {
        self.inner.state.post(delivery, None).await
    }

    /// Sends one delivery as if it had been built `ago` before now.
    pub async fn attempt_dated(&self, delivery: &Delivery, ago: Duration) -> Option<u16> {
        self.inner.state.post(delivery, Some(ago)).await
    }

    /// Sends one delivery after a while, without waiting for it.
    pub fn attempt_later(&self, delivery: Delivery, delay: Duration) -> tokio::task::JoinHandle<Option<u16>> {
        let gitlab = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(delay).await;
            gitlab.attempt(&delivery).await
        })
    }

    /// Every attempt so far.
    pub fn attempts(&self) -> Vec<Attempt> {
        lock(&self.inner.state.attempts).clone()
    }

    /// Whether deliveries are sent as soon as they come into being (the default), or wait for `deliver`.
    pub fn send_at_once(&self, at_once: bool) {
        self.inner.state.at_once.store(at_once, Ordering::SeqCst);
    }

    /// How long a receiver may take, instead of ten seconds.
    pub fn set_patience(&self, patience: Duration) {
        *lock(&self.inner.state.patience) = patience;
    }

    /// Sends the outbox if deliveries are sent at once; called after every event.
    pub(crate) async fn flush(&self) {
        if self.inner.state.at_once.load(Ordering::SeqCst) {
            self.deliver().await;
        }
    }

    /// Presses the hook's test button: a delivery about data that exists already, sent at once. Returns the
    /// receiver's status, or none when there is nothing to send.
    pub async fn test_hook(&self, hook: u64, trigger: &str) -> Option<u16> {
        let delivery = self.world().test_delivery(hook, trigger)?;
        self.attempt(&delivery).await
    }
}

impl State {
    /// Sends one delivery, notes the attempt, and counts its outcome for the hook.
    pub(crate) async fn post(&self, delivery: &Delivery, ago: Option<Duration>) -> Option<u16> {
        let (request, now) = {
            let world = lock(&self.world);
            let hook = world.hooks.get(&delivery.hook)?;
            let now = world.time.now();
            let dated = now - ago.map_or(0, |ago| ago.as_millis() as Millis);
            let headers = headers(delivery, hook, &world.instance, &world.version, dated);
            let request = self.http.post(&delivery.url).body(delivery.body.to_vec());
            (headers.into_iter().fold(request, |request, (name, value)| request.header(name, value)), now)
        };
        let patience = *lock(&self.patience);
        let began = std::time::Instant::now();
        let status = request.timeout(patience).send().await.ok().map(|response| response.status().as_u16());
        let took = began.elapsed();
        if let Some(hook) = lock(&self.world).hooks.get_mut(&delivery.hook) {
            hook.settle(status, now);
        }
        lock(&self.attempts).push(Attempt { delivery: delivery.clone(), at: now, status, took });
        status
    }
}

impl World {
    /// What the test button would send: no `action`, and times as the REST interface writes them.
    pub(crate) fn test_delivery(&self, hook: u64, trigger: &str) -> Option<Delivery> {
        let hook = self.hooks.get(&hook)?;
        let project = self.sample_project(hook.owner)?;
        let issue = || -> Option<&Issue> {
            let inside = |issue: &&Issue| match hook.owner {
                Owner::Project(id) => issue.project == id,
                Owner::Group(id) => self.group_chain(self.projects[&issue.project].namespace).contains(&id),
            };
            self.issues.values().rfind(inside)
        };
        let (event, body) = match trigger {
            "push_events" => {
                let branch = project.default_branch.as_ref()?;
                let head = project.repository.branches.get(branch)?.clone();
                let reference = format!("refs/heads/{branch}");
                let before = project
                    .repository
                    .commit(&head)?
                    .parents
                    .first()
                    .cloned()
                    .unwrap_or_else(|| super::super::git::ZERO.into());
                (
                    "Push Hook",
                    payload::push(
                        self,
                        &Push { project: project.id, reference, before, after: head, user: None },
                    ),
                )
            }
            "issues_events" | "confidential_issues_events" => {
                let issue = issue()?;
                ("Issue Hook", payload::issue(self, issue, issue.author, None, payload::Changes::new()))
            }
            "note_events" => {
                let issue = issue()?;
                let discussion =
                    issue.discussions.iter().rev().find(|d| d.notes.iter().any(|note| !note.system))?;
                let mut body = payload::note(self, issue, discussion.notes.last()?, &discussion.id, "create");
                body["object_attributes"].as_object_mut().map(|attributes| attributes.remove("action"));
                ("Note Hook", body)
            }
            _ => return None,
        };
        let body = super::encode(&iso_times(body)).into();
        Some(Delivery {
            id: 0,
            hook: hook.id,
            url: hook.url.clone(),
            event,
            key: uuid(),
            chain: uuid(),
            body,
        })
    }
}

/// `2026-10-05 09:14:22 UTC` becomes `2026-10-05T09:14:22.000Z`: the test button does not go through the queue.
fn iso_times(value: Value) -> Value {
    match value {
        Value::String(text) if text.len() == 23 && text.ends_with(" UTC") => {
            Value::String(format!("{}T{}.000Z", &text[..10], &text[11..19]))
        }
        Value::Array(list) => list.into_iter().map(iso_times).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, iso_times(value))).collect(),
        other => other,
    }
}
