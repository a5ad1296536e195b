//! The generators' own configuration files: where a site is, where its sources lie, and by which rule.
//!
//! They are read as data. JavaScript and Python are not run: only values that stand there as literals count,
//! and what is computed is not found.

use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;
use url::Url;

use crate::config::Generator;
use crate::docsite::anchor::AnchorStyle;
use crate::docsite::rule::{Component, Rule};
use crate::docsite::script;
use crate::reference::RepoPath;

/// What one file told.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Manifest {
    pub(super) generator: Generator,
    /// Where the site is, where the file says so.
    pub(super) base: Option<Url>,
    /// The folder of the sources.
    pub(super) root: String,
    pub(super) rule: Rule,
    pub(super) style: AnchorStyle,
}

/// Reads a configuration file; `None` when it is none, or of no use.
pub(super) fn read(path: &RepoPath, text: &str) -> Option<Manifest> {
    let (folder, name) = path.as_str().rsplit_once('/').unwrap_or(("", path.as_str()));
    let (stem, extension) = name.rsplit_once('.')?;
    match (stem, extension) {
        ("mkdocs", "yml" | "yaml") => mkdocs(folder, text),
        ("zensical", "toml") => zensical(folder, text),
        ("book", "toml") => mdbook(folder, text),
        ("hugo" | "config", "toml" | "yaml" | "yml" | "json") => hugo(folder, extension, text),
        ("docusaurus.config", _) => docusaurus(folder, text),
        ("conf", "py") => sphinx(folder, text),
        ("antora", "yml") => antora(folder, text),
        ("config", _) => vitepress(folder.strip_suffix(".vitepress")?.trim_end_matches('/'), text),
        _ => None,
    }
}

/// The address in an Antora playbook, which tells where the site of the components beside it is.
pub(super) fn playbook(path: &RepoPath, text: &str) -> Option<Url> {
    let name = path.as_str().rsplit('/').next()?;
    (name.contains("playbook") && (name.ends_with(".yml") || name.ends_with(".yaml"))).then_some(())?;
    address(yaml(text)?.get("site")?.get("url")?)
}

fn below(folder: &str, part: &str) -> Option<String> {
    let part = part.trim_start_matches("./").trim_matches('/');
    let whole = match (folder, part) {
        (folder, "" | ".") => folder.to_owned(),
        ("", part) => part.to_owned(),
        (folder, part) => format!("{folder}/{part}"),
    };
    (whole.is_empty() || RepoPath::parse(&whole).is_some()).then_some(whole)
}

/// YAML as data: tags such as `!!python/name:…` are dropped, `!ENV [NAME, default]` counts as its default.
fn yaml(text: &str) -> Option<Value> {
    plain(serde_norway::from_str(text).ok()?, 0)
}

fn plain(value: serde_norway::Value, depth: usize) -> Option<Value> {
    use serde_norway::Value as Yaml;
    if depth > 64 {
        return None;
    }
    Some(match value {
        Yaml::Null => Value::Null,
        Yaml::Bool(flag) => flag.into(),
        Yaml::Number(number) => number.as_f64().and_then(|_| serde_json::to_value(&number).ok())?,
        Yaml::String(text) => text.into(),
        Yaml::Sequence(rows) => rows.into_iter().filter_map(|row| plain(row, depth + 1)).collect(),
        Yaml::Mapping(map) => {
            let pair =
                |(name, value): (Yaml, Yaml)| Some((name.as_str()?.to_owned(), plain(value, depth + 1)?));
            Value::Object(map.into_iter().filter_map(pair).collect())
        }
        Yaml::Tagged(tagged) => match plain(tagged.value, depth + 1)? {
            Value::Array(rows) if tagged.tag == "ENV" => rows.into_iter().next_back()?,
            value => value,
        },
    })
}

fn toml_value(text: &str) -> Option<Value> {
    toml::from_str(text).ok()
}

fn address(value: &Value) -> Option<Url> {
    absolute(value.as_str()?)
}

fn absolute(text: &str) -> Option<Url> {
    let url = Url::parse(text.trim()).ok()?;
    let fine =
        matches!(url.scheme(), "http" | "https") && url.host_str().is_some() && url.username().is_empty();
    fine.then_some(url)
}

fn mkdocs(folder: &str, text: &str) -> Option<Manifest> {
    let config = yaml(text)?;
    let base = config.get("site_url").and_then(address);
    let version = config.get("extra").and_then(|extra| extra.get("version"));
    let mike = version.filter(|version| version.get("provider").and_then(Value::as_str) == Some("mike"));
    // mike puts each version below its name; which one readers are sent to, only the file can say.
    let base = match mike {
        None => base,
        Some(version) => {
            let default = version.get("default");
            let name = default.and_then(|name| name.as_str().or_else(|| name.get(0)?.as_str()));
            base.zip(name).and_then(|(base, name)| {
                absolute(&format!("{}/{}/", base.as_str().trim_end_matches('/'), name.trim_matches('/')))
            })
        }
    };
    Some(Manifest {
        generator: Generator::Mkdocs,
        base,
        root: below(folder, config.get("docs_dir").and_then(Value::as_str).unwrap_or("docs"))?,
        rule: Rule::Mkdocs {
            directories: config.get("use_directory_urls").and_then(Value::as_bool).unwrap_or(true),
        },
        style: AnchorStyle { pymdownx: text.contains("pymdownx.slugs"), ..AnchorStyle::default() },
    })
}

fn zensical(folder: &str, text: &str) -> Option<Manifest> {
    let config = toml_value(text)?;
    let project = config.get("project").unwrap_or(&config);
    Some(Manifest {
        generator: Generator::Zensical,
        base: project.get("site_url").and_then(address),
        root: below(folder, project.get("docs_dir").and_then(Value::as_str).unwrap_or("docs"))?,
        rule: Rule::Mkdocs {
            directories: project.get("use_directory_urls").and_then(Value::as_bool).unwrap_or(true),
        },
        style: AnchorStyle { pymdownx: text.contains("pymdownx.slugs"), ..AnchorStyle::default() },
    })
}

fn mdbook(folder: &str, text: &str) -> Option<Manifest> {
    let config = toml_value(text)?;
    let src = config.get("book").and_then(|book| book.get("src")).and_then(Value::as_str).unwrap_or("src");
    let html = config.get("output").and_then(|output| output.get("html"));
    Some(Manifest {
        generator: Generator::Mdbook,
        // `site-url` is a path as a rule, which does not tell the host.
        base: html.and_then(|html| html.get("site-url")).and_then(address),
        root: below(folder, src)?,
        rule: Rule::Mdbook,
        style: AnchorStyle::default(),
    })
}

fn hugo(folder: &str, extension: &str, text: &str) -> Option<Manifest> {
    let config = match extension {
        "toml" => toml_value(text),
        "json" => serde_json::from_str(text).ok(),
        _ => yaml(text),
    }?;
    let config = config.as_object()?;
    let get =
        |name: &str| config.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value);
    // `config.toml` is everybody's name; Hugo's has an address.
    let base = get("baseURL").and_then(address)?;
    let site = folder.strip_suffix("config/_default").map_or(folder, |site| site.trim_end_matches('/'));
    let word = |name: &str, default: &str| get(name).and_then(Value::as_str).unwrap_or(default).to_owned();
    let language = word("defaultContentLanguage", "en");
    let known = get("languages").and_then(Value::as_object);
    // Where each language has a folder of its own, the default one's is the site.
    let own = known.and_then(|known| known.get(&language)).and_then(Value::as_object);
    let own = own.and_then(|own| own.iter().find(|(key, _)| key.eq_ignore_ascii_case("contentDir")));
    let folder = own.and_then(|(_, folder)| folder.as_str()).map(str::to_owned);
    let languages = known.into_iter().flat_map(|known| known.keys()).filter(|name| **name != language);
    Some(Manifest {
        generator: Generator::Hugo,
        base: Some(base),
        root: below(site, &folder.unwrap_or_else(|| word("contentDir", "content")))?,
        rule: Rule::Hugo {
            ugly: get("uglyURLs").and_then(Value::as_bool).unwrap_or(false),
            languages: languages.cloned().collect(),
            language,
        },
        style: AnchorStyle::default(),
    })
}

fn docusaurus(folder: &str, text: &str) -> Option<Manifest> {
    let script = script::without_comments(text);
    let docs = script::block(&script, "docs").unwrap_or_default();
    let site = script::literal(&script, "url").and_then(|url| absolute(&url));
    let base = script::literal(&script, "baseUrl").unwrap_or_else(|| "/".into());
    Some(Manifest {
        generator: Generator::Docusaurus,
        base: site
            .and_then(|site| site.join(&format!("/{}/", base.trim_matches('/')).replace("//", "/")).ok()),
        root: below(folder, &script::literal(docs, "path").unwrap_or_else(|| "docs".into()))?,
        rule: Rule::Docusaurus {
            route: script::literal(docs, "routeBasePath")
                .unwrap_or_else(|| "docs".into())
                .trim_matches('/')
                .to_owned(),
        },
        style: AnchorStyle::default(),
    })
}

fn sphinx(folder: &str, text: &str) -> Option<Manifest> {
    static BASE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?m)^html_baseurl[ \t]*=[ \t]*["']([^"'\n]+)["']"#).expect("a pattern")
    });
    Some(Manifest {
        generator: Generator::Sphinx,
        base: BASE.captures(text).and_then(|found| absolute(&found[1])),
        root: folder.to_owned(),
        rule: Rule::Sphinx { directories: false },
        style: AnchorStyle::default(),
    })
}

fn antora(folder: &str, text: &str) -> Option<Manifest> {
    let config = yaml(text)?;
    let version = match config.get("version") {
        Some(Value::String(version)) if !version.is_empty() && version != "~" => Some(version.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let attribute = |name: &str| {
        let value = config.get("asciidoc")?.get("attributes")?.get(name)?;
        Some(value.as_str().unwrap_or_default().to_owned())
    };
    let name = config.get("name")?.as_str()?.to_owned();
    Some(Manifest {
        generator: Generator::Antora,
        base: None,
        root: folder.to_owned(),
        rule: Rule::Antora(Some(Component { name, version })),
        style: AnchorStyle {
            id_prefix: attribute("idprefix"),
            id_separator: attribute("idseparator"),
            ..AnchorStyle::default()
        },
    })
}

fn vitepress(folder: &str, text: &str) -> Option<Manifest> {
    let script = script::without_comments(text);
    let sitemap = script::block(&script, "sitemap").unwrap_or_default();
    let site = script::literal(sitemap, "hostname").and_then(|url| absolute(&url));
    // A sidebar of the theme may have a base of its own.
    let theme = script::block(&script, "themeConfig").unwrap_or_default();
    let base = script::literal(&script.replacen(theme, "", usize::from(!theme.is_empty())), "base");
    Some(Manifest {
        generator: Generator::Vitepress,
        base: site.and_then(|site| match base {
            Some(base) => site.join(&format!("/{}/", base.trim_matches('/')).replace("//", "/")).ok(),
            None => Some(site),
        }),
        root: below(folder, &script::literal(&script, "srcDir").unwrap_or_default())?,
        rule: Rule::Vitepress { clean: script::flag(&script, "cleanUrls") },
        style: AnchorStyle::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, text: &str) -> Manifest {
        read(&RepoPath::parse(path).expect("a path"), text).expect("a manifest")
    }

    fn base(manifest: &Manifest) -> Option<&str> {
        manifest.base.as_ref().map(Url::as_str)
    }

    #[test]
    fn mkdocs_with_python_tags_is_read() {
        let text = "site_name: Shop\nsite_url: https://docs.example.org/shop/\ndocs_dir: handbook\n\
            use_directory_urls: false\nmarkdown_extensions:\n  - pymdownx.emoji:\n      \
            emoji_index: !!python/name:material.extensions.emoji.twemoji\n  - toc:\n      \
            slugify: !!python/object/apply:pymdownx.slugs.slugify\n        kwds:\n          case: lower\n";
        let found = of("web/mkdocs.yml", text);
        assert_eq!(base(&found), Some("https://docs.example.org/shop/"));
        assert_eq!(
            (found.root.as_str(), &found.rule),
            ("web/handbook", &Rule::Mkdocs { directories: false })
        );
        assert!(found.style.pymdownx);
    }

    #[test]
    fn what_a_generator_adds_to_an_address_is_known() {
        let mike = "site_url: https://docs.example.org/\nextra:\n  version:\n    provider: mike\n";
        assert_eq!(base(&of("mkdocs.yml", mike)), None, "which version?");
        let named = of("mkdocs.yml", &format!("{mike}    default: stable\n"));
        assert_eq!(base(&named), Some("https://docs.example.org/stable/"));
        let sidebar = "export default { sitemap: { hostname: 'https://v.example.org' }, themeConfig: { sidebar: { '/g/': { base: '/g/' } } } }";
        assert_eq!(base(&of("docs/.vitepress/config.ts", sidebar)), Some("https://v.example.org/"));
        let hugo = of(
            "hugo.toml",
            "baseURL = 'https://h.example.org/'\n[languages.en]\ncontentDir = 'content/en'\n[languages.de]\ncontentDir = 'content/de'\n",
        );
        assert_eq!(hugo.root, "content/en");
        assert_eq!(
            hugo.rule,
            Rule::Hugo { ugly: false, language: "en".into(), languages: vec!["de".into()] }
        );
    }

    #[test]
    fn an_environment_variable_counts_as_its_default() {
        let found = of("mkdocs.yml", "site_url: !ENV [SITE_URL, 'https://docs.example.org/']\n");
        assert_eq!(base(&found), Some("https://docs.example.org/"));
        assert_eq!(base(&of("mkdocs.yml", "site_url: !ENV SITE_URL\n")), None);
    }

    #[test]
    fn toml_manifests_are_read() {
        let zensical =
            of("zensical.toml", "[project]\nsite_name = 'x'\nsite_url = 'https://z.example.org'\n");
        assert_eq!((base(&zensical), zensical.root.as_str()), (Some("https://z.example.org/"), "docs"));
        let book = of("guide/book.toml", "[book]\nsrc = 'text'\n[output.html]\nsite-url = '/guide/'\n");
        assert_eq!((base(&book), book.root.as_str()), (None, "guide/text"));
        let hugo = of("hugo.toml", "baseurl = 'https://h.example.org/x/'\nuglyURLs = true\n");
        assert_eq!((base(&hugo), hugo.root.as_str()), (Some("https://h.example.org/x/"), "content"));
        assert_eq!(hugo.rule, Rule::Hugo { ugly: true, language: "en".into(), languages: Vec::new() });
        assert_eq!(read(&RepoPath::parse("config.toml").expect("a path"), "[server]\nport = 1\n"), None);
    }

    #[test]
    fn docusaurus_is_read_without_running_it() {
        let text = "// url: 'https://wrong.example.org'\nconst config = {\n  title: 'Shop // shop',\n  \
            url: 'https://d.example.org',\n  baseUrl: '/shop/',\n  presets: [['classic', {\n    \
            blog: { path: 'blog', routeBasePath: 'news' },\n    docs: { path: \"manual\", routeBasePath: '/' },\n  }]],\n};";
        let found = of("website/docusaurus.config.ts", text);
        assert_eq!(
            (base(&found), found.root.as_str()),
            (Some("https://d.example.org/shop/"), "website/manual")
        );
        assert_eq!(found.rule, Rule::Docusaurus { route: String::new() });
        let computed = of("docusaurus.config.js", "module.exports = { url: process.env.URL, baseUrl: '/' }");
        assert_eq!(base(&computed), None);
        assert_eq!(computed.rule, Rule::Docusaurus { route: "docs".into() });
    }

    #[test]
    fn sphinx_antora_and_vitepress_are_read() {
        let sphinx = of(
            "docs/conf.py",
            "project = 'x'\n# html_baseurl = 'no'\nhtml_baseurl = \"https://s.example.org/\"\n",
        );
        assert_eq!((base(&sphinx), sphinx.root.as_str()), (Some("https://s.example.org/"), "docs"));
        let antora = of(
            "docs/antora.yml",
            "name: shop\nversion: 2.1\nasciidoc:\n  attributes:\n    idprefix: ''\n    idseparator: '-'\n",
        );
        assert_eq!(
            antora.rule,
            Rule::Antora(Some(Component { name: "shop".into(), version: Some("2.1".into()) }))
        );
        assert_eq!(
            (antora.style.id_prefix.as_deref(), antora.style.id_separator.as_deref()),
            (Some(""), Some("-"))
        );
        let vitepress = of(
            "docs/.vitepress/config.mts",
            "export default defineConfig({ base: '/shop/', srcDir: './src', cleanUrls: true, sitemap: { hostname: 'https://v.example.org' } })",
        );
        assert_eq!(
            (base(&vitepress), vitepress.root.as_str()),
            (Some("https://v.example.org/shop/"), "docs/src")
        );
        assert_eq!(vitepress.rule, Rule::Vitepress { clean: true });
    }

    #[test]
    fn a_playbook_tells_where_components_are() {
        let path = RepoPath::parse("antora-playbook.yml").expect("a path");
        let found = playbook(&path, "site:\n  url: https://a.example.org/docs\n");
        assert_eq!(found.as_ref().map(Url::as_str), Some("https://a.example.org/docs"));
    }

    #[test]
    fn no_manifest_leads_out_of_the_repository() {
        assert_eq!(read(&RepoPath::parse("mkdocs.yml").expect("a path"), "docs_dir: ../../etc\n"), None);
    }
}
