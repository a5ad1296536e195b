//! What is fuzzed: each function takes any bytes and panics when a promise is broken. `fuzz_targets/` gives them to
//! libFuzzer, `test/fuzz.rs` to a small driver that needs no special compiler.

use std::sync::LazyLock;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use secrecy::SecretString;
use signpost::docsite::Sites;
use signpost::hook::event::Event;
use signpost::hook::signature::Verifier;
use signpost::prose::Prose;
use signpost::prose::references::{ExtractContext, REFERENCES_MAX};
use signpost::reference::{ProjectPath, RepoPath};
use signpost::reply::layout::{Place, answer};
use signpost::reply::verify::{check, object_id};
use signpost::reply::{Asked, Language, Marker, Wording, inert};
use signpost::section::{LineIndex, QUOTE_MAX, best_quote, body, cut, passages};

/// The vector that the Standard Webhooks libraries publish: the one delivery that is signed.
const SIGNING_TOKEN: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
pub const SIGNED: &str = "webhook-id: msg_27UH4WbU6Z5A5EzD8u03UvzRbpk\nwebhook-timestamp: 1649367553\n\
    webhook-signature: v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=\n\n\
    {\"email\":\"test@example.com\",\"username\":\"test_user\"}";
const SIGNED_AT: i64 = 1_649_367_553_000;
/// The plain secret token that the door knows.
pub const PLAIN_TOKEN: &str = "a-plain-secret-token";

/// The door: `name: value` lines, an empty line, a body. Proof is accepted where it is given, and nowhere else; a body
/// is an event exactly when it is JSON, whatever its shape.
pub fn door(data: &[u8]) {
    static SIGNATURES: LazyLock<Verifier> = LazyLock::new(|| {
        Verifier::new(&[SecretString::from(SIGNING_TOKEN)], &[]).expect("a token of the right shape")
    });
    static TOKENS: LazyLock<Verifier> =
        LazyLock::new(|| Verifier::new(&[], &[SecretString::from(PLAIN_TOKEN)]).expect("any token"));
    let (head, body) = split(data, b"\n\n");
    let mut headers = HeaderMap::new();
    for line in head.split(|byte| *byte == b'\n') {
        let (name, value) = split(line, b": ");
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name), HeaderValue::from_bytes(value)) {
            headers.append(name, value);
        }
    }
    if SIGNATURES.verify(&headers, body, SIGNED_AT).is_ok() {
        let (signed, signed_body) = split(SIGNED.as_bytes(), b"\n\n");
        assert_eq!(body, signed_body, "a body that nobody signed is accepted");
        let signed = std::str::from_utf8(signed).expect("it is");
        for line in signed.lines().take(2) {
            let (name, value) = line.split_once(": ").expect("a header");
            let all: Vec<&[u8]> = headers.get_all(name).iter().map(HeaderValue::as_bytes).collect();
            assert_eq!(all, [value.as_bytes()], "another {name} than was signed is accepted");
        }
    }
    let tokens: Vec<&[u8]> = headers.get_all("x-gitlab-token").iter().map(HeaderValue::as_bytes).collect();
    let right = tokens == [PLAIN_TOKEN.as_bytes()];
    assert_eq!(TOKENS.verify(&headers, body, SIGNED_AT).is_ok(), right, "tokens {tokens:?}");
    let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok();
    let event = Event::parse(body);
    assert_eq!(event.is_ok(), is_json, "an event is what is JSON: {:?}", event.err());
    if let Ok(event) = event {
        event.wish(|user| user == 7);
    }
}

/// Extraction: it ends, with a bounded list without duplicates.
pub fn extract(data: &[u8]) {
    static CONTEXT: LazyLock<ExtractContext> = LazyLock::new(|| {
        let project = ProjectPath::parse("harbour/berth").expect("a project path");
        ExtractContext::new("https://code.harbour.test", ["https://handbook.harbour.test/"], project)
            .expect("the sites are URLs")
    });
    let prose = Prose::from(String::from_utf8_lossy(data).into_owned());
    let found = prose.references(&CONTEXT);
    assert!(found.len() <= REFERENCES_MAX);
    for (at, reference) in found.iter().enumerate() {
        assert!(!found[..at].contains(reference), "{reference:?} is there twice");
    }
    prose.mentions("way-post");
    prose.thread_only_signposts(&CONTEXT);
}

/// Files whose sections are cut, one of each format.
const NAMES: &[&str] = &[
    "docs/a.md",
    "docs/a.mdx",
    "docs/a.rst",
    "docs/a.adoc",
    "docs/a.txt",
    "README",
    "src/a.rs",
    "src/a.py",
    "src/a.go",
    "src/a.ts",
    "src/a.java",
    "src/a.rb",
    "src/a.c",
    "src/a.sh",
    "a.yaml",
    "a.toml",
    "a.proto",
    "a.sql",
    "a.unknown",
];

/// The section cutters: the first byte names the file. Sections are pieces of the file in its order that never overlap,
/// passages and quotes are pieces of sections, and lines are the lines of these pieces.
pub fn sections(data: &[u8]) {
    let Some((first, data)) = data.split_first() else { return };
    let path = RepoPath::parse(NAMES[usize::from(*first) % NAMES.len()]).expect("a path");
    let text = String::from_utf8_lossy(data);
    let index = LineIndex::new(&text);
    let mut end = 0;
    for section in cut(&path, &text) {
        assert!(section.bytes.start >= end, "{section:?} overlaps the one before it");
        end = section.bytes.end;
        let own = text.get(section.bytes.clone());
        assert!(own.is_some_and(|own| !own.trim().is_empty()), "{section:?} is no text of the file");
        assert!(section.lines.first >= 1 && section.lines.last as usize <= index.count(), "{section:?}");
        assert!(section.lines.first <= section.lines.last, "{section:?}");
        let below = body(&section, &text);
        assert!(
            below.start >= section.bytes.start && below.end <= section.bytes.end,
            "{section:?} {below:?}"
        );
        let mut at = below.start;
        for passage in passages(&section, &text) {
            assert!(passage.start >= at && passage.end <= below.end, "{passage:?} of {section:?}");
            assert!(text.get(passage.clone()).is_some(), "{passage:?} cuts a character");
            at = passage.end;
        }
        let scores = |blocks: &[&str]| blocks.iter().map(|block| (block.len() % 7) as f32).collect();
        if let Some(quote) = best_quote(&section, &text, scores) {
            assert!(
                quote.bytes.start >= below.start && quote.bytes.end <= below.end,
                "{quote:?} of {section:?}"
            );
            assert!(text.get(quote.bytes.clone()).is_some_and(|own| own.len() <= QUOTE_MAX), "{quote:?}");
            assert_eq!(quote.lines, index.lines_of(&quote.bytes), "{quote:?}");
        }
    }
}

/// The renderer: the first byte names the file, the next two choose what is quoted. A note on a hostile file proves
/// itself, byte for byte; `look` may look for more.
pub fn renderer(data: &[u8], look: impl Fn(&str)) {
    let [name, from, to, data @ ..] = data else { return };
    let path = RepoPath::parse(NAMES[usize::from(*name) % NAMES.len()]).expect("a path");
    let text = String::from_utf8_lossy(data);
    let at = |share: u8| {
        let near = text.len() * usize::from(share) / 255;
        (0..=near).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
    };
    let bytes = at(*from.min(to))..at(*from.max(to));
    let passage = inert::passage(&path, &text, bytes.clone());
    let rendered = inert::render(&path, &text, passage.bytes.clone());
    // A `\r` that stands for a line end is shown as one.
    let kept: String = rendered.kept.iter().map(|kept| text[kept.clone()].replace('\r', "\n")).collect();
    assert_eq!(inert::unrender(&rendered.markdown), Some(kept), "{}", rendered.markdown);
    let blob = object_id(text.as_bytes(), 40);
    let headings = ["@all #1".to_owned(), text.lines().next().unwrap_or_default().to_owned()];
    let place = Place {
        project: 7,
        project_path: "acme/api",
        commit: "9ba1224812345678901234567890123456789012",
        path: &path,
        blob: &blob,
        text: &text,
        bytes,
        headings: &headings,
        page: Some("https://docs.example.com/a/#b"),
    };
    let wording = Wording::new(Language::English, "https://gitlab.example.com");
    let note = answer(&place, std::slice::from_ref(&place), &wording, &Marker::of(Asked::Issue));
    look(&note);
    if !passage.bytes.is_empty() {
        let proof = check(&note, |_| Some(text.as_bytes().to_vec()));
        assert!(proof.is_ok(), "{:?}\n{note}", proof.err());
    }
}

/// Generators' files.
const MANIFESTS: &[&str] = &[
    "mkdocs.yml",
    "zensical.toml",
    "book.toml",
    "docs/conf.py",
    "antora.yml",
    "antora-playbook.yml",
    "hugo.toml",
    "hugo.yaml",
    "hugo.json",
    "docusaurus.config.js",
    "docs/.vitepress/config.mts",
];

/// Documentation sites: the first byte names the manifest. Whatever stands in it, in front matter or in a list of
/// chapters, an address that is cited is one, and holds nothing that could end the link it stands in.
pub fn docsites(data: &[u8]) {
    let Some((first, data)) = data.split_first() else { return };
    let project = ProjectPath::parse("acme/docs").expect("a project path");
    let file = |path: &str| RepoPath::parse(path).expect("a path");
    let manifest = MANIFESTS[usize::from(*first) % MANIFESTS.len()];
    let text = String::from_utf8_lossy(data).into_owned();
    let instance = url::Url::parse("https://gitlab.example.com").expect("a URL");
    let mut sites = Sites::default().on_instance(&instance).with_pages_domain("pages.example.com");
    sites.discover(&project, first % 2 == 0, &[(file(manifest), text.clone())]);
    let pages =
        ["docs/a.md", "src/a.md", "content/a.md", "docs/index.md", "modules/ROOT/pages/a.adoc", "docs/a.rst"];
    for page in pages.into_iter().chain(["src/SUMMARY.md"]) {
        sites.learn(&project, &file(page), &text);
    }
    let cited = pages.iter().filter_map(|page| {
        let sections = cut(&file(page), &text);
        let last = sections.len().checked_sub(1)?;
        sites.cite(&project, &file(page), &sections, last)
    });
    for address in cited.chain(sites.addresses().iter().map(ToString::to_string)).collect::<Vec<_>>() {
        let sound = |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '<' | '>' | '"');
        assert!(address.chars().all(sound), "{address:?} could end its link");
        let url = url::Url::parse(&address).unwrap_or_else(|why| panic!("{address:?}: {why}"));
        assert!(matches!(url.scheme(), "http" | "https"), "{address:?}");
        assert_ne!(url.host_str(), Some("gitlab.example.com"), "the instance is no documentation site");
        for source in sites.find(&format!("{address}a/b.html?c#d")).iter().chain(&sites.find(&address)) {
            source.candidates();
        }
    }
}

fn split<'d>(data: &'d [u8], at: &[u8]) -> (&'d [u8], &'d [u8]) {
    match data.windows(at.len()).position(|window| window == at) {
        Some(found) => (&data[..found], &data[found + at.len()..]),
        None => (data, &[]),
    }
}
