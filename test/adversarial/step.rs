//! What happens in a case: people's acts and GitLab's, by the names that the file gives them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::case::replace;
use crate::app::TestApp;
use crate::gitlab::{BOT, Change, Fault, Level, Merge, Switch, Visibility, World};

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
    path: String,
    visibility: Option<String>,
    repository: Option<String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// Nothing of its repository may ever be asked for.
    #[serde(default)]
    sealed: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commit {
    r#in: String,
    branch: Option<String>,
    by: Option<String>,
    message: Option<String>,
    #[serde(flatten)]
    changes: Changes,
    r#as: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
pub struct Changes {
    #[serde(default)]
    write: BTreeMap<String, String>,
    #[serde(default)]
    rename: BTreeMap<String, String>,
    #[serde(default)]
    symlink: BTreeMap<String, String>,
    #[serde(default)]
    submodule: BTreeMap<String, String>,
    #[serde(default)]
    delete: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub struct Proposal {
    from: String,
    to: String,
    by: Option<String>,
    branch: String,
    title: String,
    #[serde(default)]
    description: String,
    #[serde(flatten)]
    changes: Changes,
    r#as: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Issue {
    r#in: Option<String>,
    by: Option<String>,
    title: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    labels: Vec<String>,
    r#as: Option<String>,
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
const HERE: &str = "acme/api";
const ASK: &str = "ask";

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
    /// case finds the world as this one did. What the bot remembers of closed threads stays.
    pub async fn end(&mut self) {
        let projects = std::mem::take(&mut self.opened);
        {
            let mut world = self.app.gitlab.world();
            let world = &mut *world;
            for (project, iid) in self.threads.values() {
                let path = world.project_path(&world.projects[project]);
                if world.find_issue(*project, *iid).is_some_and(|issue| issue.closed_at.is_none()) {
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

/// The hand that changes the world.
struct Hand<'a> {
    world: &'a mut World,
    named: &'a mut BTreeMap<String, String>,
    threads: &'a mut BTreeMap<String, (u64, u64)>,
    sealed: &'a mut Vec<u64>,
    opened: &'a mut Vec<u64>,
}

fn or<'t>(by: &'t Option<String>, otherwise: &'t str) -> &'t str {
    by.as_deref().unwrap_or(otherwise)
}

impl Hand<'_> {
    fn on(&self, name: &Option<String>) -> (String, u64) {
        let name = or(name, ASK);
        let (project, iid) = *self.threads.get(name).unwrap_or_else(|| panic!("no thread is called {name}"));
        (self.world.project_path(&self.world.projects[&project]), iid)
    }

    fn name(&mut self, name: Option<String>, value: String) {
        if let Some(name) = name {
            self.named.insert(name, value);
        }
    }

    fn does(&mut self, step: Step) {
        match step {
            Step::Project(project) => self.project(project),
            Step::Group { path, visibility: to } => {
                self.world.add_group(&path).visibility = to.as_deref().map_or(Visibility::Public, visibility);
            }
            Step::User { name, called } => drop(self.world.add_user(&name, or(&called, "Somebody"))),
            Step::Member { of, user, level: to } => self.world.add_member(&of, &user, level(&to)),
            Step::Commit(commit) => {
                let by = or(&commit.by, "ines").to_owned();
                let message = commit.message.unwrap_or_else(|| "Update".to_owned());
                let branch = commit.branch.as_deref();
                let sha = self.world.commit(&commit.r#in, branch, &by, &message, commit.changes.list());
                self.name(commit.r#as, sha);
            }
            Step::Amend(commit) => {
                let by = or(&commit.by, "ines").to_owned();
                let branch = or(&commit.branch, "main").to_owned();
                let message = commit.message.unwrap_or_else(|| "Update".to_owned());
                let sha = self.world.amend(&commit.r#in, &branch, &by, &message, commit.changes.list());
                self.name(commit.r#as, sha);
            }
            Step::Propose(p) => self.propose(p),
            Step::Issue(issue) => self.issue(issue, None),
            Step::Ask(issue) => self.issue(issue, Some(ASK)),
            step => self.does_in_repositories(step),
        }
    }

    fn does_in_repositories(&mut self, step: Step) {
        let world = &mut *self.world;
        match step {
            Step::ForcePush { r#in, branch, to } => world.force_push(&r#in, &branch, &to, "ines"),
            Step::DeleteBranch { r#in, branch } => world.delete_branch(&r#in, &branch, "ines"),
            Step::DefaultBranch { r#in, branch } => world.set_default_branch(&r#in, &branch),
            Step::Tag { r#in, name, at } => world.tag(&r#in, &name, &at),
            Step::Merge { r#in, mr, by, how: way } => {
                let iid = mr.parse().expect("a merge request");
                let sha = world.merge(&r#in, iid, or(&by, "ines"), how(way.as_deref()));
                self.name(Some("merged".to_owned()), sha);
            }
            Step::CloseMr { r#in, mr, by } => {
                world.close_merge_request(&r#in, mr.parse().expect("a merge request"), or(&by, "ines"));
            }
            step => self.does_in_threads(step),
        }
    }

    fn does_in_threads(&mut self, step: Step) {
        match step {
            Step::Comment { on, by, text, internal } => {
                let (project, iid) = self.on(&on);
                let place = if internal {
                    crate::gitlab::world::notes::Place::Internal
                } else {
                    crate::gitlab::world::notes::Place::Alone
                };
                self.world.comment_at(&project, iid, or(&by, "eve"), &text, place);
            }
            Step::Edit { on, by, title, text } => {
                let (project, iid) = self.on(&on);
                self.world.edit_issue(&project, iid, or(&by, "mara"), title.as_deref(), text.as_deref());
            }
            Step::Close { on, by } => {
                let (project, iid) = self.on(&on);
                self.world.close_issue(&project, iid, or(&by, "eve"));
            }
            Step::Reopen { on, by } => {
                let (project, iid) = self.on(&on);
                self.world.reopen_issue(&project, iid, or(&by, "eve"));
            }
            Step::Label { on, by, add, remove } => {
                let (project, iid) = self.on(&on);
                let names = |list: &[String]| list.to_vec();
                let (add, remove) = (names(&add), names(&remove));
                let add: Vec<&str> = add.iter().map(String::as_str).collect();
                let remove: Vec<&str> = remove.iter().map(String::as_str).collect();
                if !add.is_empty() {
                    self.world.add_labels(&project, iid, or(&by, "mara"), &add);
                }
                if !remove.is_empty() {
                    self.world.remove_labels(&project, iid, or(&by, "mara"), &remove);
                }
            }
            Step::Award { on, by, emoji } => {
                let (project, iid) = self.on(&on);
                let id = self.world.issue(&project, iid).id;
                self.world.award(crate::gitlab::Awardable::Issue(id), or(&by, "eve"), &emoji);
            }
            Step::Lock { on } => {
                let (project, iid) = self.on(&on);
                self.world.lock_issue(&project, iid, "ines", true);
            }
            Step::Confidential { on } => {
                let (project, iid) = self.on(&on);
                self.world.set_confidential(&project, iid, "ines", true);
            }
            Step::Move { on, to } => {
                let (project, iid) = self.on(&on);
                self.world.move_issue(&project, iid, "ines", &to);
            }
            step => self.does_to_projects(step),
        }
    }

    fn does_to_projects(&mut self, step: Step) {
        let world = &mut *self.world;
        match step {
            Step::NewLabel { group, name } => drop(world.add_group_label(&group, &name, "#123456")),
            Step::RenameProject { path, to } => world.rename_project(&path, &to),
            Step::Transfer { path, to } => world.transfer_project(&path, &to),
            Step::Archive { path } => world.archive_project(&path, true),
            Step::DeleteProject { path } => world.delete_project(&path),
            Step::Fork { path, into, sealed } => {
                let id = world.fork_project(&path, &into);
                self.opened.push(id);
                self.sealed.extend(sealed.then_some(id));
            }
            Step::Share { path, with } => {
                let group = world.group(&with).id;
                world.project_mut(&path).shared_with.push((group, Level::Developer));
            }
            Step::Visibility { path, to } => world.project_mut(&path).visibility = visibility(&to),
            Step::Access { path, repository, merge_requests, issues } => {
                let project = world.project_mut(&path);
                let set = |place: &mut Switch, to: &Option<String>| {
                    if let Some(to) = to {
                        *place = switch(to);
                    }
                };
                set(&mut project.repository_access, &repository);
                set(&mut project.merge_requests_access, &merge_requests);
                set(&mut project.issues_access, &issues);
            }
            other => panic!("{other:?} is done elsewhere"),
        }
    }

    fn project(&mut self, wanted: Project) {
        let files = wanted.files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
        let project = self.world.add_project(&wanted.path).with(|project| {
            project.visibility = wanted.visibility.as_deref().map_or(Visibility::Public, visibility);
            project.repository_access = wanted.repository.as_deref().map_or(Switch::Enabled, switch);
        });
        let id = project.id;
        if !wanted.files.is_empty() {
            project.files(files);
        }
        self.opened.push(id);
        self.sealed.extend(wanted.sealed.then_some(id));
    }

    fn propose(&mut self, p: Proposal) {
        let by = or(&p.by, "eve");
        let sha = self.world.commit(&p.from, Some(&p.branch), by, &p.title, p.changes.list());
        let iid = self.world.open_merge_request((&p.from, &p.to), by, &p.branch, &p.title, &p.description);
        self.named.insert(format!("{}.sha", p.r#as), sha);
        self.named.insert(p.r#as, iid.to_string());
    }

    fn issue(&mut self, issue: Issue, name: Option<&str>) {
        let (project, by) =
            (or(&issue.r#in, HERE), or(&issue.by, if name.is_some() { "mara" } else { "eve" }));
        let iid = self.world.open_issue(project, by, &issue.title, &issue.text);
        let id = self.world.project(project).id;
        if !issue.labels.is_empty() {
            let labels: Vec<&str> = issue.labels.iter().map(String::as_str).collect();
            self.world.add_labels(project, iid, by, &labels);
        }
        for name in name.map(str::to_owned).into_iter().chain(issue.r#as) {
            self.named.insert(name.clone(), iid.to_string());
            self.threads.insert(name, (id, iid));
        }
    }
}

impl Changes {
    fn list(self) -> Vec<Change> {
        let write = self.write.into_iter().map(|(path, text)| Change::Write(path, text.into_bytes()));
        let rename = self.rename.into_iter().map(|(from, to)| Change::Rename(from, to));
        let symlink = self.symlink.into_iter().map(|(path, to)| Change::Symlink(path, to));
        let submodule = self.submodule.into_iter().map(|(path, at)| Change::Submodule(path, at));
        let delete = self.delete.into_iter().map(Change::Delete);
        write.chain(rename).chain(symlink).chain(submodule).chain(delete).collect()
    }
}

fn visibility(name: &str) -> Visibility {
    match name {
        "public" => Visibility::Public,
        "internal" => Visibility::Internal,
        "private" => Visibility::Private,
        other => panic!("no visibility is called {other}"),
    }
}

fn switch(name: &str) -> Switch {
    match name {
        "enabled" => Switch::Enabled,
        "private" => Switch::Private,
        "disabled" => Switch::Disabled,
        other => panic!("no access level is called {other}"),
    }
}

fn level(name: &str) -> Level {
    match name {
        "guest" => Level::Guest,
        "reporter" => Level::Reporter,
        "developer" => Level::Developer,
        "maintainer" => Level::Maintainer,
        other => panic!("no role is called {other}"),
    }
}

fn how(name: Option<&str>) -> Merge {
    match name {
        None | Some("merge") => Merge::Commit,
        Some("squash") => Merge::Squash,
        Some("fast_forward") => Merge::FastForward,
        Some(other) => panic!("no merge is called {other}"),
    }
}
