//! A folder fetched whole: one request in place of one for each file.

use std::collections::HashMap;
use std::io::{self, Read as _};

use flate2::read::GzDecoder;

use crate::gitlab::GitLab;
use crate::gitlab::endpoint::Own;
use crate::gitlab::error::{Error, absent};
use crate::gitlab::http::Limits;
use crate::gitlab::repository::{Read, content};
use crate::reply::verify::object_id;
use crate::target::Admitted;
use crate::target::corpus::OpenProject;

/// Bytes of an archive as it comes.
const PACKED_MAX: usize = 32 << 20;
/// Bytes of an archive that are looked through: what is packed more tightly than this is an attack.
const UNPACKED_MAX: u64 = 512 << 20;
/// Bytes that are kept of one archive; what is beyond is left to be read file by file.
const KEPT_MAX: usize = 64 << 20;
/// A row of a tar, and what its content is filled up to.
const BLOCK: usize = 512;
/// An extended header is as long as a path.
const HEADER_MAX: u64 = 64 << 10;

impl GitLab {
    /// What the admitted files of one commit hold, fetched as an archive of `folder` (empty for the whole commit), by
    /// path. A file that is not in it as the tree names it is not among them, whether the repository's attributes
    /// left it out or rewrote it, or it is larger than `cap`: it is to be read by itself. GitLab allows five archives
    /// a minute and user.
    pub async fn read_folder(
        &self,
        project: &OpenProject,
        commit: &str,
        folder: &str,
        places: Vec<Admitted>,
        cap: usize,
    ) -> Result<HashMap<String, Read>, Error> {
        let endpoint = Own::get(format!("projects/{}/repository/archive.tar.gz", project.project().id))
            .with("sha", commit)
            .with("include_lfs_blobs", false);
        let endpoint = if folder.is_empty() { endpoint } else { endpoint.with("path", folder) };
        let limits = Limits { bytes: PACKED_MAX, time: std::time::Duration::from_secs(180) };
        let Some(packed) = absent(self.http.raw(&endpoint, limits).await)? else { return Ok(HashMap::new()) };
        let unpacked = tokio::task::spawn_blocking(move || unpack(&packed, &places, cap)).await;
        Ok(unpacked.unwrap_or_default())
    }
}

fn unpack(packed: &[u8], places: &[Admitted], cap: usize) -> HashMap<String, Read> {
    let wanted: HashMap<&str, &Admitted> =
        places.iter().map(|admitted| (admitted.place().path().as_str(), admitted)).collect();
    let mut found = HashMap::new();
    let keep = |path: &str| wanted.contains_key(path);
    // What cannot be read ends the archive; the files that are missing then are read one by one.
    let _ = files(GzDecoder::new(packed).take(UNPACKED_MAX), cap, keep, |path, bytes| {
        if let Some(admitted) = wanted.get(path)
            && object_id(bytes, admitted.place().blob().len()) == admitted.place().blob()
        {
            found.insert(path.to_owned(), content(admitted, bytes));
        }
    });
    found
}

/// Goes through a tar as `git archive` writes it and hands over the files to keep, by their paths below its one
/// folder.
fn files(
    mut tar: impl io::Read,
    cap: usize,
    keep: impl Fn(&str) -> bool,
    mut take: impl FnMut(&str, &[u8]),
) -> io::Result<()> {
    let (mut kept, mut long) = (0, None);
    loop {
        let mut header = [0u8; BLOCK];
        tar.read_exact(&mut header)?;
        let Some(size) = octal(&header[124..136]).filter(|_| header[0] != 0) else { return Ok(()) };
        let kind = header[156];
        if matches!(kind, b'x' | b'L') && size <= HEADER_MAX {
            let text = read(&mut tar, size)?;
            long = if kind == b'L' { Some(text_of(&text)) } else { extended_path(&text) };
            continue;
        }
        let name = match kind {
            b'g' => String::new(),
            _ => long.take().unwrap_or_else(|| name(&header)),
        };
        let path = name.split_once('/').map_or("", |(_, path)| path);
        let small = size <= cap as u64 && kept + size as usize <= KEPT_MAX;
        if matches!(kind, b'0' | 0) && small && keep(path) {
            kept += size as usize;
            take(path, &read(&mut tar, size)?);
        } else {
            skip(&mut tar, size.next_multiple_of(BLOCK as u64))?;
        }
    }
}

/// The content of a row, its filling read over.
fn read(tar: &mut impl io::Read, size: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if tar.by_ref().take(size).read_to_end(&mut bytes)? as u64 != size {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    skip(tar, size.next_multiple_of(BLOCK as u64) - size)?;
    Ok(bytes)
}

fn skip(tar: &mut impl io::Read, size: u64) -> io::Result<()> {
    io::copy(&mut tar.by_ref().take(size), &mut io::sink()).map(|_| ())
}

fn name(header: &[u8; BLOCK]) -> String {
    let (prefix, name) = (text_of(&header[345..500]), text_of(&header[..100]));
    if prefix.is_empty() { name } else { format!("{prefix}/{name}") }
}

/// `path` of an extended header: records of `LENGTH KEY=VALUE\n`, whose length counts itself.
fn extended_path(mut records: &[u8]) -> Option<String> {
    let mut path = None;
    while let Some(space) = records.iter().position(|byte| *byte == b' ') {
        let length: usize = std::str::from_utf8(&records[..space]).ok()?.parse().ok()?;
        let record = records.get(space + 1..length.checked_sub(1)?)?;
        if let Some(value) = record.strip_prefix(b"path=") {
            path = Some(text_of(value));
        }
        records = records.get(length..)?;
    }
    path
}

fn text_of(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

fn octal(field: &[u8]) -> Option<u64> {
    let digits = field.iter().copied().skip_while(|byte| *byte == b' ').take_while(u8::is_ascii_digit);
    digits.into_iter().try_fold(0u64, |number, digit| {
        let digit = u64::from(digit - b'0');
        (digit < 8).then(|| number.checked_mul(8)?.checked_add(digit)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, kind: u8, content: &[u8]) -> Vec<u8> {
        let mut row = vec![0u8; BLOCK];
        row[..name.len()].copy_from_slice(name.as_bytes());
        row[124..136].copy_from_slice(format!("{:011o}\0", content.len()).as_bytes());
        row[156] = kind;
        row.extend(content);
        row.resize(row.len().next_multiple_of(BLOCK), 0);
        row
    }

    fn found(tar: &[u8], cap: usize) -> Vec<(String, usize)> {
        let mut found = Vec::new();
        let _ = files(
            tar,
            cap,
            |path| path != "docs/other.md",
            |path, bytes| found.push((path.to_owned(), bytes.len())),
        );
        found
    }

    #[test]
    fn files_are_found_by_their_path_below_the_one_folder() {
        let long = format!("docs/{}.md", "x".repeat(120));
        let record = format!(" path=top/{long}\n");
        let record = format!("{}{record}", record.len() + 3);
        let tar = [
            row("pax_global_header", b'g', b"52 comment=0123456789012345678901234567890123456789\n"),
            row("top/docs/", b'5', b""),
            row("top/docs/a.md", b'0', &[b'a'; 700]),
            row("top/docs/link.md", b'2', b""),
            row("top/docs/other.md", b'0', b"left alone"),
            row("long", b'x', record.as_bytes()),
            row("top/docs/xxx", b'0', b"long"),
            row("top/docs/large.md", b'0', &[b'b'; 2000]),
            row("top/docs/b.md", b'0', b"last"),
            vec![0; 2 * BLOCK],
        ]
        .concat();
        let all = [("docs/a.md".to_owned(), 700), (long, 4), ("docs/b.md".to_owned(), 4)];
        assert_eq!(found(&tar, 1000), all);
        // Cut off anywhere, it gives what was whole.
        for end in (0..tar.len()).step_by(97) {
            assert!(all.starts_with(&found(&tar[..end], 1000)), "{end}");
        }
    }

    #[test]
    fn what_is_no_archive_gives_nothing() {
        for tar in [&b""[..], b"<html>", &[b'7'; 4096], &[0; 4096], &row("x", b'x', b"99999999999 path=a\n")]
        {
            assert!(found(tar, 1000).is_empty());
        }
    }
}
