//! A question put to the corpus: candidates from search, from the thread's references and from similar closed
//! issues; judged by their own text; what is to be cited is looked at once more, as it is now.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::answer::{Asking, Walk, WalkError, World, translation};
use crate::config::When;
use crate::gitlab::resolve::{Budget, Outcome};
use crate::gitlab::{Read, Thread};
use crate::judge::{Candidate, Decision, GapKind, Judge, Judged, Policy, decide};
use crate::library::alone;
use crate::prose::references::REFERENCES_MAX;
use crate::prose::{Prose, Question};
use crate::reference::Reference;
use crate::reply::Asked;
use crate::search::{Fingerprint, Found, similarity};
use crate::section::{Section, cut};
use crate::store::corpus::SectionRow;
use crate::store::question::Near;
use crate::store::signpost::{Signpost, SignpostTarget};
use crate::sync::FILE_MAX;
use crate::target::corpus::Audience;
use crate::target::relevance::{Weighed, cover};
use crate::target::{Admitted, Blob, Project, ProjectId, Validated};

/// Sections that search puts forward.
const FOUND: usize = 10;
/// Sections of one referenced file that are read, when the reference names no lines and no heading.
const PER_FILE: usize = 6;
/// Candidates that are judged, and those of them that a thread's trail keeps.
const JUDGED: usize = 32;
const KEPT: usize = 12;
/// Likeness from which a closed issue's signposts count.
const ALIKE: f32 = 0.35;
/// Closed issues that are compared, and those whose signposts are taken.
const HISTORY: u32 = 20_000;
const SIMILAR: usize = 5;

/// What came of putting a question to the corpus.
pub struct Judgement {
    /// The answer, when one covers the question.
    pub answer: Option<Validated>,
    /// Whether it asks how to use or understand the software, so that what covers it is an answer.
    pub asks: bool,
    /// Whether it does so clearly enough for a label where nothing covers it.
    pub is_gap: bool,
    /// The kind of gap it is, when there is no answer.
    pub gap_kind: &'static str,
    /// The nearest page.
    pub near: Option<Near>,
    /// The question's fingerprint.
    pub fingerprint: Vec<u8>,
    /// The discussion whose reference led to the answer.
    pub discussion: Option<String>,
    best: f32,
    /// What was considered.
    pub entry: Value,
}

impl Judgement {
    /// The probability that one of the three likeliest sections covers the question, in thousandths.
    pub fn score(&self) -> i64 {
        (self.best * 1000.0) as i64
    }
}

/// A reference of a thread with the discussion it stands in.
pub(crate) struct Pointed {
    reference: Reference,
    discussion: Option<String>,
}

/// What became of one reference.
pub(crate) struct Resolution {
    pub(crate) hash: String,
    kind: &'static str,
    /// The check at which it fell.
    fell: Option<&'static str>,
    pub(crate) admitted: Vec<Admitted>,
    discussion: Option<String>,
}

/// Where a candidate came from and what it is.
pub(super) struct Source {
    from: &'static str,
    pub(super) project: ProjectId,
    pub(super) path: String,
    section: Section,
    text: String,
    /// The file, when it was read for this walk.
    blob: Option<Blob>,
    found: Option<Found>,
    votes: u32,
    discussion: Option<String>,
    /// Lines in the file.
    pub(super) lines: (u32, u32),
}

impl Source {
    /// Whether both are the same section.
    pub(super) fn is_the_section_of(&self, other: &Source) -> bool {
        (self.project, &self.path, self.lines, &self.text)
            == (other.project, &other.path, other.lines, &other.text)
    }

    /// A section that says the same in another language: whatever led here leads there.
    pub(super) fn translated(&self, row: SectionRow) -> Source {
        let found = self.found.map(|found| Found { id: row.id, cosine: 0.0, ..found });
        let discussion = self.discussion.clone();
        Source { discussion, ..source_of(row, "translation", found, self.votes) }
    }
}

/// Puts a question to the corpus.
pub(super) async fn put(walk: &mut Walk<'_>, asking: &Asking) -> Result<Judgement, WalkError> {
    let world = walk.world;
    let policy = world.policy();
    let mention = asking.asked != Asked::Issue;
    let gate = if mention || asking.decreed { 1.0 } else { gate(world, &walk.thread, &asking.question) };
    let always = world.config.answer.when == When::Always;
    let kind = if always { 1.0 } else { gate };
    let mut judgement = Judgement {
        answer: None,
        asks: gate >= policy.question,
        is_gap: gate >= policy.label,
        gap_kind: "missing",
        near: None,
        fingerprint: Fingerprint::of(&asking.question).to_bytes(),
        discussion: None,
        best: 0.0,
        entry: Value::Null,
    };
    if kind < policy.question {
        judgement.entry =
            json!({ "question": asking.key, "gate": gate, "decision": "silent", "candidates": [] });
        walk.trail.question(judgement.entry.clone());
        return Ok(judgement);
    }
    let references = match asking.asked {
        Asked::Issue => references_of(world, &walk.project, &walk.thread),
        Asked::Note(id) => references_of_note(world, &walk.project, &walk.thread, id),
    };
    let resolved = resolve_all(world, &references, &walk.audience).await?;
    let mut sources = referenced(world, &resolved, &asking.question).await?;
    sources.extend(searched(world, &walk.audience, &asking.question).await?);
    sources.extend(remembered(world, walk.claim.place, &walk.audience, &judgement.fingerprint).await?);
    let Verdict { sources, judged, decision, outcome } =
        reach(world, walk.audience, &asking.question, kind, &policy, distinct(sources)).await?;
    let threads_only =
        resolved.iter().all(|r| r.admitted.is_empty()) && points_at_threads(world, walk, asking);
    judgement.best = judged.first().map_or(0.0, |j| j.together);
    judgement.near = judged.first().map(|j| near(&sources[j.key as usize], j));
    judgement.gap_kind = match decision {
        Decision::Gap { kind: GapKind::Near, .. } => "near",
        _ if threads_only => "thread-only",
        _ => "missing",
    };
    // Too unlikely; or likely, and behind what is cited; or cited, if it still stood there.
    let fell = |j: &Judged| match &decision {
        Decision::Answer(keys) if keys.contains(&j.key) => outcome.is_none().then_some("changed"),
        Decision::Answer(_) if j.probability >= policy.agree => Some("rank"),
        _ => Some("cover"),
    };
    judgement.entry = json!({
        "question": asking.key,
        "gate": gate,
        "score": judgement.best,
        "threshold": (f64::from(policy.cover) * 1000.0).round() / 1000.0,
        "decision": if outcome.is_some() { "answer" } else if judgement.is_gap { "gap" } else { "silent" },
        "references": resolved.iter().map(trail_of_reference).collect::<Vec<_>>(),
        "candidates": judged.iter().map(|j| trail_of_candidate(&sources[j.key as usize], j, fell(j))).collect::<Vec<_>>(),
    });
    let mut kept = judgement.entry.clone();
    kept["candidates"].as_array_mut().into_iter().for_each(|candidates| candidates.truncate(KEPT));
    walk.trail.question(kept);
    if let Some((validated, key)) = outcome {
        judgement.discussion = sources[key as usize].discussion.clone();
        judgement.answer = Some(validated);
    }
    Ok(judgement)
}

pub(super) fn gate(world: &World, thread: &Thread, question: &Question) -> f32 {
    thread.issue.labels.weigh(|labels| {
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        world.judge.kind(question, &labels, &thread.issue.issue_type)
    })
}

fn points_at_threads(world: &World, walk: &Walk<'_>, asking: &Asking) -> bool {
    let Some(context) = world.context(&walk.project) else { return false };
    let notes = walk.thread.notes.iter().filter(|n| n.is_public_speech());
    match asking.asked {
        Asked::Issue => {
            walk.thread.issue.description.thread_only_signposts(&context)
                || notes.into_iter().any(|n| n.body.thread_only_signposts(&context))
        }
        Asked::Note(id) => {
            notes.into_iter().filter(|n| n.id == id).any(|n| n.body.thread_only_signposts(&context))
        }
    }
}

/// The references of an issue and its comments, at most [`REFERENCES_MAX`], without duplicates.
pub(crate) fn references_of(world: &World, project: &Project, thread: &Thread) -> Vec<Pointed> {
    let issue = &thread.issue;
    collect(world, project, thread, vec![(&issue.title, None), (&issue.description, None)])
}

/// The references of an issue's comments alone.
pub(super) fn references_of_notes(world: &World, project: &Project, thread: &Thread) -> Vec<Pointed> {
    collect(world, project, thread, Vec::new())
}

fn collect(
    world: &World,
    project: &Project,
    thread: &Thread,
    texts: Vec<(&Prose, Option<String>)>,
) -> Vec<Pointed> {
    let Some(context) = world.context(project) else { return Vec::new() };
    let notes = thread.notes.iter().filter(|n| n.is_public_speech());
    let notes = notes.map(|n| (&n.body, Some(n.discussion_id.clone())));
    let mut pointed: Vec<Pointed> = Vec::new();
    for (prose, discussion) in texts.into_iter().chain(notes) {
        for reference in prose.references_up_to(&context, REFERENCES_MAX - pointed.len()) {
            match pointed.iter_mut().find(|p| p.reference == reference) {
                // Who pointed there last is answered.
                Some(known) => known.discussion = discussion.clone().or(known.discussion.take()),
                None => pointed.push(Pointed { reference, discussion: discussion.clone() }),
            }
        }
        if pointed.len() >= REFERENCES_MAX {
            break;
        }
    }
    pointed
}

fn references_of_note(world: &World, project: &Project, thread: &Thread, id: u64) -> Vec<Pointed> {
    let Some(context) = world.context(project) else { return Vec::new() };
    let note = thread.notes.iter().find(|n| n.id == id);
    let references = note.map(|n| n.body.references_up_to(&context, REFERENCES_MAX)).unwrap_or_default();
    references.into_iter().map(|reference| Pointed { reference, discussion: None }).collect()
}

/// The name of a reference at rest: a hash of its parts.
pub(crate) fn hash(reference: &Reference) -> String {
    let text = serde_json::to_string(reference).unwrap_or_default();
    Sha256::digest(text.as_bytes()).iter().take(16).map(|b| format!("{b:02x}")).collect()
}

fn kind_of(reference: &Reference) -> &'static str {
    match reference {
        Reference::MergeRequest { .. } => "merge_request",
        Reference::Commit { .. } => "commit",
        Reference::File { .. } => "file",
        Reference::Page { .. } => "page",
    }
}

/// Resolves references and asks the predicate about each target. What could not be found out is an error: the
/// thread is looked at again, and nothing becomes a gap meanwhile.
#[tracing::instrument(name = "resolve", skip_all)]
pub(crate) async fn resolve_all(
    world: &World,
    pointed: &[Pointed],
    audience: &Audience,
) -> Result<Vec<Resolution>, WalkError> {
    let sites = world.docsites.now();
    let walk = world.gitlab.walk(&world.corpus, &sites, *audience, Budget::default());
    let references: Vec<Reference> = pointed.iter().map(|p| p.reference.clone()).collect();
    let outcomes = walk.resolve_all(&references).await;
    let mut resolved = Vec::with_capacity(pointed.len());
    for (p, outcome) in pointed.iter().zip(outcomes) {
        let outcome = outcome?;
        let mut fell = outcome.fell();
        let mut admitted = Vec::new();
        if let Outcome::Found(places) = outcome {
            for place in places {
                match world.corpus.admit(place, audience) {
                    Ok(place) => admitted.push(place),
                    Err(refusal) => fell = Some(refusal.name()),
                }
            }
        }
        resolved.push(Resolution {
            hash: hash(&p.reference),
            kind: kind_of(&p.reference),
            fell: fell.filter(|_| admitted.is_empty()),
            admitted,
            discussion: p.discussion.clone(),
        });
    }
    Ok(resolved)
}

/// The references as they are kept: coordinates of what exists, hashes of the rest.
pub(crate) fn signposts(resolved: &[Resolution]) -> Vec<Signpost> {
    resolved
        .iter()
        .map(|r| Signpost {
            hash: r.hash.clone(),
            target: r.admitted.first().map(|admitted| {
                let place = admitted.place();
                SignpostTarget {
                    project: place.project().id,
                    path: place.path().as_str().to_owned(),
                    lines: place.lines().map(|l| (l.first, l.last)),
                    anchor: place.anchor().map(str::to_owned),
                }
            }),
        })
        .collect()
}

/// The sections that the references mean, read with their admission.
#[tracing::instrument(name = "read", skip_all)]
async fn referenced(
    world: &World,
    resolved: &[Resolution],
    question: &Question,
) -> Result<Vec<Source>, WalkError> {
    let mut sources = Vec::new();
    let mut seen = HashSet::new();
    for resolution in resolved {
        for admitted in &resolution.admitted {
            let place = admitted.place();
            let key =
                (place.project().id, place.path().clone(), place.lines(), place.anchor().map(str::to_owned));
            if !seen.insert(key) {
                continue;
            }
            let Some(Read::Text(blob)) = world.gitlab.read(admitted, FILE_MAX).await? else { continue };
            let sections = cut(place.path(), blob.text());
            for section in meant(sections, &blob, question, &world.judge) {
                sources.push(Source {
                    from: "reference",
                    project: place.project().id,
                    path: place.path().as_str().to_owned(),
                    text: blob.text()[section.bytes.clone()].to_owned(),
                    lines: (section.lines.first, section.lines.last),
                    section,
                    blob: Some(blob.clone()),
                    found: None,
                    votes: 0,
                    discussion: resolution.discussion.clone(),
                });
            }
        }
    }
    Ok(sources)
}

/// The sections of a file that a reference means: those that hold its lines, the one under its anchor, else
/// those that share most words with the question.
fn meant(sections: Vec<Section>, blob: &Blob, question: &Question, judge: &Judge) -> Vec<Section> {
    let place = blob.place();
    if let Some(lines) = place.lines() {
        let touching = |s: &Section| s.lines.first <= lines.last && lines.first <= s.lines.last;
        return sections.into_iter().filter(touching).take(PER_FILE).collect();
    }
    if let Some(anchor) = place.anchor() {
        let named =
            |s: &Section| s.anchor.as_deref() == Some(anchor) || s.explicit_id.as_deref() == Some(anchor);
        if let Some(at) = sections.iter().position(named) {
            // The heading's own section and those below it.
            let depth = sections[at].heading_path.len();
            let below = sections.iter().skip(at + 1).take_while(|s| s.heading_path.len() > depth).count();
            return sections.into_iter().skip(at).take((below + 1).min(PER_FILE)).collect();
        }
    }
    let texts: Vec<&str> = sections.iter().map(|s| &blob.text()[s.bytes.clone()]).collect();
    let scores = judge.weigh_blocks(question, &texts);
    let mut order: Vec<usize> = (0..sections.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    let keep: HashSet<usize> = order.into_iter().take(PER_FILE).collect();
    sections.into_iter().enumerate().filter(|(at, _)| keep.contains(at)).map(|(_, s)| s).collect()
}

/// What search finds among the projects that this audience may read.
#[tracing::instrument(name = "search", skip_all)]
async fn searched(
    world: &World,
    audience: &Audience,
    question: &Arc<Question>,
) -> Result<Vec<Source>, WalkError> {
    let allowed = allowed(world, audience).await?;
    let (library, judge, question) = (world.library.clone(), Arc::clone(&world.judge), Arc::clone(question));
    let found = tokio::task::spawn_blocking(move || {
        let vector = judge.vector(&question);
        library.find(&question, Some(&vector), FOUND, &|project| allowed.contains(&project))
    })
    .await
    .map_err(|_| WalkError::Defect)??;
    let mut sources = Vec::new();
    for hit in found {
        // The index may be a moment ahead of or behind the database.
        if let Some(row) = world.store.section(hit.id).await? {
            sources.push(source_of(row, "search", Some(hit), 0));
        }
    }
    Ok(sources)
}

/// Ids of the projects whose repositories may be quoted to this audience, as GitLab last described them.
async fn allowed(world: &World, audience: &Audience) -> Result<HashSet<ProjectId>, WalkError> {
    let rows = world.store.projects().await?;
    let open = rows.into_iter().map(|row| Arc::new(row.project));
    Ok(open.filter(|project| world.corpus.admit_project(project, audience).is_ok()).map(|p| p.id).collect())
}

fn source_of(row: SectionRow, from: &'static str, found: Option<Found>, votes: u32) -> Source {
    let section = alone(&row);
    Source {
        from,
        project: row.project,
        path: row.path,
        section,
        text: row.body,
        blob: None,
        found,
        votes,
        discussion: None,
        lines: row.lines,
    }
}

/// Where similar closed issues pointed: candidates and votes, never text.
#[tracing::instrument(name = "remember", skip_all)]
async fn remembered(
    world: &World,
    place: crate::store::queue::Place,
    audience: &Audience,
    fingerprint: &[u8],
) -> Result<Vec<Source>, WalkError> {
    let Some(own) = Fingerprint::from_bytes(fingerprint) else { return Ok(Vec::new()) };
    let mut alike: Vec<(f32, crate::store::queue::Place)> = world
        .store
        .history(HISTORY)
        .await?
        .into_iter()
        .filter(|(other, _)| *other != place)
        .filter_map(|(other, bytes)| Some((similarity(&own, &Fingerprint::from_bytes(&bytes)?), other)))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    alike.sort_by(|a, b| b.0.total_cmp(&a.0));
    let allowed = allowed(world, audience).await?;
    let mut votes: HashMap<u64, (SectionRow, u32)> = HashMap::new();
    for (_, other) in alike.into_iter().take(SIMILAR) {
        for signpost in world.store.signposts(other).await? {
            let Some(target) = signpost.target.filter(|t| allowed.contains(&t.project)) else { continue };
            for row in world.store.sections_of_file(target.project, &target.path).await? {
                let hit = match (target.lines, &target.anchor) {
                    (Some((first, last)), _) => row.lines.0 <= last && first <= row.lines.1,
                    (None, Some(anchor)) => {
                        row.anchor.as_ref() == Some(anchor) || row.explicit_id.as_ref() == Some(anchor)
                    }
                    (None, None) => true,
                };
                if hit && votes.len() < JUDGED {
                    votes.entry(row.id).or_insert_with(|| (row, 0)).1 += 1;
                }
            }
        }
    }
    Ok(votes.into_values().map(|(row, votes)| source_of(row, "history", None, votes)).collect())
}

/// One candidate per section: a reference's own reading first, with what search and history say of it added.
fn distinct(sources: Vec<Source>) -> Vec<Source> {
    let mut kept: Vec<Source> = Vec::new();
    for source in sources {
        let same = kept.iter().position(|k| k.is_the_section_of(&source));
        match same {
            Some(at) => {
                kept[at].found = kept[at].found.or(source.found);
                kept[at].votes = kept[at].votes.max(source.votes);
            }
            None if kept.len() < JUDGED => kept.push(source),
            None => {}
        }
    }
    kept
}

/// Judges on a blocking thread; a key is the position in `sources`.
#[tracing::instrument(name = "judge", skip_all)]
pub(super) async fn judge(
    world: &World,
    question: &Arc<Question>,
    sources: &[Source],
) -> Result<Vec<Judged>, WalkError> {
    let (judge, question, endpoint) =
        (Arc::clone(&world.judge), Arc::clone(question), world.endpoint.clone());
    let handle = tokio::runtime::Handle::current();
    let rows: Vec<(Section, String, Option<Found>, bool, u32)> = sources
        .iter()
        .map(|s| (s.section.clone(), s.text.clone(), s.found, s.from == "reference", s.votes))
        .collect();
    let work = move || {
        let candidates: Vec<Candidate<'_>> = rows
            .iter()
            .enumerate()
            .map(|(key, (section, text, found, referenced, votes))| Candidate {
                key: key as u64,
                section,
                text,
                found: *found,
                referenced: *referenced,
                votes: *votes,
            })
            .collect();
        let judged = judge.judge(&question, &candidates);
        match &endpoint {
            Some(endpoint) => endpoint.revise(&handle, &question, &candidates, judged),
            None => judged,
        }
    };
    tokio::task::spawn_blocking(work).await.map_err(|_| WalkError::Defect)
}

/// What the candidates of a question come to.
struct Verdict {
    sources: Vec<Source>,
    judged: Vec<Judged>,
    decision: Decision,
    /// The answer, with the key of its best source.
    outcome: Option<(Validated, u64)>,
}

/// Judges, prefers the asker's language, decides, and looks at what would be cited as it is now.
async fn reach(
    world: &World,
    audience: Audience,
    question: &Arc<Question>,
    kind: f32,
    policy: &Policy,
    sources: Vec<Source>,
) -> Result<Verdict, WalkError> {
    let judged = judge(world, question, &sources).await?;
    let (sources, judged) = translation::prefer(world, question, policy, sources, judged).await?;
    let decision = without_unsure_references(decide(policy, kind, &judged), policy, &sources, &judged);
    let outcome = conclude(world, audience, question, kind, policy, &sources, &judged, &decision).await?;
    Ok(Verdict { sources, judged, decision, outcome })
}

/// Beside what is quoted, search may offer a link that is merely likely; what a stranger points at must cover the question
/// by itself to be linked at all (R-KB-1d).
fn without_unsure_references(
    decision: Decision,
    policy: &Policy,
    sources: &[Source],
    judged: &[Judged],
) -> Decision {
    let Decision::Answer(keys) = decision else { return decision };
    let unsure = |key: u64| {
        let covers = judged.iter().any(|one| one.key == key && one.probability >= policy.quote);
        let only_pointed_at =
            sources.get(key as usize).is_some_and(|s| s.from == "reference" && s.found.is_none());
        only_pointed_at && !covers
    };
    Decision::Answer(
        keys.iter().enumerate().filter(|(at, key)| *at == 0 || !unsure(**key)).map(|(_, key)| *key).collect(),
    )
}

/// Looks at what would be cited as it is now: resolves, admits, reads, and lets the third check decide.
#[tracing::instrument(name = "conclude", skip_all)]
#[expect(clippy::too_many_arguments, reason = "the last step of the walk needs what all earlier ones found")]
async fn conclude(
    world: &World,
    audience: Audience,
    question: &Arc<Question>,
    kind: f32,
    policy: &Policy,
    sources: &[Source],
    judged: &[Judged],
    decision: &Decision,
) -> Result<Option<(Validated, u64)>, WalkError> {
    let Decision::Answer(keys) = decision else { return Ok(None) };
    let (mut weighed, mut files) = (Vec::new(), Files::default());
    for key in keys {
        let (Some(source), Some(own)) = (sources.get(*key as usize), judged.iter().find(|j| j.key == *key))
        else {
            continue;
        };
        let Some(blob) = files.now(world, &audience, source).await? else { continue };
        weighed.extend(as_now(world, blob, source, own));
    }
    let first = weighed.iter().map(|w| w.judged).max_by(|a, b| a.probability.total_cmp(&b.probability));
    let (judge, question, policy) = (Arc::clone(&world.judge), Arc::clone(question), *policy);
    let covered = tokio::task::spawn_blocking(move || cover(&judge, &question, kind, &policy, weighed))
        .await
        .map_err(|_| WalkError::Defect)?;
    Ok(covered.ok().zip(first.map(|f| f.key)))
}

/// Files as they are at the heads of their projects now, each looked up once for an answer.
#[derive(Default)]
struct Files(HashMap<(ProjectId, String), Option<Blob>>);

impl Files {
    /// The file of a candidate; `None` when it is gone or refused.
    async fn now(
        &mut self,
        world: &World,
        audience: &Audience,
        source: &Source,
    ) -> Result<Option<Blob>, WalkError> {
        if let Some(blob) = &source.blob {
            return Ok(Some(blob.clone()));
        }
        let key = (source.project, source.path.clone());
        if let Some(known) = self.0.get(&key) {
            return Ok(known.clone());
        }
        let found = at_head(world, audience, source).await?;
        self.0.insert(key, found.clone());
        Ok(found)
    }
}

async fn at_head(world: &World, audience: &Audience, source: &Source) -> Result<Option<Blob>, WalkError> {
    let Some(project) = world.gitlab.project(source.project).await? else { return Ok(None) };
    let Some(path) = crate::reference::RepoPath::parse(&source.path) else { return Ok(None) };
    let Some(place) = world.gitlab.file_at_head(&project, &path).await? else { return Ok(None) };
    let Ok(admitted) = world.corpus.admit(place, audience) else { return Ok(None) };
    match world.gitlab.read(&admitted, FILE_MAX).await? {
        Some(Read::Text(blob)) => Ok(Some(blob)),
        _ => Ok(None),
    }
}

/// The candidate's section in its file as it is now; `None` when it no longer says what was judged.
fn as_now(world: &World, blob: Blob, source: &Source, judged: &Judged) -> Option<Weighed> {
    let sections = cut(blob.place().path(), blob.text());
    let same = |s: &Section| {
        s.heading_path == source.section.heading_path && judged.is_of(&blob.text()[s.bytes.clone()])
    };
    let at = sections.iter().position(same)?;
    let page = world.docsites.page(blob.place(), &sections, at);
    Some(Weighed { section: sections[at].clone(), judged: *judged, page, blob })
}

fn near(source: &Source, judged: &Judged) -> Near {
    Near {
        project: source.project,
        path: source.path.clone(),
        anchor: source.section.anchor.clone(),
        score: (judged.probability * 1000.0) as i64,
    }
}

/// A reference that fell is shown as its kind and the check, never by what it said.
fn trail_of_reference(r: &Resolution) -> Value {
    let targets: Vec<Value> = r
        .admitted
        .iter()
        .map(|a| json!({ "project": a.place().project().id, "path": a.place().path().as_str() }))
        .collect();
    json!({ "kind": r.kind, "hash": r.hash, "fell": r.fell, "targets": targets })
}

fn trail_of_candidate(source: &Source, judged: &Judged, fell: Option<&'static str>) -> Value {
    json!({
        "from": source.from,
        "project": source.project,
        "path": source.path,
        "lines": [source.lines.0, source.lines.1],
        "anchor": source.section.anchor,
        "probability": judged.probability,
        "reader": judged.reader,
        "cosine": judged.cosine,
        "lexical": judged.lexical,
        "coverage": judged.coverage,
        "votes": judged.votes,
        "fell": fell,
    })
}

impl World {
    /// When to answer and when to label, for the promised error rate.
    pub(crate) fn policy(&self) -> Policy {
        Policy::promising(self.config.answer.max_wrong)
    }
}

impl Walk<'_> {
    /// Writes down where the thread points: hashes while it is open, resolved once it is closed.
    pub(super) async fn record_signposts(&mut self) -> Result<(), WalkError> {
        let pointed = references_of(self.world, &self.project, &self.thread);
        let signposts: Vec<Signpost> =
            pointed.iter().map(|p| Signpost { hash: hash(&p.reference), target: None }).collect();
        self.world.store.save_signposts(self.place(), &signposts, self.now()).await?;
        Ok(())
    }
}

/// The best that search alone offers for a question: its judgement, project, path. For `replay`, where the
/// thread's own references are the labels.
pub(super) async fn best_by_search(
    world: &World,
    audience: &Audience,
    question: &Arc<Question>,
) -> Result<Option<(Judged, ProjectId, String)>, WalkError> {
    let sources = searched(world, audience, question).await?;
    let judged = judge(world, question, &sources).await?;
    Ok(judged.first().map(|j| {
        let source = &sources[j.key as usize];
        (*j, source.project, source.path.clone())
    }))
}

/// What the corpus says to a question that stands in no thread.
pub struct Consulted {
    /// The score of the question gate.
    pub kind: f32,
    /// What was judged, the likeliest first: where it lies, and the judgement.
    pub judged: Vec<(Place, Judged)>,
    /// What the judgement leads to.
    pub decision: Decision,
    /// The passages as they are now; none when what was found is not there any more.
    pub answer: Option<Validated>,
}

/// Where a judged section lies.
pub struct Place {
    /// The file's path in its repository.
    pub path: String,
    /// The section's anchor, where it has one.
    pub anchor: Option<String>,
    /// Its lines in the file, from 1, both included.
    pub lines: (u32, u32),
}

/// Puts a question to the corpus for the readers of a thread, without any thread, and posts nothing; for `ask`.
///
/// # Errors
/// GitLab, the database, the search index.
pub async fn consult(
    world: &World,
    audience: &Audience,
    question: &Arc<Question>,
    policy: &Policy,
) -> Result<Consulted, WalkError> {
    let kind = world.judge.kind(question, &[], "issue");
    let sources = searched(world, audience, question).await?;
    let Verdict { sources, judged, decision, outcome } =
        reach(world, *audience, question, kind, policy, sources).await?;
    let place = |one: &Judged| {
        let source = &sources[one.key as usize];
        Place { path: source.path.clone(), anchor: source.section.anchor.clone(), lines: source.lines }
    };
    let judged = judged.into_iter().map(|one| (place(&one), one)).collect();
    Ok(Consulted { kind, judged, decision, answer: outcome.map(|(validated, _)| validated) })
}
