//! Tests that need private items: tiny blocks, streams without a file, the scanner itself.

mod again;
mod blocks;
#[cfg(all(feature = "mail", feature = "archive"))]
mod containers;
mod inputs;
mod json_laws;
mod kinds;
#[cfg(feature = "parquet")]
mod parquet;
mod records;

use super::{
    Collection, Document, DocumentPosition, DocumentSink, ReadBuffers, ReadError, ReadOptions,
    RetainedBlock, Side, SkippedItem,
};
use std::path::{Path, PathBuf};

/// Documents and skipped records of one block.
#[derive(Default)]
struct Taken {
    documents: Vec<(String, String, DocumentPosition)>,
    skipped: Vec<SkippedItem>,
}

impl DocumentSink for Taken {
    type Error = ReadError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), ReadError> {
        let &Document { id, text, place, .. } = document;
        self.documents.push((id.to_owned(), text.to_owned(), place));
        Ok(())
    }

    fn skipped(&mut self, skipped: SkippedItem) -> Result<(), ReadError> {
        self.skipped.push(skipped);
        Ok(())
    }
}

/// Everything in a collection. Every document was fetched again and equalled its first reading.
struct All {
    documents: Vec<(String, String)>,
    /// `file:line` of each document.
    places: Vec<String>,
    skipped: Vec<SkippedItem>,
    blocks: usize,
}

impl All {
    fn ids(&self) -> Vec<&str> {
        self.documents.iter().map(|(id, _)| id.as_str()).collect()
    }

    fn texts(&self) -> Vec<&str> {
        self.documents.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// The reasons in the form that users read.
    fn reasons(&self) -> Vec<String> {
        self.skipped.iter().map(ToString::to_string).collect()
    }
}

fn blocks(collection: &Collection) -> Result<Vec<(RetainedBlock, Taken)>, ReadError> {
    let mut blocks = Vec::new();
    let mut scratch = ReadBuffers::default();
    while let Some(block) = collection.next_block()? {
        let mut taken = Taken::default();
        block.read(&mut scratch, &mut taken)?;
        blocks.push((block.retain(None, &mut ReadBuffers::default())?, taken));
    }
    Ok(blocks)
}

fn drain(collection: &Collection) -> Result<All, ReadError> {
    let blocks = blocks(collection)?;
    let mut all = All { documents: vec![], places: vec![], skipped: vec![], blocks: blocks.len() };
    let mut scratch = ReadBuffers::default();
    for (retained, taken) in blocks {
        for (id, text, place) in taken.documents {
            retained.fetch(place, &id, &mut scratch, |fetched| assert_eq!(fetched, text))?;
            all.places.push(retained.location(place).to_string());
            all.documents.push((id, text));
        }
        all.skipped.extend(taken.skipped);
    }
    Ok(all)
}

fn read_paths(
    inputs: &[&Path],
    options: &ReadOptions,
    block_bytes: usize,
) -> Result<All, ReadError> {
    let inputs: Vec<PathBuf> = inputs.iter().map(|&path| path.to_owned()).collect();
    drain(&Collection::with_block_bytes(
        Side::Paths(&inputs),
        Side::Paths(&[]),
        options,
        block_bytes,
    )?)
}

/// Reads bytes as a file named `name`, in blocks of `block_bytes`.
fn read_named(
    name: &str,
    bytes: &[u8],
    options: &ReadOptions,
    block_bytes: usize,
) -> Result<All, ReadError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    read_paths(&[&path], options, block_bytes)
}

fn read(name: &str, bytes: impl AsRef<[u8]>) -> Result<All, ReadError> {
    read_named(name, bytes.as_ref(), &ReadOptions::default(), 1 << 20)
}

/// Like [`read_named`], skipping bad records.
fn read_skipping(name: &str, bytes: impl AsRef<[u8]>) -> All {
    let options = ReadOptions { skip_bad: true, ..ReadOptions::default() };
    read_named(name, bytes.as_ref(), &options, 1 << 20).unwrap()
}

fn zst(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}
