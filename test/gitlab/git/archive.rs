//! `archive.tar.gz` as `git archive` writes it: a global header with the commit, one folder on top, ustar
//! rows, extended headers for long paths.

use super::{Commit, Mode, Repository};
use flate2::{Compression, write::GzEncoder};
use std::io::Write as _;

const BLOCK: usize = 512;

impl Repository {
    /// The files of a commit under `folder` (`""` for all) that do not lie below `exclude`, as a tar in gzip.
    pub fn archive(&self, commit: &Commit, top: &str, folder: &str, exclude: &[String]) -> Vec<u8> {
        let mut tar = Vec::new();
        pax(&mut tar, b'g', &[("comment", &commit.id)]);
        row(&mut tar, &format!("{top}/"), b'5', 0o775, "", &[], commit.at);
        for (path, entry) in commit.tree.iter() {
            let below = |folder: &str| {
                path == folder || path.starts_with(&format!("{}/", folder.trim_end_matches('/')))
            };
            if !(folder.is_empty() || below(folder)) || exclude.iter().any(|folder| below(folder)) {
                continue;
            }
            let content = self.read(&entry.id).map(|bytes| bytes.to_vec()).unwrap_or_default();
            let name = format!("{top}/{path}");
            match entry.mode {
                Mode::File => row(&mut tar, &name, b'0', 0o664, "", &content, commit.at),
                Mode::Executable => row(&mut tar, &name, b'0', 0o775, "", &content, commit.at),
                Mode::Symlink => {
                    row(&mut tar, &name, b'2', 0o777, &String::from_utf8_lossy(&content), &[], commit.at)
                }
                Mode::Submodule => row(&mut tar, &format!("{name}/"), b'5', 0o775, "", &[], commit.at),
            }
        }
        tar.resize(tar.len() + 2 * BLOCK, 0);
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&tar).and_then(|()| gzip.finish()).expect("writing to memory does not fail")
    }
}

/// An extended header: `p` = 'g' for the whole archive, 'x' for the next row.
fn pax(tar: &mut Vec<u8>, kind: u8, records: &[(&str, &str)]) {
    let mut text = String::new();
    for (key, value) in records {
        let bare = key.len() + value.len() + 3;
        let mut length = bare + 1;
        while bare + length.to_string().len() != length {
            length = bare + length.to_string().len();
        }
        text.push_str(&format!("{length} {key}={value}\n"));
    }
    block(tar, "pax_global_header", kind, 0o666, "", text.as_bytes(), 0);
}

fn row(tar: &mut Vec<u8>, name: &str, kind: u8, mode: u32, link: &str, content: &[u8], at: i64) {
    let mut records = Vec::new();
    if name.len() > 100 {
        records.push(("path", name));
    }
    if link.len() > 100 {
        records.push(("linkpath", link));
    }
    if !records.is_empty() {
        pax(tar, b'x', &records);
    }
    block(tar, name, kind, mode, link, content, at);
}

fn block(tar: &mut Vec<u8>, name: &str, kind: u8, mode: u32, link: &str, content: &[u8], at: i64) {
    let mut header = [0u8; BLOCK];
    let mut put = |at: usize, room: usize, text: &[u8]| {
        let end = text.len().min(room);
        header[at..at + end].copy_from_slice(&text[..end]);
    };
    put(0, 100, name.as_bytes());
    put(100, 8, format!("{mode:07o}").as_bytes());
    put(108, 8, b"0000000");
    put(116, 8, b"0000000");
    put(124, 12, format!("{:011o}", content.len()).as_bytes());
    put(136, 12, format!("{:011o}", at.max(0) / 1000).as_bytes());
    put(148, 8, b"        ");
    put(156, 1, &[kind]);
    put(157, 100, link.as_bytes());
    put(257, 8, b"ustar\x0000");
    put(265, 32, b"root");
    put(297, 32, b"root");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    tar.extend(header);
    tar.extend(content);
    tar.resize(tar.len().div_ceil(BLOCK) * BLOCK, 0);
}
