//! Docusaurus's number prefixes.

/// A segment without its number prefix: `02-backup` is `backup`. Dates and versions keep theirs.
pub(super) fn without_number(segment: &str) -> &str {
    let digits = segment.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &segment[digits..];
    let joined = rest.trim_start_matches([' ', '-', '_', '.']);
    let separator = &rest[..rest.len() - joined.len()];
    let separates = separator.contains(['-', '_', '.']);
    let names = joined.starts_with(|c: char| !c.is_whitespace());
    if digits == 0 || !separates || !names || is_date_or_version(segment) { segment } else { joined }
}

/// `2026-01-…`, `01-02-2026…`, `1.2…`: a number, one separator, and a number again.
fn is_date_or_version(segment: &str) -> bool {
    let rest = segment.trim_start_matches(|c: char| c.is_ascii_digit());
    let mut rest = rest.chars();
    matches!(rest.next(), Some('-' | '_' | '.')) && rest.next().is_some_and(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_front_go_and_dates_and_versions_stay() {
        for (segment, bare) in [
            ("01-intro", "intro"),
            ("1. intro", "intro"),
            ("002_intro", "intro"),
            ("3 - intro", "intro"),
            ("intro", "intro"),
            ("2026-01-15-news", "2026-01-15-news"),
            ("1.2-notes", "1.2-notes"),
            ("7", "7"),
            ("7-", "7-"),
            ("404page", "404page"),
        ] {
            assert_eq!(without_number(segment), bare, "{segment}");
        }
    }
}
