//! Being called by name.

use crate::prose::Prose;
use crate::prose::markdown::{Quotations, Reader, Run, read};
use crate::prose::references::marks::is_word;
use crate::prose::references::words::{Piece, pieces};

impl Prose {
    /// Whether the text calls `@username`: in live text, which is neither quoted nor code nor a comment nor the
    /// text of a link, and by the whole name, without regard to ASCII letter case.
    pub fn mentions(&self, username: &str) -> bool {
        let mut call = Call { username, heard: false };
        read(&self.0, Quotations::Skip, &mut call);
        call.heard
    }
}

struct Call<'u> {
    username: &'u str,
    heard: bool,
}

impl Reader for Call<'_> {
    fn run(&mut self, run: &Run) {
        pieces(run, |piece| {
            if let Piece::Atom(atom) = piece {
                self.heard |= !atom.escaped && self.is_called(atom.text);
            }
            0
        });
    }

    fn satisfied(&self) -> bool {
        self.heard
    }
}

impl Call<'_> {
    /// Whether `atom` ends in the whole name, and what stands before it is neither a name nor an address.
    fn is_called(&self, atom: &str) -> bool {
        atom.rsplit_once('@').is_some_and(|(before, name)| {
            name.eq_ignore_ascii_case(self.username)
                && !before.ends_with(|c: char| is_word(c) || matches!(c, '/' | '@'))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::prose::Prose;

    fn mentions(text: &str) -> bool {
        Prose::from(text.to_owned()).mentions("way-post")
    }

    #[test]
    fn a_call_in_live_text_is_heard() {
        for text in [
            "@way-post how do I rotate keys?",
            "Hello (@Way-Post), please.",
            "- item\n- **@way-post**",
            "> quoted\n\n@way-post here",
            "Thanks @way-post.",
            "@way-post's turn",
            "Done.@way-post, more?",
            "<details>\n@way-post\n</details>",
            "`code` @way-post `code`",
        ] {
            assert!(mentions(text), "{text}");
        }
    }

    #[test]
    fn a_call_that_is_not_live_is_not_heard() {
        for text in [
            "> @way-post how?",
            ">>>\n@way-post how?\n\nyes\n>>>",
            "<blockquote>@way-post</blockquote>",
            "<blockquote>\n\n@way-post\n\n</blockquote>",
            "`@way-post`",
            "```\n@way-post\n```",
            "    @way-post",
            "<!-- @way-post -->",
            "<div>\n<!-- a\n\n@way-post\n\n-->\n</div>",
            "<pre>@way-post</pre>",
            "[@way-post](https://a.test)",
            "![@way-post](a.png)",
            "\\@way-post",
            "way-post, please",
        ] {
            assert!(!mentions(text), "{text}");
        }
    }

    #[test]
    fn a_longer_name_is_another_name() {
        for text in [
            "@way-post2",
            "@way-post-bot",
            "@way-post_x",
            "@way-post.x",
            "@way-post/sub",
            "@way-posté",
            "me@way-post",
            "x/@way-post",
            "@@way-post",
            "@way",
            "https://a.test/@way-post",
            "https://a.test/?x,@way-post",
        ] {
            assert!(!mentions(text), "{text}");
        }
    }
}
