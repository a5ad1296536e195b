//! Anchors: the id that each generator gives to a heading. The rules differ in what they drop, what becomes a
//! hyphen, and how the second heading of the same name is told apart.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::config::Generator;

/// A heading of a page, in the order of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading<'a> {
    /// Its text, without markup.
    pub text: &'a str,
    /// The id that the source sets, which beats every rule.
    pub explicit: Option<&'a str>,
}

/// How a site makes anchors, where the generator alone does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnchorStyle {
    /// MkDocs with `pymdownx.slugs`: Unicode is kept, hyphens are not collapsed.
    pub pymdownx: bool,
    /// Asciidoctor's `idprefix`.
    pub id_prefix: Option<String>,
    /// Asciidoctor's `idseparator`.
    pub id_separator: Option<String>,
}

/// The anchors of a page's headings. Each heading has at least one that the generator writes first, and maybe
/// others under which it can be found too; none where the generator gives no ids.
pub fn anchors(generator: Generator, style: &AnchorStyle, headings: &[Heading<'_>]) -> Vec<Vec<String>> {
    if generator == Generator::Sphinx {
        return sphinx(style, headings);
    }
    let computed: Vec<Vec<String>> = passes(generator, style)
        .into_iter()
        .map(|(slug, repeat)| unique(headings, slug.as_ref(), repeat))
        .collect();
    let of = |(at, heading): (usize, &Heading<'_>)| {
        let explicit = heading.explicit.map(str::to_owned).into_iter();
        explicit.chain(computed.iter().map(|pass| pass[at].clone())).filter(|id| !id.is_empty()).collect()
    };
    headings.iter().enumerate().map(of).collect()
}

/// In docutils a label does not take the place of the title's own id, and is written as an id itself.
fn sphinx(style: &AnchorStyle, headings: &[Heading<'_>]) -> Vec<Vec<String>> {
    let bare: Vec<Heading<'_>> =
        headings.iter().map(|heading| Heading { text: heading.text, explicit: None }).collect();
    let computed: Vec<Vec<String>> = passes(Generator::Sphinx, style)
        .into_iter()
        .map(|(slug, repeat)| unique(&bare, slug.as_ref(), repeat))
        .collect();
    let of = |(at, heading): (usize, &Heading<'_>)| {
        let label = heading.explicit.into_iter().flat_map(|label| [docutils(label), label.to_owned()]);
        let mut ids: Vec<String> = computed.iter().map(|pass| pass[at].clone()).chain(label).collect();
        ids.retain(|id| !id.is_empty());
        ids.dedup();
        ids
    };
    headings.iter().enumerate().map(of).collect()
}

type Slug = Box<dyn Fn(&str) -> String>;

/// The rules of a generator: the one it uses, then those that its themes and extensions may use.
fn passes(generator: Generator, style: &AnchorStyle) -> Vec<(Slug, Repeat)> {
    match generator {
        Generator::Mkdocs | Generator::Zensical if style.pymdownx => {
            vec![(Box::new(pymdownx), Repeat::Python), (Box::new(python_markdown), Repeat::Python)]
        }
        Generator::Mkdocs | Generator::Zensical => {
            vec![(Box::new(python_markdown), Repeat::Python), (Box::new(pymdownx), Repeat::Python)]
        }
        Generator::Hugo => vec![(Box::new(|text: &str| github(&typographed(text))), Repeat::Hyphen)],
        Generator::Mdbook => vec![(Box::new(mdbook), Repeat::Hyphen)],
        Generator::Docusaurus => vec![(Box::new(github), Repeat::Hyphen)],
        Generator::Vitepress => vec![(Box::new(vitepress), Repeat::Hyphen)],
        Generator::Sphinx => vec![(Box::new(docutils), Repeat::Docutils), (Box::new(github), Repeat::Hyphen)],
        Generator::Antora => asciidoctor_styles(style),
        Generator::Plain => Vec::new(),
    }
}

fn asciidoctor_styles(style: &AnchorStyle) -> Vec<(Slug, Repeat)> {
    let prefix = style.id_prefix.clone().unwrap_or_else(|| "_".into());
    let separator = style.id_separator.clone().unwrap_or_else(|| "_".into());
    // Antora's own user interface and most playbooks set an empty prefix and hyphens.
    [(prefix, separator), (String::new(), "-".into())]
        .into_iter()
        .map(|(prefix, separator)| {
            let repeat = Repeat::Asciidoctor(separator.clone());
            (Box::new(move |text: &str| asciidoctor(text, &prefix, &separator)) as Slug, repeat)
        })
        .collect()
}

/// How repeats are told apart.
enum Repeat {
    /// `name_1`; an empty name becomes `_1`.
    Python,
    /// `name-1`.
    Hyphen,
    /// `id1`, counted over the page.
    Docutils,
    /// `name_2`, with the separator in use.
    Asciidoctor(String),
}

fn unique(headings: &[Heading<'_>], slug: &dyn Fn(&str) -> String, repeat: Repeat) -> Vec<String> {
    let mut taken: HashMap<String, usize> = HashMap::new();
    let mut counter = 0;
    // An id that the source sets is taken from the beginning.
    for explicit in headings.iter().filter_map(|heading| heading.explicit) {
        taken.insert(explicit.to_owned(), 0);
    }
    headings
        .iter()
        .map(|heading| {
            if heading.explicit.is_some() {
                return String::new();
            }
            let wanted = slug(heading.text);
            let id = match (&repeat, taken.contains_key(&wanted) || wanted.is_empty()) {
                (_, false) => wanted.clone(),
                (Repeat::Python, true) => python_unique(&wanted, &taken),
                (Repeat::Hyphen, true) => numbered(&wanted, "-", 1, &taken),
                (Repeat::Asciidoctor(separator), true) => numbered(&wanted, separator, 2, &taken),
                (Repeat::Docutils, true) => loop {
                    counter += 1;
                    let id = format!("id{counter}");
                    if !taken.contains_key(&id) {
                        break id;
                    }
                },
            };
            taken.entry(wanted).and_modify(|times| *times += 1).or_insert(0);
            taken.entry(id.clone()).or_insert(0);
            id
        })
        .collect()
}

/// `name-1`, `name-2`, …: the first that is free. The count of earlier repeats keeps many equal headings linear.
fn numbered(name: &str, separator: &str, first: usize, taken: &HashMap<String, usize>) -> String {
    let from = first + taken.get(name).copied().unwrap_or(0);
    (from..).map(|n| format!("{name}{separator}{n}")).find(|id| !taken.contains_key(id)).unwrap_or_default()
}

/// Python-Markdown's way: count up what already ends in a number.
fn python_unique(name: &str, taken: &HashMap<String, usize>) -> String {
    let (stem, from) = match name.rsplit_once('_') {
        Some((stem, digits)) if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
            (stem, digits.parse().unwrap_or(0) + 1)
        }
        _ => (name, 1),
    };
    let from = from + taken.get(name).copied().unwrap_or(0);
    (from..).map(|n: usize| format!("{stem}_{n}")).find(|id| !taken.contains_key(id)).unwrap_or_default()
}

/// Python-Markdown (MkDocs, Zensical): ASCII only, runs of spaces and hyphens become one hyphen.
fn python_markdown(text: &str) -> String {
    let kept: String = text
        .nfkd()
        .filter(|&c| c.is_ascii() && (is_word(c) || c.is_ascii_whitespace() || c == '-'))
        .collect();
    collapse(kept.trim(), |c| c == '-' || c.is_ascii_whitespace(), "-").to_ascii_lowercase()
}

/// `pymdownx.slugs.slugify(case="lower")`: Unicode is kept, each space becomes a hyphen.
fn pymdownx(text: &str) -> String {
    let kept: String = text.nfc().filter(|&c| is_word(c) || c.is_whitespace() || c == '-').collect();
    kept.trim().to_lowercase().replace(char::is_whitespace, "-")
}

/// GitHub's rule (Docusaurus, MyST, Hugo): letters, marks, digits, `_` and `-` stay, each space becomes a hyphen.
fn github(text: &str) -> String {
    let kept = text.trim().to_lowercase();
    kept.chars()
        .filter(|&c| is_word(c) || c == '-' || c == ' ')
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

/// What Hugo's typographer makes of hyphens before the id is made.
fn typographed(text: &str) -> String {
    text.replace("---", "\u{2014}").replace("--", "\u{2013}")
}

/// mdBook: letters, digits, `_` and `-` stay, white space becomes a hyphen.
fn mdbook(text: &str) -> String {
    let fit = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' || c == '-' => c.to_lowercase().next(),
        c if c.is_whitespace() => Some('-'),
        _ => None,
    };
    text.trim().chars().filter_map(fit).collect()
}

/// VitePress: accents go, runs of punctuation and spaces become one hyphen, a leading digit gets `_`.
fn vitepress(text: &str) -> String {
    let plain: String =
        text.nfkd().filter(|&c| !('\u{300}'..='\u{36f}').contains(&c) && !c.is_control()).collect();
    let special = |c: char| {
        c.is_whitespace()
            || (c.is_ascii_punctuation())
            || matches!(c, '\u{201c}' | '\u{201d}' | '\u{2018}' | '\u{2019}')
    };
    let joined = collapse(&plain, special, "-");
    let slug = joined.trim_matches('-').to_lowercase();
    if slug.starts_with(|c: char| c.is_ascii_digit()) { format!("_{slug}") } else { slug }
}

/// docutils: ASCII letters and digits, everything else one hyphen, no digit or hyphen in front.
fn docutils(text: &str) -> String {
    let latin: String = text.chars().map(|c| docutils_letter(c).unwrap_or_else(|| c.to_string())).collect();
    let ascii: String = latin.to_lowercase().nfkd().filter(char::is_ascii).collect();
    let joined = collapse(&ascii, |c| !c.is_ascii_alphanumeric(), "-");
    joined.trim_start_matches(|c: char| c == '-' || c.is_ascii_digit()).trim_end_matches('-').to_owned()
}

/// Letters that docutils spells out because they do not decompose.
fn docutils_letter(c: char) -> Option<String> {
    let letters = match c.to_lowercase().next()? {
        'ß' => "sz",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'đ' => "d",
        'ł' => "l",
        'ħ' => "h",
        'ı' => "i",
        'ŧ' => "t",
        _ => return None,
    };
    Some(letters.to_owned())
}

/// Asciidoctor: what is no letter, digit or separator goes; spaces, hyphens and dots become one separator.
fn asciidoctor(text: &str, prefix: &str, separator: &str) -> String {
    let lower = text.to_lowercase();
    let kept: String = lower.chars().filter(|&c| is_word(c) || matches!(c, ' ' | '-' | '.')).collect();
    let joins = |c: char| matches!(c, ' ' | '-' | '.') || separator.contains(c);
    let joined = collapse(&kept, joins, separator);
    let body = joined.trim_end_matches(|c| separator.contains(c));
    let body = if prefix.is_empty() { body.trim_start_matches(|c| separator.contains(c)) } else { body };
    let id = format!("{prefix}{body}");
    if prefix.ends_with(separator) && !separator.is_empty() {
        id.replacen(&format!("{separator}{separator}"), separator, 1)
    } else {
        id
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || is_combining_mark(c)
}

/// Replaces each run of characters that `join` picks by `with`.
fn collapse(text: &str, join: impl Fn(char) -> bool, with: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut running = false;
    for c in text.chars() {
        match (join(c), running) {
            (true, false) => joined.push_str(with),
            (false, _) => joined.push(c),
            (true, true) => {}
        }
        running = join(c);
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use Generator::*;

    fn first(generator: Generator, texts: &[&str]) -> Vec<String> {
        let headings: Vec<_> = texts.iter().map(|text| Heading { text, explicit: None }).collect();
        let found = anchors(generator, &AnchorStyle::default(), &headings);
        found.into_iter().map(|mut ids| ids.remove(0)).collect()
    }

    /// One row a heading: mkdocs, hugo, mdbook, docusaurus, vitepress, sphinx, antora.
    const ROWS: [(&str, [&str; 7]); 6] = [
        (
            "Can't connect to 10.0 (proxy)?",
            [
                "cant-connect-to-100-proxy",
                "cant-connect-to-100-proxy",
                "cant-connect-to-100-proxy",
                "cant-connect-to-100-proxy",
                "can-t-connect-to-10-0-proxy",
                "can-t-connect-to-10-0-proxy",
                "_cant_connect_to_10_0_proxy",
            ],
        ),
        (
            "Ärger mit app.yml & Co",
            [
                "arger-mit-appyml-co",
                "ärger-mit-appyml--co",
                "ärger-mit-appyml--co",
                "ärger-mit-appyml--co",
                "arger-mit-app-yml-co",
                "arger-mit-app-yml-co",
                "_ärger_mit_app_yml_co",
            ],
        ),
        (
            "max_age -- ttl",
            [
                "max_age-ttl",
                "max_age--ttl",
                "max_age----ttl",
                "max_age----ttl",
                "max-age-ttl",
                "max-age-ttl",
                "_max_age_ttl",
            ],
        ),
        ("2.1 notes", ["21-notes", "21-notes", "21-notes", "21-notes", "_2-1-notes", "notes", "_2_1_notes"]),
        (
            "日本語 guide",
            [
                "guide",
                "日本語-guide",
                "日本語-guide",
                "日本語-guide",
                "日本語-guide",
                "guide",
                "_日本語_guide",
            ],
        ),
        ("Setup", ["setup", "setup", "setup", "setup", "setup", "setup", "_setup"]),
    ];

    #[test]
    fn each_generator_slugs_in_its_own_way() {
        for (text, expected) in ROWS {
            let got = [Mkdocs, Hugo, Mdbook, Docusaurus, Vitepress, Sphinx, Antora]
                .map(|generator| first(generator, &[text]).remove(0));
            assert_eq!(got, expected, "{text}");
        }
    }

    #[test]
    fn repeats_are_told_apart() {
        let twice = ["Setup", "Setup", "Setup"];
        assert_eq!(first(Mkdocs, &twice), ["setup", "setup_1", "setup_2"]);
        assert_eq!(first(Zensical, &["A_1", "A_1"]), ["a_1", "a_2"]);
        assert_eq!(first(Hugo, &twice), ["setup", "setup-1", "setup-2"]);
        assert_eq!(first(Docusaurus, &["Setup", "Setup 1", "Setup"]), ["setup", "setup-1", "setup-2"]);
        assert_eq!(first(Sphinx, &twice), ["setup", "id1", "id2"]);
        assert_eq!(first(Antora, &twice), ["_setup", "_setup_2", "_setup_3"]);
    }

    #[test]
    fn an_explicit_id_beats_every_rule() {
        let headings =
            [Heading { text: "Setup", explicit: Some("start") }, Heading { text: "Start", explicit: None }];
        let found = anchors(Mkdocs, &AnchorStyle::default(), &headings);
        assert_eq!(found[0], ["start"]);
        assert_eq!(found[1][0], "start_1");
    }

    #[test]
    fn antora_and_sphinx_are_found_under_their_other_names_too() {
        let headings = [Heading { text: "What's new in 2.1", explicit: None }];
        let of = |generator| anchors(generator, &AnchorStyle::default(), &headings).remove(0);
        assert_eq!(of(Antora), ["_whats_new_in_2_1", "whats-new-in-2-1"]);
        assert_eq!(of(Sphinx), ["what-s-new-in-2-1", "whats-new-in-21"]);
        let labelled = [Heading { text: "Installing Foo", explicit: Some("getting_started") }];
        let found = anchors(Sphinx, &AnchorStyle::default(), &labelled).remove(0);
        assert_eq!(found, ["installing-foo", "getting-started", "getting_started"]);
    }

    #[test]
    fn pymdownx_keeps_letters_of_all_scripts() {
        let style = AnchorStyle { pymdownx: true, ..AnchorStyle::default() };
        let headings = [Heading { text: "Ärger -- 日本語", explicit: None }];
        assert_eq!(anchors(Mkdocs, &style, &headings)[0][0], "ärger----日本語");
    }

    #[test]
    fn ten_thousand_equal_headings_take_linear_time() {
        let headings = vec![Heading { text: "Setup", explicit: None }; 10_000];
        for generator in [Mkdocs, Docusaurus, Antora] {
            let found = anchors(generator, &AnchorStyle::default(), &headings);
            assert!(found[9_999][0].ends_with(|c: char| c.is_ascii_digit()));
        }
    }
}
