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
        let mut view = View { text: String::with_capacity(file.len()), steps: vec![(0, 0)] };
        let mut dropped = false;
        for (at, c) in file.char_indices() {
            let ends_line = c == '\r' && !file[at + 1..].starts_with('\n');
            if is_hidden(c) && !ends_line {
                dropped = true;
                continue;
            }
            if std::mem::take(&mut dropped) {
                view.steps.push((view.text.len(), at));
            }
            view.text.push(if ends_line { '\n' } else { c });
        }
        if dropped {
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
