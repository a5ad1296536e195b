//! What happens in a case: people's acts and GitLab's, by the names that the file gives them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::case::replace;
use super::hand::Hand;
use crate::app::TestApp;
use crate::gitlab::{BOT, Fault};

/// One thing that happens. The file's head explains each.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    Project(Project),
    Group {
        path: String,
        visibility: Option<String>,
    },
    User {
        name: String,
        called: Option<String>,
    },
    Member {
        of: String,
        user: String,
        level: String,
    },
    Commit(Commit),
    Amend(Commit),
    ForcePush {
        r#in: String,
        branch: String,
        to: String,
    },
    DeleteBranch {
        r#in: String,
        branch: String,
    },
    DefaultBranch {
        r#in: String,
        branch: String,
    },
    Tag {
        r#in: String,
        name: String,
        at: String,
    },
    Propose(Proposal),
    Merge {
        r#in: String,
        mr: String,
        by: Option<String>,
        how: Option<String>,
    },
    CloseMr {
        r#in: String,
        mr: String,
        by: Option<String>,
    },
    Issue(Issue),
    Ask(Issue),
    Comment {
        on: Option<String>,
        by: Option<String>,
        text: String,
        #[serde(default)]
        internal: bool,
    },
    Edit {
        on: Option<String>,
        by: Option<String>,
        title: Option<String>,
        text: Option<String>,
    },
    Close {
        on: Option<String>,
        by: Option<String>,
    },
    Reopen {
        on: Option<String>,
        by: Option<String>,
    },
    Label {
        on: Option<String>,
        by: Option<String>,
        #[serde(default)]
        add: Vec<String>,
        #[serde(default)]
        remove: Vec<String>,
    },
    NewLabel {
        group: String,
        name: String,
    },
    Award {
        on: Option<String>,
        by: Option<String>,
        emoji: String,
        /// On the bot's notes of the thread, and not on the issue.
        #[serde(default)]
        answer: bool,
    },
    Lock {
        on: Option<String>,
    },
    Confidential {
        on: Option<String>,
    },
    Move {
        on: Option<String>,
        to: String,
    },
    RenameProject {
        path: String,
        to: String,
    },
    Transfer {
        path: String,
        to: String,
    },
    Archive {
        path: String,
    },
    DeleteProject {
        path: String,
    },
    Fork {
        path: String,
        into: String,
        #[serde(default)]
        sealed: bool,
    },
    Share {
        path: String,
        with: String,
    },
    Visibility {
        path: String,
        to: String,
    },
    Access {
        path: String,
        repository: Option<String>,
        merge_requests: Option<String>,
        issues: Option<String>,
    },
    Meanwhile {
        ask: Issue,
        before: String,
        #[serde(default)]
        skip: usize,
    },
    Wait,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Project {
    pub path: String,
    pub visibility: Option<String>,
    pub repository: Option<String>,
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Nothing of its repository may ever be asked for.
    #[serde(default)]
    pub sealed: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commit {
    pub r#in: String,
    pub branch: Option<String>,
    pub by: Option<String>,
    pub message: Option<String>,
    #[serde(flatten)]
    pub changes: Changes,
    pub r#as: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
pub struct Changes {
    #[serde(default)]
    pub write: BTreeMap<String, String>,
    #[serde(default)]
    pub rename: BTreeMap<String, String>,
    #[serde(default)]
    pub symlink: BTreeMap<String, String>,
    #[serde(default)]
    pub submodule: BTreeMap<String, String>,
    #[serde(default)]
    pub delete: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub struct Proposal {
    pub from: String,
    pub to: String,
    pub by: Option<String>,
    pub branch: String,
    pub title: String,
    #[serde(default)]
    pub description: String,
    #[serde(flatten)]
    pub changes: Changes,
    pub r#as: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Issue {
    pub r#in: Option<String>,
    pub by: Option<String>,
    pub title: String,
    #[serde(default)]
    pub text: String,
    #[serde(default)]
    pub labels: Vec<String>,
    pub r#as: Option<String>,
}

/// The world of a chapter while its cases are played.
pub struct Stage<'a> {
    pub app: &'a TestApp,
    words: BTreeMap<String, String>,
    /// What this case named: commits, merge requests, threads.
    named: BTreeMap<String, String>,
    /// Threads by name; `ask` is the one that is judged.
    threads: BTreeMap<String, (u64, u64)>,
    /// Projects that this case made.
    opened: Vec<u64>,
    /// Ids of projects whose repositories may never be asked for.
    pub sealed: Vec<u64>,
}

/// Where the asker asks when the file does not say.
pub const HERE: &str = "acme/api";
pub const ASK: &str = "ask";

impl<'a> Stage<'a> {
    pub fn new(app: &'a TestApp, words: BTreeMap<String, String>) -> Stage<'a> {
        let infra = app.gitlab.world().project("acme/infra").id;
        Stage {
            app,
            words,
            named: BTreeMap::new(),
            threads: BTreeMap::new(),
            opened: Vec::new(),
            sealed: vec![infra],
        }
    }

    /// Begins a case: what the last one named is forgotten.
    pub fn begin(&mut self, id: &str) {
        self.named.clear();
        self.threads.clear();
        self.opened.clear();
        let slug: String = id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        self.named.insert("case".to_owned(), slug.to_ascii_lowercase());
    }

    /// The thread that the case asks in.
    pub fn asked(&self) -> Option<(String, u64)> {
        let (project, iid) = *self.threads.get(ASK)?;
        let world = self.app.gitlab.world();
        Some((world.project_path(&world.projects[&project]), iid))
    }

    /// A text with everything filled in. Panics when something in it is unknown.
    pub fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        // Words may be made of words.
        for _ in 0..4 {
            text = replace(&text, |name| self.value(name));
        }
        // `{{` may be meant, but a name may not.
        let unknown =
            text.find("{{").is_some_and(|at| text[at + 2..].starts_with(|c: char| c.is_ascii_lowercase()));
        assert!(!unknown, "something in {text:?} is not known");
        text
    }

    fn value(&self, name: &str) -> Option<String> {
        match name {
            "gitlab" => return Some(self.app.gitlab.url().to_owned()),
            "bot" => return Some(BOT.to_owned()),
            _ => {}
        }
        if let Some(project) = name.strip_prefix("head ") {
            let project = self.text(project);
            return Some(self.app.gitlab.world().head(&project).id.clone());
        }
        if let Some(of) = name.strip_prefix("short ") {
            return self.value(of).map(|sha| sha.chars().take(8).collect());
        }
        self.named.get(name).or_else(|| self.words.get(name)).cloned()
    }

    fn fill(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(list) => list.iter().map(|value| self.fill(value)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(key, value)| (self.text(key), self.fill(value))).collect()
            }
            other => other.clone(),
        }
    }

    /// Plays steps, and lets the bot work after them.
    pub async fn play(&mut self, steps: &[Value]) {
        for step in steps {
            Box::pin(self.step(step)).await;
        }
        self.app.drain().await;
    }

    /// A quarter of an hour passes, in which the bot looks around.
    pub async fn wait(&mut self) {
        self.app.advance(Duration::from_secs(15 * 60));
        self.app.app().sweep().await.expect("the sweep");
        self.app.drain().await;
    }

    async fn step(&mut self, raw: &Value) {
        // The steps inside know more than is known now.
        let nested =
            |key: &str| raw.get(key).and_then(|body| body.get("steps")).and_then(Value::as_array).cloned();
        if let Some(steps) = nested("repeat") {
            let times = raw["repeat"]["times"].as_u64().expect("a number of times");
            for i in 1..=times {
                self.named.insert("i".to_owned(), i.to_string());
                for step in &steps {
                    Box::pin(self.step(step)).await;
                }
            }
            return;
        }
        let mut shell = raw.clone();
        let inner = nested("meanwhile");
        if let Some(body) = shell.get_mut("meanwhile").and_then(Value::as_object_mut) {
            body.remove("steps");
        }
        let filled = self.fill(&shell);
        let step: Step = serde_json::from_value(filled).unwrap_or_else(|why| panic!("{why}: {raw}"));
        match step {
            Step::Wait => self.wait().await,
            Step::Meanwhile { ask, before, skip } => {
                self.meanwhile(ask, &before, skip, &inner.unwrap_or_default()).await;
            }
            step => {
                self.act(step);
                self.app.drain().await;
            }
        }
    }

    fn act(&mut self, step: Step) {
        let mut world = self.app.gitlab.world();
        let (named, threads, sealed) = (&mut self.named, &mut self.threads, &mut self.sealed);
        let opened = &mut self.opened;
        Hand { world: &mut world, named, threads, sealed, opened }.does(step);
    }

    /// Ends a case: its threads are taken out of the bot's hands, its projects out of the corpus, so that the next
    /// case finds the world as this one did. What the bot remembers of them goes too.
    pub async fn end(&mut self) {
        let projects = std::mem::take(&mut self.opened);
        {
            let mut world = self.app.gitlab.world();
            let world = &mut *world;
            for (project, iid) in self.threads.values() {
                let path = world.project_path(&world.projects[project]);
                if world.find_issue(*project, *iid).is_some() {
                    world.add_labels(&path, *iid, "ines", &["signpost::off"]);
                }
            }
            for id in &projects {
                world.projects.get_mut(id).expect("projects stay").archived = true;
            }
        }
        if projects.is_empty() { self.app.drain().await } else { self.wait().await }
    }

    /// Something happens while the bot is at work on a question: just before one of its calls.
    async fn meanwhile(&mut self, ask: Issue, before: &str, skip: usize, steps: &[Value]) {
        let (method, path) = before.split_once(' ').expect("a method and a path");
        let slow = Fault::Slow(Duration::from_millis(250));
        self.app.gitlab.faults().after(skip, method, path, slow);
        self.act(Step::Ask(ask));
        let app = self.app;
        let happens = async {
            for _ in 0..500 {
                if app.gitlab.faults().left() == 0 {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            let struck = app.gitlab.faults().left() == 0;
            app.gitlab.faults().clear();
            assert!(struck, "the bot never called {before}");
            for step in steps {
                let step: Step =
                    serde_json::from_value(self.fill(step)).unwrap_or_else(|why| panic!("{why}: {step}"));
                self.act(step);
            }
        };
        tokio::join!(app.drain(), happens);
    }
}
