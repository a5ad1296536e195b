//! Hostile files, quoted: nothing acts, and the quoted bytes come back. Two readers look for acts: the fake
//! GitLab's, and one that is stricter.

use signpost::reference::RepoPath;
use signpost::reply::layout::{Place, answer};
use signpost::reply::verify::{check, object_id};
use signpost::reply::{Asked, Language, Marker, Wording, inert};

use super::{acts, hostile};
use crate::gitlab::effects;

const WEB: &str = "https://gitlab.example.com";
const COMMIT: &str = "9ba1224812345678901234567890123456789012";

/// How many files are tried: `SIGNPOST_HOSTILE_CASES` (CI sets 100,000), else as many as take some seconds.
fn cases() -> u64 {
    std::env::var("SIGNPOST_HOSTILE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(5_000)
}

/// What a note can show of bytes of a file: a `\r` that stands for a line end is one.
fn shown(kept: &str) -> String {
    kept.replace('\r', "\n")
}

/// Tries one hostile file; panics with what went wrong.
fn case(seed: u64) {
    let mut dice = hostile::Dice::new(seed);
    let text = hostile::file(&mut dice);
    let path = hostile::path(&mut dice);
    let path = RepoPath::parse(&path).unwrap();
    let asked = hostile::range(&text, &mut dice);
    let passage = inert::passage(&path, &text, asked.clone());
    let within = passage.bytes.start >= asked.start && passage.bytes.end <= asked.end;
    assert!(within || passage.bytes.is_empty(), "seed {seed}: {passage:?}");

    let rendered = inert::render(&path, &text, passage.bytes.clone());
    let kept: String = rendered.kept.iter().map(|kept| shown(&text[kept.clone()])).collect();
    let undone = inert::unrender(&rendered.markdown);
    assert_eq!(undone.as_deref(), Some(kept.as_str()), "seed {seed}: {text:?}\n{}", rendered.markdown);
    let rising = rendered.kept.iter().map(|kept| [kept.start, kept.end]).collect::<Vec<_>>().concat();
    assert!(rising.is_sorted(), "seed {seed}: {:?}", rendered.kept);
    assert!(
        rising.iter().all(|at| passage.bytes.contains(at) || *at == passage.bytes.end),
        "seed {seed}: {:?}",
        rendered.kept
    );

    let blob = object_id(text.as_bytes(), 40);
    let headings = ["@all #1".to_owned(), text.lines().next().unwrap_or_default().to_owned()];
    let place = Place {
        project: 7,
        project_path: "acme/api",
        commit: COMMIT,
        path: &path,
        blob: &blob,
        text: &text,
        bytes: asked,
        headings: &headings,
        page: Some("https://docs.example.com/a/#b"),
    };
    let language = Language::at(dice.below(5));
    let note =
        answer(&place, std::slice::from_ref(&place), &Wording::new(language, WEB), &Marker::of(Asked::Issue));
    let ours = |url: &str| {
        url.starts_with("https://gitlab.example.com/acme/api/-/blob/")
            || url.starts_with("https://docs.example.com/")
    };
    let found = acts::of(&note, ours);
    assert!(found.is_empty(), "seed {seed}: {found:?}\n{text:?}\n{note}");
    let read = effects::read(&note, WEB);
    assert!(
        read.commands.is_empty() && read.acts.is_empty(),
        "seed {seed}: {:?}\n{text:?}\n{note}",
        read.acts
    );
    if passage.bytes.is_empty() {
        return;
    }
    let proof = check(&note, |_| Some(text.clone().into_bytes()));
    let proof = proof.unwrap_or_else(|finding| panic!("seed {seed}: {finding}\n{text:?}\n{note}"));
    let covered =
        proof.parts.iter().fold(0, |at, part| if part.note.start == at { part.note.end } else { usize::MAX });
    assert_eq!(covered, note.len(), "seed {seed}");
    tampered(seed, &note, &text, &mut dice);
}

/// A note with one character more, or one less of its sentences and quote, is found out.
fn tampered(seed: u64, note: &str, text: &str, dice: &mut hostile::Dice) {
    let mut at = dice.below(note.len());
    while !note.is_char_boundary(at) {
        at -= 1;
    }
    let mut changed = note.to_owned();
    changed.insert(at, '¤');
    assert!(check(&changed, |_| Some(text.as_bytes().to_vec())).is_err(), "seed {seed} at {at}\n{changed}");
    let doubled = note[..at].chars().next_back() == note[at..].chars().next();
    if !doubled && !in_links(note, at) && !in_bytes(note, at) {
        let mut changed = note.to_owned();
        changed.remove(at);
        assert!(
            check(&changed, |_| Some(text.as_bytes().to_vec())).is_err(),
            "seed {seed} at {at}\n{text:?}\n{changed}"
        );
    }
}

#[test]
fn nothing_in_a_hostile_file_acts_and_its_bytes_come_back() {
    let cases = cases();
    let halves = [0..cases / 2, cases / 2..cases];
    std::thread::scope(|scope| {
        for half in halves {
            scope.spawn(|| half.for_each(case));
        }
    });
}

#[test]
fn a_colour_between_wide_spaces_is_quoted() {
    let text = "The button is `\u{a0}#fff` or `#abc\u{3000}`, see `\u{202f}rgb(1,2,3)`.\n";
    let path = RepoPath::parse("docs/a.md").unwrap();
    let passage = inert::passage(&path, text, 0..text.len());
    let rendered = inert::render(&path, text, passage.bytes);
    let kept: String = rendered.kept.iter().map(|kept| &text[kept.clone()]).collect();
    assert_eq!(inert::unrender(&rendered.markdown).as_deref(), Some(kept.as_str()));
    assert!(kept.contains("\u{a0}#fff") && kept.contains("#abc\u{3000}"), "{kept:?}");
    assert_eq!(acts::of(&rendered.markdown, |_| false), Vec::<String>::new());
}

#[test]
fn a_paragraph_that_begins_with_brackets_is_no_definition() {
    let path = RepoPath::parse("docs/a.md").unwrap();
    let text = "Rotate weekly.\n\n[WARNING]: Never delete the old key.\n\n[home]: https://x.test \"Home\"\n\nThen restart.\n";
    let markdown = inert::render(&path, text, 0..text.len()).markdown;
    assert!(markdown.contains("Never delete the old key") && markdown.contains("WARNING"), "{markdown}");
    assert!(!markdown.contains("x.test"), "{markdown}");
}

#[test]
fn a_comment_that_begins_quoted_code_is_no_heading() {
    let path = RepoPath::parse("docs/a.md").unwrap();
    let text = "# Settings\n\n```yaml\na: 1\n# How often, in days.\n# Zero: never.\nrotation: 90\n```\n";
    let from = text.find("# How").unwrap();
    let passage = inert::passage(&path, text, from..text.len());
    assert!(text[passage.bytes].starts_with("# How often"));
    let heading = inert::passage(&path, text, 0..text.len());
    assert!(text[heading.bytes].starts_with("```yaml"));
}

#[test]
fn a_line_of_a_megabyte_is_cut() {
    for word in ["a", "@all ", "`", "[", "*a ", "<", "](", "&", "deadbeef1 ", "![", "\\", "~~", "| ", "é"] {
        let text = word.repeat(1_000_000 / word.len());
        let path = RepoPath::parse("docs/a.md").unwrap();
        let passage = inert::passage(&path, &text, 0..text.len());
        assert!(text[passage.bytes.clone()].chars().count() <= 1200 && passage.cut, "{word}");
        let markdown = inert::render(&path, &text, passage.bytes).markdown;
        assert_eq!(acts::of(&markdown, |_| false), Vec::<String>::new(), "{word}");
    }
}

/// Whether the byte lies in the marker's range of bytes: a range that begins or ends elsewhere among what is never shown, a
/// tag say, is another proof of the same words.
fn in_bytes(note: &str, at: usize) -> bool {
    note.rfind(" bytes=").is_some_and(|from| from < at && !note[from + 1..at].contains(' '))
}

/// Whether the byte lies in a line of links: less of a title is still words of the file, and host, project and
/// page are not known to the proof.
fn in_links(note: &str, at: usize) -> bool {
    let line = note[..at].rfind('\n').map_or(0, |newline| newline + 1);
    note[line..].split('\n').next().is_some_and(|line| line.contains("](<"))
}
