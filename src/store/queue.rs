//! The queue: one row per place that is wanted, a lease while somebody works on it.

use std::time::Duration;

use crate::clock::Millis;
use crate::store::{Result, Store, read, write};

/// What is looked at again for good order comes after what was asked for in this time.
const ASIDE: Millis = 3_600_000;

/// How long a claim holds unless it is renewed.
pub const LEASE: Duration = Duration::from_secs(120);
/// A row is buried after this many counted failures …
pub const BURY_AFTER_ATTEMPTS: i64 = 8;
/// … that lie at least this far apart.
pub const BURY_AFTER: Duration = Duration::from_secs(3600);

/// A place to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// GitLab's project id; 0 for the group as a whole and what belongs to it.
    pub project: u64,
    /// The number; 0 for the project's repository.
    pub iid: u64,
}

impl Place {
    /// The group as a whole: its list of projects.
    pub const GROUP: Place = Place { project: 0, iid: 0 };

    /// The report issue, wherever it lies.
    pub const REPORT: Place = Place { project: 0, iid: 1 };

    /// The repository of a project.
    pub fn repository(project: u64) -> Place {
        Place { project, iid: 0 }
    }

    /// The thread of an issue.
    pub fn thread(project: u64, iid: u64) -> Place {
        Place { project, iid }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Place::REPORT => f.write_str("the report issue"),
            Place { project: 0, .. } => f.write_str("the list of the group's projects"),
            Place { project, iid: 0 } => std::write!(f, "the repository of project {project}"),
            Place { project, iid } => std::write!(f, "project {project} issue {iid}"),
        }
    }
}

/// A row that this worker holds until its lease lapses.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Where to look.
    pub place: Place,
    /// The count of events at the time of the claim.
    pub wanted: i64,
    /// Its turn: when it was wanted last, earlier where that was only for good order.
    pub wanted_at: Millis,
    /// When the issue was announced as new, if it was.
    pub opened_at: Option<Millis>,
    /// The smallest id of a note that an event announced and no look has settled.
    pub since_note: Option<u64>,
    /// When what was known of the place was dropped last; what was asked before is nothing new.
    pub forgotten_at: Option<Millis>,
    /// Failures so far.
    pub attempts: i64,
    /// When the first of them happened.
    pub first_failed_at: Option<Millis>,
    /// Who holds it.
    pub owner: String,
}

/// How many rows are in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// Waiting or being worked on.
    pub ready: i64,
    /// Given up, kept and counted.
    pub buried: i64,
    /// When the longest waiting row became due; where GitLab is away, since when it has been waiting for it.
    pub oldest: Option<Millis>,
}

/// `$3` is its turn among what is due, the latest first; `$6` is from when on it is due.
pub(super) const WANT: &str = "
    INSERT INTO queue (project_id, iid, state, wanted, wanted_at, opened_at, run_at, since_note)
    VALUES ($1, $2, 'ready', 1, $3, $4, $6, $5)
    ON CONFLICT (project_id, iid) DO UPDATE SET
        since_note = CASE WHEN queue.since_note <= excluded.since_note OR excluded.since_note IS NULL
                          THEN queue.since_note ELSE excluded.since_note END,
        wanted = queue.wanted + 1,
        wanted_at = CASE WHEN queue.state = 'ready' AND queue.wanted_at > excluded.wanted_at
                         THEN queue.wanted_at ELSE excluded.wanted_at END,
        opened_at = COALESCE(queue.opened_at, excluded.opened_at),
        run_at = CASE WHEN queue.state = 'ready' AND queue.run_at > excluded.run_at AND queue.attempts > 0
                      THEN queue.run_at ELSE excluded.run_at END,
        attempts = CASE WHEN queue.state = 'ready' THEN queue.attempts ELSE 0 END,
        first_failed_at = CASE WHEN queue.state = 'ready' THEN queue.first_failed_at ELSE NULL END,
        state = 'ready'";

/// Wanted again only where something is known of the place: what is confidential leaves no new trace.
pub(super) const WANT_KNOWN: &str = "
    INSERT INTO queue (project_id, iid, state, wanted, wanted_at, run_at)
    SELECT $1, $2, 'ready', 1, $3, $3
    WHERE EXISTS (SELECT 1 FROM queue WHERE project_id = $1 AND iid = $2)
       OR EXISTS (SELECT 1 FROM question WHERE project_id = $1 AND iid = $2)
       OR EXISTS (SELECT 1 FROM signpost WHERE project_id = $1 AND iid = $2)
       OR EXISTS (SELECT 1 FROM history WHERE project_id = $1 AND iid = $2)
    ON CONFLICT (project_id, iid) DO UPDATE SET
        wanted = queue.wanted + 1, wanted_at = excluded.wanted_at, run_at = excluded.run_at,
        attempts = CASE WHEN queue.state = 'ready' THEN queue.attempts ELSE 0 END,
        first_failed_at = CASE WHEN queue.state = 'ready' THEN queue.first_failed_at ELSE NULL END,
        state = 'ready'";

/// The candidate is picked once, in a materialised table: as a plain sub-select Postgres may evaluate it again
/// for each row and lease several. The condition is repeated outside: two workers may pick the same row, and
/// only the one that still finds the lease free may have it.
macro_rules! claim {
    ($lock:literal) => {
        concat!(
            "WITH picked AS MATERIALIZED (
                 SELECT project_id, iid FROM queue
                 WHERE state = 'ready' AND run_at <= $2 AND lease_until <= $2
                 ORDER BY wanted_at DESC, project_id, iid LIMIT 1 ",
            $lock,
            ")
             UPDATE queue SET lease_owner = $1, lease_until = $3 FROM picked
             WHERE queue.project_id = picked.project_id AND queue.iid = picked.iid
                   AND queue.state = 'ready' AND queue.run_at <= $2 AND queue.lease_until <= $2
             RETURNING queue.project_id, queue.iid, queue.wanted, queue.wanted_at, queue.opened_at,
                       queue.attempts, queue.first_failed_at, queue.since_note, queue.forgotten_at"
        )
    };
}
const CLAIM_SQLITE: &str = claim!("");
const CLAIM_POSTGRES: &str = claim!("FOR UPDATE SKIP LOCKED");

const RENEW: &str = "
    UPDATE queue SET lease_until = $4 WHERE project_id = $1 AND iid = $2 AND lease_owner = $3";
/// Settles, or releases the row for another look when an event arrived meanwhile.
const SETTLE: &str = "
    UPDATE queue SET lease_owner = NULL, lease_until = 0, attempts = 0, first_failed_at = NULL, failure = NULL,
        state = CASE WHEN wanted = $4 THEN 'idle' ELSE 'ready' END,
        since_note = CASE WHEN wanted = $4 THEN NULL ELSE since_note END
    WHERE project_id = $1 AND iid = $2 AND lease_owner = $3";
const RETRY: &str = "
    UPDATE queue SET lease_owner = NULL, lease_until = 0, run_at = $4, attempts = attempts + $5,
        first_failed_at = COALESCE(first_failed_at, $6), failure = $7, state = $8
    WHERE project_id = $1 AND iid = $2 AND lease_owner = $3";
const RELEASE: &str = "
    UPDATE queue SET lease_owner = NULL, lease_until = 0 WHERE lease_owner LIKE $1";
const FORGOTTEN: &str = "UPDATE queue SET forgotten_at = $3 WHERE project_id = $1 AND iid = $2";
const DEPTH: &str = "
    SELECT COALESCE(SUM(CASE WHEN state = 'ready' THEN 1 ELSE 0 END), 0) AS ready,
           COALESCE(SUM(CASE WHEN state = 'buried' THEN 1 ELSE 0 END), 0) AS buried,
           MIN(CASE WHEN state = 'ready' AND attempts = 0 THEN COALESCE(first_failed_at, run_at)
                    WHEN state = 'ready' THEN run_at END) AS oldest
    FROM queue";
const BURIED: &str = "
    SELECT project_id, iid, COALESCE(failure, ''), attempts FROM queue WHERE state = 'buried'
    ORDER BY wanted_at DESC LIMIT 100";
const DUE: &str = "SELECT COUNT(*) FROM queue WHERE state = 'ready' AND run_at <= $1";
const NEXT: &str = "
    SELECT MIN(CASE WHEN lease_until > run_at THEN lease_until ELSE run_at END) FROM queue WHERE state = 'ready'";
/// Repositories that wait for their first tries.
const REPOSITORIES: &str = "
    SELECT COUNT(*) FROM queue WHERE state = 'ready' AND iid = 0 AND attempts < 3";
const UNBURY: &str = "
    UPDATE queue SET state = 'ready', attempts = 0, first_failed_at = NULL, run_at = $1 WHERE state = 'buried'";
const PRUNE_IDLE: &str = "DELETE FROM queue WHERE state = 'idle' AND wanted_at < $1";

type ClaimRow = (i64, i64, i64, Millis, Option<Millis>, i64, Option<Millis>, Option<i64>, Option<Millis>);

impl Store {
    /// Asks for a look at `place`, now. `opened_at` says that the issue is new since then.
    ///
    /// # Errors
    /// The database.
    pub async fn want(&self, place: Place, opened_at: Option<Millis>, now: Millis) -> Result<()> {
        self.want_in_turn(place, opened_at, now, now).await
    }

    /// Asks for a look at `place`, now, but after all that somebody waits for: everything asked for within an hour.
    ///
    /// # Errors
    /// The database.
    pub async fn want_aside(&self, place: Place, now: Millis) -> Result<()> {
        self.want_in_turn(place, None, now - ASIDE, now).await
    }

    /// Asks for a look at `place` from `now` on. Of what is due, the latest `turn` comes first; a row that waits already
    /// keeps a better one.
    ///
    /// # Errors
    /// The database.
    pub async fn want_in_turn(
        &self,
        place: Place,
        opened_at: Option<Millis>,
        turn: Millis,
        now: Millis,
    ) -> Result<()> {
        write!(self, pool => {
            sqlx::query(WANT)
                .bind(place.project as i64).bind(place.iid as i64).bind(turn).bind(opened_at)
                .bind(None::<i64>).bind(now)
                .execute(pool).await?;
        });
        Ok(())
    }

    /// Asks for a look at `place`, now, where something is known of it already.
    ///
    /// # Errors
    /// The database.
    pub async fn want_known(&self, place: Place, now: Millis) -> Result<()> {
        write!(self, pool => {
            sqlx::query(WANT_KNOWN)
                .bind(place.project as i64).bind(place.iid as i64).bind(now)
                .execute(pool).await?;
        });
        Ok(())
    }

    /// Takes the newest row that is due and free, for [`LEASE`]; `None` when there is none.
    ///
    /// # Errors
    /// The database.
    pub async fn claim(&self, owner: &str, now: Millis) -> Result<Option<Claim>> {
        let until = now + LEASE.as_millis() as i64;
        let row: Option<ClaimRow> = match self {
            Store::Sqlite { write, .. } => {
                sqlx::query_as(CLAIM_SQLITE).bind(owner).bind(now).bind(until).fetch_optional(write).await?
            }
            Store::Postgres(pool) => {
                sqlx::query_as(CLAIM_POSTGRES).bind(owner).bind(now).bind(until).fetch_optional(pool).await?
            }
        };
        Ok(row.map(|row| {
            let (
                project,
                iid,
                wanted,
                wanted_at,
                opened_at,
                attempts,
                first_failed_at,
                since_note,
                forgotten_at,
            ) = row;
            let (place, owner) = (Place { project: project as u64, iid: iid as u64 }, owner.to_owned());
            let since_note = since_note.map(|id| id as u64);
            Claim {
                place,
                wanted,
                wanted_at,
                opened_at,
                since_note,
                forgotten_at,
                attempts,
                first_failed_at,
                owner,
            }
        }))
    }

    /// Holds `claim` for another [`LEASE`]; false when somebody else has taken it over.
    ///
    /// # Errors
    /// The database.
    pub async fn renew(&self, claim: &Claim, now: Millis) -> Result<bool> {
        let until = now + LEASE.as_millis() as i64;
        write!(self, pool => Ok(sqlx::query(RENEW)
            .bind(claim.place.project as i64).bind(claim.place.iid as i64).bind(&claim.owner).bind(until)
            .execute(pool).await?.rows_affected() == 1))
    }

    /// Ends `claim`: the row rests, unless an event arrived meanwhile.
    ///
    /// # Errors
    /// The database.
    pub async fn settle(&self, claim: &Claim) -> Result<()> {
        write!(self, pool => {
            sqlx::query(SETTLE)
                .bind(claim.place.project as i64).bind(claim.place.iid as i64).bind(&claim.owner).bind(claim.wanted)
                .execute(pool).await?;
        });
        Ok(())
    }

    /// Ends `claim` for now, to be tried again at `run_at`. `counted` failures bring the row nearer to its
    /// burial; an outage of GitLab as a whole, `away`, is not counted. `failure` is a fixed word, never a message.
    ///
    /// # Errors
    /// The database.
    pub async fn retry(
        &self,
        claim: &Claim,
        run_at: Millis,
        (counted, away): (bool, bool),
        failure: &'static str,
        now: Millis,
    ) -> Result<bool> {
        let attempts = claim.attempts + i64::from(counted);
        let since = claim.first_failed_at.unwrap_or(now);
        let bury = counted && attempts >= BURY_AFTER_ATTEMPTS && now - since >= BURY_AFTER.as_millis() as i64;
        let state = if bury { "buried" } else { "ready" };
        write!(self, pool => {
            sqlx::query(RETRY)
                .bind(claim.place.project as i64).bind(claim.place.iid as i64).bind(&claim.owner).bind(run_at)
                .bind(i64::from(counted)).bind((counted || away).then_some(now)).bind(failure).bind(state)
                .execute(pool).await?;
        });
        Ok(bury)
    }

    /// Gives back what a process holds, all its workers together; with an empty name, whatever anybody holds.
    ///
    /// # Errors
    /// The database.
    pub async fn release(&self, process: &str) -> Result<u64> {
        let owners = if process.is_empty() { "%".to_owned() } else { format!("{process}#%") };
        write!(self, pool => Ok(sqlx::query(RELEASE).bind(owners).execute(pool).await?.rows_affected()))
    }

    /// What was known of `place` is dropped now; what was asked there before stays decided.
    ///
    /// # Errors
    /// The database.
    pub async fn forgotten(&self, place: Place, now: Millis) -> Result<()> {
        write!(self, pool => {
            sqlx::query(FORGOTTEN).bind(place.project as i64).bind(place.iid as i64).bind(now)
                .execute(pool).await?;
        });
        Ok(())
    }

    /// How full the queue is.
    ///
    /// # Errors
    /// The database.
    pub async fn depth(&self) -> Result<Depth> {
        let (ready, buried, oldest): (i64, i64, Option<i64>) =
            read!(self, pool => sqlx::query_as(DEPTH).fetch_one(pool).await?);
        Ok(Depth { ready, buried, oldest })
    }

    /// Buried rows, newest first: place, the word for the last failure, attempts. At most 100.
    ///
    /// # Errors
    /// The database.
    pub async fn buried(&self) -> Result<Vec<(Place, String, i64)>> {
        let rows: Vec<(i64, i64, String, i64)> =
            read!(self, pool => sqlx::query_as(BURIED).fetch_all(pool).await?);
        let place = |project: i64, iid: i64| Place { project: project as u64, iid: iid as u64 };
        Ok(rows.into_iter().map(|(p, i, failure, attempts)| (place(p, i), failure, attempts)).collect())
    }

    /// How many repositories wait to be read, those left out that failed three times.
    ///
    /// # Errors
    /// The database.
    pub async fn repositories_waiting(&self) -> Result<i64> {
        let (count,): (i64,) = read!(self, pool => sqlx::query_as(REPOSITORIES).fetch_one(pool).await?);
        Ok(count)
    }

    /// Digs up every buried row for another try.
    ///
    /// # Errors
    /// The database.
    pub async fn unbury(&self, now: Millis) -> Result<u64> {
        write!(self, pool => Ok(sqlx::query(UNBURY).bind(now).execute(pool).await?.rows_affected()))
    }

    /// How many rows are due, leased ones included.
    ///
    /// # Errors
    /// The database.
    pub async fn due(&self, now: Millis) -> Result<i64> {
        let (count,): (i64,) = write!(self, pool => sqlx::query_as(DUE).bind(now).fetch_one(pool).await?);
        Ok(count)
    }

    /// When the next row becomes due or its lease lapses; `None` when nothing waits.
    ///
    /// # Errors
    /// The database.
    pub async fn next_due(&self) -> Result<Option<Millis>> {
        let (next,): (Option<i64>,) = read!(self, pool => sqlx::query_as(NEXT).fetch_one(pool).await?);
        Ok(next)
    }

    /// Drops resting rows that nobody wanted since `before`.
    ///
    /// # Errors
    /// The database.
    pub async fn prune_queue(&self, before: Millis) -> Result<u64> {
        write!(self, pool => Ok(sqlx::query(PRUNE_IDLE).bind(before).execute(pool).await?.rows_affected()))
    }
}
