//! Exports the documents of an index as JSON lines.

pub(super) mod exported;
mod exported_version;

use super::time;
use crate::engine::FindError;
use exported_version::VersionMember;
use lookalike_index::backend::Snapshot;
use lookalike_index::entry::{DocumentNumber, IndexRecord, Metadata, RecordFields, shortened_id};
use lookalike_index::original::DocumentVersion;
use lookalike_index::{Index, IndexError};
use serde::Serialize;
use std::collections::HashMap;
use std::io::{self, Write};

/// The number of documents per read.
const BATCH: usize = 256;

#[derive(Serialize)]
struct ExportLine<'a> {
    id: &'a str,
    bytes: u64,
    metadata: &'a Metadata,
    added: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group_size: Option<usize>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    duplicates: &'a [String],
}

/// Writes the current documents of an index, one JSON object per line, in the order of their
/// numbers. Leaves out documents that expired before `now` (in ns since 1970). Returns the number
/// of lines. If the index keeps texts, the lines include them and can be read as documents.
///
/// # Errors
/// Errors of reading the index. The outer result reports errors of writing.
pub fn export(index: &Index, now: i64, out: &mut dyn Write) -> io::Result<Result<u64, FindError>> {
    write_lines(index, now, None, out)
}

/// Like [`export`], with the versions of every document and their originals. Memory: one original,
/// and the version on which its stored difference is based.
///
/// # Errors
/// As for [`export`]; [`IndexError::NoOriginals`] for an index without originals.
pub fn export_with_originals(
    index: &Index,
    now: i64,
    out: &mut dyn Write,
) -> io::Result<Result<u64, FindError>> {
    export_with_originals_in(index, now, &mut |_| (), out)
}

/// Like [`export_with_originals`], for callers that share memory. Calls `reserve` with the size of
/// each original before it reads the original. `reserve` returns when this memory is available. The
/// memory of the previous original is freed before the call.
///
/// # Errors
/// As for [`export_with_originals`].
pub fn export_with_originals_in(
    index: &Index,
    now: i64,
    reserve: &mut dyn FnMut(u64),
    out: &mut dyn Write,
) -> io::Result<Result<u64, FindError>> {
    if index.settings().originals.is_none() {
        let index = index.name().to_owned();
        return Ok(Err(IndexError::NoOriginals { index }.into()));
    }
    write_lines(index, now, Some(reserve), out)
}

fn write_lines(
    index: &Index,
    now: i64,
    mut reserve: Option<&mut dyn FnMut(u64)>,
    out: &mut dyn Write,
) -> io::Result<Result<u64, FindError>> {
    let mut snapshot = match index.snapshot() {
        Ok(snapshot) => snapshot,
        Err(error) => return Ok(Err(error.into())),
    };
    let wanted = RecordFields { metadata: true, text: true, ..RecordFields::default() };
    let store = index.settings().store;
    let mut from = DocumentNumber(0);
    let mut count = 0;
    let mut read = 0;
    loop {
        let mut batch: Vec<IndexRecord> = Vec::new();
        let mut last = None;
        let scanned = snapshot.scan(from, BATCH, wanted, &mut |record| {
            last = Some(record.number);
            read += 1;
            if store.has_texts() && record.text.is_none() && record.bytes > 0 {
                return Err(without_text(record));
            }
            if !record.is_expired(now) {
                batch.push(record.clone());
            }
            Ok::<(), IndexError>(())
        });
        if let Err(error) = scanned {
            return Ok(Err(error.into()));
        }
        let duplicates = match duplicates(&mut *snapshot, &batch) {
            Ok(duplicates) => duplicates,
            Err(error) => return Ok(Err(error.into())),
        };
        for record in &batch {
            let own = duplicates.get(&record.number).map_or(&[][..], Vec::as_slice);
            let mut line = line(record, own)?;
            let Some(reserve) = &mut reserve else {
                line.push(b'\n');
                out.write_all(&line)?;
                continue;
            };
            // Remove the closing brace, since a member follows.
            line.pop();
            out.write_all(&line)?;
            if let Err(error) = write_versions(&mut *snapshot, &record.id, *reserve, out)? {
                return Ok(Err(error.into()));
            }
            out.write_all(b"}\n")?;
        }
        count += batch.len() as u64;
        match last {
            Some(last) => from = last.next(),
            None if read == snapshot.len() => return Ok(Ok(count)),
            None => return Ok(Err(incomplete(index, snapshot.len(), read).into())),
        }
    }
}

/// Returns the ids of documents that were removed as duplicates of `records`, with the number of
/// the record as the key.
fn duplicates(
    snapshot: &mut dyn Snapshot,
    records: &[IndexRecord],
) -> Result<HashMap<DocumentNumber, Vec<String>>, IndexError> {
    let numbers: Vec<DocumentNumber> = records.iter().map(|record| record.number).collect();
    let mut duplicates = HashMap::<DocumentNumber, Vec<String>>::new();
    snapshot.duplicates(&numbers, &mut |keeper, id| {
        duplicates.entry(keeper).or_default().push(id.to_owned());
        Ok(())
    })?;
    Ok(duplicates)
}

fn without_text(record: &IndexRecord) -> IndexError {
    IndexError::Damaged {
        what: format!("document {:?}", shortened_id(&record.id)),
        why: format!("it has no text, expected {} bytes", record.bytes),
    }
}

/// The error of an index whose count differs from the number of documents read.
fn incomplete(index: &Index, expected: u64, got: u64) -> IndexError {
    IndexError::Damaged {
        what: index.name().to_owned(),
        why: format!("it counts {expected} documents, {got} were read"),
    }
}

/// Writes the member `versions` of a line: the versions of a document, by time, with their
/// originals. Writes nothing if the document has no versions.
fn write_versions(
    snapshot: &mut dyn Snapshot,
    id: &str,
    reserve: &mut dyn FnMut(u64),
    out: &mut dyn Write,
) -> io::Result<Result<(), IndexError>> {
    let versions = match snapshot.versions(id) {
        Ok(versions) => versions,
        Err(error) => return Ok(Err(error)),
    };
    let mut before: &[u8] = b",\"versions\":[";
    for version in &versions {
        reserve(version.bytes);
        let member = match version_member(snapshot, version) {
            Ok(member) => member,
            Err(error) => return Ok(Err(error)),
        };
        out.write_all(std::mem::replace(&mut before, b","))?;
        serde_json::to_writer(&mut *out, &member)?;
    }
    if versions.is_empty() { Ok(Ok(())) } else { out.write_all(b"]").map(Ok) }
}

/// Returns a version with its original, and with its text if it is a previous version.
fn version_member(
    snapshot: &mut dyn Snapshot,
    version: &DocumentVersion,
) -> Result<VersionMember, IndexError> {
    let original = snapshot.original(version)?;
    let text = match version.ended {
        Some(_) => snapshot.version_text(version)?,
        None => None,
    };
    Ok(VersionMember::new(version, &original, text))
}

/// Returns the JSON object of a document, without its versions.
fn line(record: &IndexRecord, duplicates: &[String]) -> io::Result<Vec<u8>> {
    let line = ExportLine {
        id: &record.id,
        bytes: record.bytes,
        metadata: &record.metadata,
        added: time::format(record.added),
        modified: record.modified.map(time::format),
        expires: record.expires.map(time::format),
        text: record.text.as_deref(),
        group_size: Some(1 + duplicates.len()).filter(|size| *size > 1),
        duplicates,
    };
    Ok(serde_json::to_vec(&line)?)
}
