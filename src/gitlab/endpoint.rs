//! Endpoints that the `gitlab` crate lacks, or sends otherwise than GitLab documents them.

use std::borrow::Cow;

use gitlab::api::{BodyError, Endpoint, JsonParams, QueryParams};
use http::Method;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

/// What may stand unencoded in one segment of a path.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// One segment of a path; a slash within it is encoded, as GitLab wants paths and refs.
pub(super) fn segment(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}

/// One request, put together by hand.
#[derive(Clone, Debug)]
pub(super) struct Own {
    method: Method,
    path: String,
    query: Vec<(&'static str, String)>,
    body: Option<Value>,
}

impl Own {
    /// A `GET` of `path`, below `/api/v4/`; variable parts are numbers or went through [`segment`].
    pub(super) fn get(path: String) -> Own {
        Own { method: Method::GET, path, query: Vec::new(), body: None }
    }

    /// A request with a body in JSON.
    pub(super) fn send(method: Method, path: String, body: Value) -> Own {
        Own { method, path, query: Vec::new(), body: Some(body) }
    }

    /// A request without a body.
    pub(super) fn bare(method: Method, path: String) -> Own {
        Own { method, path, query: Vec::new(), body: None }
    }

    /// Adds a query parameter.
    pub(super) fn with(mut self, name: &'static str, value: impl ToString) -> Own {
        self.query.push((name, value.to_string()));
        self
    }
}

impl Endpoint for Own {
    fn method(&self) -> Method {
        self.method.clone()
    }

    fn endpoint(&self) -> Cow<'static, str> {
        self.path.clone().into()
    }

    fn parameters(&self) -> QueryParams<'_> {
        let mut params = QueryParams::default();
        for (name, value) in &self.query {
            params.push(*name, value.as_str());
        }
        params
    }

    fn body(&self) -> Result<Option<(&'static str, Vec<u8>)>, BodyError> {
        self.body.as_ref().map_or(Ok(None), JsonParams::into_body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_hides_every_slash_and_question_mark() {
        assert_eq!(segment("docs/über a?.md#x"), "docs%2F%C3%BCber%20a%3F.md%23x");
    }
}
