//! A file without what cannot be seen: the text that is quoted, and where its bytes lie in the file.

/// A file's text without control, bidirectional and zero-width characters, its line ends all `\n`.
pub(super) struct View {
    text: String,
    /// Where the distance between the two texts changes: offset here, offset in the file; rising.
    steps: Vec<(usize, usize)>,
}

impl View {
    /// Reads a file.
    pub(super) fn of(file: &str) -> View {
        View::without(file, &[])
    }

    /// Reads a Markdown file; also without the indentation of the bodies of admonitions and tabs (`!!! note`,
    /// `=== "Linux"`), which sites of MkDocs and Zensical are full of and which would read as code.
    pub(super) fn of_markdown(file: &str) -> View {
        View::without(file, &body_indents(file))
    }

    /// Reads a file without `dropped`, bytes of it in rising order.
    fn without(file: &str, dropped: &[usize]) -> View {
        let mut view = View { text: String::with_capacity(file.len()), steps: vec![(0, 0)] };
        let mut dropped = dropped.iter().peekable();
        let mut gap = false;
        for (at, c) in file.char_indices() {
            let ends_line = c == '\r' && !file[at + 1..].starts_with('\n');
            if dropped.next_if_eq(&&at).is_some() || (is_hidden(c) && !ends_line) {
                gap = true;
                continue;
            }
            if std::mem::take(&mut gap) {
                view.steps.push((view.text.len(), at));
            }
            view.text.push(if ends_line { '\n' } else { c });
        }
        if gap {
            view.steps.push((view.text.len(), file.len()));
        }
        view
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The place of the file's byte `at`: of the first byte seen there or later.
    pub(super) fn of_file(&self, at: usize) -> usize {
        let step = self.steps.partition_point(|&(_, file)| file <= at) - 1;
        let (here, file) = self.steps[step];
        let limit = self.steps.get(step + 1).map_or(self.text.len(), |&(next, _)| next);
        (here + (at - file)).min(limit)
    }

    /// The file's byte of the byte `at` here.
    pub(super) fn to_file(&self, at: usize) -> usize {
        let step = self.steps.partition_point(|&(here, _)| here <= at) - 1;
        let (here, file) = self.steps[step];
        file + (at - here)
    }

    /// The file's bytes of a stretch here, split where the file has hidden characters in between.
    pub(super) fn pieces(&self, stretch: std::ops::Range<usize>) -> Vec<std::ops::Range<usize>> {
        let inner = self.steps.iter().map(|&(here, _)| here).filter(|here| stretch.contains(here));
        let mut cuts: Vec<usize> = std::iter::once(stretch.start).chain(inner).collect();
        cuts.dedup();
        cuts.push(stretch.end);
        let piece = |pair: &[usize]| {
            let start = self.to_file(pair[0]);
            start..start + (pair[1] - pair[0])
        };
        cuts.windows(2).filter(|pair| pair[0] < pair[1]).map(piece).collect()
    }
}

/// The bytes of indentation before the lines of admonitions and tabs, four for each one that a line lies in.
fn body_indents(file: &str) -> Vec<usize> {
    const MARKS: [&str; 4] = ["!!! ", "??? ", "???+ ", "=== \""];
    let (mut bytes, mut bodies, mut fence) = (Vec::new(), Vec::<usize>::new(), None::<usize>);
    let mut start = 0;
    for line in file.split_inclusive('\n') {
        let indent = line.bytes().take_while(|&byte| byte == b' ').count();
        let rest = &line[indent..];
        if !rest.trim().is_empty() {
            bodies.truncate(bodies.iter().take_while(|&&body| indent >= body + 4).count());
        }
        let dropped = (4 * bodies.len()).min(indent);
        let from = bodies.first().copied().unwrap_or(0).min(indent - dropped);
        bytes.extend(start + from..start + from + dropped);
        let fenced = rest.starts_with("```") || rest.starts_with("~~~");
        match fence {
            Some(open) if fenced && indent <= open + 3 => fence = None,
            None if fenced => fence = Some(indent),
            None if MARKS.iter().any(|mark| rest.starts_with(mark)) => bodies.push(indent),
            _ => {}
        }
        start += line.len();
    }
    bytes
}

/// One line of text without hidden characters and line breaks.
pub(crate) fn visible(text: &str) -> String {
    text.chars().filter(|&c| !is_hidden(c) && c != '\n').collect()
}

/// Characters that show nothing and can change what others show: control, formatting, fillers, tags.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}'
        | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0e}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_of_an_admonition_is_not_code() {
        let file = "a\n\n!!! note\n\n    b\n\n    === \"x\"\n\n        c\n    d\ne\n\n    code\n";
        let view = View::of_markdown(file);
        assert_eq!(view.text(), "a\n\n!!! note\n\nb\n\n=== \"x\"\n\nc\nd\ne\n\n    code\n");
        for (at, c) in view.text().char_indices() {
            assert!(file[view.to_file(at)..].starts_with(c), "{at}");
        }
    }

    #[test]
    fn bytes_are_found_again_in_the_file() {
        let file = "\u{feff}a\r\nb\u{202e}c\rd\u{200b}";
        let view = View::of(file);
        assert_eq!(view.text(), "a\nbc\nd");
        for (at, c) in view.text().char_indices() {
            let there = file[view.to_file(at)..].chars().next().unwrap();
            assert!(there == c || (there == '\r' && c == '\n'), "{at}");
            assert_eq!(view.of_file(view.to_file(at)), at);
        }
        assert_eq!(view.of_file(file.len()), view.text().len());
        assert_eq!(view.of_file(0), 0);
        let pieces: String =
            view.pieces(0..view.text().len()).into_iter().map(|piece| &file[piece]).collect();
        assert_eq!(pieces, "a\nbc\rd");
    }
}
