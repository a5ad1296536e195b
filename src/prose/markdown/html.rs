//! The tags in raw HTML: enough of HTML's grammar to tell text from markup.

/// A piece of raw HTML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'h> {
    /// Text, character references not yet resolved.
    Text(&'h str),
    /// An opening tag with its `href`, which is the first one where there are several. `empty` tells that it
    /// ends in `/>`.
    Open { name: &'h str, href: Option<&'h str>, empty: bool },
    /// A closing tag.
    Close { name: &'h str },
    /// A comment that does not end here.
    OpenComment,
    /// A comment, declaration or processing instruction.
    Other,
}

/// The pieces of a stretch of raw HTML. What is cut off at its end (half a tag) is dropped.
pub(super) struct Tokens<'h> {
    rest: &'h str,
}

impl<'h> Tokens<'h> {
    /// The pieces of `html`.
    pub(super) fn of(html: &'h str) -> Tokens<'h> {
        Tokens { rest: html }
    }

    /// Goes to the next closing tag `name`, over everything else.
    pub(super) fn skip_to_end_of(&mut self, name: &str) {
        let bytes = self.rest.as_bytes();
        let end = memchr::memmem::find_iter(bytes, b"</").find(|&at| {
            let tag = &bytes[at + 2..];
            tag.len() >= name.len()
                && tag[..name.len()].eq_ignore_ascii_case(name.as_bytes())
                && !tag.get(name.len()).is_some_and(|&b| is_name_byte(b))
        });
        self.rest = &self.rest[end.unwrap_or(self.rest.len())..];
    }

    /// Takes everything through the first `end`; `None`, taking all, where there is none.
    fn through(&mut self, end: &str) -> Option<()> {
        let found = self.rest.find(end);
        self.rest = &self.rest[found.map_or(self.rest.len(), |at| at + end.len())..];
        found.map(|_| ())
    }

    fn comment(&mut self) -> Token<'h> {
        for short in ["<!-->", "<!--->"] {
            if let Some(rest) = self.rest.strip_prefix(short) {
                self.rest = rest;
                return Token::Other;
            }
        }
        self.through("-->").map_or(Token::OpenComment, |()| Token::Other)
    }

    fn open_tag(&mut self, inner: &'h str) -> Option<Token<'h>> {
        let (name, mut rest) = split_name(inner);
        let mut href = None;
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace());
            if let Some(after) = rest.strip_prefix("/>") {
                self.rest = after;
                return Some(Token::Open { name, href, empty: true });
            }
            if let Some(after) = rest.strip_prefix('>') {
                self.rest = after;
                return Some(Token::Open { name, href, empty: false });
            }
            let (attribute, value, after) = split_attribute(rest)?;
            if href.is_none() && attribute.eq_ignore_ascii_case("href") {
                href = Some(value);
            }
            rest = after;
        }
    }
}

impl<'h> Iterator for Tokens<'h> {
    type Item = Token<'h>;

    fn next(&mut self) -> Option<Token<'h>> {
        let text = &self.rest[..markup_start(self.rest)];
        if !text.is_empty() {
            self.rest = &self.rest[text.len()..];
            return Some(Token::Text(text));
        }
        let inner = self.rest.strip_prefix('<')?;
        if inner.starts_with("!--") {
            return Some(self.comment());
        }
        if let Some(end) = [("![CDATA[", "]]>"), ("?", "?>"), ("!", ">")]
            .iter()
            .find_map(|(start, end)| inner.starts_with(start).then_some(end))
        {
            self.through(end);
            return Some(Token::Other);
        }
        if let Some(inner) = inner.strip_prefix('/') {
            let (name, _) = split_name(inner);
            self.through(">");
            return Some(Token::Close { name });
        }
        let tag = self.open_tag(inner);
        if tag.is_none() {
            self.rest = "";
        }
        tag
    }
}

/// Where the first tag, comment or declaration begins; a `<` before anything else is text.
fn markup_start(html: &str) -> usize {
    let bytes = html.as_bytes();
    memchr::memchr_iter(b'<', bytes)
        .find(|&at| match bytes.get(at + 1) {
            Some(b'/') => bytes.get(at + 2).is_some_and(u8::is_ascii_alphabetic),
            Some(next) => next.is_ascii_alphabetic() || matches!(next, b'!' | b'?'),
            None => false,
        })
        .unwrap_or(html.len())
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

fn split_name(tag: &str) -> (&str, &str) {
    tag.split_at(tag.bytes().position(|b| !is_name_byte(b)).unwrap_or(tag.len()))
}

/// Name, value and rest of the attribute that begins `tag`; `None` where it does not end.
fn split_attribute(tag: &str) -> Option<(&str, &str, &str)> {
    let ends_name =
        |(at, c): (usize, char)| c.is_ascii_whitespace() || c == '>' || (at > 0 && matches!(c, '=' | '/'));
    let (end, _) = tag.char_indices().find(|&place| ends_name(place))?;
    let (name, rest) = tag.split_at(end);
    let after_space = rest.trim_start_matches(|c: char| c.is_ascii_whitespace());
    let Some(value) = after_space.strip_prefix('=') else {
        return Some((name, "", rest));
    };
    let value = value.trim_start_matches(|c: char| c.is_ascii_whitespace());
    for quote in ['"', '\''] {
        if let Some(quoted) = value.strip_prefix(quote) {
            let (value, rest) = quoted.split_once(quote)?;
            return Some((name, value, rest));
        }
    }
    let end = value.find(|c: char| c.is_ascii_whitespace() || c == '>')?;
    Some((name, &value[..end], &value[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(html: &str) -> Vec<Token<'_>> {
        Tokens::of(html).collect()
    }

    #[test]
    fn text_and_tags_are_told_apart() {
        assert_eq!(
            tokens("a < b <A CLASS=x Href = 'u' href=v>t</a >1<br/>"),
            [
                Token::Text("a < b "),
                Token::Open { name: "A", href: Some("u"), empty: false },
                Token::Text("t"),
                Token::Close { name: "a" },
                Token::Text("1"),
                Token::Open { name: "br", href: None, empty: true },
            ]
        );
    }

    #[test]
    fn an_unquoted_value_keeps_its_slashes() {
        assert_eq!(
            tokens("<a href=https://a.test/>"),
            [Token::Open { name: "a", href: Some("https://a.test/"), empty: false }]
        );
    }

    #[test]
    fn comments_and_declarations_are_no_text() {
        assert_eq!(tokens("<!-- a > b --><!--><!DOCTYPE x><?p ?><![CDATA[ > ]]>"), [Token::Other; 5]);
        assert_eq!(tokens("x<!-- open"), [Token::Text("x"), Token::OpenComment]);
    }

    #[test]
    fn half_a_tag_is_dropped() {
        assert_eq!(tokens("x<a href=\"unclosed>y"), [Token::Text("x")]);
        assert_eq!(tokens("x<"), [Token::Text("x<")]);
    }
}
