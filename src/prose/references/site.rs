//! A site whose URLs count: the GitLab instance, or a documentation site.

use url::Url;

use crate::prose::references::ContextError;

/// Scheme, host, port and root path of a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Site {
    /// `https://docs.example.com`, with the port where it is not the scheme's own.
    origin: String,
    /// In lower case.
    host: String,
    /// `None` where the configured URL names no port but its scheme's own.
    port: Option<String>,
    /// `""`, or a path that begins with a slash and does not end in one.
    root: String,
}

/// A URL in pieces, each as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address<'u> {
    host: &'u str,
    port: Option<&'u str>,
    /// The port that goes without saying.
    default_port: &'static str,
    /// `""`, or a path that begins with a slash.
    pub(super) path: &'u str,
    /// What stands behind the first `#`.
    pub(super) fragment: Option<&'u str>,
}

impl Site {
    /// The site at `url`.
    pub(super) fn parse(url: &str) -> Result<Site, ContextError> {
        let parsed = Url::parse(url).map_err(|_| ContextError::NotAUrl(url.to_owned()))?;
        let host = match (parsed.scheme(), parsed.host_str()) {
            ("http" | "https", Some(host)) => host.to_owned(),
            _ => return Err(ContextError::NotHttp(url.to_owned())),
        };
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(ContextError::Credentials);
        }
        Ok(Site {
            origin: parsed.origin().ascii_serialization(),
            host,
            port: parsed.port().map(|port| port.to_string()),
            root: parsed.path().trim_end_matches('/').to_owned(),
        })
    }

    /// `https://docs.example.com`.
    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    /// How long the root path is.
    pub(super) fn root_length(&self) -> usize {
        self.root.len()
    }

    /// The path of `address` below this site's root (`""`, or beginning with a slash); `None` where it lies
    /// elsewhere.
    pub(super) fn path_of<'u>(&self, address: &Address<'u>) -> Option<&'u str> {
        let port = match (&self.port, address.port) {
            (Some(own), port) => port == Some(own),
            (None, port) => port.is_none_or(|port| port == address.default_port),
        };
        let here = port && address.host.eq_ignore_ascii_case(&self.host);
        if here { self.below_root(address.path) } else { None }
    }

    /// `path` below this site's root.
    pub(super) fn below_root<'u>(&self, path: &'u str) -> Option<&'u str> {
        let below = path.strip_prefix(&*self.root)?;
        (below.is_empty() || below.starts_with('/')).then_some(below)
    }
}

impl<'u> Address<'u> {
    /// Whether `url` begins as an address on the web does.
    pub(super) fn is_web(url: &str) -> bool {
        Address::split_scheme(url).is_some()
    }

    fn split_scheme(url: &str) -> Option<(&'static str, &str)> {
        [("https://", "443"), ("http://", "80")].into_iter().find_map(|(scheme, port)| {
            let start = url.get(..scheme.len())?;
            start.eq_ignore_ascii_case(scheme).then(|| (port, &url[scheme.len()..]))
        })
    }

    /// The pieces of `url`; `None` where it is no web address, or names a user.
    pub(super) fn parse(url: &'u str) -> Option<Address<'u>> {
        let (default_port, rest) = Address::split_scheme(url)?;
        let (authority, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        if authority.contains('@') {
            return None;
        }
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, Some(port)),
            _ => (authority, None),
        };
        let (rest, fragment) = split_fragment(rest);
        Some(Address { host, port, default_port, path: without_query(rest), fragment })
    }
}

/// What stands before the first `#`, and behind it.
pub(super) fn split_fragment(url: &str) -> (&str, Option<&str>) {
    url.split_once('#').map_or((url, None), |(rest, fragment)| (rest, Some(fragment)))
}

/// What stands before the first `?`.
pub(super) fn without_query(url: &str) -> &str {
    url.split('?').next().unwrap_or(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path<'u>(site: &str, url: &'u str) -> Option<&'u str> {
        Site::parse(site).unwrap().path_of(&Address::parse(url)?)
    }

    #[test]
    fn a_port_that_goes_without_saying_may_be_said() {
        let site = "https://gitlab.test";
        for url in [
            "https://gitlab.test/x",
            "http://GITLAB.test/x",
            "https://gitlab.test:443/x",
            "http://gitlab.test:80/x",
        ] {
            assert_eq!(path(site, url), Some("/x"), "{url}");
        }
        for url in [
            "https://gitlab.test:80/x",
            "https://gitlab.test:/x",
            "https://gitlab.test:0443/x",
            "http://gitlab.test:443/x",
        ] {
            assert_eq!(path(site, url), None, "{url}");
        }
        assert_eq!(path("https://gitlab.test:443/", "https://gitlab.test/x"), Some("/x"));
    }

    #[test]
    fn a_named_port_must_be_named() {
        assert_eq!(path("http://127.0.0.1:8080", "http://127.0.0.1:8080/x"), Some("/x"));
        assert_eq!(path("http://127.0.0.1:8080", "http://127.0.0.1/x"), None);
        assert_eq!(path("http://[::1]:8080", "http://[::1]:8080/x"), Some("/x"));
        assert_eq!(path("http://[::1]", "http://[::1]/x"), Some("/x"));
    }

    #[test]
    fn a_root_is_a_prefix_of_whole_segments() {
        assert_eq!(path("https://web.test/gitlab/", "https://web.test/gitlab/a/b"), Some("/a/b"));
        assert_eq!(path("https://web.test/gitlab", "https://web.test/gitlab"), Some(""));
        assert_eq!(path("https://web.test/gitlab", "https://web.test/gitlabs/a"), None);
    }

    #[test]
    fn only_web_addresses_without_credentials_make_a_site() {
        assert!(matches!(Site::parse("gitlab.test"), Err(ContextError::NotAUrl(_))));
        assert!(matches!(Site::parse("ssh://gitlab.test"), Err(ContextError::NotHttp(_))));
        assert!(matches!(Site::parse("https://me:pw@gitlab.test"), Err(ContextError::Credentials)));
    }
}
