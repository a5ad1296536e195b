//! URL rules: where each generator puts a source file, and which source files a page can have come from.
//!
//! Paths here are decoded. A *place* is the path of a page below its site; a *key* is a place without the
//! differences that servers ignore (`index.html`, a final slash, `.html`). Sources are relative to the folder
//! of the documentation.

use crate::docsite::prefix::without_number;

/// The rule of one site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// MkDocs and Zensical.
    Mkdocs {
        /// `use_directory_urls`.
        directories: bool,
    },
    /// mdBook.
    Mdbook,
    /// Hugo.
    Hugo {
        /// `uglyURLs`.
        ugly: bool,
        /// The default language, whose files may carry it in their names.
        language: String,
        /// The other languages, whose pages lie below them.
        languages: Vec<String>,
    },
    /// Docusaurus.
    Docusaurus {
        /// `routeBasePath`, without slashes at its ends; empty for documentation at the root.
        route: String,
    },
    /// Sphinx.
    Sphinx {
        /// The builder `dirhtml`.
        directories: bool,
    },
    /// VitePress.
    Vitepress {
        /// `cleanUrls`.
        clean: bool,
    },
    /// Antora.
    Antora(Option<Component>),
    /// Files served as they are.
    Plain,
}

/// What `antora.yml` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Component {
    /// Its name; `ROOT` has no segment.
    pub(super) name: String,
    /// Its version; none has no segment.
    pub(super) version: Option<String>,
}

const MKDOCS: &[&str] = &["md", "markdown"];
const SPHINX: &[&str] = &["rst", "md", "txt"];
const HUGO: &[&str] = &["md", "adoc", "rst", "html"];
const DOCUSAURUS: &[&str] = &["md", "mdx"];

/// A place without what servers ignore.
pub(super) fn key(place: &str) -> String {
    let place = place.trim_start_matches('/');
    let place = match place.strip_suffix("index.html") {
        Some(folder) if folder.is_empty() || folder.ends_with('/') => folder,
        _ => place.strip_suffix(".html").unwrap_or(place),
    };
    place.trim_end_matches('/').to_owned()
}

/// Folder and stem of a source file that has one of the extensions.
fn split<'a>(source: &'a str, extensions: &[&str]) -> Option<(&'a str, &'a str)> {
    let (stem, extension) = source.rsplit_once('.')?;
    extensions.contains(&extension).then(|| stem.rsplit_once('/').unwrap_or(("", stem)))
}

fn join(folder: &str, name: &str) -> String {
    match (folder, name) {
        ("", name) => name.to_owned(),
        (folder, "") => folder.to_owned(),
        (folder, name) => format!("{folder}/{name}"),
    }
}

/// `folder/`, and nothing for the root.
fn directory(folder: &str) -> String {
    if folder.is_empty() { String::new() } else { format!("{folder}/") }
}

impl Rule {
    /// Where the page of a source file is; `None` when the file becomes no page.
    pub(super) fn place(&self, source: &str) -> Option<String> {
        match self {
            Rule::Mkdocs { directories } => {
                let (folder, stem) = split(source, MKDOCS)?;
                let index = matches!(stem, "index" | "README");
                Some(page(folder, stem, index, *directories, true))
            }
            Rule::Mdbook => {
                let (folder, stem) = split(source, &["md"]).filter(|_| source != "SUMMARY.md")?;
                let index = stem.eq_ignore_ascii_case("README");
                Some(join(folder, &format!("{}.html", if index { "index" } else { stem })))
            }
            Rule::Hugo { ugly, language, languages } => hugo(source, *ugly, language, languages),
            Rule::Docusaurus { route } => docusaurus(source, route),
            Rule::Sphinx { directories } => {
                let (folder, stem) = split(source, SPHINX)?;
                Some(page(folder, stem, stem == "index", *directories, *directories))
            }
            Rule::Vitepress { clean } => {
                let (folder, stem) = split(source, &["md"])?;
                Some(match (stem, clean) {
                    ("index", _) => directory(folder),
                    (_, true) => join(folder, stem),
                    (_, false) => join(folder, &format!("{stem}.html")),
                })
            }
            Rule::Antora(component) => antora(source, component.as_ref()?),
            Rule::Plain => plain(source),
        }
    }

    /// The source files that the page with this key can come from, likelier ones first. Where the rule loses
    /// letters on the way there may be others: see [`Rule::loses`].
    pub(super) fn sources(&self, key: &str) -> Vec<String> {
        match self {
            Rule::Mkdocs { .. } => sources(key, MKDOCS, &["index", "README"]),
            Rule::Mdbook => sources(key, &["md"], &["README", "index"]),
            Rule::Hugo { .. } => sources(key, HUGO, &["_index", "index"]),
            Rule::Docusaurus { route } => docusaurus_sources(key, route),
            Rule::Sphinx { .. } => sources(key, SPHINX, &["index"]),
            Rule::Vitepress { .. } => sources(key, &["md"], &["index"]),
            Rule::Antora(component) => antora_sources(key, component.as_ref()),
            Rule::Plain => {
                let as_is = (!key.is_empty()).then(|| key.to_owned()).into_iter();
                as_is.chain(sources(key, &["html", "md"], &["index", "README"])).collect()
            }
        }
    }

    /// Whether a source's name cannot be told from its page's: letter case or number prefixes are lost.
    pub(super) fn loses(&self) -> bool {
        matches!(self, Rule::Hugo { .. } | Rule::Docusaurus { .. })
    }
}

/// The place of `folder/stem`, or of the folder itself.
fn page(folder: &str, stem: &str, index: bool, directories: bool, bare_index: bool) -> String {
    match (index, directories) {
        (true, _) if bare_index => directory(folder),
        (true, _) => join(folder, "index.html"),
        (false, true) => format!("{}/", join(folder, stem)),
        (false, false) => join(folder, &format!("{stem}.html")),
    }
}

fn sources(key: &str, extensions: &[&str], indexes: &[&str]) -> Vec<String> {
    let of =
        |name: &str| extensions.iter().map(|extension| format!("{name}.{extension}")).collect::<Vec<_>>();
    let own = if key.is_empty() { Vec::new() } else { of(key) };
    own.into_iter().chain(indexes.iter().flat_map(|index| of(&join(key, index)))).collect()
}

/// Hugo: lower-cased, spaces to hyphens, some punctuation dropped.
fn hugo(source: &str, ugly: bool, language: &str, languages: &[String]) -> Option<String> {
    let (folder, stem) = split(source, HUGO)?;
    let named = stem.rsplit_once('.').filter(|(_, suffix)| languages.iter().any(|known| known == suffix));
    if let Some((stem, suffix)) = named {
        let extension = source.rsplit_once('.')?.1;
        let place = hugo(&join(folder, &format!("{stem}.{extension}")), ugly, language, &[])?;
        return Some(format!("{suffix}/{place}"));
    }
    let stem = stem.strip_suffix(&format!(".{language}")).unwrap_or(stem);
    let clean = |text: &str| -> String {
        let kept = text.to_lowercase();
        kept.chars()
            .filter(|&c| c.is_alphanumeric() || " ./_-#+~@%".contains(c))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect()
    };
    Some(match stem {
        "_index" | "index" => directory(&clean(folder)),
        _ if ugly => clean(&join(folder, &format!("{stem}.html"))),
        _ => format!("{}/", clean(&join(folder, stem))),
    })
}

/// Docusaurus: number prefixes go, and a file named like its folder is the folder.
fn docusaurus(source: &str, route: &str) -> Option<String> {
    let (folder, stem) = split(source, DOCUSAURUS)?;
    if source.split('/').any(|segment| segment.starts_with('_')) {
        return None;
    }
    let index = is_index(folder, stem);
    let folder = folder.split('/').map(without_number).collect::<Vec<_>>().join("/");
    let place = if index { folder } else { join(&folder, without_number(stem)) };
    Some(join(route, &place))
}

/// Whether Docusaurus makes the folder's own page of this file; numbers before the names count here.
fn is_index(folder: &str, stem: &str) -> bool {
    let last = folder.rsplit('/').next().unwrap_or_default();
    let named = !last.is_empty() && last.eq_ignore_ascii_case(stem);
    named || stem.eq_ignore_ascii_case("index") || stem.eq_ignore_ascii_case("readme")
}

/// The place of the folder that a source of Docusaurus lies in, and whether the source is the folder's own page.
pub(super) fn docusaurus_folder(source: &str, route: &str) -> Option<(String, bool)> {
    let (folder, stem) = split(source, DOCUSAURUS)?;
    let own = docusaurus(&join(folder, "index.md"), route)?;
    Some((own, is_index(folder, stem)))
}

fn docusaurus_sources(key: &str, route: &str) -> Vec<String> {
    let below = match key.strip_prefix(route) {
        Some(rest) if route.is_empty() || rest.is_empty() || rest.starts_with('/') => {
            rest.trim_start_matches('/')
        }
        _ => return Vec::new(),
    };
    let last = below.rsplit('/').next().unwrap_or_default().to_owned();
    let mut found = sources(below, DOCUSAURUS, &["index", "README", &last]);
    found.retain(|source| !source.starts_with('.') && !source.contains("/."));
    found
}

/// Antora: `modules/<module>/pages/x.adoc`.
fn antora(source: &str, component: &Component) -> Option<String> {
    let (module, pages) = source.strip_prefix("modules/")?.split_once('/')?;
    let page = pages.strip_prefix("pages/")?.strip_suffix(".adoc")?;
    if page.rsplit('/').next().is_some_and(|name| name.starts_with('_')) {
        return None;
    }
    let name = if component.name == "ROOT" { "" } else { &component.name };
    let front = join(
        &join(name, component.version.as_deref().unwrap_or_default()),
        if module == "ROOT" { "" } else { module },
    );
    Some(join(&front, &format!("{page}.html")))
}

fn antora_sources(key: &str, component: Option<&Component>) -> Vec<String> {
    let segments: Vec<&str> = key.split('/').filter(|segment| !segment.is_empty()).collect();
    let front = match component {
        None => 0..=segments.len().min(2),
        Some(component) => {
            let name = (component.name != "ROOT").then_some(component.name.as_str());
            let expected: Vec<&str> = name.into_iter().chain(component.version.as_deref()).collect();
            if !segments.starts_with(&expected) {
                return Vec::new();
            }
            expected.len()..=expected.len()
        }
    };
    let mut found = Vec::new();
    for skip in front {
        let below = &segments[skip..];
        let of = |module: &str, page: &[&str]| {
            let page = page.join("/");
            let names = if page.is_empty() {
                vec!["index".to_owned()]
            } else {
                vec![page.clone(), join(&page, "index")]
            };
            names.into_iter().map(|name| format!("modules/{module}/pages/{name}.adoc")).collect::<Vec<_>>()
        };
        found.extend(of("ROOT", below));
        if let Some((module, page)) = below.split_first() {
            found.extend(of(module, page));
        }
    }
    found
}

fn plain(source: &str) -> Option<String> {
    let name = source.rsplit('/').next().unwrap_or(source);
    let served = [".html", ".htm", ".txt", ".md"].iter().any(|ending| name.ends_with(ending));
    served.then(|| match source.strip_suffix("index.html") {
        Some(folder) if folder.is_empty() || folder.ends_with('/') => folder.to_owned(),
        _ => source.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hugo_rule() -> Rule {
        Rule::Hugo { ugly: false, language: "en".into(), languages: vec!["de".into()] }
    }

    fn antora_rule(name: &str, version: Option<&str>) -> Rule {
        Rule::Antora(Some(Component { name: name.into(), version: version.map(str::to_owned) }))
    }

    fn rows() -> Vec<(Rule, &'static str, Option<&'static str>)> {
        let mkdocs = |directories| Rule::Mkdocs { directories };
        let docusaurus = || Rule::Docusaurus { route: "docs".into() };
        vec![
            (mkdocs(true), "ops/backup.md", Some("ops/backup/")),
            (mkdocs(false), "ops/backup.md", Some("ops/backup.html")),
            (mkdocs(true), "ops/README.md", Some("ops/")),
            (mkdocs(true), "index.md", Some("")),
            (mkdocs(true), "ops/logo.png", None),
            (Rule::Mdbook, "ops/backup.md", Some("ops/backup.html")),
            (Rule::Mdbook, "ops/README.md", Some("ops/index.html")),
            (Rule::Mdbook, "SUMMARY.md", None),
            (hugo_rule(), "docs/Ops/Backup Guide.md", Some("docs/ops/backup-guide/")),
            (hugo_rule(), "docs/_index.md", Some("docs/")),
            (hugo_rule(), "docs/ops/index.en.md", Some("docs/ops/")),
            (
                Rule::Hugo { ugly: true, language: "en".into(), languages: vec!["de".into()] },
                "docs/ops.md",
                Some("docs/ops.html"),
            ),
            (docusaurus(), "ops/02-backup.md", Some("docs/ops/backup")),
            (docusaurus(), "03-ops/index.mdx", Some("docs/ops")),
            (docusaurus(), "ops/ops.md", Some("docs/ops")),
            (docusaurus(), "ops/_partial.mdx", None),
            (Rule::Sphinx { directories: false }, "ops/backup.rst", Some("ops/backup.html")),
            (Rule::Sphinx { directories: true }, "ops/backup.md", Some("ops/backup/")),
            (Rule::Sphinx { directories: false }, "index.rst", Some("index.html")),
            (Rule::Vitepress { clean: false }, "ops/backup.md", Some("ops/backup.html")),
            (Rule::Vitepress { clean: true }, "ops/backup.md", Some("ops/backup")),
            (Rule::Vitepress { clean: false }, "ops/index.md", Some("ops/")),
            (antora_rule("shop", Some("2.1")), "modules/ROOT/pages/start.adoc", Some("shop/2.1/start.html")),
            (antora_rule("shop", None), "modules/admin/pages/a/b.adoc", Some("shop/admin/a/b.html")),
            (antora_rule("ROOT", None), "modules/ROOT/pages/index.adoc", Some("index.html")),
            (antora_rule("shop", None), "modules/ROOT/partials/x.adoc", None),
            (Rule::Plain, "ops/backup.html", Some("ops/backup.html")),
            (Rule::Plain, "ops/index.html", Some("ops/")),
        ]
    }

    #[test]
    fn each_generator_puts_a_source_where_it_does() {
        for (rule, source, place) in rows() {
            assert_eq!(rule.place(source).as_deref(), place, "{rule:?} {source}");
        }
    }

    #[test]
    fn a_page_leads_back_to_its_source_or_the_rule_loses_letters() {
        for (rule, source, place) in rows() {
            let Some(place) = place else { continue };
            let found = rule.sources(&key(place)).iter().any(|candidate| candidate == source);
            assert!(found || rule.loses(), "{rule:?} {source}");
        }
    }

    #[test]
    fn a_key_ignores_what_servers_ignore() {
        for place in ["a/b", "a/b/", "a/b.html", "a/b/index.html", "/a/b/"] {
            assert_eq!(key(place), "a/b", "{place}");
        }
        assert_eq!(key("index.html"), "");
        assert_eq!(key("myindex.html"), "myindex");
    }

    #[test]
    fn an_unknown_antora_component_may_have_any_front() {
        let sources = Rule::Antora(None).sources("shop/2.1/start");
        assert!(sources.contains(&"modules/ROOT/pages/start.adoc".to_owned()));
    }
}
