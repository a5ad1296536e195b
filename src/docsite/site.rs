//! One site: its address, its sources and its rule.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock};

use regex::Regex;
use unicode_normalization::UnicodeNormalization;

use crate::config::{self, Generator};
use crate::docsite::anchor::{AnchorStyle, Heading, anchors};
use crate::docsite::base::Base;
use crate::docsite::front::Front;
use crate::docsite::manifest::Manifest;
use crate::docsite::pages;
use crate::docsite::rule::{Rule, docusaurus_folder, key};
use crate::reference::{ProjectPath, RepoPath};
use crate::section::Section;

/// Whose word counts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// The administrator's.
    Declared,
    /// A project's own manifest.
    Own,
    /// The copy of one.
    Fork,
}

/// A documentation site.
#[derive(Clone, Debug)]
pub(super) struct Site {
    base: Base,
    project: ProjectPath,
    root: String,
    generator: Generator,
    rule: Rule,
    style: AnchorStyle,
    rank: Rank,
    /// The domain of GitLab Pages, when the site has no address but there.
    pages: Option<String>,
    /// Places that front matter gives to sources, by source.
    moved: HashMap<RepoPath, String>,
    /// Sources by the keys that front matter gives to them.
    sources: HashMap<String, RepoPath>,
    /// An mdBook's chapters, once known.
    chapters: Option<HashSet<RepoPath>>,
}

/// What a page can have come from.
#[derive(Clone, Debug)]
pub struct Source {
    site: Arc<Site>,
    key: String,
}

impl Site {
    /// The declared site; `None` when its project is no path or its address no site.
    pub(super) fn declared(declared: &config::Docsite) -> Option<Site> {
        let base = Base::of(&declared.url)?;
        // Where the documentation is at the root, the address ends like Docusaurus's default route.
        let at_docs = declared.url.path().trim_end_matches('/').ends_with("/docs");
        let rule = match declared.generator {
            Generator::Mkdocs | Generator::Zensical => Rule::Mkdocs { directories: true },
            Generator::Mdbook => Rule::Mdbook,
            Generator::Hugo => Rule::Hugo { ugly: false, language: "en".into(), languages: Vec::new() },
            Generator::Docusaurus => {
                Rule::Docusaurus { route: if at_docs { "".into() } else { "docs".into() } }
            }
            Generator::Sphinx => Rule::Sphinx { directories: false },
            Generator::Vitepress => Rule::Vitepress { clean: false },
            Generator::Antora => Rule::Antora(None),
            Generator::Plain => Rule::Plain,
        };
        Some(Site {
            base,
            project: ProjectPath::parse(declared.project.trim_matches('/'))?,
            root: declared.root.trim_start_matches("./").trim_matches('/').to_owned(),
            generator: declared.generator,
            rule,
            style: AnchorStyle::default(),
            rank: Rank::Declared,
            pages: None,
            moved: HashMap::new(),
            sources: HashMap::new(),
            chapters: None,
        })
    }

    pub(super) fn discovered(
        project: ProjectPath,
        base: Base,
        found: Manifest,
        rank: Rank,
        pages: Option<String>,
    ) -> Site {
        let Manifest { generator, root, rule, style, .. } = found;
        let (moved, sources, chapters) = (HashMap::new(), HashMap::new(), None);
        Site { base, project, root, generator, rule, style, rank, pages, moved, sources, chapters }
    }

    pub(super) fn base(&self) -> &Base {
        &self.base
    }
    pub(super) fn project(&self) -> &ProjectPath {
        &self.project
    }
    pub(super) fn rank(&self) -> Rank {
        self.rank
    }
    /// How deep the folder of the sources lies.
    pub(super) fn depth(&self) -> usize {
        if self.root.is_empty() { 0 } else { self.root.split('/').count() }
    }

    /// Whether the administrator declared the site that this manifest of the project describes.
    pub(super) fn is_declared_by(&self, project: &ProjectPath, found: &Manifest) -> bool {
        let family = |generator| if generator == Generator::Zensical { Generator::Mkdocs } else { generator };
        let same_kind = family(self.generator) == family(found.generator);
        let same_place = self.root.is_empty() || self.root == found.root;
        self.rank == Rank::Declared && &self.project == project && same_kind && same_place
    }

    /// Takes the options that only the manifest knows.
    pub(super) fn refine(&mut self, found: &Manifest) {
        if self.root.is_empty() {
            self.root.clone_from(&found.root);
        }
        // The route is part of the declared address where that names it.
        if !matches!(self.rule, Rule::Docusaurus { ref route } if route.is_empty()) {
            self.rule = found.rule.clone();
        }
        self.style = found.style.clone();
    }

    pub(super) fn may_be_unique(&self, host: &str, domain: &str) -> bool {
        self.pages.is_some() && pages::is_unique_domain(host, &self.project, domain)
    }

    /// The path below the folder of the sources.
    fn below<'a>(&self, path: &'a RepoPath) -> Option<&'a str> {
        match path.as_str().strip_prefix(&self.root)? {
            rest if self.root.is_empty() => Some(rest),
            rest => rest.strip_prefix('/'),
        }
    }

    fn above(&self, source: &str) -> Option<RepoPath> {
        let path = if self.root.is_empty() { source.to_owned() } else { format!("{}/{source}", self.root) };
        RepoPath::parse(&path)
    }

    /// The address of the page that a file becomes.
    pub(super) fn address(&self, path: &RepoPath) -> Option<String> {
        let source = self.below(path)?;
        if self.generator == Generator::Mdbook && !self.chapters.as_ref()?.contains(path) {
            return None;
        }
        let place = self.moved.get(path).cloned().or_else(|| self.rule.place(source))?;
        Some(self.base.address(&place))
    }

    /// The anchor of the section on its page; `None` for the title and for text before the first heading.
    pub(super) fn anchor(&self, sections: &[Section], of: usize) -> Option<String> {
        let section = sections.get(of)?;
        let (at, headings) = headings(sections);
        let heading = at.iter().position(|&index| sections[index].anchor == section.anchor)?;
        if section.anchor.is_none() || (heading == 0 && section.heading_path.len() == 1) {
            return None;
        }
        anchors(self.generator, &self.style, &headings).get(heading)?.first().cloned()
    }

    /// What front matter and lists of chapters say.
    pub(super) fn learn(&mut self, path: &RepoPath, text: &str) {
        let Some(source) = self.below(path).map(str::to_owned) else { return };
        if self.generator == Generator::Mdbook {
            if source == "SUMMARY.md" {
                self.chapters =
                    Some(chapters(text).iter().filter_map(|chapter| self.above(chapter)).collect());
            }
            return;
        }
        self.moved.remove(path);
        self.sources.retain(|_, of| of != path);
        let front = Front::of(text);
        let Some(place) = self.rule.place(&source).filter(|_| !front.is_empty()) else { return };
        let (own, others) = match &self.rule {
            Rule::Hugo { .. } => hugo(&place, &front),
            Rule::Docusaurus { route } => docusaurus(&source, route, &front),
            _ => return,
        };
        for place in own.iter().chain(&others) {
            self.sources.insert(key(place), path.clone());
        }
        if let Some(own) = own {
            self.moved.insert(path.clone(), own);
        }
    }

    pub(super) fn unlearn(&mut self) {
        self.moved.clear();
        self.sources.clear();
        self.chapters = None;
    }
}

/// Where Hugo puts a page with this front matter, and where else it can be found.
fn hugo(place: &str, front: &Front) -> (Option<String>, Vec<String>) {
    let (folder, name) = parent(place);
    let beside = |to: &str| match to.strip_prefix('/') {
        Some(absolute) => absolute.to_owned(),
        None => format!("{folder}{to}"),
    };
    let by_slug = || {
        let slug = front.slug.as_deref().filter(|_| !name.is_empty())?;
        Some(format!("{folder}{}/", slug.trim_matches('/').to_lowercase().replace(' ', "-")))
    };
    // An address is one of the site, wherever the page lies; an alias is one beside the page.
    let own = front.url.as_deref().map(|url| url.trim_start_matches('/').to_owned()).or_else(by_slug);
    (own, front.aliases.iter().map(|alias| beside(alias)).collect())
}

/// Where Docusaurus puts a page with this front matter.
fn docusaurus(source: &str, route: &str, front: &Front) -> (Option<String>, Vec<String>) {
    let Some((folder, index)) = docusaurus_folder(source, route) else { return (None, Vec::new()) };
    let folder = if folder.is_empty() { folder } else { format!("{folder}/") };
    let below_route = |to: &str| {
        [route, to.trim_matches('/')]
            .map(str::to_owned)
            .into_iter()
            .filter(|p| !p.is_empty())
            .collect::<Vec<_>>()
            .join("/")
    };
    let own = match (&front.slug, &front.id) {
        (Some(slug), _) => match slug.strip_prefix('/') {
            Some(absolute) => Some(below_route(absolute)),
            None => Some(format!("{folder}{}", slug.trim_start_matches("./"))),
        },
        // A folder's own page keeps the folder's address, whatever its id is.
        (None, Some(id)) if !id.contains('/') && !index => Some(format!("{folder}{id}")),
        _ => None,
    };
    (own, Vec::new())
}

/// The folder of a place, with its slash, and its last segment.
fn parent(place: &str) -> (&str, &str) {
    let bare = place.trim_end_matches('/');
    match bare.rfind('/') {
        Some(at) => bare.split_at(at + 1),
        None => ("", bare),
    }
}

/// The files that an mdBook's `SUMMARY.md` links.
fn chapters(summary: &str) -> Vec<String> {
    static LINK: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\]\(\s*<?(?:\./)?([^)>#\s]+\.md)(?:#[^)]*)?>?\s*\)").expect("a pattern")
    });
    LINK.captures_iter(summary).map(|found| found[1].replace("%20", " ")).collect()
}

/// The headings of a page, and which section each begins.
fn headings(sections: &[Section]) -> (Vec<usize>, Vec<Heading<'_>>) {
    let begins = sections.iter().enumerate().filter(|(_, section)| section.anchor.is_some());
    begins
        .map(|(at, section)| {
            let text = section.heading_path.last().map_or("", String::as_str);
            (at, Heading { text, explicit: section.explicit_id.as_deref() })
        })
        .unzip()
}

impl Source {
    pub(super) fn of(site: &Arc<Site>, place: &str) -> Source {
        Source { site: Arc::clone(site), key: key(place) }
    }

    /// The project, as the table names it: maybe by an old path.
    pub fn project(&self) -> &ProjectPath {
        &self.site.project
    }

    /// The files that the page can have come from, likelier ones first.
    pub fn candidates(&self) -> Vec<RepoPath> {
        let told = self.site.sources.get(&self.key).cloned().into_iter();
        let by_rule =
            self.site.rule.sources(&self.key).into_iter().filter_map(|source| self.site.above(&source));
        told.chain(by_rule).chain(self.versioned()).collect()
    }

    /// Docusaurus keeps older versions beside the folder of the newest.
    fn versioned(&self) -> Vec<RepoPath> {
        let Rule::Docusaurus { route } = &self.site.rule else { return Vec::new() };
        let Some(below) = self.key.strip_prefix(route.as_str()) else { return Vec::new() };
        let Some((version, rest)) = below.trim_start_matches('/').split_once('/') else { return Vec::new() };
        let front = self.site.root.rsplit_once('/').map_or(String::new(), |(front, _)| format!("{front}/"));
        let folder = match version {
            "next" => format!("{}/", self.site.root),
            version if version.starts_with(|c: char| c.is_ascii_digit()) => {
                format!("{front}versioned_docs/version-{version}/")
            }
            _ => return Vec::new(),
        };
        let unrouted = Rule::Docusaurus { route: String::new() };
        unrouted
            .sources(rest)
            .iter()
            .filter_map(|source| RepoPath::parse(&format!("{folder}{source}")))
            .collect()
    }

    /// The folder below which the source may lie under another name, where the rule loses letters on the way;
    /// [`Source::is_source`] tells it when seen. Empty for the whole repository.
    pub fn search_below(&self) -> Option<&str> {
        self.site.rule.loses().then_some(self.site.root.as_str())
    }

    /// Whether the file becomes the page.
    pub fn is_source(&self, path: &RepoPath) -> bool {
        let place = self.site.below(path).and_then(|source| self.site.rule.place(source));
        place.is_some_and(|place| key(&place) == self.key)
    }

    /// Which of the source's sections the anchor of the page means; `None` when no heading has it.
    pub fn section(&self, sections: &[Section], anchor: &str) -> Option<usize> {
        let wanted: String = anchor.nfc().collect();
        let (at, headings) = headings(sections);
        let found = anchors(self.site.generator, &self.site.style, &headings);
        let has = |ids: &Vec<String>| ids.iter().any(|id| id.nfc().eq(wanted.chars()));
        found.iter().position(has).map(|heading| at[heading])
    }
}
