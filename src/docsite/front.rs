//! Front matter: what a page says about its own address.

use serde::Deserialize;

/// Bytes of front matter that are looked at.
const FRONT_MAX: usize = 64 << 10;

/// The keys that move a page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Front {
    #[serde(deserialize_with = "word")]
    pub(super) slug: Option<String>,
    #[serde(deserialize_with = "word")]
    pub(super) url: Option<String>,
    #[serde(deserialize_with = "word")]
    pub(super) id: Option<String>,
    #[serde(deserialize_with = "words")]
    pub(super) aliases: Vec<String>,
}

impl Front {
    /// The front matter of a text: YAML between `---`, or TOML between `+++`. Anything that cannot be read is
    /// none.
    pub(super) fn of(text: &str) -> Front {
        let text = text.trim_start_matches('\u{feff}');
        let fenced = |fence: &str| {
            let body = text.strip_prefix(fence)?;
            let body = body.strip_prefix("\r\n").or_else(|| body.strip_prefix('\n'))?;
            let end = body
                .match_indices(fence)
                .map(|(at, _)| at)
                .find(|&at| at == 0 || body[..at].ends_with('\n'))?;
            body.get(..end).filter(|front| front.len() <= FRONT_MAX)
        };
        let yaml = || serde_norway::from_str(fenced("---")?).ok();
        let toml = || toml::from_str(fenced("+++")?).ok();
        yaml().or_else(toml).unwrap_or_default()
    }

    /// Whether it moves nothing.
    pub(super) fn is_empty(&self) -> bool {
        *self == Front::default()
    }
}

/// A string or a number; anything else is nothing.
#[derive(Deserialize)]
#[serde(untagged)]
enum Word {
    Text(String),
    Number(i64),
    Many(Vec<Word>),
    Other(serde::de::IgnoredAny),
}

impl Word {
    fn text(self) -> Option<String> {
        match self {
            Word::Text(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Word::Number(number) => Some(number.to_string()),
            Word::Many(_) | Word::Other(_) => None,
        }
    }
}

fn word<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<Word>::deserialize(deserializer)?.and_then(Word::text))
}

fn words<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(match Option::<Word>::deserialize(deserializer)? {
        Some(Word::Many(words)) => words.into_iter().filter_map(Word::text).collect(),
        Some(word) => word.text().into_iter().collect(),
        None => Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_and_toml_are_read_and_the_rest_is_ignored() {
        let front =
            Front::of("---\ntitle: x\nslug: /start\naliases:\n  - /old/\n  - 3\ndate: 2026-01-01\n---\nbody");
        assert_eq!(front.slug.as_deref(), Some("/start"));
        assert_eq!(front.aliases, ["/old/", "3"]);
        let front =
            Front::of("+++\ntitle = 'x'\nurl = '/here/'\naliases = '/one/'\ndate = 2026-01-01\n+++\nbody");
        assert_eq!((front.url.as_deref(), front.aliases), (Some("/here/"), vec!["/one/".to_owned()]));
    }

    #[test]
    fn what_is_no_front_matter_moves_nothing() {
        for text in
            ["", "# Title", "---\n", "---\nslug: [a\n---\n", "--- \nslug: x\n---", "text\n---\nslug: x\n---"]
        {
            assert!(Front::of(text).is_empty(), "{text:?}");
        }
    }
}
