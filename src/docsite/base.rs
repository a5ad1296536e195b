//! The address of a site, and paths below it.

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use url::Url;

/// What is encoded in a path: everything that a link in Markdown or HTML could trip over.
const PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'\'')
    .add(b'(')
    .add(b')')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b']')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// A fragment, encoded.
pub(super) fn fragment(text: &str) -> String {
    utf8_percent_encode(text, PATH).to_string()
}

/// Origin and folder of a site. `http` and `https` are the same site, and so are ports that a scheme implies.
#[derive(Clone, Debug)]
pub(super) struct Base {
    url: Url,
    folder: String,
}

impl PartialEq for Base {
    fn eq(&self, other: &Base) -> bool {
        self.same_host(&other.url) && self.folder == other.folder
    }
}

impl Base {
    /// The base at `url`, its query and fragment dropped; `None` without a host.
    pub(super) fn of(url: &Url) -> Option<Base> {
        let mut url = url.clone();
        url.host_str()?;
        url.set_query(None);
        url.set_fragment(None);
        let folder = decoded(url.path().trim_matches('/'))?;
        if !url.path().ends_with('/') {
            url.set_path(&format!("{}/", url.path()));
        }
        Some(Base { url, folder })
    }

    pub(super) fn url(&self) -> Url {
        self.url.clone()
    }

    /// How many folders deep it lies.
    pub(super) fn depth(&self) -> usize {
        if self.folder.is_empty() { 0 } else { self.folder.split('/').count() }
    }

    fn same_host(&self, url: &Url) -> bool {
        let implied = |url: &Url| url.port().filter(|port| !matches!(port, 80 | 443));
        url.host_str() == self.url.host_str() && implied(url) == implied(&self.url)
    }

    /// The decoded path of `url` below the base; `None` when it is not below it.
    pub(super) fn below(&self, url: &Url) -> Option<String> {
        if !self.same_host(url) {
            return None;
        }
        let path = decoded(url.path().trim_start_matches('/'))?;
        match path.strip_prefix(&self.folder)? {
            rest if self.folder.is_empty() || rest.is_empty() => Some(rest.to_owned()),
            rest => rest.strip_prefix('/').map(str::to_owned),
        }
    }

    /// The address of a decoded path below the base.
    pub(super) fn address(&self, place: &str) -> String {
        format!("{}{}", self.url, utf8_percent_encode(place, PATH))
    }
}

/// Each segment decoded once; `None` for what is no UTF-8 or would hide a slash.
fn decoded(path: &str) -> Option<String> {
    let segments: Option<Vec<String>> = path
        .split('/')
        .map(|segment| {
            let segment = percent_decode_str(segment).decode_utf8().ok()?;
            (!segment.contains(['/', '\\', '\0'])).then(|| segment.into_owned())
        })
        .collect();
    Some(segments?.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_below_by_whole_segments_and_over_either_scheme() {
        let base = Base::of(&Url::parse("https://Docs.example.org/shop").expect("a url")).expect("a base");
        let below = |url: &str| base.below(&Url::parse(url).expect("a url"));
        assert_eq!(below("http://docs.example.org/shop/a%20b/").as_deref(), Some("a b/"));
        assert_eq!(below("https://docs.example.org:443/shop").as_deref(), Some(""));
        for url in [
            "https://docs.example.org/shopping/a",
            "https://evil.org/shop/a",
            "https://docs.example.org:8443/shop/a",
        ] {
            assert_eq!(below(url), None, "{url}");
        }
        assert_eq!(below("https://docs.example.org/shop/a%2Fb"), None);
    }

    #[test]
    fn an_address_is_encoded_for_links() {
        let base = Base::of(&Url::parse("https://docs.example.org").expect("a url")).expect("a base");
        assert_eq!(base.address("a (b)/ü#.html"), "https://docs.example.org/a%20%28b%29/%C3%BC%23.html");
    }
}
