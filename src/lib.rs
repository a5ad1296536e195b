//! Signpost: issues signpost, they do not answer.
//!
//! A GitLab webhook announces that something happened in a thread. Signpost looks at the thread as it is
//! now, takes from it *references* (where to look) and a *question* (a yardstick), and answers with a
//! passage of the group's own documentation or code, quoted word for word and cited with commit and lines.
//! Where nothing covers the question it posts nothing and labels a documentation gap.
//!
//! The one rule is a chain of types, each with a single constructor:
//!
//! ```text
//! stranger's text ─► Prose ──references()──► Reference ─resolve─► Resolved ─admit─► Admitted ─cover─► Validated ─► Reply ─► GitLab
//!                      └────question()─────► Question ───────────────────────────────── a score ──┘
//! ```
//!
//! The modules are declared in the order in which one event walks through them; `docs/architecture.md`
//! tells the walk.

pub mod clock;
pub mod config;
pub mod reference;

pub mod docsite;
pub mod judge;
pub mod prose;
pub mod reply;
pub mod search;
pub mod section;
pub mod target;

pub mod gitlab;
pub mod store;
pub mod telemetry;

pub mod answer;
pub mod gaps;
pub mod history;
pub mod hook;
pub mod library;
pub mod project_hooks;
pub mod reask;
pub mod sweep;
pub mod sync;
pub mod worker;

pub mod admin;
pub mod app;
pub mod cli;
