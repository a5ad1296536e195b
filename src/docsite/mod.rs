//! Documentation sites: which page comes from which file, in both directions. Pure; nothing is fetched.
//!
//! The table holds the sites that the configuration declares and those that are discovered in the generators'
//! own files. A page's URL leads to a project, candidate source files and a heading; a file and a section lead
//! to the page's URL for the citation, which is rebuilt from the source and never echoed.

pub mod anchor;
mod base;
mod front;
mod manifest;
pub mod pages;
mod prefix;
mod rule;
mod script;
mod site;
pub mod translation;

use std::sync::Arc;

use url::Url;

use crate::config;
use crate::reference::{ProjectPath, RepoPath};
use crate::section::Section;
use base::Base;
pub use site::Source;
use site::{Rank, Site};

/// Whether a file of this path is worth handing to [`Sites::discover`]: a generator's configuration, by its name.
pub fn is_manifest(path: &RepoPath) -> bool {
    let (folder, name) = path.as_str().rsplit_once('/').unwrap_or(("", path.as_str()));
    if path.as_str().split('/').count() > 5 {
        return false;
    }
    let script = |name: &str| {
        name.strip_prefix("config.")
            .is_some_and(|kind| matches!(kind, "js" | "cjs" | "mjs" | "ts" | "cts" | "mts"))
    };
    let vitepress = folder == ".vitepress" || folder.ends_with("/.vitepress");
    match name {
        "mkdocs.yml" | "mkdocs.yaml" | "zensical.toml" | "book.toml" | "conf.py" | "antora.yml" => true,
        "hugo.toml" | "hugo.yaml" | "hugo.yml" | "hugo.json" | "config.toml" | "config.yaml" => true,
        "antora-playbook.yml" | "antora-playbook.yaml" => true,
        name if vitepress => script(name),
        name => name.strip_prefix("docusaurus.").is_some_and(script),
    }
}

/// Whether the text of this file changes where pages are: see [`Sites::learn`].
pub fn moves_pages(path: &RepoPath, text: &str) -> bool {
    path.as_str().rsplit('/').next() == Some("SUMMARY.md") || !front::Front::of(text).is_empty()
}

/// The table of documentation sites.
#[derive(Clone, Debug, Default)]
pub struct Sites {
    sites: Vec<Arc<Site>>,
    instance: Option<String>,
    pages_domain: Option<String>,
}

impl Sites {
    /// The declared sites.
    pub fn declared(declared: &[config::Docsite]) -> Sites {
        let sites = declared.iter().filter_map(Site::declared).map(Arc::new).collect();
        Sites { sites, ..Sites::default() }
    }

    /// Tells which GitLab instance the projects are on. Its own address is nobody's documentation site; and
    /// where its domain of GitLab Pages is known (GitLab.com's is `gitlab.io`), a discovered site without an
    /// address is looked for there.
    pub fn on_instance(self, instance: &Url) -> Sites {
        let host = instance.host_str().map(str::to_ascii_lowercase);
        let sites =
            if host.as_deref() == Some("gitlab.com") { self.with_pages_domain("gitlab.io") } else { self };
        Sites { instance: host, ..sites }
    }

    /// Tells the instance's domain of GitLab Pages.
    pub fn with_pages_domain(self, domain: &str) -> Sites {
        Sites { pages_domain: Some(domain.to_ascii_lowercase()), ..self }
    }

    /// Takes a project's manifests, all of them, in place of those it had. A fork's copy of a manifest names the
    /// original's address; it yields to the original.
    pub fn discover(&mut self, project: &ProjectPath, fork: bool, files: &[(RepoPath, String)]) {
        self.forget(project);
        let playbook = files.iter().find_map(|(path, text)| manifest::playbook(path, text));
        for found in files.iter().filter_map(|(path, text)| manifest::read(path, text)) {
            if self.refine(project, &found) {
                continue;
            }
            let antora = found.generator == config::Generator::Antora;
            let own = found.base.clone().or_else(|| playbook.clone().filter(|_| antora));
            let domain = self.pages_domain.clone();
            let by_pages = || domain.clone().and_then(|domain| pages::plain(project, &domain));
            let on_pages = own.is_none();
            let claimed = own.filter(|url| url.host_str() != self.instance.as_deref());
            let Some(base) = claimed.or_else(by_pages).and_then(|url| Base::of(&url)) else { continue };
            let rank = if fork { Rank::Fork } else { Rank::Own };
            let site = Site::discovered(project.clone(), base, found, rank, domain.filter(|_| on_pages));
            self.sites.push(Arc::new(site));
        }
    }

    /// Lets a manifest tell the options of the declared site that it belongs to, if there is one.
    fn refine(&mut self, project: &ProjectPath, found: &manifest::Manifest) -> bool {
        let mut refined = false;
        for site in self.sites.iter_mut().filter(|site| site.is_declared_by(project, found)) {
            Arc::make_mut(site).refine(found);
            refined = true;
        }
        refined
    }

    /// Drops what was discovered in a project, and what was learnt about its pages.
    pub fn forget(&mut self, project: &ProjectPath) {
        self.sites.retain(|site| site.rank() == Rank::Declared || site.project() != project);
        self.of_mut(project).for_each(Site::unlearn);
    }

    /// Learns what a source file says about addresses: front matter that moves its page (`slug`, `url`, `id`,
    /// `aliases` where the generator honours them), or an mdBook's list of chapters. Files of other projects
    /// and files that say nothing are ignored. To be called again when the file changes.
    pub fn learn(&mut self, project: &ProjectPath, path: &RepoPath, text: &str) {
        self.of_mut(project).for_each(|site| site.learn(path, text));
    }

    fn of_mut(&mut self, project: &ProjectPath) -> impl Iterator<Item = &mut Site> {
        self.sites.iter_mut().filter(move |site| site.project() == project).map(Arc::make_mut)
    }

    /// The addresses of all sites: pages below them are references.
    pub fn addresses(&self) -> Vec<Url> {
        let mut urls: Vec<Url> = self.sites.iter().map(|site| site.base().url()).collect();
        urls.sort();
        urls.dedup();
        urls
    }

    /// What the page at `url` can have come from: the sites it may belong to, the most specific first, declared
    /// ones before discovered ones. Query and fragment are ignored.
    pub fn find(&self, url: &str) -> Vec<Source> {
        let Ok(url) = Url::parse(url) else { return Vec::new() };
        let mut found: Vec<(usize, &Arc<Site>, String)> = self
            .sites
            .iter()
            .filter_map(|site| site.base().below(&url).map(|place| (site.base().depth(), site, place)))
            .collect();
        found.sort_by_key(|(depth, site, _)| (std::cmp::Reverse(*depth), site.rank()));
        let mut sources: Vec<Source> =
            found.into_iter().map(|(_, site, place)| Source::of(site, &place)).collect();
        sources.extend(self.on_unique_domain(&url));
        sources
    }

    /// The site on a unique domain of GitLab Pages, where only one project can be meant.
    fn on_unique_domain(&self, url: &Url) -> Option<Source> {
        let domain = self.pages_domain.as_deref()?;
        let host = url.host_str()?;
        let mut fitting = self.sites.iter().filter(|site| site.may_be_unique(host, domain));
        let site = fitting.next().filter(|_| fitting.next().is_none())?;
        Some(Source::of(site, &Base::of(&url.join("/").ok()?)?.below(url)?))
    }

    /// The address of the page that a file becomes; `None` when it is part of no site. Where two sites claim
    /// the same address, only the first one's pages are there.
    pub fn page(&self, project: &ProjectPath, path: &RepoPath) -> Option<String> {
        self.site_of(project, path).and_then(|site| site.address(path))
    }

    /// The address of a section of a file on its page, the anchor as the generator makes it. `sections` are
    /// all sections of the file. The page's own title needs no anchor.
    pub fn cite(
        &self,
        project: &ProjectPath,
        path: &RepoPath,
        sections: &[Section],
        of: usize,
    ) -> Option<String> {
        let site = self.site_of(project, path)?;
        let page = site.address(path)?;
        Some(match site.anchor(sections, of) {
            Some(anchor) => format!("{page}#{}", base::fragment(&anchor)),
            None => page,
        })
    }

    fn site_of(&self, project: &ProjectPath, path: &RepoPath) -> Option<&Site> {
        let holds = |site: &&Arc<Site>| site.project() == project && site.address(path).is_some();
        let site = self
            .sites
            .iter()
            .filter(holds)
            .max_by_key(|site| (std::cmp::Reverse(site.rank()), site.depth()))?;
        let first =
            self.sites.iter().filter(|other| other.base() == site.base()).min_by_key(|other| other.rank())?;
        (first.project() == project).then_some(site)
    }
}

#[cfg(test)]
mod tests;
