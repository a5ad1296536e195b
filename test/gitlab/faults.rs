//! What can go wrong on the way: the next calls that match are refused, delayed, cut off or garbled.

use std::collections::VecDeque;
use std::time::Duration;

/// A way for a call to go wrong.
#[derive(Clone, Debug)]
pub enum Fault {
    /// 429, with `Retry-After` in seconds and the `RateLimit-*` headers, or without any of them.
    TooMany { retry_after: Option<u64> },
    /// This status with GitLab's usual JSON.
    Json(u16),
    /// This status with a proxy's HTML page.
    Html(u16),
    /// This status with nothing in it.
    Empty(u16),
    /// This status with exactly this JSON text.
    Body(u16, String),
    /// The answer comes this much later.
    Slow(Duration),
    /// The answer never comes.
    Hang,
    /// The connection is reset before anything is done.
    ResetBefore,
    /// Everything is done, then the connection is reset.
    ResetAfter,
    /// Everything is done, then half of the answer comes and the connection closes.
    Cut,
    /// Everything is done, but the JSON of the answer is no JSON.
    Garbled,
    /// 302 to this address.
    Redirect(String),
}

/// Which calls a fault strikes.
#[derive(Clone, Debug)]
struct Armed {
    method: Option<String>,
    pattern: String,
    skip: usize,
    /// None: until the faults are cleared.
    times: Option<usize>,
    fault: Fault,
}

/// The faults that wait for their calls, in the order in which they were set.
#[derive(Default, Debug)]
pub struct Faults {
    armed: VecDeque<Armed>,
    latency: Duration,
}

impl Faults {
    /// The next `times` calls of this method (`*` for any) whose path (`/projects/101/issues`, as sent and
    /// without `/api/v4`) matches the pattern (`*` stands for anything) go wrong so.
    pub fn next(&mut self, times: usize, method: &str, pattern: &str, fault: Fault) {
        self.arm(0, Some(times), method, pattern, fault);
    }

    /// As `next`, once, after `skip` matching calls went well.
    pub fn after(&mut self, skip: usize, method: &str, pattern: &str, fault: Fault) {
        self.arm(skip, Some(1), method, pattern, fault);
    }

    /// All matching calls go wrong so until the faults are cleared.
    pub fn always(&mut self, method: &str, pattern: &str, fault: Fault) {
        self.arm(0, None, method, pattern, fault);
    }

    fn arm(&mut self, skip: usize, times: Option<usize>, method: &str, pattern: &str, fault: Fault) {
        let method = (method != "*").then(|| method.to_owned());
        self.armed.push_back(Armed { method, pattern: pattern.to_owned(), skip, times, fault });
    }

    /// Everything is well again.
    pub fn clear(&mut self) {
        *self = Faults::default();
    }

    /// Every call takes this much longer.
    pub fn set_latency(&mut self, latency: Duration) {
        self.latency = latency;
    }

    /// How many calls are still to go wrong.
    pub fn left(&self) -> usize {
        self.armed.iter().filter_map(|armed| armed.times).sum()
    }

    pub(super) fn latency(&self) -> Duration {
        self.latency
    }

    pub(super) fn strike(&mut self, method: &str, path: &str) -> Option<Fault> {
        let fits = |armed: &Armed| {
            armed.method.as_deref().is_none_or(|m| m == method) && matches(&armed.pattern, path)
        };
        let at = self.armed.iter().position(fits)?;
        let armed = &mut self.armed[at];
        if armed.skip > 0 {
            armed.skip -= 1;
            return None;
        }
        let fault = armed.fault.clone();
        if let Some(times) = &mut armed.times {
            *times -= 1;
            if *times == 0 {
                self.armed.remove(at);
            }
        }
        Some(fault)
    }
}

/// Whether a path matches a pattern in which `*` stands for anything.
pub fn matches(pattern: &str, path: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == path,
        Some((head, tail)) => {
            let Some(rest) = path.strip_prefix(head) else { return false };
            (0..=rest.len()).filter(|at| rest.is_char_boundary(*at)).any(|at| matches(tail, &rest[at..]))
        }
    }
}

/// A call that arrived.
#[derive(Clone, Debug)]
pub struct Logged {
    pub method: String,
    /// As sent, without `/api/v4` and the query.
    pub path: String,
    pub query: String,
    /// The body as sent, for `POST` and `PUT`.
    pub body: String,
    /// When it was answered.
    pub at: std::time::Instant,
    /// None: the connection was reset, or the answer never came.
    pub status: Option<u16>,
    /// User name of the token's owner.
    pub user: Option<String>,
    /// Whether this GitLab has such an address at all.
    pub routed: bool,
}
