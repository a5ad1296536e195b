use super::*;
use crate::config::{Docsite, Generator};

fn path(path: &str) -> ProjectPath {
    ProjectPath::parse(path).expect("a path")
}

fn file(path: &str) -> RepoPath {
    RepoPath::parse(path).expect("a path")
}

fn declared(url: &str, project: &str, root: &str, generator: Generator) -> Docsite {
    Docsite { url: Url::parse(url).expect("a url"), project: project.into(), root: root.into(), generator }
}

fn mkdocs() -> Sites {
    Sites::declared(&[declared("https://docs.example.org/", "garden/docs", "docs", Generator::Mkdocs)])
}

fn candidates(sites: &Sites, url: &str) -> Vec<String> {
    let sources = sites.find(url);
    sources.iter().flat_map(Source::candidates).map(|path| path.as_str().to_owned()).collect()
}

#[test]
fn a_page_leads_to_its_file_and_back() {
    let sites = mkdocs();
    let found = candidates(&sites, "https://docs.example.org/ops/backup/?q=1#restore");
    assert!(found.contains(&"docs/ops/backup.md".to_owned()), "{found:?}");
    assert!(found.contains(&"docs/ops/backup/index.md".to_owned()));
    let page = sites.page(&path("Garden/Docs"), &file("docs/ops/backup.md"));
    assert_eq!(page.as_deref(), Some("https://docs.example.org/ops/backup/"));
    assert_eq!(sites.page(&path("garden/docs"), &file("src/lib.rs")), None);
    assert_eq!(sites.page(&path("garden/other"), &file("docs/ops/backup.md")), None);
    assert!(sites.find("https://elsewhere.org/ops/backup/").is_empty());
}

#[test]
fn a_section_is_cited_by_the_anchor_its_generator_makes() {
    let sites = mkdocs();
    let text =
        "# Backup\n\nIntro.\n\n## What's kept -- and why\n\nA.\n\n## Restore\n\nB.\n\n## Restore\n\nC.\n";
    let page = file("docs/ops/backup.md");
    let sections = crate::section::cut(&page, text);
    let cite = |of: usize| sites.cite(&path("garden/docs"), &page, &sections, of).expect("a page");
    assert_eq!(cite(0), "https://docs.example.org/ops/backup/");
    assert_eq!(cite(1), "https://docs.example.org/ops/backup/#whats-kept-and-why");
    assert_eq!(cite(3), "https://docs.example.org/ops/backup/#restore_1");
    let source = sites.find("https://docs.example.org/ops/backup/").remove(0);
    assert_eq!(source.section(&sections, "restore_1"), Some(3));
    assert_eq!(source.section(&sections, "what-is-this"), None);
}

#[test]
fn the_deeper_site_and_the_declared_site_come_first() {
    let mut sites = mkdocs();
    let manifest = |url: &str| vec![(file("mkdocs.yml"), format!("site_url: {url}\n"))];
    sites.discover(&path("garden/api"), false, &manifest("https://docs.example.org/api/"));
    sites.discover(&path("garden/copy"), false, &manifest("https://docs.example.org/"));
    let order: Vec<String> = sites
        .find("http://docs.example.org/api/start/")
        .iter()
        .map(|s| s.project().as_str().to_owned())
        .collect();
    assert_eq!(order, ["garden/api", "garden/docs", "garden/copy"]);
    assert!(sites.page(&path("garden/api"), &file("docs/start.md")).is_some());
    assert_eq!(sites.page(&path("garden/copy"), &file("docs/start.md")), None, "the address is another's");
    sites.forget(&path("garden/api"));
    assert_eq!(sites.find("https://docs.example.org/api/start/").len(), 2);
}

#[test]
fn a_forks_manifest_yields_to_the_original() {
    let mut sites = Sites::default();
    let manifest = vec![(file("mkdocs.yml"), "site_url: https://docs.example.org/\n".to_owned())];
    sites.discover(&path("garden/fork"), true, &manifest);
    sites.discover(&path("garden/docs"), false, &manifest);
    assert_eq!(sites.find("https://docs.example.org/a/")[0].project(), &path("garden/docs"));
    assert_eq!(sites.page(&path("garden/fork"), &file("docs/a.md")), None);
}

#[test]
fn a_manifest_refines_the_declared_site() {
    let mut sites = mkdocs();
    sites.discover(
        &path("garden/docs"),
        false,
        &[(file("mkdocs.yml"), "use_directory_urls: false\n".to_owned())],
    );
    let page = sites.page(&path("garden/docs"), &file("docs/ops/backup.md"));
    assert_eq!(page.as_deref(), Some("https://docs.example.org/ops/backup.html"));
    assert_eq!(sites.addresses().len(), 1);
}

#[test]
fn front_matter_moves_pages_where_the_generator_honours_it() {
    let hugo = declared("https://h.example.org/", "garden/site", "content", Generator::Hugo);
    let saurus = declared("https://d.example.org/", "garden/manual", "docs", Generator::Docusaurus);
    let mut sites = Sites::declared(&[hugo, saurus]);
    let (site, manual) = (path("garden/site"), path("garden/manual"));
    sites.learn(
        &site,
        &file("content/ops/a.md"),
        "---\nslug: Other Name\naliases: [/old/place/, beside]\n---\n",
    );
    assert_eq!(
        sites.page(&site, &file("content/ops/a.md")).as_deref(),
        Some("https://h.example.org/ops/other-name/")
    );
    for url in ["ops/other-name/", "old/place/", "ops/beside"] {
        assert_eq!(
            candidates(&sites, &format!("https://h.example.org/{url}"))[0],
            "content/ops/a.md",
            "{url}"
        );
    }
    sites.learn(&manual, &file("docs/ops/01-a.md"), "---\nslug: /start\n---\n");
    assert_eq!(
        sites.page(&manual, &file("docs/ops/01-a.md")).as_deref(),
        Some("https://d.example.org/docs/start")
    );
    sites.learn(&manual, &file("docs/ops/01-a.md"), "---\nid: first\n---\n");
    assert_eq!(
        sites.page(&manual, &file("docs/ops/01-a.md")).as_deref(),
        Some("https://d.example.org/docs/ops/first")
    );
    assert!(!candidates(&sites, "https://d.example.org/docs/start").contains(&"docs/ops/01-a.md".to_owned()));
}

#[test]
fn sources_whose_names_lose_letters_are_told_when_seen() {
    let hugo = declared("https://h.example.org/", "garden/site", "content", Generator::Hugo);
    let sites = Sites::declared(&[hugo]);
    let source = sites.find("https://h.example.org/docs/backup_guide/").remove(0);
    assert_eq!(source.search_below(), Some("content"));
    assert!(source.is_source(&file("content/Docs/Backup_Guide.md")));
    assert!(!source.is_source(&file("content/Docs/Other.md")));
}

#[test]
fn only_chapters_of_an_mdbook_are_pages() {
    let book = declared("https://b.example.org/", "garden/book", "src", Generator::Mdbook);
    let mut sites = Sites::declared(&[book]);
    let project = path("garden/book");
    assert_eq!(sites.page(&project, &file("src/a.md")), None);
    sites.learn(
        &project,
        &file("src/SUMMARY.md"),
        "# Summary\n\n- [A](./a.md)\n- [B](b/README.md)\n- [Draft]()\n",
    );
    assert_eq!(sites.page(&project, &file("src/a.md")).as_deref(), Some("https://b.example.org/a.html"));
    assert_eq!(
        sites.page(&project, &file("src/b/README.md")).as_deref(),
        Some("https://b.example.org/b/index.html")
    );
    assert_eq!(sites.page(&project, &file("src/loose.md")), None);
}

#[test]
fn a_site_without_an_address_is_on_gitlab_pages() {
    let mut sites = Sites::default().with_pages_domain("pages.example");
    let book = vec![(file("book.toml"), "[book]\ntitle = 'x'\n".to_owned())];
    sites.discover(&path("garden/tools/spade"), false, &book);
    assert_eq!(candidates(&sites, "https://garden.pages.example/tools/spade/a.html")[0], "src/a.md");
    assert_eq!(candidates(&sites, "https://spade-1a2b3c.pages.example/a.html")[0], "src/a.md");
    sites.discover(&path("garden/other/spade"), false, &book);
    assert!(candidates(&sites, "https://spade-1a2b3c.pages.example/a.html").is_empty(), "two could be meant");
}

#[test]
fn the_instances_own_address_is_nobodys_site() {
    let mut sites = Sites::default().on_instance(&Url::parse("https://gitlab.com").expect("a url"));
    let claim = vec![(file("mkdocs.yml"), "site_url: https://gitlab.com/garden/\n".to_owned())];
    sites.discover(&path("garden/docs"), false, &claim);
    assert!(sites.find("https://gitlab.com/garden/a/").is_empty());
    assert_eq!(candidates(&sites, "https://garden.gitlab.io/docs/a/")[0], "docs/a.md");
}

#[test]
fn older_versions_of_docusaurus_lie_beside() {
    let saurus = declared("https://d.example.org/", "garden/manual", "web/docs", Generator::Docusaurus);
    let sites = Sites::declared(&[saurus]);
    let found = candidates(&sites, "https://d.example.org/docs/2.1/ops/a");
    assert!(found.contains(&"web/versioned_docs/version-2.1/ops/a.md".to_owned()), "{found:?}");
    assert!(
        candidates(&sites, "https://d.example.org/docs/next/ops/a").contains(&"web/docs/ops/a.md".to_owned())
    );
}

#[test]
fn manifests_are_told_by_name() {
    for name in [
        "mkdocs.yml",
        "docs/mkdocs.yml",
        "zensical.toml",
        "book.toml",
        "hugo.toml",
        "website/docusaurus.config.ts",
        "docs/conf.py",
        "antora.yml",
        "docs/.vitepress/config.mts",
    ] {
        assert!(is_manifest(&file(name)), "{name}");
    }
    for name in
        ["config.ts", "docusaurus.ts", "mkdocs.yml.bak", "a/b/c/d/e/mkdocs.yml", "docs/vitepress/config.ts"]
    {
        assert!(!is_manifest(&file(name)), "{name}");
    }
}

#[test]
fn an_antora_site_is_where_its_playbook_says() {
    let mut sites = Sites::default();
    let files = vec![
        (file("docs/antora.yml"), "name: shop\nversion: ~\n".to_owned()),
        (file("antora-playbook.yml"), "site:\n  url: https://a.example.org\n".to_owned()),
    ];
    sites.discover(&path("garden/shop"), false, &files);
    assert_eq!(
        candidates(&sites, "https://a.example.org/shop/start.html")[0],
        "docs/modules/ROOT/pages/start.adoc"
    );
    let page = sites.page(&path("garden/shop"), &file("docs/modules/admin/pages/x.adoc"));
    assert_eq!(page.as_deref(), Some("https://a.example.org/shop/admin/x.html"));
}
