//! Addresses of GitLab Pages, where a site has no address of its own.

use url::Url;

use crate::reference::ProjectPath;

/// Characters of the random part of a unique domain.
const UNIQUE: usize = 6;

/// The plain address of a project's pages below `domain` (`gitlab.io` on GitLab.com):
/// `https://<group>.<domain>/<rest of the path>/`, and the group's own site where the project is named like it.
pub fn plain(project: &ProjectPath, domain: &str) -> Option<Url> {
    let path = project.as_str().to_ascii_lowercase();
    let (group, rest) = path.split_once('/')?;
    let host = format!("{group}.{domain}");
    let rest = if rest == host { String::new() } else { format!("{rest}/") };
    Url::parse(&format!("https://{host}/{rest}")).ok()
}

/// Whether `host` can be the unique domain of a project's pages: its name, a hyphen, six characters. The
/// name alone does not tell two projects of the same name apart.
pub(super) fn is_unique_domain(host: &str, project: &ProjectPath, domain: &str) -> bool {
    let name =
        project.as_str().rsplit('/').next().unwrap_or_default().to_ascii_lowercase().replace(['.', '_'], "-");
    let host = host.to_ascii_lowercase();
    host.strip_suffix(domain)
        .and_then(|label| label.strip_suffix('.'))
        .and_then(|label| label.rsplit_once('-'))
        .is_some_and(|(label, random)| {
            label == name && random.len() == UNIQUE && random.bytes().all(|b| b.is_ascii_alphanumeric())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(path: &str) -> ProjectPath {
        ProjectPath::parse(path).expect("a path")
    }

    #[test]
    fn the_plain_address_follows_the_path() {
        for (project, url) in [
            ("Garden/shed", "https://garden.pages.example/shed/"),
            ("garden/tools/spade", "https://garden.pages.example/tools/spade/"),
            ("garden/garden.pages.example", "https://garden.pages.example/"),
        ] {
            assert_eq!(plain(&path(project), "pages.example").expect("a url").as_str(), url);
        }
    }

    #[test]
    fn a_unique_domain_is_told_by_name_and_length() {
        let fits = |host: &str, project: &str| is_unique_domain(host, &path(project), "pages.example");
        assert!(fits("spade-1a2b3c.pages.example", "garden/tools/spade"));
        assert!(fits("garden-pages-example-123456.pages.example", "garden/garden.pages.example"));
        assert!(!fits("spade-1a2b3.pages.example", "garden/tools/spade"));
        assert!(!fits("spade-1a2b3c.other.example", "garden/tools/spade"));
        assert!(!fits("rake-1a2b3c.pages.example", "garden/tools/spade"));
    }
}
