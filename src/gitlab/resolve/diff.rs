//! Unified diffs, read for their line numbers: which lines a change touched, and where a line of the old file
//! stands in the new one. The text of the lines is not looked at beyond its first character.

use std::sync::LazyLock;

use regex::Regex;

use crate::reference::Lines;

/// One hunk: a stretch of the old file that became a stretch of the new one.
#[derive(Clone, Debug)]
struct Hunk {
    old_start: u32,
    old_len: u32,
    new_start: u32,
    new_len: u32,
    /// For each old line of the hunk its line in the new file; `None` when it went.
    kept: Vec<Option<u32>>,
    /// The new lines of the hunk that were added.
    added: Vec<u32>,
}

/// How the lines of a file moved in one change.
#[derive(Clone, Debug)]
pub(super) struct LineMap(Vec<Hunk>);

impl LineMap {
    /// Reads a diff; `None` when it is cut short or no diff, so that nothing can be told from it.
    pub(super) fn parse(diff: &str) -> Option<LineMap> {
        static HEAD: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@").expect("a pattern"));
        let mut hunks = Vec::new();
        let mut rows = diff.split('\n').peekable();
        while let Some(row) = rows.next() {
            let Some(head) = HEAD.captures(row) else {
                // Before the first hunk there may be file headers; between hunks there is nothing.
                if hunks.is_empty() || row.is_empty() {
                    continue;
                } else {
                    return None;
                };
            };
            let number = |group: usize, default: u32| {
                head.get(group).map_or(Some(default), |m| m.as_str().parse().ok())
            };
            let (old_start, old_len) = (number(1, 0)?, number(2, 1)?);
            let (new_start, new_len) = (number(3, 0)?, number(4, 1)?);
            let mut hunk =
                Hunk { old_start, old_len, new_start, new_len, kept: Vec::new(), added: Vec::new() };
            let (mut old_left, mut new_left) = (old_len, new_len);
            while old_left > 0 || new_left > 0 {
                let row = rows.next()?;
                let at = new_start.checked_add(new_len - new_left)?;
                match row.as_bytes().first() {
                    Some(b' ') | None if old_left > 0 && new_left > 0 => {
                        hunk.kept.push(Some(at));
                        (old_left, new_left) = (old_left - 1, new_left - 1);
                    }
                    Some(b'-') if old_left > 0 => {
                        hunk.kept.push(None);
                        old_left -= 1;
                    }
                    Some(b'+') if new_left > 0 => {
                        hunk.added.push(at);
                        new_left -= 1;
                    }
                    Some(b'\\') => {}
                    _ => return None,
                }
            }
            rows.next_if(|row| row.starts_with('\\'));
            hunks.push(hunk);
        }
        Some(LineMap(hunks))
    }

    /// Whether nothing moved.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Where a line of the old file stands in the new one; `None` when it went.
    fn line(&self, line: u32) -> Option<u32> {
        let mut shift = 0i64;
        for hunk in &self.0 {
            // A hunk without old lines stands behind the line it names.
            let begins = if hunk.old_len == 0 { hunk.old_start.saturating_add(1) } else { hunk.old_start };
            if line < begins {
                break;
            }
            if line < begins.saturating_add(hunk.old_len) {
                return *hunk.kept.get((line - begins) as usize)?;
            }
            let new_begins =
                if hunk.new_len == 0 { hunk.new_start.saturating_add(1) } else { hunk.new_start };
            shift =
                i64::from(new_begins) + i64::from(hunk.new_len) - i64::from(begins) - i64::from(hunk.old_len);
        }
        u32::try_from(i64::from(line) + shift).ok().filter(|line| *line > 0)
    }

    /// Where a range of lines stands in the new file: from the first line that is still there to the last.
    /// `None` when more than half of them went.
    pub(super) fn lines(&self, lines: Lines) -> Option<Lines> {
        const LONGEST: u32 = 100_000;
        let last = lines.last.min(lines.first.saturating_add(LONGEST));
        let total = last - lines.first + 1;
        let kept: Vec<u32> = (lines.first..=last).filter_map(|line| self.line(line)).collect();
        let enough = kept.len() as u32 * 2 >= total;
        enough.then(|| Lines::between(*kept.first()?, *kept.last()?)).flatten()
    }

    /// The stretches of the new file that the change touched, those that lie close together as one. A place
    /// where lines were only taken out is touched at the lines around it.
    pub(super) fn touched(&self) -> Vec<Lines> {
        /// Untouched lines between two stretches that still read as one.
        const GAP: u32 = 3;
        let mut stretches: Vec<Lines> = Vec::new();
        for hunk in &self.0 {
            let first = hunk.added.first().copied().unwrap_or(hunk.new_start.max(1));
            let end = hunk.new_start.saturating_add(hunk.new_len).saturating_sub(1);
            let last = hunk.added.last().copied().unwrap_or(end).max(first);
            match stretches.last_mut() {
                Some(before) if first <= before.last.saturating_add(GAP) => {
                    before.last = before.last.max(last)
                }
                _ => stretches.push(Lines { first, last }),
            }
        }
        stretches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(first: u32, last: u32) -> Lines {
        Lines { first, last }
    }

    /// Two lines are put before line 3; line 10 goes; line 20 is changed.
    const DIFF: &str = "--- a/x\n+++ b/x\n@@ -2,2 +2,4 @@ heading\n two\n+new\n+new\n three\n@@ -9,3 +11,2 @@\n nine\n-ten\n \
        eleven\n@@ -20 +21 @@\n-twenty\n+zwanzig\n\\ No newline at end of file\n";

    #[test]
    fn a_line_is_followed_through_hunks() {
        let map = LineMap::parse(DIFF).expect("a diff");
        for (old, new) in [
            (1, Some(1)),
            (2, Some(2)),
            (3, Some(5)),
            (8, Some(10)),
            (9, Some(11)),
            (10, None),
            (11, Some(12)),
            (19, Some(20)),
            (20, None),
            (21, Some(22)),
            (500, Some(501)),
        ] {
            assert_eq!(map.line(old), new, "line {old}");
        }
    }

    #[test]
    fn a_range_lives_while_half_of_it_does() {
        let map = LineMap::parse(DIFF).expect("a diff");
        assert_eq!(map.lines(lines(2, 3)), Some(lines(2, 5)));
        assert_eq!(map.lines(lines(10, 11)), Some(lines(12, 12)));
        assert_eq!(map.lines(lines(20, 20)), None);
    }

    #[test]
    fn hunks_without_context_are_counted_right() {
        let added = LineMap::parse("@@ -3,0 +4,2 @@\n+a\n+b\n").expect("a diff");
        assert_eq!((added.line(3), added.line(4)), (Some(3), Some(6)));
        let removed = LineMap::parse("@@ -4,2 +3,0 @@\n-a\n-b\n").expect("a diff");
        assert_eq!((removed.line(3), removed.line(4), removed.line(6)), (Some(3), None, Some(4)));
        let created = LineMap::parse("@@ -0,0 +1,2 @@\n+a\n+b\n").expect("a diff");
        assert_eq!(created.touched(), [lines(1, 2)]);
    }

    #[test]
    fn what_was_touched_is_told_in_the_new_files_lines() {
        let map = LineMap::parse(DIFF).expect("a diff");
        assert_eq!(map.touched(), [lines(3, 4), lines(11, 12), lines(21, 21)]);
    }

    #[test]
    fn a_diff_that_is_cut_short_tells_nothing() {
        for diff in [
            "@@ -1,3 +1,3 @@\n a\n",
            "@@ -1 +1 @@\n?x\n",
            "@@ -1 +1 @@\n-a\n+b\nrest\n",
            "@@ -1,99999999999 +1 @@\n",
        ] {
            assert!(LineMap::parse(diff).is_none(), "{diff:?}");
        }
        assert!(LineMap::parse("").is_some_and(|map| map.is_empty()));
    }
}
