//! Recognises files written by a run: tables, lists and reports, by their first bytes.

use crate::compressed_file::open_decompressed;
use serde_json::Value;
#[cfg(feature = "parquet")]
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The number of bytes to read. In a page, the style precedes the recognised part.
const BYTES: u64 = 1 << 18;
/// The first bytes of tables and scripts.
const BEGINNINGS: &[&str] = &[
    "group,id,role,keeper,jaccard",
    "id_a,id_b,jaccard",
    "source,line,id,reason\n",
    "id,source,group,keeper,jaccard,reason\n",
    "id,source,group,keeper,containment,reason\n",
    "#!/bin/sh\n# Files that `lookalike dedup` found to be duplicates.",
    "#!/bin/sh\n# Undoes what `lookalike dedup` did with duplicate files.",
];
/// A line of every page, below its style.
const BRAND: &[u8] = b"<p class=\"brand\">lookalike ";
/// The first bytes of Parquet files.
#[cfg(feature = "parquet")]
const PARQUET: &[u8] = b"PAR1";

/// Whether the file contains groups, pairs, skipped or removed documents, a script or a report, or
/// is empty. Unreadable files are not recognised.
pub(super) fn is_output(path: &Path) -> bool {
    let Ok(beginning) = beginning(path) else { return false };
    #[cfg(feature = "parquet")]
    if beginning.starts_with(PARQUET) {
        return is_table(path);
    }
    beginning.is_empty()
        || BEGINNINGS.iter().any(|known| beginning.starts_with(known.as_bytes()))
        || is_list(&beginning)
        || is_report(&beginning)
        || is_page(&beginning)
}

fn beginning(path: &Path) -> io::Result<Vec<u8>> {
    let mut plain = Vec::new();
    match open_decompressed(path)?.take(BYTES).read_to_end(&mut plain) {
        // If the file is damaged, the bytes before the damage are sufficient.
        Err(error) if plain.is_empty() => Err(error),
        _ => Ok(plain),
    }
}

/// Whether this is a list of groups or of removed documents, one object per line.
fn is_list(beginning: &[u8]) -> bool {
    let line = beginning.split(|byte| *byte == b'\n').next().unwrap_or_default();
    // The line of a group may be longer than the bytes read.
    if line.starts_with(b"{\"group\":1,\"keeper\":\"") {
        return true;
    }
    let Ok(Value::Object(members)) = serde_json::from_slice(line) else { return false };
    let similarity = ["jaccard", "containment"].iter().any(|name| members.contains_key(*name));
    let rest = ["id", "source", "group", "keeper", "reason"];
    similarity && members.len() == 6 && rest.iter().all(|name| members.contains_key(*name))
}

/// Whether this is a run as JSON, of any version.
fn is_report(beginning: &[u8]) -> bool {
    let mut lines = beginning.split(|byte| *byte == b'\n');
    let mut next = |start: &[u8]| lines.next().is_some_and(|line| line.starts_with(start));
    next(b"{\"format\":") && next(b"\"lookalike\":\"")
}

fn is_page(beginning: &[u8]) -> bool {
    beginning.starts_with(b"<!DOCTYPE html>\n")
        && beginning.windows(BRAND.len()).any(|bytes| bytes == BRAND)
}

/// Whether the file contains groups or pairs in Parquet.
#[cfg(feature = "parquet")]
fn is_table(path: &Path) -> bool {
    use parquet::file::reader::FileReader;
    use parquet::file::serialized_reader::SerializedFileReader;
    let Ok(Ok(reader)) = File::open(path).map(SerializedFileReader::new) else { return false };
    let footer = reader.metadata().file_metadata();
    let columns = footer.schema_descr().columns();
    let names: Vec<&str> = columns.iter().take(4).map(|column| column.name()).collect();
    let written_here = footer.created_by().is_some_and(|who| who.starts_with("lookalike version"));
    let groups = names == ["group", "id", "role", "keeper"];
    written_here && (groups || names.starts_with(&["id_a", "id_b", "jaccard"]))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests may stop at anything unexpected")]

    use super::*;
    use std::io::Write;

    fn known(name: &str, bytes: &[u8]) -> bool {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        is_output(&path)
    }

    #[test]
    fn own_outputs_are_recognized() {
        let groups = b"{\"group\":1,\"keeper\":\"a\",\"size\":2,\"duplicates\":[";
        let removed = b"{\"id\":\"a\",\"source\":\"s\",\"group\":1,\"keeper\":\"b\",\
            \"jaccard\":0.900000,\"reason\":\"id\"}\n";
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(groups).unwrap();
        let gzip = gzip.finish().unwrap();
        for (name, bytes) in [
            ("g.jsonl", &groups[..]),
            ("g.jsonl.gz", &gzip),
            ("gone.jsonl", removed),
            ("p.csv", b"id_a,id_b,jaccard\na,b,1.000000\n"),
            ("empty.csv", b""),
            ("run.json", b"{\"format\":1,\n\"lookalike\":\"0.1.0\",\n"),
            ("page.html", b"<!DOCTYPE html>\n<p class=\"brand\">lookalike 0.1.0</p>"),
        ] {
            assert!(known(name, bytes), "{name}");
        }
        for (name, bytes) in [
            ("a.jsonl", &b"{\"id\":\"a\",\"text\":\"b\"}\n"[..]),
            ("b.jsonl", b"{\"id\":\"a\",\"source\":\"s\",\"group\":1,\"text\":\"t\"}\n"),
            ("c.csv", b"id,text\n1,x\n"),
            ("d.html", b"<!DOCTYPE html>\n<p>lookalike 0.1.0</p>"),
            ("e.parquet", b"PAR1"),
            ("f.jsonl.gz", b"\x1f\x8b"),
            ("f.txt", b"words"),
            ("run.json", b"{\"format\":1,\n\"text\":\"words\"}"),
        ] {
            assert!(!known(name, bytes), "{name}");
        }
    }
}
