//! The only HTTP to GitLab. It reads projects, threads and admitted files, and it writes replies, one label, the
//! report issue and hooks; nothing else in the program can.
//!
//! Every answer is one of four things: a value, `None` where absence is an answer, a refusal
//! ([`Error::Denied`]), or "could not find out" ([`Error::Transient`]). Writes go by numeric id, take
//! [`Reply`](crate::reply::Reply), [`Report`](crate::reply::Report), [`GapLabel`] or [`HookSettings`], and never a string.

mod archive;
mod endpoint;
mod error;
mod hooks;
mod http;
mod issues;
mod labels;
mod pace;
mod pages;
mod people;
#[cfg(test)]
mod policy;
mod projects;
mod report;
mod repository;
pub mod resolve;
mod route;
mod thread;
mod wire;
mod write;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use secrecy::SecretString;
use tokio::sync::OnceCell;
use url::Url;

use crate::clock::Clock;

pub use error::{Call, Error};
pub use hooks::{AlertStatus, Hook, HookOwner, HookSettings, HookTest};
pub use http::{Count, TIMES, Times};
pub use issues::{Face, IssueAt, IssueCounts, IssuesOf, Listed, TitleHtml, Updated};
pub use labels::GapLabel;
pub use pages::Pages;
pub use people::{Metadata, Role, Token, User, UserId};
pub use projects::{Group, ProjectRef, Projects};
pub use report::Reported;
pub use repository::{Changes, Read, Tree, TreeRow};
pub use resolve::{Budget, Outcome, Walk, Why};
pub use thread::{Award, Issue, Labels, Note, Thread, Vote};
pub use write::Posted;

/// A client of one GitLab instance. Cheap to clone; all clones share connections, pauses and counts.
#[derive(Clone)]
pub struct GitLab {
    http: Arc<http::Http>,
    me: Arc<OnceCell<User>>,
    former: Arc<[UserId]>,
    /// Whether a user belongs to a token: that never changes.
    bots: Arc<Mutex<HashMap<UserId, bool>>>,
}

impl GitLab {
    /// A client of the instance at `url` (a relative installation's path included) with a token of scope `api`.
    /// Nothing is asked yet, so this succeeds while GitLab is away. Fails when `url` is not `https` (or `http`
    /// on a loopback address), or carries a user or a query.
    pub fn new(url: &Url, token: SecretString, clock: Clock) -> Result<GitLab, Error> {
        let http = Arc::new(http::Http::new(url, token, clock)?);
        Ok(GitLab { http, me: Arc::new(OnceCell::new()), former: Arc::new([]), bots: Arc::default() })
    }

    /// The same client, which also recognises notes of these earlier bot users as its own: a new token may come
    /// with a new user.
    pub fn known_as(self, former: &[UserId]) -> GitLab {
        GitLab { former: former.into(), ..self }
    }

    /// How often each endpoint answered with which status, since the start.
    pub fn counts(&self) -> Vec<Count> {
        self.http.counts()
    }

    /// How long requests took, since the start.
    pub fn times(&self) -> Times {
        self.http.times()
    }

    /// How far GitLab's clock is ahead of ours, by its last answer, in milliseconds (whole seconds, as the
    /// `Date` header tells them); `None` before the first answer.
    pub fn clock_skew(&self) -> Option<i64> {
        self.http.skew()
    }

    /// How long reading is paused because GitLab asked for it; `None` when it is not.
    pub fn paused_for(&self) -> Option<std::time::Duration> {
        self.http.paused_for()
    }
}

impl std::fmt::Debug for GitLab {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("GitLab")
    }
}
