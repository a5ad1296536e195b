//! Saying something: the only functions that post text, and they take a [`Reply`].

use http::{Method, StatusCode};
use serde::Deserialize;
use serde_json::json;

use crate::gitlab::GitLab;
use crate::gitlab::endpoint::{Own, segment};
use crate::gitlab::error::{Call, Error};
use crate::gitlab::http::Limits;
use crate::reply::Reply;
use crate::target::ProjectId;

/// A note that GitLab has stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posted {
    /// The note's id.
    pub note: u64,
    /// The discussion it is in.
    pub discussion: String,
}

#[derive(Deserialize)]
struct DiscussionRow {
    id: String,
    #[serde(default)]
    notes: Vec<NoteRow>,
}

#[derive(Deserialize)]
struct NoteRow {
    id: u64,
}

impl GitLab {
    /// Opens a new discussion on an issue. Never tried twice: after a [`Error::Transient`] the note may be
    /// there, and the caller looks for its marker before posting again.
    pub async fn start_discussion(
        &self,
        project: ProjectId,
        iid: u64,
        reply: &Reply,
    ) -> Result<Posted, Error> {
        let path = format!("projects/{project}/issues/{iid}/discussions");
        let row: DiscussionRow = self.post(path, reply).await?;
        let note = row.notes.first().map(|note| note.id);
        let unclear =
            || Error::Transient { after: None, call: Call::new("POST discussions").because("no note in it") };
        Ok(Posted { note: note.ok_or_else(unclear)?, discussion: row.id })
    }

    /// Replies in a discussion; on a comment that stands alone this makes a discussion of it. Never tried
    /// twice, as [`GitLab::start_discussion`].
    pub async fn reply_in_discussion(
        &self,
        project: ProjectId,
        iid: u64,
        discussion: &str,
        reply: &Reply,
    ) -> Result<Posted, Error> {
        let path = format!("projects/{project}/issues/{iid}/discussions/{}/notes", segment(discussion));
        let row: NoteRow = self.post(path, reply).await?;
        Ok(Posted { note: row.id, discussion: discussion.to_owned() })
    }

    /// Replaces the text of a note of ours. Doing it twice is doing it once.
    pub async fn edit_note(
        &self,
        project: ProjectId,
        iid: u64,
        note: u64,
        reply: &Reply,
    ) -> Result<(), Error> {
        let path = format!("projects/{project}/issues/{iid}/notes/{note}");
        let endpoint = Own::send(Method::PUT, path, json!({ "body": reply.markdown() }));
        self.http.raw(&endpoint, Limits::JSON).await.map(|_| ())
    }

    async fn post<T: serde::de::DeserializeOwned>(&self, path: String, reply: &Reply) -> Result<T, Error> {
        let endpoint = Own::send(Method::POST, path, json!({ "body": reply.markdown() }));
        let answer = self.http.answer(&endpoint, Limits::JSON).await?;
        let call = || Call { status: Some(answer.status().as_u16()), ..Call::new("POST note") };
        // 202: GitLab took the whole text for quick actions and stored nothing.
        if answer.status() == StatusCode::ACCEPTED {
            return Err(Error::Broken(call().because("nothing was stored")));
        }
        // It was stored, but we cannot tell where: looking again will.
        let unclear = |_| Error::Transient { after: None, call: call().because("unexpected shape") };
        serde_json::from_slice(answer.body()).map_err(unclear)
    }
}
