//! `signpost verify`.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::{Value, json};

use crate::cli::invocation::Invocation;
use crate::cli::{Verdict, explain};
use crate::reply::Marker;
use crate::reply::marker::Quoted;
use crate::reply::verify::{Finding, Origin, Proof, check, object_id};

/// Arguments of `signpost verify`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The note: a file with its Markdown, `-` for standard input, or its address.
    #[arg(value_name = "NOTE_URL|FILE")]
    note: String,
    /// The file that the note quotes. May be given several times; the right one is found by its object id.
    #[arg(long, value_name = "FILE")]
    blob: Vec<PathBuf>,
    /// Print the proof or the finding as JSON.
    #[arg(long)]
    json: bool,
}

/// Proves a note, fetched by its address or read from a file; the blob it names is fetched unless `--blob` gives
/// it.
///
/// # Errors
/// The note or the blob cannot be had.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<Verdict> {
    let by_address = args.note.starts_with("https://") || args.note.starts_with("http://");
    let note = if by_address { fetch_note(&args.note, invocation)? } else { read_note(&args.note)? };
    let mut blobs = args.blob.iter().map(|path| read(path)).collect::<anyhow::Result<Vec<_>>>()?;
    let quoted = Marker::parse(&note).and_then(|marker| marker.quoted().cloned());
    if let (true, Some(quoted)) = (blobs.is_empty(), quoted) {
        blobs.extend(fetch_blob(&quoted, invocation)?);
    }
    report(check(&note, |id| choose(&blobs, id)), args.json)
}

fn fetch_note(address: &str, invocation: &Invocation) -> anyhow::Result<String> {
    let (config, secrets) = invocation.load()?;
    let gitlab = Invocation::gitlab(&config, &secrets)?;
    let (issue, fragment) = address.split_once('#').unwrap_or((address, ""));
    let note: u64 = fragment
        .strip_prefix("note_")
        .and_then(|id| id.parse().ok())
        .context("this is no address of a note: give it as …/-/issues/12#note_345")?;
    let (path, iid) =
        explain::parse(issue, config.gitlab.url.as_str()).context("this is no note of this instance")?;
    Invocation::block_on(async {
        let project =
            gitlab.project(path).await?.context("there is no such project, or not for this token")?;
        gitlab
            .our_note(project.id, iid, note)
            .await?
            .context("there is no such note, or the bot did not write it")
    })
}

fn fetch_blob(quoted: &Quoted, invocation: &Invocation) -> anyhow::Result<Option<Vec<u8>>> {
    let (config, secrets) =
        invocation.load().context("--blob is not given, and the blob cannot be fetched")?;
    let gitlab = Invocation::gitlab(&config, &secrets)?;
    Invocation::block_on(async { Ok(gitlab.quoted_blob(quoted).await?.map(|bytes| bytes.to_vec())) })
}

/// The blob with this id; the only one given where none has it, so that the finding names both ids.
fn choose(blobs: &[Vec<u8>], id: &str) -> Option<Vec<u8>> {
    let named = blobs.iter().find(|content| object_id(content, id.len()) == id);
    named.or(blobs.first()).cloned()
}

/// Prints what was found about a note, and says whether it is as it should be.
pub fn report(found: Result<Proof, Finding>, as_json: bool) -> anyhow::Result<Verdict> {
    match found {
        Ok(proof) => {
            if as_json {
                println!("{}", proved(&proof))
            } else {
                println!("{}", sentence(&proof))
            }
            Ok(Verdict::Fine)
        }
        Err(finding) if finding.is_unknown() => Err(finding.into()),
        Err(finding) => {
            if as_json {
                println!("{}", wrong(&finding))
            } else {
                println!("wrong: {finding}")
            }
            Ok(Verdict::Wrong)
        }
    }
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("could not read {}", path.display()))
}

fn read_note(name: &str) -> anyhow::Result<String> {
    if name == "-" {
        let mut note = String::new();
        std::io::stdin().read_to_string(&mut note).context("could not read the note from standard input")?;
        return Ok(note);
    }
    String::from_utf8(read(Path::new(name))?).with_context(|| format!("{name} is not UTF-8 text"))
}

/// How many bytes of the note are of one kind.
fn bytes(proof: &Proof, wanted: fn(&Origin) -> bool) -> usize {
    proof.parts.iter().filter(|part| wanted(&part.origin)).map(|part| part.note.len()).sum()
}

fn sentence(proof: &Proof) -> String {
    let total = bytes(proof, |_| true);
    match proof.marker.quoted() {
        None => format!("proved: all {total} bytes are one fixed sentence and the marker"),
        Some(quoted) => format!(
            "proved: all {total} bytes; {} quote bytes {}-{} (lines {}-{}) of {} in blob {}",
            bytes(proof, |origin| matches!(origin, Origin::Quote(_))),
            quoted.bytes.start,
            quoted.bytes.end,
            quoted.lines.first,
            quoted.lines.last,
            quoted.path.as_str(),
            quoted.blob,
        ),
    }
}

fn proved(proof: &Proof) -> Value {
    let parts: Vec<Value> = proof
        .parts
        .iter()
        .map(|part| {
            let (origin, file) = match &part.origin {
                Origin::Fixed => ("fixed", None),
                Origin::Heading => ("heading", None),
                Origin::Address => ("address", None),
                Origin::Place => ("place", None),
                Origin::Marker => ("marker", None),
                Origin::Quote(kept) => {
                    ("quote", Some(kept.iter().map(|k| [k.start, k.end]).collect::<Vec<_>>()))
                }
            };
            json!({"note": [part.note.start, part.note.end], "origin": origin, "file": file})
        })
        .collect();
    let quoted = proof.marker.quoted().map(|quoted| {
        json!({
            "project": quoted.project, "commit": quoted.commit, "path": quoted.path, "blob": quoted.blob,
            "bytes": [quoted.bytes.start, quoted.bytes.end], "lines": [quoted.lines.first, quoted.lines.last],
        })
    });
    json!({"proved": true, "quoted": quoted, "project_url": proof.project, "page": proof.page, "parts": parts})
}

fn wrong(finding: &Finding) -> Value {
    let place = match finding {
        Finding::Foreign { at, line, column, .. } => json!({"at": at, "line": line, "column": column}),
        _ => Value::Null,
    };
    json!({"proved": false, "reason": finding.to_string(), "byte": place})
}
