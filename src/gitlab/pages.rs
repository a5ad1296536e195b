//! Lists, page by page: the memory of a long list is the caller's decision.

use std::marker::PhantomData;

use bytes::Bytes;
use gitlab::api::{AsyncClient, Endpoint, RestClient};
use http::{HeaderMap, Response, header};
use serde::de::DeserializeOwned;
use url::Url;

use crate::gitlab::error::{Call, Error, ours};
use crate::gitlab::http::{Http, Limits};

/// Rows a page; GitLab's maximum.
const PER_PAGE: &str = "100";

/// A list that is fetched page by page, in GitLab's order.
pub struct Pages<'a, T> {
    http: &'a Http,
    url: Url,
    query: Option<String>,
    what: Call,
    rows: PhantomData<fn() -> T>,
}

impl Http {
    /// The pages of `endpoint`; nothing is asked yet.
    pub(super) fn pages<T: DeserializeOwned>(
        &self,
        endpoint: &(impl Endpoint + Sync),
    ) -> Result<Pages<'_, T>, Error> {
        let what = Call::new(&self.name(endpoint));
        let url = self.within(Limits::JSON).rest_endpoint(&endpoint.endpoint());
        let mut url = url.map_err(|error| ours(error, &what.endpoint))?;
        endpoint.parameters().add_to_url(&mut url);
        url.query_pairs_mut().append_pair("per_page", PER_PAGE);
        let query = url.query().map(str::to_owned);
        Ok(Pages { http: self, url, query, what, rows: PhantomData })
    }
}

impl<T: DeserializeOwned> Pages<'_, T> {
    /// The next page; `None` after the last one. After an error the same page can be asked for again.
    pub async fn next(&mut self) -> Result<Option<Vec<T>>, Error> {
        let Some(query) = &self.query else { return Ok(None) };
        self.url.set_query(Some(query));
        let request = http::Request::builder().method(http::Method::GET).uri(self.url.as_str());
        let caller = self.http.within(Limits::JSON);
        let answer: Response<Bytes> =
            caller.rest_async(request, Vec::new()).await.map_err(|error| ours(error, &self.what.endpoint))?;
        let rows = serde_json::from_slice(answer.body())
            .map_err(|_| Error::Broken(self.what.clone().because("unexpected shape")))?;
        let next = next_query(answer.headers(), &self.url);
        // A list whose next page is itself would never end.
        self.query = next.filter(|next| Some(next) != self.query.as_ref());
        Ok(Some(rows))
    }

    /// All rows of at most `pages` pages, and whether that was the whole list.
    pub async fn collect(mut self, pages: usize) -> Result<(Vec<T>, bool), Error> {
        let mut rows = Vec::new();
        for _ in 0..pages {
            match self.next().await? {
                Some(page) => rows.extend(page),
                None => return Ok((rows, true)),
            }
        }
        Ok((rows, self.query.is_none()))
    }
}

/// The query of the next page. Only the query is taken from `Link`: behind a proxy its scheme or host may be
/// wrong, and the token goes nowhere but to the configured address.
fn next_query(headers: &HeaderMap, url: &Url) -> Option<String> {
    let links = headers.get_all(header::LINK).iter().filter_map(|value| value.to_str().ok());
    let linked = links.flat_map(|links| links.split(", ")).find_map(|link| {
        let (target, relation) = link.trim().strip_prefix('<')?.split_once('>')?;
        relation.contains("rel=\"next\"").then(|| url.join(target).ok()?.query().map(str::to_owned)).flatten()
    });
    linked.or_else(|| numbered(headers, url))
}

/// The next page by its number, where a proxy dropped `Link`.
fn numbered(headers: &HeaderMap, url: &Url) -> Option<String> {
    let page: u64 = headers.get("x-next-page")?.to_str().ok()?.trim().parse().ok()?;
    let mut next = url.clone();
    let kept: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(name, _)| name != "page")
        .map(|(n, v)| (n.into_owned(), v.into_owned()))
        .collect();
    next.query_pairs_mut().clear().extend_pairs(kept).append_pair("page", &page.to_string());
    next.query().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(pairs: &[(&'static str, &str)]) -> Option<String> {
        let headers = pairs
            .iter()
            .map(|(name, value)| (http::HeaderName::from_static(name), value.parse().expect("a value")))
            .collect();
        next_query(
            &headers,
            &Url::parse("https://gitlab.example.com/api/v4/projects/7/issues?a=b&page=1").expect("a url"),
        )
    }

    #[test]
    fn the_next_page_is_named_by_link_or_number() {
        let link = r#"<http://inner:8080/api/v4/x?a=b&page=1>; rel="first", <http://inner:8080/api/v4/x?cursor=q%3D&per_page=100>; rel="next""#;
        assert_eq!(next(&[("link", link)]).as_deref(), Some("cursor=q%3D&per_page=100"));
        assert_eq!(next(&[("link", r#"<https://x/y?page=1>; rel="last""#)]), None);
        assert_eq!(next(&[("x-next-page", "2")]).as_deref(), Some("a=b&page=2"));
        assert_eq!(next(&[("x-next-page", "")]), None);
    }
}
