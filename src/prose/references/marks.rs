//! What may stand directly before and behind a reference.

use crate::prose::references::invisible::is_invisible;

/// Marks of scripts that set no space after them; they end a bare URL as a space would (rule 3).
pub(in crate::prose) fn is_stop(c: char) -> bool {
    !c.is_ascii()
        && matches!(
            c,
            '。' | '．'
                | '、'
                | '，'
                | '；'
                | '：'
                | '！'
                | '？'
                | '（'
                | '）'
                | '「'
                | '」'
                | '『'
                | '』'
                | '【'
                | '】'
                | '《'
                | '》'
                | '〈'
                | '〉'
                | '“'
                | '”'
                | '‘'
                | '’'
                | '…'
        )
}

/// A letter or digit of any script, or `_`.
pub(in crate::prose) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a hash or a path may begin behind `before` (rules 8, 9); `None` is the start of the run.
pub(super) fn opens(before: Option<char>) -> bool {
    before.is_none_or(|c| {
        c.is_whitespace()
            || matches!(c, '(' | '[' | '{' | '<' | '>' | '"' | '\'' | '«' | '„' | ',' | ';' | '|' | '–' | '—')
            || is_stop(c)
    })
}

/// Whether a hash or a path may end before `rest` (rules 8, 9).
pub(super) fn closes(rest: &str) -> bool {
    let after = rest.trim_start_matches(['.', ':', '!', '?']);
    if after.len() < rest.len() {
        return !after.starts_with(is_word);
    }
    rest.chars().next().is_none_or(|c| {
        c.is_whitespace()
            || matches!(c, ')' | ']' | '}' | '<' | '>' | '"' | '\'' | '»' | ',' | ';' | '|' | '–' | '—')
            || is_stop(c)
    })
}

/// Whether a project or a `!` may stand behind `before` (rule 7); `None` is the start of the run.
pub(super) fn admits_project(before: Option<char>) -> bool {
    before.is_none_or(|c| {
        !is_word(c)
            && !is_invisible(c)
            && !matches!(
                c,
                '.' | '-' | '/' | '@' | '\\' | '~' | '=' | '&' | '%' | '#' | '+' | '$' | '^' | '!'
            )
    })
}
