//! Files and blobs.

use super::{Answer, Call, Outcome};
use crate::gitlab::git::{Commit, Mode, hex};
use crate::gitlab::world::{Project, World};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

impl Call {
    /// `ref` must be given here.
    pub(super) fn file(&self, _world: &World, project: &Project, path: &str) -> Outcome {
        let revision = self.need("ref")?;
        let commit = self.at(project, Some(revision), "Commit")?;
        let (shape, bytes) = metadata(project, commit, revision, path)?;
        let mut body = shape.clone();
        body["encoding"] = json!("base64");
        body["content"] = json!(STANDARD.encode(bytes));
        Ok(with_metadata(Answer::ok(body), &shape))
    }

    /// `ref` may be left out here: the default branch.
    pub(super) fn raw_file(&self, _world: &World, project: &Project, path: &str) -> Outcome {
        let revision = self.get("ref").unwrap_or("HEAD");
        let commit = self.at(project, Some(revision), "File")?;
        let (shape, bytes) = metadata(project, commit, revision, path)?;
        Ok(with_metadata(Answer::bytes(bytes, "text/plain; charset=utf-8"), &shape)
            .with("X-Content-Type-Options", "nosniff"))
    }

    pub(super) fn raw_blob(&self, project: &Project, sha: &str) -> Outcome {
        let bytes = project.repository.read(sha).ok_or_else(|| Answer::missing("Blob"))?;
        Ok(Answer::bytes(bytes.to_vec(), "text/plain; charset=utf-8"))
    }

    pub(super) fn blob(&self, project: &Project, sha: &str) -> Outcome {
        let bytes = project.repository.read(sha).ok_or_else(|| Answer::missing("Blob"))?;
        Ok(Answer::ok(
            json!({ "size": bytes.len(), "encoding": "base64", "content": STANDARD.encode(bytes), "sha": sha }),
        ))
    }
}

/// What GitLab says of a file, and its content. Folders and submodules are no files.
fn metadata(
    project: &Project,
    commit: &Commit,
    revision: &str,
    path: &str,
) -> Result<(Value, Vec<u8>), Answer> {
    let missing = || Answer::missing("File");
    let entry = commit.tree.get(path).filter(|entry| entry.mode != Mode::Submodule).ok_or_else(missing)?;
    let bytes = project.repository.read(&entry.id).ok_or_else(missing)?;
    let last = project.repository.last_change(&commit.id, path).map_or(&commit.id, |commit| &commit.id);
    let shape = json!({
        "file_name": path.rsplit('/').next(), "file_path": path, "size": bytes.len(), "encoding": "base64",
        "content_sha256": hex(&Sha256::digest(bytes)), "ref": revision, "blob_id": entry.id, "commit_id": commit.id,
        "last_commit_id": last, "execute_filemode": entry.mode == Mode::Executable,
    });
    Ok((shape, bytes.to_vec()))
}

/// The same as headers: what a `HEAD` asks for.
fn with_metadata(answer: Answer, shape: &Value) -> Answer {
    let names = [
        ("X-Gitlab-Blob-Id", "blob_id"),
        ("X-Gitlab-Commit-Id", "commit_id"),
        ("X-Gitlab-Content-Sha256", "content_sha256"),
        ("X-Gitlab-Encoding", "encoding"),
        ("X-Gitlab-File-Name", "file_name"),
        ("X-Gitlab-File-Path", "file_path"),
        ("X-Gitlab-Last-Commit-Id", "last_commit_id"),
        ("X-Gitlab-Ref", "ref"),
        ("X-Gitlab-Size", "size"),
        ("X-Gitlab-Execute-Filemode", "execute_filemode"),
    ];
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), super::call::encode_header);
    names.iter().fold(answer, |answer, (name, key)| answer.with(name, text(&shape[*key])))
}
