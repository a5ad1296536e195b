//! The targets of `fuzz/`, driven without a special compiler: seeds from the repository are mutated, and each promise
//! is checked with every overflow and bound of a debug build. Coverage does not lead the way here, as it does with
//! `cargo fuzz`; dictionaries and the hostile files of the other tests do.
//!
//! `SIGNPOST_FUZZ_SECONDS` is how long each target runs (1 by default), `SIGNPOST_SEED` another run.

#[path = "../fuzz/targets.rs"]
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::gitlab::effects;
use crate::reply::hostile::{self, Dice};

/// Inputs are cut here: what is wrong with longer ones is wrong with these.
const LONGEST: usize = 6_000;
/// An input of that length that takes longer has found something that is not linear.
const PATIENCE: Duration = Duration::from_secs(5);

/// What stands between the words of all formats.
const TOKENS: &[&str] = &[
    "\n",
    "\n\n",
    "\r",
    "\r\n",
    "\t",
    " ",
    "    ",
    "#",
    "##",
    "# ",
    "=",
    "==",
    "====",
    "----",
    "```",
    "~~~",
    "....",
    "++++",
    "|",
    "|---|",
    "> ",
    ">>>",
    "- ",
    "* ",
    "1. ",
    "[",
    "](",
    ")",
    "[^1]",
    "![",
    "<",
    ">",
    "</",
    "<!--",
    "-->",
    "<a href='",
    "<details>",
    "\\",
    "`",
    "``",
    "*",
    "**",
    "_",
    "$",
    "$$",
    "&#64;",
    "&amp;",
    "@",
    "#1",
    "!1",
    "~",
    "%",
    "/",
    "//",
    "../",
    "?",
    "#L3-9",
    "#L",
    "https://",
    "https://code.harbour.test/",
    "https://handbook.harbour.test/",
    "/-/blob/main/",
    "/-/commit/",
    "/-/merge_requests/1",
    "deadbeef1",
    "@way-post",
    "\u{200b}",
    "\u{202e}",
    "\u{feff}",
    "\u{0}",
    "\u{1f}",
    "é",
    "\u{301}",
    "𝒳",
    "::",
    ".. _x:",
    ".. code::",
    ":ref:`x`",
    "[source,rust]",
    "[[id]]",
    "[#id]",
    "include::a[]",
    "//!",
    "///",
    "/**",
    "*/",
    "\"\"\"",
    "'''",
    "def f():",
    "class A:",
    "pub fn f() {",
    "}",
    "func f() {",
    "---",
    "+++",
    "{",
    "}",
    "[",
    "]",
    "\"",
    ":",
    ",",
    "null",
    "true",
    "1e999",
    "-1",
    "18446744073709551616",
    "\\ud800",
    "\"object_kind\":\"issue\"",
    "\"iid\":",
    "site_url: ",
    "docs_dir: ",
    "use_directory_urls: ",
    "base_url: ",
    "baseURL = ",
    "slug: ",
    "url: ",
    "aliases: ",
    "{#id}",
    "javascript:",
    "https://gitlab.example.com/",
    "%2e%2e/",
    "%0a",
    "<script>",
    "webhook-id: ",
    "webhook-signature: v1,",
    "x-gitlab-token: ",
];

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().map_or(otherwise, |value| value.parse().expect("a number"))
}

/// The files of a folder of the repository with these endings, as seeds.
fn files(folder: &str, endings: &[&str]) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut names: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").flatten().map(|f| f.path()).collect();
    names.sort();
    names.retain(|name| name.extension().is_some_and(|e| endings.iter().any(|ending| e == *ending)));
    let seeds = names.iter().map(|name| std::fs::read(name).expect("a file"));
    seeds.map(|mut seed| (seed.truncate(LONGEST), seed).1).collect()
}

/// One change, of the kinds that find most.
fn mutate(input: &mut Vec<u8>, pool: &[Vec<u8>], dice: &mut Dice) {
    let at = dice.below(input.len() + 1);
    let length = dice.below(40).min(input.len() - at);
    match dice.below(9) {
        0 | 1 => drop(input.splice(at..at, dice.pick(TOKENS).bytes())),
        2 => drop(input.splice(at..at + length, dice.pick(TOKENS).bytes())),
        3 => drop(input.drain(at..at + length)),
        4 => {
            let piece = input[at..at + length].to_vec();
            let times = 1 + dice.below(30);
            input.splice(at..at, piece.repeat(times));
        }
        5 => {
            let other = &pool[dice.below(pool.len())];
            let from = dice.below(other.len() + 1);
            input.splice(at..at, other[from..].iter().take(200).copied());
        }
        6 if at < input.len() => input[at] ^= 1 << dice.below(8),
        7 if at < input.len() => input[at] = dice.below(256) as u8,
        _ => input.truncate(at),
    }
    input.truncate(LONGEST);
}

/// Runs a target until its time is over; panics with the input that broke it.
fn run(name: &str, mut pool: Vec<Vec<u8>>, target: impl Fn(&[u8])) {
    let limit = Duration::from_secs(number("SIGNPOST_FUZZ_SECONDS", 1));
    let seed = number("SIGNPOST_SEED", 1);
    let mut dice = Dice::new(seed);
    let (began, mut runs, mut slowest) = (Instant::now(), 0u64, Duration::ZERO);
    let kept = pool.len();
    while began.elapsed() < limit {
        let mut input = match runs as usize {
            seed if seed < kept => pool[seed].clone(),
            _ => pool[dice.below(pool.len())].clone(),
        };
        if runs as usize >= kept {
            (0..=dice.below(6)).for_each(|_| mutate(&mut input, &pool, &mut dice));
        }
        let before = Instant::now();
        if let Err(why) = catch_unwind(AssertUnwindSafe(|| target(&input))) {
            let file = std::env::temp_dir().join(format!("signpost-fuzz-{name}-{seed}-{runs}"));
            std::fs::write(&file, &input).expect("the folder for temporary files can be written");
            eprintln!("fuzz {name}: run {runs} of seed {seed} broke it; the input is in {}", file.display());
            eprintln!("{:?}", String::from_utf8_lossy(&input));
            std::panic::resume_unwind(why);
        }
        let took = before.elapsed();
        // Slow by itself, or because others used the processor? Then it is fast another time.
        let again = || {
            let before = Instant::now();
            target(&input);
            before.elapsed() >= PATIENCE
        };
        let slow = took >= PATIENCE && again() && again();
        assert!(!slow, "{took:?} for {:?}", String::from_utf8_lossy(&input));
        slowest = slowest.max(took);
        runs += 1;
        // What survives is built upon.
        if dice.below(8) == 0 {
            match pool.len() < kept + 500 {
                true => pool.push(input),
                false => pool[kept + dice.below(500)] = input,
            }
        }
    }
    eprintln!("fuzz {name}: {runs} runs in {} s, the slowest {slowest:?}", began.elapsed().as_secs());
}

/// Hostile files after some bytes that choose what is done with them.
fn hostile_files(choices: usize) -> Vec<Vec<u8>> {
    let one = |seed: u64| {
        let mut dice = Dice::new(seed);
        let head: Vec<u8> = (0..choices).map(|_| dice.below(256) as u8).collect();
        [head, hostile::file(&mut dice).into_bytes()].concat()
    };
    (0..100).map(one).collect()
}

/// Seeds, each once for every choice of a file's name.
fn named(seeds: &[Vec<u8>], names: u8) -> Vec<Vec<u8>> {
    seeds.iter().flat_map(|seed| (0..names).map(move |name| [&[name], seed.as_slice()].concat())).collect()
}

#[test]
fn door() {
    let signed = targets::SIGNED.as_bytes().to_vec();
    let plain =
        |body: Vec<u8>| [format!("x-gitlab-token: {}\n\n", targets::PLAIN_TOKEN).into_bytes(), body].concat();
    let mut pool = vec![signed];
    pool.extend(files("test/gitlab/payloads", &["json"]).into_iter().map(plain));
    run("door", pool, targets::door);
}

#[test]
fn extract() {
    let mut pool = files("docs", &["md"]);
    pool.extend(hostile_files(0));
    run("extract", pool, targets::extract);
}

#[test]
fn sections() {
    let mut texts = files("docs", &["md"]);
    texts.extend(files("src/section", &["rs"]));
    let mut pool = named(&texts, 19);
    pool.extend(hostile_files(1));
    run("sections", pool, targets::sections);
}

#[test]
fn renderer() {
    let mut pool = hostile_files(3);
    pool.extend(files("docs", &["md"]).into_iter().map(|text| [&[0, 40, 90], text.as_slice()].concat()));
    run("renderer", pool, |data| {
        targets::renderer(data, |note| {
            let read = effects::read(note, "https://gitlab.example.com");
            assert!(read.commands.is_empty() && read.acts.is_empty(), "{:?}\n{note}", read.acts);
        });
    });
}

#[test]
fn docsites() {
    let manifests = [
        "site_name: A\nsite_url: https://docs.example.com/a/\ndocs_dir: docs\nuse_directory_urls: false\n\
         markdown_extensions:\n  - toc:\n      permalink: true\n",
        "[project]\nsite_url = \"https://docs.example.com/\"\ndocs_dir = \"docs\"\n",
        "[book]\ntitle = \"A\"\nsrc = \"src\"\n[output.html]\nsite-url = \"/a/\"\n",
        "html_baseurl = 'https://docs.example.com/'\nproject = 'A'\nextensions = ['myst_parser']\n",
        "name: a\nversion: '1.0'\ntitle: A\nstart_page: ROOT:a.adoc\n",
        "site:\n  url: https://docs.example.com\n  start_page: a::index.adoc\nurls:\n  html_extension_style: indexify\n",
        "baseURL = \"https://docs.example.com/\"\n[permalinks]\nposts = \"/:year/:slug/\"\n",
        "{\"baseURL\":\"https://docs.example.com/\",\"contentDir\":\"content\"}",
        "module.exports = { url: 'https://docs.example.com', baseUrl: '/a/', presets: [['classic', { docs: { \
         routeBasePath: '/', path: 'docs' } }]] };",
        "export default defineConfig({ base: '/a/', cleanUrls: true, srcDir: './docs' })",
        "---\nslug: /x\nurl: /y/\naliases: [/z/]\nid: w\n---\n\n# A\n\n## B {#c}\n\n[A](a.md)\n",
    ];
    let texts: Vec<Vec<u8>> = manifests.iter().map(|text| text.as_bytes().to_vec()).collect();
    run("docsites", named(&texts, 22), targets::docsites);
}
