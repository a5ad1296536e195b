//! The list as CSV (RFC 4180), safe to open in a spreadsheet.

use crate::gaps::Gap;

/// The columns, in order.
pub const COLUMNS: [&str; 16] = [
    "id",
    "kind",
    "state",
    "score",
    "askers",
    "votes",
    "wrong_answers",
    "projects",
    "first_seen",
    "last_seen",
    "settled_at",
    "closed_commit",
    "nearest_project",
    "nearest_path",
    "nearest_url",
    "issues",
];

/// The list with a header line; lines end in CR LF.
pub fn write(gaps: &[Gap]) -> String {
    let mut out = COLUMNS.join(",") + "\r\n";
    for gap in gaps {
        out.push_str(&line(gap).join(","));
        out.push_str("\r\n");
    }
    out
}

fn line(gap: &Gap) -> [String; COLUMNS.len()] {
    let nearest = gap.nearest.as_ref();
    let issues: Vec<String> = gap.issues.iter().map(crate::gaps::Issue::reference).collect();
    [
        cell(&gap.id),
        cell(gap.kind.word()),
        cell(gap.state.word()),
        format!("{:.3}", gap.score),
        gap.askers.to_string(),
        gap.votes.to_string(),
        gap.wrong_answers.to_string(),
        gap.projects.to_string(),
        gap.first_seen.to_string(),
        gap.last_seen.to_string(),
        gap.settled_at.map(|at| at.to_string()).unwrap_or_default(),
        cell(gap.closed.as_ref().map_or("", |closed| &closed.commit)),
        cell(nearest.map_or("", |nearest| &nearest.project)),
        cell(nearest.map_or("", |nearest| &nearest.path)),
        cell(nearest.map_or("", |nearest| &nearest.url)),
        cell(&issues.join(" ")),
    ]
}

/// One cell. What a spreadsheet would take for a formula gets an apostrophe in front; what would end the cell
/// is quoted.
fn cell(text: &str) -> String {
    let formula = text.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠'])
        || text.starts_with(['\t', '\r', '\n', '\'']);
    let text = if formula { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\r', '\n', ';', '\t'])
        || text.starts_with(' ')
        || text.ends_with(' ')
        || formula
    {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula_and_none_leaves_its_column() {
        for (text, expected) in [
            ("docs/install.md", "docs/install.md"),
            ("=HYPERLINK(\"http://x\")", "\"'=HYPERLINK(\"\"http://x\"\")\""),
            ("-2+3", "\"'-2+3\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            (" +1", "\"' +1\""),
            ("＝1", "\"'＝1\""),
            ("\tx", "\"'\tx\""),
            ("a,b", "\"a,b\""),
            ("a\"b", "\"a\"\"b\""),
            ("a\nb", "\"a\nb\""),
            ("a;b", "\"a;b\""),
            ("", ""),
        ] {
            assert_eq!(cell(text), expected, "{text:?}");
        }
    }
}
