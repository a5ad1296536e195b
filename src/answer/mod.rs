//! The walk: one look at one thread. The thread is fetched as it is now; what is decided about each of its
//! questions is written down as coordinates and numbers.

mod act;
mod judgement;
pub(crate) mod label;
mod replay;
mod sites;
mod standing;
mod trail;
mod translation;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::clock::{Clock, Millis};
use crate::config::{Config, Mode, When};
use crate::gitlab::{Error as GitLabError, GitLab, Note, Thread};
use crate::hook::OwnIds;
use crate::judge::Judge;
use crate::judge::endpoint::Endpoint;
use crate::library::{Library, LibraryError};
use crate::prose::Question;
use crate::prose::references::ExtractContext;
use crate::reply::Asked;
use crate::store::question::{ISSUE, Record, State};
use crate::store::queue::{Claim, Place};
use crate::store::setting::{BIRTH, CORPUS_READY, GROUP_READ};
use crate::store::{Store, StoreError};
use crate::target::corpus::{Audience, Corpus, Refusal};
use crate::target::{Project, Validated};

pub use judgement::{Consulted, Judgement, consult};
pub use label::LabelName;
pub use replay::{Replayed, replay};
pub use sites::SiteTable;
use trail::Trail;

/// GitLab's clock and ours may differ by this much.
const CLOCKS: Millis = 120_000;
/// Answers that one person gets in one thread within an hour.
const TALK: usize = 5;

/// What a walk needs. Cheap to clone.
#[derive(Clone)]
pub struct World {
    /// GitLab.
    pub gitlab: GitLab,
    /// The database.
    pub store: Store,
    /// The search index.
    pub library: Library,
    /// The predicate.
    pub corpus: Arc<Corpus>,
    /// The judge.
    pub judge: Arc<Judge>,
    /// A chat endpoint as a further judge, where one is configured.
    pub endpoint: Option<Arc<Endpoint>>,
    /// Documentation sites.
    pub docsites: SiteTable,
    /// The configuration.
    pub config: Arc<Config>,
    /// The time.
    pub clock: Clock,
    /// The bot's user ids.
    pub own: OwnIds,
    /// The name that the gap label has now.
    pub label: LabelName,
    /// Threads that were asked for because they quote what they must not quote any more.
    pub withdrawn: Arc<Mutex<HashSet<Place>>>,
}

/// Why a walk did not come to an end.
#[derive(Debug, thiserror::Error)]
pub enum WalkError {
    /// GitLab.
    #[error(transparent)]
    GitLab(#[from] GitLabError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The search index.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The project's budget of notes is used up for now.
    #[error("the project's budget of notes is used up for this hour")]
    Budget,
    /// The corpus has not been read for the first time yet.
    #[error("the corpus has not been read yet")]
    CorpusNotReady {
        /// How long the thread has been waiting.
        waiting: Duration,
    },
    /// The configured group is not there: renamed, or misspelt in the configuration.
    #[error("the configured group is not there: was it renamed? set gitlab.group")]
    NoGroup,
    /// A defect of this program stopped a computation.
    #[error("a computation stopped by a defect")]
    Defect,
    /// Somebody else took the thread over.
    #[error("the lease was lost")]
    LeaseLost,
}

impl WalkError {
    /// A fixed word for the queue row.
    pub fn word(&self) -> &'static str {
        match self {
            WalkError::GitLab(GitLabError::Transient { .. }) => "gitlab_away",
            WalkError::GitLab(GitLabError::Denied(_)) => "gitlab_denied",
            WalkError::GitLab(GitLabError::Gone(_)) => "gitlab_gone",
            WalkError::GitLab(GitLabError::Broken(_)) => "gitlab_broken",
            WalkError::Store(_) => "store",
            WalkError::Library(_) => "search",
            WalkError::Budget => "budget",
            WalkError::CorpusNotReady { .. } => "corpus_not_ready",
            WalkError::NoGroup => "no_group",
            WalkError::Defect => "defect",
            WalkError::LeaseLost => "lease_lost",
        }
    }

    /// How long GitLab asked to be left alone.
    pub fn after(&self) -> Option<Duration> {
        match self {
            WalkError::GitLab(GitLabError::Transient { after, .. }) => *after,
            WalkError::Budget | WalkError::NoGroup => Some(Duration::from_secs(600)),
            // Often while it may be seconds, rarely when it turns out to be hours.
            WalkError::CorpusNotReady { waiting } => {
                Some((*waiting / 4).clamp(Duration::from_millis(300), Duration::from_secs(30)))
            }
            _ => None,
        }
    }
}

/// What came of a look at a thread: a fixed word, for metrics and the trail.
pub type Outcome = &'static str;

/// Looks at a thread and does what is to be done.
///
/// # Errors
/// "Could not find out" and "could not do": the thread stays wanted.
pub async fn look(world: &World, claim: &Claim) -> Result<Outcome, WalkError> {
    let place = claim.place;
    let Some(project) = world.gitlab.project(place.project).await? else {
        return world.forget(place, "gone").await;
    };
    // Excluded, foreign, archived and dying projects get nothing, and nothing of them is kept.
    let audience = match world.corpus.admit_thread(&project) {
        Ok(audience) => audience,
        // A group that was renamed has no threads outside it.
        Err(Refusal::OutsideGroup) if !world.gitlab.has_group(world.config.group()).await? => {
            return Err(WalkError::NoGroup);
        }
        Err(refusal) => return world.forget(place, refusal.name()).await,
    };
    // Asked first: a thread that waits for the corpus is not fetched again and again meanwhile.
    if !world.corpus_ready().await? {
        let waiting = (world.clock.now() - claim.wanted_at).max(0) as u64;
        return Err(WalkError::CorpusNotReady { waiting: Duration::from_millis(waiting) });
    }
    let Some(thread) = world.gitlab.thread(place.project, place.iid).await? else {
        return world.forget(place, "gone").await;
    };
    let unserved = standing::unserved(world, &thread).await?;
    if let Some(why) = unserved.filter(|why| *why != "closed") {
        return standing::leave(world, &project, &thread, why).await;
    }
    let me = world.gitlab.user().await?;
    world.own.add(me.id);
    let thread = standing::without_bots(world, &project, thread).await?;
    let mut walk = Walk {
        world,
        claim,
        project,
        audience,
        me: me.username.clone(),
        records: world.store.questions(place).await?,
        thread,
        trail: Trail::default(),
        outcome: "nothing",
    };
    if let Some(why) = unserved {
        walk.ask_closed().await?;
        return standing::leave(world, &walk.project, &walk.thread, why).await;
    }
    walk.run().await?;
    let at = world.clock.now();
    if let Some(body) = walk.trail.body(walk.outcome) {
        world.store.add_trail(place, at, &body).await?;
    }
    Ok(walk.outcome)
}

impl World {
    /// Drops everything that is kept about a thread. What was decided on once is no new question when the thread comes
    /// back: nobody would know any more what people undid there.
    async fn forget(&self, place: Place, why: Outcome) -> Result<Outcome, WalkError> {
        if !self.store.questions(place).await?.is_empty() {
            self.store.forgotten(place, self.clock.now()).await?;
        }
        self.store.forget_questions(place).await?;
        self.store.forget_signposts(place).await?;
        self.store.forget_trail(place).await?;
        Ok(why)
    }

    /// Whether the corpus has been read once, the documentation's vectors included: until then little could be found,
    /// and what is documented would be labelled as a gap. Code gets its vectors last and holds up nobody, and neither
    /// does a repository that keeps failing.
    pub(crate) async fn corpus_ready(&self) -> Result<bool, WalkError> {
        if self.store.setting(CORPUS_READY).await?.is_some() {
            return Ok(true);
        }
        let ready = self.store.setting(GROUP_READ).await?.is_some()
            && self.store.repositories_waiting().await? == 0
            && self.store.sections_without_vector(1).await?.iter().all(|row| row.kind == "code");
        if ready {
            self.follow().await?;
            self.store.set(CORPUS_READY, "1").await?;
        }
        Ok(ready)
    }

    /// Brings the index, and the table of documentation sites, to what the database holds, whichever replica read it.
    pub async fn follow(&self) -> Result<(), WalkError> {
        if self.library.follow(&self.store).await? {
            self.refresh_docsites().await?;
        }
        Ok(())
    }

    /// Whether what was asked at that time is older than the bot answers.
    fn is_late(&self, asked_at: Millis) -> bool {
        self.clock.now() - asked_at > self.config.answer.max_age.as_millis() as i64
    }

    /// Whether a question to which nothing was said is too old for it to be said now. One that was a gap never is.
    pub(crate) fn stays_silent(&self, record: &Record) -> bool {
        record.state == State::Silent && record.closed.is_none() && self.is_late(record.asked_at)
    }

    /// What the extractor needs to know about where a text stands.
    pub(crate) fn context(&self, project: &Project) -> Option<ExtractContext> {
        self.docsites.extract_context(&self.config.gitlab.url, &project.path)
    }
}

/// One look, while it lasts.
struct Walk<'w> {
    world: &'w World,
    claim: &'w Claim,
    project: Arc<Project>,
    audience: Audience,
    me: String,
    thread: Thread,
    records: Vec<Record>,
    trail: Trail,
    outcome: Outcome,
}

/// A question of the thread: the issue's own, or a comment that mentions the bot.
struct Asking {
    key: String,
    asked: Asked,
    asker: u64,
    asked_at: Millis,
    question: Arc<Question>,
    digest: String,
    discussion: Option<String>,
    /// A human's label says that it is a question, whatever the gate thinks.
    decreed: bool,
}

impl Walk<'_> {
    /// The rows of the thread's life, in the order in which they must be looked at: the human's hand first.
    async fn run(&mut self) -> Result<(), WalkError> {
        self.adopt_own_notes().await?;
        self.notice_deleted_notes().await?;
        self.notice_label().await?;
        self.notice_downvotes().await?;
        self.own_question().await?;
        self.mentions().await?;
        self.record_signposts().await
    }

    fn place(&self) -> Place {
        self.claim.place
    }

    fn now(&self) -> Millis {
        self.world.clock.now()
    }

    fn record(&self, key: &str) -> Option<&Record> {
        self.records.iter().find(|record| record.key == key)
    }

    async fn save(&mut self, record: Record) -> Result<(), WalkError> {
        self.world.store.save_question(&record).await?;
        match self.records.iter_mut().find(|known| known.key == record.key) {
            Some(known) => *known = record,
            None => self.records.push(record),
        }
        Ok(())
    }

    /// The issue's own question.
    async fn own_question(&mut self) -> Result<(), WalkError> {
        let asking = self.issue_asking();
        let record = self.record(ISSUE).cloned();
        match record {
            None if self.is_new() => self.decide(asking, None).await,
            None => Ok(()),
            Some(record) if matches!(record.state, State::Deleted) => Ok(()),
            Some(record) if record.digest != asking.digest => self.decide(asking, Some(record)).await,
            Some(record) if record.state == State::Dismissed => Ok(()),
            // A reference on what is no question gets no reply; an open question is asked again.
            Some(record) if record.state == State::Silent && record.fingerprint.is_none() => Ok(()),
            // Nothing was said when it was young, because the bot only observed, or was told to be quiet.
            Some(record) if self.world.stays_silent(&record) => Ok(()),
            Some(record) if record.is_open() => self.decide(asking, Some(record)).await,
            Some(record) if self.target_changed(&record).await? => self.decide(asking, Some(record)).await,
            Some(_) => Ok(()),
        }
    }

    /// Whether the issue was announced as new, and is not older than the bot answers.
    fn is_new(&mut self) -> bool {
        let Some(opened_at) = self.claim.opened_at else { return false };
        if self.was_forgotten(opened_at) {
            return false;
        }
        let late = self.world.is_late(opened_at);
        if late {
            self.outcome = "too_old";
        }
        !late
    }

    /// Whether what was known of this moment was dropped since.
    fn was_forgotten(&self, at: Millis) -> bool {
        self.claim.forgotten_at.is_some_and(|forgotten| at <= forgotten)
    }

    fn issue_asking(&self) -> Asking {
        let issue = &self.thread.issue;
        Asking {
            key: ISSUE.to_owned(),
            asked: Asked::Issue,
            asker: issue.author_id,
            asked_at: issue.created_at,
            question: Arc::new(Question::new(&issue.title, &issue.description)),
            digest: digest(&Question::new(&issue.title, &issue.description)),
            discussion: None,
            decreed: false,
        }
    }

    /// Comments that mention the bot ask a question of their own.
    async fn mentions(&mut self) -> Result<(), WalkError> {
        let birth = self.world.store.setting(BIRTH).await?.and_then(|at| at.parse().ok()).unwrap_or(0);
        let mut asking = Vec::new();
        for note in self.thread.notes.iter().filter(|n| n.is_public_speech()) {
            // An old comment is not answered because somebody adds another one years later, and what was said
            // before the bot came was not said to it. What it did take up lives on like the issue's own question.
            let announced = self.claim.since_note.is_some_and(|first| note.id >= first);
            let late = self.world.is_late(note.updated_at) || note.updated_at < birth - CLOCKS;
            let passed = (late && !announced) || self.was_forgotten(note.created_at);
            let old = passed && self.record(&note.id.to_string()).is_none();
            if note.body.mentions(&self.me) && !old {
                asking.push(self.note_asking(note));
            }
        }
        self.let_go_of_unasked(&asking).await?;
        for asking in asking {
            let record = self.record(&asking.key).cloned();
            let settled = match &record {
                Some(known) if known.digest == asking.digest && self.world.stays_silent(known) => true,
                Some(known) if known.digest == asking.digest && !known.is_open() => {
                    !self.target_changed(known).await?
                }
                _ => false,
            };
            let over = record.as_ref().is_some_and(|r| matches!(r.state, State::Deleted | State::Dismissed));
            if settled || over {
                continue;
            }
            if record.is_none() && self.is_talkative(asking.asker) {
                self.outcome = "talked_enough";
                continue;
            }
            self.decide(asking, record).await?;
        }
        Ok(())
    }

    /// A comment that was deleted, or names the bot no more, is no gap any longer. What answered it stays, unless it no
    /// longer holds.
    async fn let_go_of_unasked(&mut self, asking: &[Asking]) -> Result<(), WalkError> {
        if self.thread.truncated {
            return Ok(());
        }
        let unasked = |r: &&Record| {
            let open = matches!(r.state, State::Gap | State::Answered);
            open && r.key != ISSUE && asking.iter().all(|asking| asking.key != r.key)
        };
        let gone: Vec<Record> = self.records.iter().filter(unasked).cloned().collect();
        for mut record in gone {
            if record.state == State::Answered {
                let asked = act::asked(&record);
                let over = !self.observing() && self.target_changed(&record).await?;
                if !over || !act::outdate(self, asked, "", &mut record).await? {
                    continue;
                }
            }
            record.state = State::Silent;
            record.gap_kind = None;
            record.fingerprint = None;
            record.decided_at = self.now();
            self.save(record.clone()).await?;
            act::unlabel(self, record).await?;
        }
        Ok(())
    }

    /// Whether somebody has had as many answers in this thread within the hour as a person would want: what
    /// answers every answer is a machine, whatever its account says.
    fn is_talkative(&self, asker: u64) -> bool {
        let since = self.now() - 3_600_000;
        let recent =
            |r: &&Record| r.key != ISSUE && r.asker == asker && r.posted_at.is_some_and(|at| at > since);
        self.records.iter().filter(recent).count() >= TALK
    }

    fn note_asking(&self, note: &Note) -> Asking {
        let question = Question::called(&note.body, &self.me);
        Asking {
            key: note.id.to_string(),
            asked: Asked::Note(note.id),
            asker: note.author_id,
            asked_at: note.created_at,
            digest: digest(&question),
            question: Arc::new(question),
            discussion: Some(note.discussion_id.clone()),
            decreed: false,
        }
    }

    /// Judges a question and does what follows, given what was decided before.
    async fn decide(&mut self, mut asking: Asking, before: Option<Record>) -> Result<(), WalkError> {
        let edited = before.as_ref().is_some_and(|r| r.digest != asking.digest);
        asking.decreed = !edited && before.as_ref().is_some_and(|r| r.state == State::Gap);
        // A push that is read meanwhile asks the gaps that are known by then; this one may be written down after it.
        let seen = match before {
            None => Some(self.world.store.last_change().await?),
            Some(_) => None,
        };
        self.world.follow().await?;
        let judgement = judgement::put(self, &asking).await?;
        let now = self.now();
        let mut record = before.unwrap_or_else(|| {
            Record::new(self.place(), &asking.key, asking.asker, asking.asked_at, asking.digest.clone(), now)
        });
        record.digest = asking.digest.clone();
        record.judged_at = now;
        record.votes = self.thread.issue.upvotes as i64;
        record.score = judgement.score();
        record.fingerprint = judgement.asks.then(|| judgement.fingerprint.clone());
        if edited && record.state == State::Dismissed {
            // Another question than the one that was dismissed.
            record.state = State::Silent;
        }
        let wanted = judgement.asks || self.world.config.answer.when == When::Always;
        match judgement.answer {
            Some(ref validated) if wanted => self.answered(&asking, record, validated, &judgement).await,
            _ if judgement.is_gap => {
                self.unanswered(&asking, record, &judgement).await?;
                if let Some(seen) = seen
                    && self.world.store.last_change().await? != seen
                {
                    self.world.store.want(self.place(), None, self.now()).await?;
                }
                Ok(())
            }
            _ => self.not_a_question(record).await,
        }
    }

    /// The gaps of an issue that people closed are asked again like others. What the documentation covers by now is off
    /// the list; nobody is told, for nobody waits there.
    async fn ask_closed(&mut self) -> Result<(), WalkError> {
        let open: Vec<Record> = self.records.iter().filter(|r| r.state == State::Gap).cloned().collect();
        for mut record in open {
            record.judged_at = self.now();
            if let Some(mut asking) = self.asking_of(&record) {
                asking.decreed = true;
                self.world.follow().await?;
                let judgement = judgement::put(self, &asking).await?;
                record.near = judgement.near.clone();
                record.score = judgement.score();
                if let Some(validated) = &judgement.answer {
                    record.state = State::Silent;
                    record.closed = Some((act::target(validated).commit, self.now()));
                }
            }
            self.save(record).await?;
        }
        Ok(())
    }

    /// The question of a record, if it is asked as it was when it was decided.
    fn asking_of(&self, record: &Record) -> Option<Asking> {
        let asking = match record.key.as_str() {
            ISSUE => self.issue_asking(),
            key => self.note_asking(self.thread.notes.iter().find(|note| note.id.to_string() == key)?),
        };
        (asking.digest == record.digest).then_some(asking)
    }

    fn observing(&self) -> bool {
        self.world.config.answer.mode == Mode::Observe
    }

    async fn answered(
        &mut self,
        asking: &Asking,
        mut record: Record,
        validated: &Validated,
        judgement: &Judgement,
    ) -> Result<(), WalkError> {
        let target = act::target(validated);
        let same =
            record.state == State::Answered && record.target.as_ref().is_some_and(|t| t.same_place(&target));
        if same {
            return self.save(record).await;
        }
        // What a human called wrong is not posted again; another passage, or a changed one, may be.
        if record.has_rejected(&target) {
            return self.unanswered(asking, record, judgement).await;
        }
        if self.observing() {
            self.trail.would_post(act::note(self, asking, validated).markdown());
            self.outcome = "would_answer";
            return self.save(record).await;
        }
        if self.breaker_open().await? && record.note_id.is_none() {
            self.outcome = "label_only";
            return self.save(record).await;
        }
        let was_gap = record.state == State::Gap;
        let posted = act::post_answer(self, asking, &mut record, validated, judgement).await?;
        if !posted {
            return Ok(());
        }
        record.state = State::Answered;
        record.decided_at = self.now();
        record.gap_kind = None;
        if was_gap {
            record.closed = Some((target.commit.clone(), self.now()));
        }
        record.target = Some(target);
        self.outcome = "answered";
        self.save(record.clone()).await?;
        act::unlabel(self, record).await
    }

    async fn unanswered(
        &mut self,
        asking: &Asking,
        mut record: Record,
        judgement: &Judgement,
    ) -> Result<(), WalkError> {
        record.near = judgement.near.clone();
        // How a gap came about is not forgotten while it is one.
        let told = record.state == State::Gap && record.gap_kind.as_deref() == Some("outdated");
        if record.gap_kind.as_deref() != Some("wrong-answer") && !told {
            record.gap_kind = Some(judgement.gap_kind.to_owned());
        }
        if self.observing() {
            self.outcome = "would_label";
            record.gap_kind = None;
            return self.save(record).await;
        }
        if record.state == State::Answered
            && !act::outdate(self, asking.asked, &asking.digest, &mut record).await?
        {
            return Ok(());
        }
        if asking.asked != Asked::Issue && record.note_id.is_none() && !self.breaker_open().await? {
            act::say_nothing_found(self, asking, &mut record).await?;
        }
        let was_open_gap = record.state == State::Gap;
        if !was_open_gap {
            record.state = State::Gap;
            record.decided_at = self.now();
        }
        self.outcome = "gap";
        self.save(record.clone()).await?;
        act::label(self, record).await
    }

    /// Silence. An issue that was a question before an edit loses its label; a note that answered it stays
    /// only if a human wants to keep it: it is edited to say that it no longer applies.
    async fn not_a_question(&mut self, mut record: Record) -> Result<(), WalkError> {
        if record.state == State::Answered && !self.observing() {
            let asking = self.issue_asking();
            if !act::outdate(self, asking.asked, &asking.digest, &mut record).await? {
                return Ok(());
            }
        }
        record.state = State::Silent;
        record.gap_kind = None;
        self.outcome = "silent";
        self.save(record.clone()).await?;
        act::unlabel(self, record).await
    }

    /// Whether the quoted file is another one now than when it was quoted, or not for the readers of this thread any more.
    async fn target_changed(&self, record: &Record) -> Result<bool, WalkError> {
        let Some(target) = &record.target else { return Ok(false) };
        let file = self.world.store.file(target.project, &target.path).await?;
        if file.is_none_or(|file| file.blob != target.blob) {
            return Ok(true);
        }
        Ok(self.world.store.project(target.project).await?.is_none_or(|row| {
            self.world.corpus.admit_project(&Arc::new(row.project), &self.audience).is_err()
        }))
    }

    /// Labels only, because humans undid too many of the last notes.
    async fn breaker_open(&self) -> Result<bool, WalkError> {
        breaker_open(&self.world.store, &self.world.config).await
    }
}

/// Reads a closed issue for history: where it points, and its fingerprint. Whether it points anywhere.
///
/// # Errors
/// GitLab, the database.
pub async fn remember(world: &World, project: u64, iid: u64) -> Result<bool, WalkError> {
    let Some(project) = world.gitlab.project(project).await? else { return Ok(false) };
    if world.corpus.admit_thread(&project).is_err() {
        return Ok(false);
    }
    let Some(thread) = world.gitlab.thread(project.id, iid).await? else { return Ok(false) };
    match standing::unserved(world, &thread).await? {
        Some("closed") => {
            let thread = standing::without_bots(world, &project, thread).await?;
            standing::remember(world, &project, &thread).await
        }
        _ => Ok(false),
    }
}

/// Judges a thread's own question as of now, without doing anything; for `explain`.
///
/// # Errors
/// GitLab, the database, the search index.
pub async fn explain(world: &World, place: Place) -> Result<serde_json::Value, WalkError> {
    let nothing = |why: &str| serde_json::json!({ "decision": "nothing", "why": why, "candidates": [] });
    let Some(project) = world.gitlab.project(place.project).await? else { return Ok(nothing("gone")) };
    let audience = match world.corpus.admit_thread(&project) {
        Ok(audience) => audience,
        Err(refusal) => return Ok(nothing(refusal.name())),
    };
    let Some(thread) = world.gitlab.thread(place.project, place.iid).await? else {
        return Ok(nothing("gone"));
    };
    let unserved = standing::unserved(world, &thread).await?;
    let now = world.clock.now();
    let claim = Claim {
        place,
        wanted: 0,
        wanted_at: now,
        opened_at: None,
        since_note: None,
        forgotten_at: None,
        attempts: 0,
        first_failed_at: None,
        owner: String::new(),
    };
    let me = world.gitlab.user().await?.username.clone();
    let thread = standing::without_bots(world, &project, thread).await?;
    let records = world.store.questions(place).await?;
    let mut walk = Walk {
        world,
        claim: &claim,
        project,
        audience,
        me,
        thread,
        records,
        trail: Trail::default(),
        outcome: "explained",
    };
    let asking = walk.issue_asking();
    let record = walk.record(ISSUE).map(|record| (record.state.word(), record.gap_kind.clone()));
    let mut entry = judgement::put(&mut walk, &asking).await?.entry;
    if let Some(why) = unserved {
        entry["would"] = entry["decision"].take();
        entry["decision"] = "nothing".into();
        entry["why"] = why.into();
    }
    if let Some((state, kind)) = record {
        entry["record"] = serde_json::json!({ "state": state, "kind": kind });
    }
    Ok(entry)
}

/// Whether humans undid too many of the last 20 notes.
///
/// # Errors
/// The database.
pub async fn breaker_open(store: &Store, config: &Config) -> Result<bool, WalkError> {
    let (_, undone) = store.undone_of_last().await?;
    Ok(undone as f32 > 20.0 * config.budget.undo_limit)
}

/// A hash that tells an edited question from the same one.
fn digest(question: &Question) -> String {
    let numbers = question.weigh(|words| {
        let hash = Sha256::digest(format!("signpost question\0{}\0{}", words.title, words.text));
        hash.iter().map(|byte| u64::from(*byte)).collect::<Vec<u64>>()
    });
    numbers.iter().map(|byte| format!("{byte:02x}")).collect()
}
