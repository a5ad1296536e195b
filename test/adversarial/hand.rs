//! The hand that lets the steps of a case happen in the world.

use std::collections::BTreeMap;

use super::step::{ASK, Changes, HERE, Issue, Project, Proposal, Step};
use crate::gitlab::{Awardable, BOT, Change, Level, Merge, Switch, Visibility, World};

/// The hand that changes the world.
pub struct Hand<'a> {
    pub world: &'a mut World,
    pub named: &'a mut BTreeMap<String, String>,
    pub threads: &'a mut BTreeMap<String, (u64, u64)>,
    pub sealed: &'a mut Vec<u64>,
    pub opened: &'a mut Vec<u64>,
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

    /// Lets one step happen.
    pub fn does(&mut self, step: Step) {
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
            Step::Award { on, by, emoji, answer } => {
                let (project, iid) = self.on(&on);
                let bot = self.world.user(BOT).id;
                let issue = self.world.issue(&project, iid);
                let notes = issue.discussions.iter().flat_map(|discussion| &discussion.notes);
                let on: Vec<Awardable> = match answer {
                    true => notes
                        .filter(|n| n.author == bot && !n.system)
                        .map(|n| Awardable::Note(n.id))
                        .collect(),
                    false => vec![Awardable::Issue(issue.id)],
                };
                assert!(!on.is_empty(), "the bot has answered");
                for on in on {
                    self.world.award(on, or(&by, "eve"), &emoji);
                }
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
