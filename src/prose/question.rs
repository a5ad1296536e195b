//! A question: a yardstick that weighs passages. Text goes in, numbers come out.

use std::fmt;

use crate::prose::Prose;

/// What somebody asked. The words stay inside; [`Question::weigh`] lets a measure see them and returns numbers.
pub struct Question {
    title: String,
    text: String,
}

impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Question({} bytes)", self.title.len() + self.text.len())
    }
}

mod sealed {
    pub trait Sealed {}
}

/// What may leave a question: numbers and coordinates, nothing a sentence would fit in.
pub trait Number: sealed::Sealed {}

macro_rules! numbers {
    ($($t:ty),* $(,)?) => { $(impl sealed::Sealed for $t {} impl Number for $t {})* };
}
numbers!(f32, f64, u64, usize, bool);
impl<T: Number> sealed::Sealed for Vec<T> {}
impl<T: Number> Number for Vec<T> {}
impl<A: Number, B: Number> sealed::Sealed for (A, B) {}
impl<A: Number, B: Number> Number for (A, B) {}

/// A question's words, lent to a measure.
pub struct Words<'a> {
    /// The title.
    pub title: &'a str,
    /// The description or comment.
    pub text: &'a str,
}

/// Bytes of a comment's first sentence that can be a title: as many as GitLab allows one.
const TITLE_MAX: usize = 255;

impl Question {
    /// The question that an issue's title and description, or a comment (with an empty title), ask.
    pub fn new(title: &Prose, text: &Prose) -> Question {
        Question { title: title.0.clone(), text: text.0.clone() }
    }

    /// The question that a comment asks the bot whose user name is `username`: without the call itself, and with
    /// its first sentence as title, as an issue would have it.
    pub fn called(text: &Prose, username: &str) -> Question {
        let call = format!("@{}", username.to_ascii_lowercase());
        let (lower, mut rest, mut from) = (text.0.to_ascii_lowercase(), String::new(), 0);
        for (at, _) in lower.match_indices(&call) {
            rest.push_str(&text.0[from..at]);
            from = at + call.len();
        }
        rest.push_str(&text.0[from..]);
        let rest = rest.trim();
        let end = rest.find(['?', '\n']).map_or(0, |at| at + 1);
        let (title, text) = rest.split_at(if end <= TITLE_MAX { end } else { 0 });
        Question { title: title.trim().to_owned(), text: text.trim().to_owned() }
    }

    /// Lends the words to `measure` and returns its numbers.
    pub fn weigh<N: Number>(&self, measure: impl FnOnce(Words<'_>) -> N) -> N {
        measure(Words { title: &self.title, text: &self.text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_no_part_of_its_question() {
        let parts = |text: &str| {
            let question = Question::called(&Prose::from(text.to_owned()), "way-post");
            (question.title, question.text)
        };
        let of = |title: &str, text: &str| (title.to_owned(), text.to_owned());
        assert_eq!(
            parts("@Way-Post how do I rotate keys? We have many."),
            of("how do I rotate keys?", "We have many.")
        );
        assert_eq!(parts("Hello @way-post"), of("", "Hello"));
        assert_eq!(parts("@way-post"), of("", ""));
        let long = format!("{}?", "ä".repeat(200));
        assert_eq!(parts(&long), of("", &long));
        // As long as a comment can be: it must not take minutes.
        let calls = format!("{} how?", "@way-post ".repeat(100_000));
        assert_eq!(parts(&calls), of("how?", ""));
    }
}
