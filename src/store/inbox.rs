//! The way from the door to the disk: group commit. One task takes whatever deliveries are waiting, writes
//! them in one transaction and answers all of them. No timer: the commit in progress is the natural window.

use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use crate::clock::Millis;
use crate::store::queue::{Place, WANT, WANT_KNOWN};
use crate::store::{Result, Store, StoreError, read, transaction, write};

/// The most deliveries in one transaction.
const BATCH: usize = 256;
/// The most deliveries that may wait for the disk; beyond it the door says 503 early rather than late.
const WAITING: usize = 2048;
/// How long a delivery may wait for the disk: GitLab hangs up after ten seconds, and a refusal it hears is worth
/// more than an answer it does not.
const PATIENCE: Duration = Duration::from_secs(8);
/// How long one transaction may take: a connection that fell silent must not hold up all that come after.
const COMMIT: Duration = Duration::from_secs(6);

/// What a delivery asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// A look at a place; `opened` when the event announced a new issue.
    Look {
        /// Where.
        place: Place,
        /// Whether the issue is new.
        opened: bool,
        /// The note that was announced, if one was.
        note: Option<u64>,
    },
    /// A look at a place only if it is known already.
    Recheck(Place),
    /// Nothing: taken note of so that a repetition is recognised.
    Nothing,
}

/// An authentic delivery, reduced to coordinates.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// What recognises a repetition: `webhook-id`, else `Idempotency-Key`, else a hash of the body.
    pub id: String,
    /// What it asks for.
    pub wish: Wish,
    /// When it arrived.
    pub received_at: Millis,
}

/// What became of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is on the disk.
    New,
    /// It was there already.
    Duplicate,
}

/// Why a delivery was not taken.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// Too many are waiting.
    #[error("too many deliveries are waiting for the database")]
    Overload,
    /// The database did not take it.
    #[error("the database did not take the delivery")]
    Away,
}

type Waiting = (Delivery, oneshot::Sender<std::result::Result<Taken, ()>>);

/// The door's end of the inbox. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Inbox(mpsc::Sender<Waiting>);

const REMEMBER: &str = "INSERT INTO delivery (id, received_at) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING";
const LAST: &str = "SELECT MAX(received_at) FROM delivery";
const PRUNE: &str = "DELETE FROM delivery WHERE received_at < $1";

impl Inbox {
    /// Starts the writing task on `store`; it ends when the last `Inbox` is dropped and all is written.
    pub fn start(store: Store) -> (Inbox, tokio::task::JoinHandle<()>) {
        let (sender, receiver) = mpsc::channel(WAITING);
        (Inbox(sender), tokio::spawn(write_batches(store, receiver)))
    }

    /// Returns when the delivery is durable.
    ///
    /// # Errors
    /// Too many waiting, or the database away or slow: nothing is promised.
    pub async fn take(&self, delivery: Delivery) -> std::result::Result<Taken, Refused> {
        let (answer, written) = oneshot::channel();
        self.0.try_send((delivery, answer)).map_err(|e| match e {
            mpsc::error::TrySendError::Full(_) => Refused::Overload,
            mpsc::error::TrySendError::Closed(_) => Refused::Away,
        })?;
        let written = tokio::time::timeout(PATIENCE, written).await.map_err(|_| Refused::Away)?;
        written.map_err(|_| Refused::Away)?.map_err(|()| Refused::Away)
    }
}

async fn write_batches(store: Store, mut receiver: mpsc::Receiver<Waiting>) {
    let mut batch = Vec::with_capacity(BATCH);
    while receiver.recv_many(&mut batch, BATCH).await > 0 {
        let deliveries: Vec<&Delivery> = batch.iter().map(|(delivery, _)| delivery).collect();
        let taken = match tokio::time::timeout(COMMIT, store.take_batch(&deliveries)).await {
            Ok(outcome) => outcome.map_err(|error| error.to_string()),
            Err(_) => Err("the database does not answer".to_owned()),
        };
        if let Err(error) = &taken {
            tracing::error!(%error, waiting = batch.len(), "deliveries could not be written; GitLab is told 503");
        }
        let taken = taken.map_err(|_| ());
        for (at, (_, answer)) in batch.drain(..).enumerate() {
            // The request may have been given up; then GitLab delivers again and finds a duplicate.
            let _ = answer.send(taken.as_ref().map(|t| t[at]).map_err(Clone::clone));
        }
    }
}

impl Store {
    /// Writes deliveries and what they ask for in one transaction, in a fixed order of places so that two
    /// replicas never wait for each other in a circle.
    async fn take_batch(&self, deliveries: &[&Delivery]) -> Result<Vec<Taken>> {
        let mut order: Vec<usize> = (0..deliveries.len()).collect();
        order.sort_by(|a, b| deliveries[*a].id.cmp(&deliveries[*b].id));
        let mut taken = vec![Taken::Duplicate; deliveries.len()];
        transaction!(self, tx => {
            let mut wishes = Vec::with_capacity(deliveries.len());
            for at in order {
                let delivery = deliveries[at];
                let new = sqlx::query(REMEMBER).bind(&delivery.id).bind(delivery.received_at)
                    .execute(&mut *tx).await?.rows_affected() == 1;
                if new {
                    taken[at] = Taken::New;
                    wishes.push((delivery.wish, delivery.received_at));
                }
            }
            wishes.sort_by_key(|(wish, _)| match wish {
                Wish::Look { place, .. } | Wish::Recheck(place) => (place.project, place.iid),
                Wish::Nothing => (0, 0),
            });
            for (wish, at) in wishes {
                match wish {
                    Wish::Nothing => {}
                    Wish::Look { place, opened, note } => {
                        sqlx::query(WANT).bind(place.project as i64).bind(place.iid as i64).bind(at)
                            .bind(opened.then_some(at)).bind(note.map(|id| id as i64)).bind(at)
                            .execute(&mut *tx).await?;
                    }
                    Wish::Recheck(place) => {
                        sqlx::query(WANT_KNOWN).bind(place.project as i64).bind(place.iid as i64).bind(at)
                            .execute(&mut *tx).await?;
                    }
                }
            }
        });
        Ok(taken)
    }

    /// When the last delivery was taken; `None` when none ever was, or none within the time they are kept.
    ///
    /// # Errors
    /// The database.
    pub async fn last_delivery(&self) -> std::result::Result<Option<Millis>, StoreError> {
        let (last,): (Option<Millis>,) = read!(self, pool => sqlx::query_as(LAST).fetch_one(pool).await?);
        Ok(last)
    }

    /// Forgets deliveries received before `before`.
    ///
    /// # Errors
    /// The database.
    pub async fn prune_deliveries(&self, before: Millis) -> std::result::Result<u64, StoreError> {
        write!(self, pool => Ok(sqlx::query(PRUNE).bind(before).execute(pool).await?.rows_affected()))
    }
}
