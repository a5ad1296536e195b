//! What was decided about each question.

use sqlx::Row;

use crate::clock::Millis;
use crate::store::queue::Place;
use crate::store::{Result, Store, read, write};

/// The key of an issue's own question; a comment's question has its note id as key.
pub const ISSUE: &str = "issue";

/// Where a question stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A note answers it.
    Answered,
    /// It is a documentation gap.
    Gap,
    /// Nothing was posted and nothing labelled.
    Silent,
    /// A human took the label off: never labelled again for the same question.
    Dismissed,
    /// A human deleted the bot's note: nothing is posted again.
    Deleted,
}

impl State {
    /// The word at rest and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            State::Answered => "answered",
            State::Gap => "gap",
            State::Silent => "silent",
            State::Dismissed => "dismissed",
            State::Deleted => "deleted",
        }
    }

    fn parse(word: &str) -> State {
        match word {
            "answered" => State::Answered,
            "gap" => State::Gap,
            "dismissed" => State::Dismissed,
            "deleted" => State::Deleted,
            _ => State::Silent,
        }
    }
}

/// One question: coordinates, hashes and numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The thread.
    pub place: Place,
    /// [`ISSUE`] or the note id of the comment that asked.
    pub key: String,
    /// Where it stands.
    pub state: State,
    /// User id of who asked.
    pub asker: u64,
    /// When it was asked.
    pub asked_at: Millis,
    /// When it was decided last.
    pub decided_at: Millis,
    /// A keyed hash of the question's text: tells an edit from a repetition.
    pub digest: String,
    /// Hashed, stemmed terms with counts.
    pub fingerprint: Option<Vec<u8>>,
    /// The discussion that holds the bot's note.
    pub discussion: Option<String>,
    /// The bot's note: one per question, ever.
    pub note_id: Option<u64>,
    /// When it was posted.
    pub posted_at: Option<Millis>,
    /// Whether a human undid it: 👎, deletion, label taken off after an answer.
    pub undone: bool,
    /// Whether the bot (or a human, adopted) has put the gap label on.
    pub labelled: bool,
    /// What is quoted.
    pub target: Option<Target>,
    /// Hashes of passages that people called wrong, separated by spaces.
    pub rejected: String,
    /// The judge's probability, in thousandths.
    pub score: i64,
    /// `missing`, `near`, `thread-only`, `wrong-answer` or `outdated`.
    pub gap_kind: Option<String>,
    /// The nearest page: where to document it.
    pub near: Option<Near>,
    /// The commit that closed the gap, and when.
    pub closed: Option<(String, Millis)>,
    /// When the question was last put to the corpus.
    pub judged_at: Millis,
    /// Votes on the issue, when last seen.
    pub votes: i64,
    /// The gap cluster it belongs to.
    pub cluster: Option<String>,
}

/// The quoted place.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// GitLab's project id.
    pub project: u64,
    /// Path in the repository.
    pub path: String,
    /// Blob id.
    pub blob: String,
    /// Full commit id.
    pub commit: String,
    /// First quoted line.
    pub first_line: u32,
    /// Last quoted line.
    pub last_line: u32,
    /// A hash of the quoted words; empty where it is not known.
    pub quote: String,
}

impl Target {
    /// Whether both quote the same lines of the same blob.
    pub fn same_place(&self, other: &Target) -> bool {
        (self.project, &self.path, &self.blob, self.first_line, self.last_line)
            == (other.project, &other.path, &other.blob, other.first_line, other.last_line)
    }

    /// Whether both quote the same words of the same file, wherever in it they stand now.
    pub fn same_words(&self, other: &Target) -> bool {
        let known = !self.quote.is_empty() && self.quote == other.quote;
        self.same_place(other) || (known && (self.project, &self.path) == (other.project, &other.path))
    }
}

/// The nearest page to a gap.
#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    /// GitLab's project id.
    pub project: u64,
    /// Path in the repository.
    pub path: String,
    /// Anchor of the section.
    pub anchor: Option<String>,
    /// The judge's probability for it, in thousandths.
    pub score: i64,
}

impl Record {
    /// A new record of a question about which nothing has been decided.
    pub fn new(place: Place, key: &str, asker: u64, asked_at: Millis, digest: String, now: Millis) -> Record {
        Record {
            place,
            key: key.to_owned(),
            state: State::Silent,
            asker,
            asked_at,
            decided_at: now,
            digest,
            fingerprint: None,
            discussion: None,
            note_id: None,
            posted_at: None,
            undone: false,
            labelled: false,
            target: None,
            rejected: String::new(),
            score: 0,
            gap_kind: None,
            near: None,
            closed: None,
            judged_at: now,
            votes: 0,
            cluster: None,
        }
    }

    /// Whether the question still waits for an answer.
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Gap | State::Silent)
    }

    /// A human says that what is quoted is wrong: it is not offered again.
    pub fn reject(&mut self) {
        self.gap_kind = Some("wrong-answer".to_owned());
        self.undone = true;
        if let Some(target) = self.target.as_ref().filter(|target| !target.quote.is_empty()) {
            self.rejected = format!("{} {}", self.rejected, target.quote).trim_start().to_owned();
        }
    }

    /// Whether a human called this passage wrong, or the one of which only the place is known.
    pub fn has_rejected(&self, target: &Target) -> bool {
        let last = self.gap_kind.as_deref() == Some("wrong-answer")
            && self.target.as_ref().is_some_and(|t| t.same_words(target));
        last || self.rejected.split(' ').any(|quote| quote == target.quote && !quote.is_empty())
    }
}

macro_rules! columns {
    () => {
        "project_id, iid, key, state, asker, asked_at, decided_at, digest, fingerprint, discussion, note_id,
         posted_at, undone, labelled, target_project, target_path, target_blob, target_commit, first_line,
         last_line, score, gap_kind, near_project, near_path, near_anchor, near_score, closed_commit, closed_at,
         judged_at, votes, cluster, target_quote, rejected"
    };
}
const SAVE: &str = concat!(
    "INSERT INTO question (",
    columns!(),
    ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
               $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33)
     ON CONFLICT (project_id, iid, key) DO UPDATE SET
         state = excluded.state, asker = excluded.asker, asked_at = excluded.asked_at,
         decided_at = excluded.decided_at, digest = excluded.digest, fingerprint = excluded.fingerprint,
         discussion = excluded.discussion, note_id = excluded.note_id, posted_at = excluded.posted_at,
         undone = excluded.undone, labelled = excluded.labelled, target_project = excluded.target_project,
         target_path = excluded.target_path, target_blob = excluded.target_blob,
         target_commit = excluded.target_commit, first_line = excluded.first_line,
         last_line = excluded.last_line, score = excluded.score, gap_kind = excluded.gap_kind,
         near_project = excluded.near_project, near_path = excluded.near_path,
         near_anchor = excluded.near_anchor, near_score = excluded.near_score,
         closed_commit = excluded.closed_commit, closed_at = excluded.closed_at,
         judged_at = excluded.judged_at, votes = excluded.votes, target_quote = excluded.target_quote,
         rejected = excluded.rejected,
         cluster = COALESCE(excluded.cluster, question.cluster)"
);
const OF_THREAD: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM question WHERE project_id = $1 AND iid = $2 ORDER BY asked_at, key"
);
macro_rules! is_or_was_a_gap {
    () => {
        "(state IN ('gap', 'dismissed') OR (state IN ('answered', 'silent') AND closed_commit IS NOT NULL))"
    };
}
const GAPS: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM question WHERE ",
    is_or_was_a_gap!(),
    " ORDER BY project_id, iid, key"
);
const UNSETTLED: &str =
    concat!("SELECT COUNT(*) FROM question WHERE cluster IS NULL AND ", is_or_was_a_gap!());
const IN_STATE: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM question WHERE state = $1 ORDER BY decided_at DESC, project_id, iid, key LIMIT $2"
);
const FORGET: &str = "DELETE FROM question WHERE project_id = $1 AND iid = $2";
/// Silence is decided anew where somebody speaks again; what a human undid is not forgotten.
const PRUNE_SILENT: &str = "
    DELETE FROM question
    WHERE state = 'silent' AND note_id IS NULL AND closed_at IS NULL AND undone = 0 AND decided_at < $1";
const POSTED_SINCE: &str = "SELECT COUNT(*) FROM question WHERE project_id = $1 AND posted_at >= $2";
const BUSIEST_SINCE: &str = "
    SELECT COALESCE(MAX(notes), 0) FROM (
        SELECT COUNT(*) AS notes FROM question WHERE posted_at >= $1 GROUP BY project_id
    ) AS projects";
const LAST_NOTES: &str = "
    SELECT COUNT(*), CAST(COALESCE(SUM(undone), 0) AS BIGINT) FROM (
        SELECT undone FROM question WHERE posted_at IS NOT NULL ORDER BY posted_at DESC, project_id, iid LIMIT 20
    ) AS last_notes";
const COUNT_STATES: &str = "SELECT state, COUNT(*) FROM question GROUP BY state";

fn record<'r, R>(row: &'r R) -> std::result::Result<Record, sqlx::Error>
where
    R: Row,
    &'static str: sqlx::ColumnIndex<R>,
    i64: sqlx::Decode<'r, R::Database> + sqlx::Type<R::Database>,
    Option<i64>: sqlx::Decode<'r, R::Database> + sqlx::Type<R::Database>,
    String: sqlx::Decode<'r, R::Database> + sqlx::Type<R::Database>,
    Option<String>: sqlx::Decode<'r, R::Database> + sqlx::Type<R::Database>,
    Option<Vec<u8>>: sqlx::Decode<'r, R::Database> + sqlx::Type<R::Database>,
{
    let number = |name: &'static str| row.try_get::<i64, _>(name);
    let maybe = |name: &'static str| row.try_get::<Option<i64>, _>(name);
    let word = |name: &'static str| row.try_get::<String, _>(name);
    let words = |name: &'static str| row.try_get::<Option<String>, _>(name);
    let target = match (maybe("target_project")?, words("target_path")?, words("target_blob")?) {
        (Some(project), Some(path), Some(blob)) => Some(Target {
            project: project as u64,
            path,
            blob,
            commit: words("target_commit")?.unwrap_or_default(),
            first_line: maybe("first_line")?.unwrap_or(1) as u32,
            last_line: maybe("last_line")?.unwrap_or(1) as u32,
            quote: words("target_quote")?.unwrap_or_default(),
        }),
        _ => None,
    };
    let near = match (maybe("near_project")?, words("near_path")?) {
        (Some(project), Some(path)) => Some(Near {
            project: project as u64,
            path,
            anchor: words("near_anchor")?,
            score: number("near_score")?,
        }),
        _ => None,
    };
    Ok(Record {
        place: Place { project: number("project_id")? as u64, iid: number("iid")? as u64 },
        key: word("key")?,
        state: State::parse(&word("state")?),
        asker: number("asker")? as u64,
        asked_at: number("asked_at")?,
        decided_at: number("decided_at")?,
        digest: word("digest")?,
        fingerprint: row.try_get("fingerprint")?,
        discussion: words("discussion")?,
        note_id: maybe("note_id")?.map(|id| id as u64),
        posted_at: maybe("posted_at")?,
        undone: number("undone")? != 0,
        labelled: number("labelled")? != 0,
        target,
        rejected: words("rejected")?.unwrap_or_default(),
        score: number("score")?,
        gap_kind: words("gap_kind")?,
        near,
        closed: words("closed_commit")?.zip(maybe("closed_at")?),
        judged_at: number("judged_at")?,
        votes: number("votes")?,
        cluster: words("cluster")?,
    })
}

impl Store {
    /// Writes a record, over the one with the same key.
    ///
    /// # Errors
    /// The database.
    pub async fn save_question(&self, r: &Record) -> Result<()> {
        let target = r.target.as_ref();
        let near = r.near.as_ref();
        write!(self, pool => {
            sqlx::query(SAVE)
                .bind(r.place.project as i64).bind(r.place.iid as i64).bind(&r.key).bind(r.state.word())
                .bind(r.asker as i64).bind(r.asked_at).bind(r.decided_at).bind(&r.digest)
                .bind(r.fingerprint.as_deref()).bind(r.discussion.as_deref()).bind(r.note_id.map(|id| id as i64))
                .bind(r.posted_at).bind(i64::from(r.undone)).bind(i64::from(r.labelled))
                .bind(target.map(|t| t.project as i64)).bind(target.map(|t| t.path.as_str()))
                .bind(target.map(|t| t.blob.as_str())).bind(target.map(|t| t.commit.as_str()))
                .bind(target.map(|t| i64::from(t.first_line))).bind(target.map(|t| i64::from(t.last_line)))
                .bind(r.score).bind(r.gap_kind.as_deref())
                .bind(near.map(|n| n.project as i64)).bind(near.map(|n| n.path.as_str()))
                .bind(near.and_then(|n| n.anchor.as_deref())).bind(near.map_or(0, |n| n.score))
                .bind(r.closed.as_ref().map(|(commit, _)| commit.as_str())).bind(r.closed.as_ref().map(|(_, at)| *at))
                .bind(r.judged_at).bind(r.votes).bind(r.cluster.as_deref())
                .bind(target.map(|t| t.quote.as_str())).bind(&r.rejected)
                .execute(pool).await?;
        });
        Ok(())
    }

    /// The questions of a thread, oldest first.
    ///
    /// # Errors
    /// The database.
    pub async fn questions(&self, place: Place) -> Result<Vec<Record>> {
        read!(self, pool => Ok(sqlx::query(OF_THREAD)
            .bind(place.project as i64).bind(place.iid as i64).fetch_all(pool).await?
            .iter().map(record).collect::<std::result::Result<_, _>>()?))
    }

    /// How many questions that are or were gaps belong to no entry of the list yet.
    ///
    /// # Errors
    /// The database.
    pub async fn unsettled_gaps(&self) -> Result<i64> {
        let (count,): (i64,) = read!(self, pool => sqlx::query_as(UNSETTLED).fetch_one(pool).await?);
        Ok(count)
    }

    /// Every question that is or was a gap.
    ///
    /// # Errors
    /// The database.
    pub async fn gap_questions(&self) -> Result<Vec<Record>> {
        read!(self, pool => Ok(sqlx::query(GAPS).fetch_all(pool).await?
            .iter().map(record).collect::<std::result::Result<_, _>>()?))
    }

    /// The newest `limit` questions in `state`.
    ///
    /// # Errors
    /// The database.
    pub async fn questions_in(&self, state: State, limit: u32) -> Result<Vec<Record>> {
        read!(self, pool => Ok(sqlx::query(IN_STATE).bind(state.word()).bind(i64::from(limit)).fetch_all(pool).await?
            .iter().map(record).collect::<std::result::Result<_, _>>()?))
    }

    /// Drops what is known of threads that were decided on before `before` and got nothing.
    ///
    /// # Errors
    /// The database.
    pub async fn prune_silent(&self, before: Millis) -> Result<u64> {
        write!(self, pool => Ok(sqlx::query(PRUNE_SILENT).bind(before).execute(pool).await?.rows_affected()))
    }

    /// Drops what is known about a thread's questions.
    ///
    /// # Errors
    /// The database.
    pub async fn forget_questions(&self, place: Place) -> Result<()> {
        write!(self, pool => {
            for statement in [FORGET, crate::store::gaps::FORGET_MEMBERS] {
                sqlx::query(statement).bind(place.project as i64).bind(place.iid as i64).execute(pool).await?;
            }
        });
        Ok(())
    }

    /// How many notes were posted in a project since `since`.
    ///
    /// # Errors
    /// The database.
    pub async fn posted_since(&self, project: u64, since: Millis) -> Result<u32> {
        let (count,): (i64,) = read!(self, pool => sqlx::query_as(POSTED_SINCE).bind(project as i64).bind(since).fetch_one(pool).await?);
        Ok(count as u32)
    }

    /// How many notes the project with the most of them got since then.
    ///
    /// # Errors
    /// The database.
    pub async fn busiest_since(&self, since: Millis) -> Result<u32> {
        let (count,): (i64,) =
            read!(self, pool => sqlx::query_as(BUSIEST_SINCE).bind(since).fetch_one(pool).await?);
        Ok(count as u32)
    }

    /// Of the last 20 notes: how many there are, how many humans undid.
    ///
    /// # Errors
    /// The database.
    pub async fn undone_of_last(&self) -> Result<(u32, u32)> {
        let (count, undone): (i64, i64) =
            read!(self, pool => sqlx::query_as(LAST_NOTES).fetch_one(pool).await?);
        Ok((count as u32, undone as u32))
    }

    /// How many questions stand where.
    ///
    /// # Errors
    /// The database.
    pub async fn count_questions(&self) -> Result<Vec<(String, i64)>> {
        Ok(read!(self, pool => sqlx::query_as(COUNT_STATES).fetch_all(pool).await?))
    }
}
