//! The languages that the fixed sentences are written in.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

/// A language of the fixed sentences. Quotes stay in the language of their file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
pub enum Language {
    /// English.
    #[default]
    #[serde(rename = "en")]
    English,
    /// German.
    #[serde(rename = "de")]
    German,
    /// French.
    #[serde(rename = "fr")]
    French,
    /// Spanish.
    #[serde(rename = "es")]
    Spanish,
    /// Portuguese.
    #[serde(rename = "pt")]
    Portuguese,
}

/// A code that names none of the languages.
#[derive(Debug, thiserror::Error)]
#[error("the language must be one of en, de, fr, es, pt")]
pub struct Unknown;

/// Words that are frequent in one language and rare in the four others; words that two of them share
/// (`que`, `a`, `de`, `die`) are left out.
const ENGLISH: &[&str] = &[
    "the", "and", "is", "how", "to", "of", "it", "i", "can", "what", "with", "for", "this", "that", "my",
    "when", "does", "where", "we", "you", "not", "are", "there", "way", "which", "should", "get", "have",
];
const GERMAN: &[&str] = &[
    "der", "und", "ist", "ich", "wie", "kann", "nicht", "das", "ein", "eine", "mit", "für", "auf", "wir",
    "den", "dem", "zu", "wo", "welche", "wenn", "man", "gibt", "muss", "werden", "beim", "von", "oder",
    "auch",
];
const FRENCH: &[&str] = &[
    "le", "et", "est", "je", "les", "des", "une", "pour", "dans", "avec", "nous", "peut", "ne", "pas", "il",
    "comment", "où", "du", "au", "sur", "ce", "cette", "quand", "faut", "quel", "quelle", "puis", "vous",
];
const SPANISH: &[&str] = &[
    "el", "y", "los", "las", "una", "cómo", "del", "puedo", "dónde", "es", "qué", "hay", "con", "al", "pero",
    "cuando", "cuál", "puede", "mi", "hacer", "está", "tengo", "debo", "donde", "este", "lo", "sin", "hace",
];
const PORTUGUESE: &[&str] = &[
    "o", "e", "os", "uma", "não", "da", "do", "em", "é", "posso", "onde", "isso", "com", "ao", "mas",
    "quando", "meu", "tem", "fazer", "eu", "das", "dos", "na", "no", "está", "qual", "pode", "existe",
    "você",
];

impl Language {
    /// Every language, in the order of [`Language::index`].
    pub const ALL: [Language; 5] =
        [Language::English, Language::German, Language::French, Language::Spanish, Language::Portuguese];

    /// The two-letter code of ISO 639-1.
    pub fn code(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::German => "de",
            Language::French => "fr",
            Language::Spanish => "es",
            Language::Portuguese => "pt",
        }
    }

    /// The position in [`Language::ALL`]: a number, so that [`Question::weigh`](crate::prose::Question::weigh)
    /// can return it.
    pub fn index(self) -> usize {
        self as usize
    }

    /// The language at a position of [`Language::ALL`]; English beyond its end.
    pub fn at(index: usize) -> Language {
        Language::ALL.get(index).copied().unwrap_or_default()
    }

    /// Guesses the language of `text` by counting frequent words; English when nothing speaks for another.
    /// Reads at most the first 400 words; code and addresses in them count for nothing.
    pub fn detect(text: &str) -> Language {
        let mut counts = [0usize; 5];
        let words = text.split(|c: char| !(c.is_alphanumeric() || c == '\'')).filter(|word| !word.is_empty());
        for word in words.take(400) {
            let word = word.to_lowercase();
            let lists = [ENGLISH, GERMAN, FRENCH, SPANISH, PORTUGUESE];
            for (count, list) in counts.iter_mut().zip(lists) {
                *count += usize::from(list.contains(&word.as_str()));
            }
        }
        let most = (0..5).rev().max_by_key(|&language| counts[language]).unwrap_or(0);
        // One word is not a language: `no` and `a` stand in every stack trace.
        if counts[most] >= 2 && counts[most] > counts[0] { Language::at(most) } else { Language::English }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl FromStr for Language {
    type Err = Unknown;

    fn from_str(code: &str) -> Result<Language, Unknown> {
        Language::ALL.into_iter().find(|language| language.code() == code).ok_or(Unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_recognised_by_its_small_words() {
        for (text, language) in [
            ("How do I rotate the token of my runner?", Language::English),
            ("Wie kann ich das Token für den Runner erneuern?", Language::German),
            ("Comment faut-il renouveler le jeton du runner ?", Language::French),
            ("¿Cómo puedo renovar el token del runner?", Language::Spanish),
            ("Como posso renovar o token do runner? Não existe uma opção.", Language::Portuguese),
            ("panic: index out of range", Language::English),
            ("", Language::English),
            ("一二三", Language::English),
        ] {
            assert_eq!(Language::detect(text), language, "{text}");
        }
    }

    #[test]
    fn a_code_names_its_language() {
        for language in Language::ALL {
            assert_eq!(language.code().parse::<Language>().unwrap(), language);
            assert_eq!(Language::at(language.index()), language);
        }
        assert!("tlh".parse::<Language>().is_err());
    }
}
