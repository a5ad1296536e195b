//! The heading path as the text of a link; its words are words of the file.

use crate::reference::RepoPath;
use crate::reply::inert;

/// Between headings.
pub(crate) const STEP: &str = " › ";
/// So many headings are shown, the innermost ones.
const SHOWN: usize = 3;

/// The headings that the file has, outermost first, inert; the file's name when it has none of them.
pub(crate) fn of(text: &str, headings: &[String], path: &RepoPath) -> String {
    let stands: Vec<String> =
        headings.iter().map(|heading| one_line(heading)).filter(|heading| stands_in(text, heading)).collect();
    let shown = &stands[stands.len().saturating_sub(SHOWN)..];
    if shown.is_empty() { inert::plain(name(path)) } else { inert::plain(&shown.join(STEP)) }
}

/// Whether a title is one that [`of`] could have made for this file.
pub(crate) fn holds(text: &str, title: &str, path: &RepoPath) -> bool {
    if title == inert::plain(name(path)) {
        return true;
    }
    let Some(plain) = inert::unplain(title) else { return false };
    plain.split(STEP).all(|heading| stands_in(text, heading))
}

fn name(path: &RepoPath) -> &str {
    path.as_str().rsplit('/').next().unwrap_or_default()
}

fn one_line(heading: &str) -> String {
    inert::visible(heading).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether one line of the file says what a heading says: its words one after another, nothing between them
/// but marks, and its other characters in their order. So nothing can be read into a title that is not there.
fn stands_in(text: &str, heading: &str) -> bool {
    let wanted: Vec<&str> = words(heading).collect();
    !wanted.is_empty()
        && text.lines().any(|line| {
            let line = without_targets(line);
            let found: Vec<&str> = words(&line).collect();
            let mut characters = line.chars();
            found.windows(wanted.len()).any(|some| some == wanted)
                && heading
                    .chars()
                    .filter(|c| !c.is_whitespace())
                    .all(|wanted| characters.any(|c| c == wanted))
        })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// A line without tags and without the addresses of links.
fn without_targets(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let line = inert::visible(line);
    let mut rest = line.as_str();
    while let Some(at) = rest.find("](").or_else(|| rest.find('<')) {
        let close = if rest[at..].starts_with('<') { '>' } else { ')' };
        let Some(length) = rest[at..].find(close) else { break };
        out.push_str(&rest[..at]);
        out.push(']');
        rest = &rest[at + length + 1..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> RepoPath {
        RepoPath::parse("docs/install.md").unwrap()
    }

    #[test]
    fn headings_come_from_the_file() {
        let text = "# Install `signpost` [now](x.md)\n\ntext\n\n## From @source\n";
        let headings = ["Install signpost now".to_owned(), "From @source".to_owned()];
        let title = of(text, &headings, &path());
        assert_eq!(title, r"Install signpost now › From \@source");
        assert!(holds(text, &title, &path()));
    }

    #[test]
    fn a_heading_that_the_file_lacks_is_not_shown() {
        let title = of("# Install\n", &["Uninstall".to_owned()], &path());
        assert_eq!(title, "install.md");
        assert!(holds("# Install\n", &title, &path()));
        assert!(!holds("# Install\n", "Uninstall", &path()));
        assert!(!holds("# Install\n", "Install › ", &path()));
    }
}
