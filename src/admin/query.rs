//! The query string of the list: what is shown, in which order, which page of it.

use std::collections::HashMap;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::gaps::filter::{Filter, Sort};
use crate::gaps::{Kind, State};

/// Ages that can be chosen: the word, the days, how it reads.
pub(super) const AGES: [(&str, i64, &str); 4] =
    [("7d", 7, "a week"), ("30d", 30, "a month"), ("90d", 90, "three months"), ("365d", 365, "a year")];

/// A request for the list. Words that mean nothing are left out of account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Query {
    pub id: Option<String>,
    pub project: Option<String>,
    pub kind: Option<Kind>,
    pub state: Option<State>,
    pub age: Option<&'static str>,
    pub sort: Sort,
    pub page: usize,
}

impl Query {
    /// Reads the query; `state` is what is shown where it names none.
    pub(super) fn read(words: &HashMap<String, String>, state: Option<State>) -> Query {
        let word = |name: &str| words.get(name).map(|word| word.trim()).filter(|word| !word.is_empty());
        let id = word("id").map(str::to_owned);
        Query {
            project: word("project").map(str::to_owned),
            kind: word("kind").and_then(Kind::parse),
            state: match word("state") {
                Some("all") => None,
                // One entry is shown wherever it stands.
                None if id.is_some() => None,
                other => other.and_then(State::parse).or(state),
            },
            age: word("age").and_then(|word| AGES.iter().find(|age| age.0 == word)).map(|age| age.0),
            sort: word("sort").and_then(Sort::parse).unwrap_or_default(),
            page: word("page").and_then(|page| page.parse().ok()).unwrap_or(1).max(1),
            id,
        }
    }

    pub(super) fn filter(&self) -> Filter {
        let days = AGES.iter().find(|age| Some(age.0) == self.age).map(|age| age.1);
        Filter {
            id: self.id.clone(),
            project: self.project.clone(),
            kind: self.kind,
            state: self.state,
            age: days.map(|days| days * 24 * 3600 * 1000),
        }
    }

    /// The address of the same list at `path`.
    pub(super) fn href(&self, path: &str) -> String {
        let page = (self.page > 1).then(|| self.page.to_string());
        let sort = (self.sort != Sort::default()).then(|| self.sort.word());
        let parts = [
            ("id", self.id.as_deref()),
            ("project", self.project.as_deref()),
            ("kind", self.kind.map(Kind::word)),
            ("state", Some(self.state.map_or("all", State::word))),
            ("age", self.age),
            ("sort", sort),
            ("page", page.as_deref()),
        ];
        let parts: Vec<String> = parts
            .into_iter()
            .filter_map(|(name, value)| {
                Some(format!("{name}={}", utf8_percent_encode(value?, NON_ALPHANUMERIC)))
            })
            .collect();
        format!("{path}?{}", parts.join("&"))
    }

    pub(super) fn sorted(&self, sort: Sort) -> String {
        Query { sort, page: 1, ..self.clone() }.href("/gaps")
    }

    pub(super) fn paged(&self, page: usize) -> String {
        Query { page, ..self.clone() }.href("/gaps")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[(&str, &str)]) -> Query {
        let words = words.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Query::read(&words, Some(State::Open))
    }

    #[test]
    fn a_query_is_read_and_written() {
        let query = read(&[
            ("project", "acme/a b"),
            ("kind", "near"),
            ("state", "all"),
            ("sort", "votes"),
            ("page", "3"),
        ]);
        assert_eq!(query.href("/gaps"), "/gaps?project=acme%2Fa%20b&kind=near&state=all&sort=votes&page=3");
        assert_eq!(query.sorted(Sort::Score), "/gaps?project=acme%2Fa%20b&kind=near&state=all");
    }

    #[test]
    fn nonsense_is_left_out_of_account() {
        let nonsense =
            [("kind", "\"><script>"), ("state", "x"), ("age", "1d"), ("sort", "x"), ("page", "-1")];
        assert_eq!(read(&nonsense), read(&[]));
        assert_eq!(read(&[]).state, Some(State::Open));
        assert_eq!(read(&[("id", "x")]).state, None);
        assert_eq!(read(&[("page", "0")]).page, 1);
    }
}
