//! Questions for tests of this module.

use crate::prose::{Prose, Question};
use crate::search::Fingerprint;
use crate::store::question::{Record, State};
use crate::store::queue::Place;

/// The fingerprint of a question, as it lies at rest.
pub(crate) fn fingerprint(title: &str, text: &str) -> Vec<u8> {
    let (title, text) = (Prose::from(title.to_owned()), Prose::from(text.to_owned()));
    Fingerprint::of(&Question::new(&title, &text)).to_bytes()
}

/// An open gap.
pub(crate) fn gap(project: u64, iid: u64, asker: u64, fingerprint: Vec<u8>) -> Record {
    let at = 1_700_000_000_000 + iid as i64 * 60_000;
    let mut record = Record::new(Place::thread(project, iid), "issue", asker, at, "digest".into(), at);
    record.state = State::Gap;
    record.gap_kind = Some("missing".into());
    record.fingerprint = Some(fingerprint);
    record
}

/// The rewordings, each with its topic.
pub(crate) fn rewordings() -> (Vec<String>, Vec<Record>) {
    let lines = include_str!("../../test/gaps/rewordings.txt").lines().filter(|line| !line.starts_with('#'));
    let question = |(at, line): (usize, &str)| {
        let parts: Vec<&str> = line.splitn(3, " | ").collect();
        (parts[0].to_owned(), gap(1, at as u64 + 1, at as u64, fingerprint(parts[1], parts[2])))
    };
    lines.enumerate().map(question).unzip()
}
