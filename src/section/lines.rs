//! Where the lines of a text begin.

use std::ops::Range;

use crate::reference::Lines;

/// The beginnings of the lines of one text. Lines end with `\n`, as they do for Git and GitLab.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<usize>,
    length: usize,
}

impl LineIndex {
    /// Finds the lines of `text`.
    pub fn new(text: &str) -> LineIndex {
        let after = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        let starts = std::iter::once(0).chain(after.filter(|&start| start < text.len())).collect();
        LineIndex { starts, length: text.len() }
    }

    /// The number of lines; an empty text has one.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// The line, counted from 1, that holds the byte at `offset`; the last one for offsets beyond the end.
    pub fn line_at(&self, offset: usize) -> u32 {
        let line = self.starts.partition_point(|&start| start <= offset);
        u32::try_from(line.max(1)).unwrap_or(u32::MAX)
    }

    /// The lines that a byte range touches; an empty range touches the line it lies in.
    pub fn lines_of(&self, bytes: &Range<usize>) -> Lines {
        let first = self.line_at(bytes.start);
        let last = self.line_at(bytes.end.saturating_sub(1).max(bytes.start));
        Lines { first, last: last.max(first) }
    }

    /// The byte range of lines `first` to `last`, counted from 1, line ends included; clipped to the text.
    pub fn bytes_of(&self, lines: Lines) -> Range<usize> {
        let start = self.start_of(lines.first as usize);
        start..self.start_of((lines.last as usize).saturating_add(1)).max(start)
    }

    /// Where line `number`, counted from 1, begins; the text's length beyond the last line.
    pub fn start_of(&self, number: usize) -> usize {
        self.starts.get(number.saturating_sub(1)).copied().unwrap_or(self.length)
    }
}

/// The lines of a text with the offset at which each begins; line ends are cut off.
pub(super) fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |offset, line| {
        let start = *offset;
        *offset += line.len();
        let bare = line.strip_suffix('\n').unwrap_or(line);
        Some((start, bare.strip_suffix('\r').unwrap_or(bare)))
    })
}
