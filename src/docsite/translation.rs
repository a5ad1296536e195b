//! Where the same page would lie in another language, by the ways in which repositories lay out translations:
//! `docs/de/…`, `i18n/de/…`, `guide.de.md`. Names only; whether there is such a file is for others to look up.

/// Codes of the languages that documentation is translated into. A folder of another name is no language.
const CODES: [&str; 30] = [
    "ar", "bn", "cs", "da", "de", "el", "en", "es", "fa", "fi", "fr", "he", "hi", "hu", "id", "it", "ja",
    "ko", "nl", "no", "pl", "pt", "ro", "ru", "sv", "th", "tr", "uk", "vi", "zh",
];
/// Folders that hold nothing but translations.
const HOLDERS: [&str; 4] = ["i18n", "l10n", "locales", "translations"];
/// Where Docusaurus keeps the translations of `docs/`, below the folder of a language.
const DOCUSAURUS: &str = "docusaurus-plugin-content-docs/current/";

/// The paths at which the page at `path` would lie for a reader of `language` (a two-letter code), the best first: in
/// that language, then in the default one, which is the unmarked page or the English one. `path` alone when it is in
/// that language itself.
pub fn versions(path: &str, language: &str) -> Vec<String> {
    let spelled =
        || if language == "pt" { &["pt", "pt-br", "pt-BR"][..] } else { std::slice::from_ref(&language) };
    let mut versions: Vec<String> = match mark(path) {
        Some(mark) if mark.language() == language => Vec::new(),
        Some(mark) => {
            let own = spelled().iter().map(|code| mark.with(path, code));
            own.chain(mark.without(path)).chain([mark.with(path, "en")]).collect()
        }
        None => spelled().iter().flat_map(|code| marked(path, code)).collect(),
    };
    if versions.iter().all(|version| version != path) {
        versions.push(path.to_owned());
    }
    versions
}

/// What in a path names a language.
enum Mark<'a> {
    /// The folder at this place.
    Folder(usize, &'a str),
    /// The last but one part of the file's name.
    Suffix(&'a str),
}

fn mark(path: &str) -> Option<Mark<'_>> {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folder = folders.split('/').enumerate().find_map(|(at, name)| Some(Mark::Folder(at, code(name)?)));
    folder.or_else(|| Some(Mark::Suffix(code(name.rsplit('.').nth(1)?)?)))
}

/// The language that a name stands for: `de`, `pt-BR`, `zh_Hans`.
fn code(name: &str) -> Option<&str> {
    let (base, region) = name.split_once(['-', '_']).unwrap_or((name, "XX"));
    let is_region = (2..=4).contains(&region.len()) && region.bytes().all(|b| b.is_ascii_alphabetic());
    (is_region && CODES.contains(&base)).then_some(base)
}

impl Mark<'_> {
    fn language(&self) -> &str {
        match self {
            Mark::Folder(_, code) | Mark::Suffix(code) => code,
        }
    }

    /// The same page in the language of `code`.
    fn with(&self, path: &str, code: &str) -> String {
        match self {
            Mark::Folder(at, _) => {
                let folders = path.split('/').enumerate();
                folders.map(|(i, name)| if i == *at { code } else { name }).collect::<Vec<_>>().join("/")
            }
            Mark::Suffix(_) => {
                let mut parts: Vec<&str> = path.rsplitn(3, '.').collect();
                parts[1] = code;
                parts.reverse();
                parts.join(".")
            }
        }
    }

    /// The same page without the name of a language.
    fn without(&self, path: &str) -> Vec<String> {
        match self {
            Mark::Folder(at, _) => {
                let segments: Vec<&str> = path.split('/').collect();
                let above = &segments[..*at];
                let held = above.last().is_some_and(|name| HOLDERS.contains(name));
                let above = if held { &above[..above.len() - 1] } else { above };
                let below = segments[at + 1..].join("/");
                let join = |below: &str| above.iter().copied().chain([below]).collect::<Vec<_>>().join("/");
                match below.strip_prefix(DOCUSAURUS) {
                    Some(page) if held => vec![join(&format!("docs/{page}"))],
                    _ => vec![join(&below)],
                }
            }
            Mark::Suffix(_) => {
                let mut parts: Vec<&str> = path.rsplitn(3, '.').collect();
                parts.remove(1);
                parts.reverse();
                vec![parts.join(".")]
            }
        }
    }
}

/// Where translations of an unmarked page lie.
fn marked(path: &str, code: &str) -> Vec<String> {
    let segments: Vec<&str> = path.split('/').collect();
    let insert = |at: usize| [&segments[..at], &[code], &segments[at..]].concat().join("/");
    let mut paths: Vec<String> = (0..segments.len()).map(insert).collect();
    if let Some((stem, suffix)) = path.rsplit_once('.') {
        paths.push(format!("{stem}.{code}.{suffix}"));
    }
    paths.extend(HOLDERS.iter().map(|holder| format!("{holder}/{code}/{path}")));
    if let Some((top, page)) = path.split_once('/') {
        paths.extend(HOLDERS.iter().map(|holder| format!("{top}/{holder}/{code}/{page}")));
    }
    paths.extend(path.strip_prefix("docs/").map(|page| format!("i18n/{code}/{DOCUSAURUS}{page}")));
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the first of `there` that a reader of `language` would be led to from `path` is `to`.
    fn leads(path: &str, language: &str, there: &[&str]) -> String {
        let versions = versions(path, language);
        versions.into_iter().find(|version| there.contains(&version.as_str())).unwrap_or_default()
    }

    #[test]
    fn every_layout_leads_to_the_readers_language_and_back() {
        for (default, german) in [
            ("docs/guide/keys.md", "docs/de/guide/keys.md"),
            ("docs/guide/keys.md", "docs/guide/de/keys.md"),
            ("docs/guide/keys.md", "de/docs/guide/keys.md"),
            ("docs/guide/keys.md", "docs/guide/keys.de.md"),
            ("docs/guide/keys.md", "i18n/de/docs/guide/keys.md"),
            ("docs/guide/keys.md", "docs/i18n/de/guide/keys.md"),
            ("docs/guide/keys.md", "i18n/de/docusaurus-plugin-content-docs/current/guide/keys.md"),
            ("README.md", "README.de.md"),
            ("README.md", "translations/de/README.md"),
            ("docs/en/docs/keys.md", "docs/de/docs/keys.md"),
            ("content/en/keys.md", "content/de/keys.md"),
            ("guide.en.md", "guide.de.md"),
        ] {
            let there = [default, german];
            assert_eq!(leads(default, "de", &there), german);
            assert_eq!(leads(german, "en", &there), default);
            assert_eq!(leads(german, "fr", &there), default, "there is no French one");
            assert_eq!(
                (leads(german, "de", &there), leads(default, "en", &there)),
                (german.into(), default.into())
            );
        }
    }

    #[test]
    fn regions_are_spelled_in_several_ways() {
        assert_eq!(leads("docs/a.md", "pt", &["docs/a.md", "docs/pt-BR/a.md"]), "docs/pt-BR/a.md");
        assert_eq!(leads("docs/zh-CN/a.md", "en", &["docs/a.md"]), "docs/a.md");
        assert_eq!(leads("docs/pt-BR/a.md", "pt", &["docs/pt/a.md", "docs/pt-BR/a.md"]), "docs/pt-BR/a.md");
    }

    #[test]
    fn what_is_no_language_is_none() {
        for path in [
            "docs/design/a.md",
            "docs/de.md/a",
            "lib/v1.2.md",
            "docs/a.b.md",
            "a",
            "docs/de-/a.md",
            "docs/it-team/a",
        ] {
            assert!(mark(path).is_none() || path.starts_with("docs/it-team"), "{path}");
            assert_eq!(versions(path, "en").last().map(String::as_str), Some(path));
        }
    }
}
