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

impl Question {
    /// The question that an issue's title and description, or a comment (with an empty title), ask.
    pub fn new(title: &Prose, text: &Prose) -> Question {
        Question { title: title.0.clone(), text: text.0.clone() }
    }

    /// Lends the words to `measure` and returns its numbers.
    pub fn weigh<N: Number>(&self, measure: impl FnOnce(Words<'_>) -> N) -> N {
        measure(Words { title: &self.title, text: &self.text })
    }
}
