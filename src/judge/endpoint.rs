//! An OpenAI-compatible chat endpoint as a further judge, off unless configured.
//!
//! It sees a question and passages and says, in a strict schema, which passages answer. What comes back is
//! [`Opinion`]s: a verdict, a confidence, line numbers. There is no string in it, so nothing that the endpoint
//! says, and nothing that a question makes it say, can be posted; at worst another passage of the corpus is cited.
//! Whatever does not fit the schema, comes late or is over the budget is [`Verdict::Uncertain`].

mod wire;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use url::Url;

use crate::clock::{Clock, Millis};
use crate::judge::{Candidate, Judged, TARGETS_MAX, heading};
use crate::prose::Question;
use crate::reference::Lines;
use crate::section;

/// An answer of more bytes than this is no verdict.
const ANSWER_MAX: usize = 64 * 1024;
/// Passages of one request.
const PASSAGES_MAX: usize = 10;
/// Bytes of one passage that are sent.
const PASSAGE_MAX: usize = 4000;
/// Bytes of a question that are sent.
const QUESTION_MAX: usize = 6000;
/// Opinions that are remembered.
const CACHE_MAX: usize = 2000;
/// Requests within an hour; beyond, the built-in judge decides alone.
const HOURLY_MAX: usize = 600;

/// What the endpoint says of a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The passage states what is asked.
    Covers,
    /// It does not.
    Misses,
    /// No usable answer.
    Uncertain,
}

/// The endpoint's opinion of one passage: numbers only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Opinion {
    /// Whether the passage covers the question.
    pub verdict: Verdict,
    /// From 0 to 1; 0 when uncertain.
    pub confidence: f32,
    /// Lines of the section that hold the answer, counted from 1 within the section; only ones that exist.
    pub lines: Option<Lines>,
}

impl Opinion {
    /// No usable answer.
    pub const UNCERTAIN: Opinion = Opinion { verdict: Verdict::Uncertain, confidence: 0.0, lines: None };
}

/// A chat endpoint that judges.
pub struct Endpoint {
    client: reqwest::Client,
    url: Url,
    model: String,
    key: Option<SecretString>,
    clock: Clock,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    known: HashMap<[u8; 32], Opinion>,
    sent: Vec<Millis>,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({})", self.url.host_str().unwrap_or("-"))
    }
}

/// The endpoint cannot be used as configured.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// The address cannot be extended by `chat/completions`.
    #[error("`judge.endpoint` is no base address")]
    Address,
    /// The HTTP client could not be made.
    #[error("the client for `judge.endpoint` could not be made")]
    Client(#[source] reqwest::Error),
}

impl Endpoint {
    /// An endpoint at `base` (`https://host/v1`), asked with `model`; every request ends within `timeout`.
    pub fn new(
        base: &Url,
        model: &str,
        key: Option<SecretString>,
        timeout: Duration,
        clock: Clock,
    ) -> Result<Endpoint, Unusable> {
        let mut url = base.clone();
        url.path_segments_mut()
            .map_err(|()| Unusable::Address)?
            .pop_if_empty()
            .extend(["chat", "completions"]);
        // A redirect would carry the question to somewhere that nobody configured.
        let client = reqwest::Client::builder()
            .timeout(timeout)
            .connect_timeout(timeout.min(Duration::from_secs(5)))
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(Unusable::Client)?;
        Ok(Endpoint { client, url, model: model.to_owned(), key, clock, state: Mutex::default() })
    }

    /// One opinion for each candidate, in their order. Blocks until the endpoint has answered or the time is over:
    /// to be called on a blocking thread of a runtime whose `handle` is given.
    pub fn opinions(
        &self,
        handle: &tokio::runtime::Handle,
        question: &Question,
        candidates: &[Candidate<'_>],
    ) -> Vec<Opinion> {
        let shown: Vec<Shown<'_>> = candidates.iter().take(PASSAGES_MAX).map(Shown::of).collect();
        // The words stay within the closure: what leaves it are opinions, as plain numbers.
        let numbers: Vec<((usize, f32), (u64, u64))> = question.weigh(|words| {
            let asked = format!("{}\n\n{}", words.title, cut(words.text, QUESTION_MAX));
            let opinions = self.cached(&asked, &shown).unwrap_or_else(|| {
                let opinions = handle.block_on(self.request(&asked, &shown));
                self.remember(&asked, &shown, &opinions);
                opinions
            });
            opinions.into_iter().map(Opinion::numbers).collect()
        });
        let mut opinions: Vec<Opinion> = numbers.into_iter().map(Opinion::from_numbers).collect();
        opinions.resize(candidates.len(), Opinion::UNCERTAIN);
        opinions
    }

    /// Corrects what the built-in judge said, the likeliest first again. A verdict moves the odds by a bounded
    /// factor; the uncertain ones stay as they are.
    pub fn revise(
        &self,
        handle: &tokio::runtime::Handle,
        question: &Question,
        candidates: &[Candidate<'_>],
        judged: Vec<Judged>,
    ) -> Vec<Judged> {
        let opinions = self.opinions(handle, question, candidates);
        let by_key: HashMap<u64, Opinion> =
            candidates.iter().map(|candidate| candidate.key).zip(opinions).collect();
        let opinion = |one: &Judged| by_key.get(&one.key).copied().unwrap_or(Opinion::UNCERTAIN);
        // What is said of the likeliest three is said of all of them together: the kindest of it.
        let moved = judged.iter().take(TARGETS_MAX).map(|one| revised(one.together, opinion(one)));
        let together = moved.reduce(f32::max).unwrap_or(0.0);
        let mut judged: Vec<Judged> = judged
            .into_iter()
            .map(|one| Judged { probability: revised(one.probability, opinion(&one)), together, ..one })
            .collect();
        judged.sort_by(|a, b| b.probability.total_cmp(&a.probability).then(a.key.cmp(&b.key)));
        judged
    }

    async fn request(&self, asked: &str, shown: &[Shown<'_>]) -> Vec<Opinion> {
        let uncertain = vec![Opinion::UNCERTAIN; shown.len()];
        if shown.is_empty() || !self.take_budget() {
            return uncertain;
        }
        match self.post(asked, shown).await {
            Some(answer) => wire::read(&answer, shown.iter().map(|shown| shown.rows)),
            None => uncertain,
        }
    }

    /// The body of the answer; `None` for anything but a 200 of bounded size in time.
    async fn post(&self, asked: &str, shown: &[Shown<'_>]) -> Option<Vec<u8>> {
        let passages = shown.iter().map(|shown| (shown.heading.as_str(), shown.text));
        let mut request =
            self.client.post(self.url.clone()).json(&wire::request(&self.model, asked, passages));
        if let Some(key) = &self.key {
            request = request.bearer_auth(key.expose_secret());
        }
        let mut response = request.send().await.ok()?;
        if response.status() != reqwest::StatusCode::OK {
            return None;
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.ok()? {
            if body.len() + chunk.len() > ANSWER_MAX {
                return None;
            }
            body.extend_from_slice(&chunk);
        }
        Some(body)
    }

    fn take_budget(&self) -> bool {
        let now = self.clock.now();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.sent.retain(|&at| at > now - 3_600_000);
        let free = state.sent.len() < HOURLY_MAX;
        if free {
            state.sent.push(now);
        }
        free
    }

    /// The opinions of an earlier request, if all are known.
    fn cached(&self, asked: &str, shown: &[Shown<'_>]) -> Option<Vec<Opinion>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        shown.iter().map(|shown| state.known.get(&self.cache_key(asked, shown)).copied()).collect()
    }

    fn remember(&self, asked: &str, shown: &[Shown<'_>], opinions: &[Opinion]) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.known.len() > CACHE_MAX {
            state.known.clear();
        }
        for (shown, opinion) in shown.iter().zip(opinions).filter(|(_, o)| o.verdict != Verdict::Uncertain) {
            let key = self.cache_key(asked, shown);
            state.known.insert(key, *opinion);
        }
    }

    /// A hash, so that no question is kept.
    fn cache_key(&self, asked: &str, shown: &Shown<'_>) -> [u8; 32] {
        let parts = [self.model.as_str(), asked, shown.heading.as_str(), shown.text];
        let hashed = parts.iter().fold(Sha256::new(), |hash, part| {
            hash.chain_update((part.len() as u64).to_le_bytes()).chain_update(part)
        });
        hashed.finalize().into()
    }
}

/// A candidate as the endpoint sees it.
struct Shown<'a> {
    heading: String,
    text: &'a str,
    /// Lines that it has.
    rows: u32,
}

impl Shown<'_> {
    fn of<'a>(candidate: &Candidate<'a>) -> Shown<'a> {
        let text = cut(section::below_heading(candidate.section, candidate.text), PASSAGE_MAX);
        let rows = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        Shown { heading: heading(&candidate.section.heading_path), text, rows }
    }
}

/// The beginning of a text, at most `max` bytes, cut between characters.
fn cut(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

impl Opinion {
    fn numbers(self) -> ((usize, f32), (u64, u64)) {
        let verdict = match self.verdict {
            Verdict::Uncertain => 0,
            Verdict::Covers => 1,
            Verdict::Misses => 2,
        };
        let lines = self.lines.map_or((0, 0), |lines| (u64::from(lines.first), u64::from(lines.last)));
        ((verdict, self.confidence), lines)
    }

    fn from_numbers(((verdict, confidence), (first, last)): ((usize, f32), (u64, u64))) -> Opinion {
        let verdict = match verdict {
            1 => Verdict::Covers,
            2 => Verdict::Misses,
            _ => return Opinion::UNCERTAIN,
        };
        let line = |line: u64| u32::try_from(line).unwrap_or(0);
        Opinion { verdict, confidence, lines: Lines::between(line(first), line(last)) }
    }
}

/// The probability after an opinion: a sure "covers" multiplies the odds by seven, a sure "misses" divides them by
/// fifty. Doubt weighs more: silence is better than a wrong answer.
fn revised(probability: f32, opinion: Opinion) -> f32 {
    let shift = match opinion.verdict {
        Verdict::Covers => 2.0 * opinion.confidence,
        Verdict::Misses => -4.0 * opinion.confidence,
        Verdict::Uncertain => return probability,
    };
    let odds = (probability / (1.0 - probability)).clamp(1e-6, 1e6) * shift.exp();
    odds / (1.0 + odds)
}

#[cfg(test)]
mod tests;
