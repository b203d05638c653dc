//! Inputs → documents. Takes files, folders and standard input; gives the documents of each, block
//! by block, to any number of threads, and every file or record that was not read.
//!
//! ```text
//! Collection::open ── next_block ──► Block ── read ──► Sink::document(id, text, place, …)
//!                                      │                    ::skipped(what, why)
//!                                      └─ retain ──► Retained ── fetch(place) ──► text
//!                                                             └─ replay ──► RawSink
//! ```
//!
//! What is read as what:
//!
//! | input | without [`ReadOptions::format`] |
//! |---|---|
//! | `*.jsonl`, `*.ndjson` | [`Format::Jsonl`] |
//! | `*.csv`, `*.tsv`, `*.train` | [`Format::Csv`], [`Format::Tsv`], [`Format::Lines`] |
//! | `*.parquet` | [`Format::Parquet`] |
//! | `*.mbox`, `*.warc`, `*.tar`, `*.tgz` | [`Format::Mbox`], [`Format::Warc`], [`Format::Tar`] |
//! | `*.zip` | its files, as those of a folder |
//! | any other file | by its first bytes: JSONL, Parquet, mbox, WARC, tar, else [`Format::File`] |
//! | a folder | its files of these names as such, CSV and TSV not; any other as [`Format::File`] |
//! | `-`, a pipe | JSONL, mailbox, crawl or tar by its first bytes, else an error that asks |
//! | [`HeldDocuments`] | as they are: the caller has them in memory |
//!
//! each also with `.gz` or `.zst` behind its name (streams: by their first bytes), but for Parquet,
//! which is read at positions and compresses inside.
//!
//! Ids of files are paths: relative to the folder when one folder is the only input, else the
//! input as it was given with the path behind it; always with `/`; bytes that are not UTF-8 as
//! `\xNN` and backslashes as `\x5C`. Ids of records are what the record says; a JSON number is an
//! id by its text. A document in a file or archive has its name there behind; `docs/files.md` has
//! the rest.

mod block;
mod collection;
mod content_hash;
mod decompress;
mod description;
mod detect;
mod encoding;
mod error;
mod extra_fields;
mod format;
#[cfg(feature = "scripts")]
mod normal_forms;
mod normalize;
mod options;
mod parse;
mod part_texts;
mod positioned_io;
mod recover;
mod reread;
mod settings;
mod skipped;
mod source;
mod spool;
mod stamp;
pub mod stop_words;
mod table_problem;
#[cfg(test)]
mod tests;
mod walk;

pub use block::Block;
pub use collection::{Collection, Side};
pub use content_hash::Content;
pub use description::Description;
pub use error::ReadError;
pub use format::csv::Header;
pub use format::jsonl::has_member;
pub use normalize::{NormalForm, Wording, Words, language_of};
pub use options::{Format, ReadOptions};
pub use reread::{Retained, RetainedState};
pub use skipped::{Field, SkipReason, Skipped, limit_parameter};
pub use source::in_memory::{Held, HeldDocuments};
pub use spool::Spool;
pub use stamp::{InputStamp, Stamp};
pub use table_problem::TableProblem;
pub use walk::name_of;

use serde::{Deserialize, Serialize};
use std::path::Path;

/// The longest document or record, in bytes: 2 GiB less one.
pub const MAX_DOCUMENT_BYTES: usize = (1 << 31) - 1;

/// A document as it is read.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    /// What names it.
    pub id: &'a str,
    /// What it says.
    pub text: &'a str,
    /// Reads it again by [`Retained::fetch`].
    pub place: Place,
    /// The values of [`ReadOptions::fields`], in that order.
    pub fields: &'a [Option<&'a str>],
    /// When the file it stands in was last changed, in ns since 1970; `None` for streams.
    pub modified: Option<u64>,
    /// What an index has of it, in place of the text, which is empty then.
    pub shingled: Option<Shingled<'a>>,
    /// What a file that is no plain text says about itself.
    pub about: Option<&'a lookalike_extract::Fields>,
}

/// A document that was shingled before.
#[derive(Debug, Clone, Copy)]
pub struct Shingled<'a> {
    /// Its shingle set, ascending, without repeats.
    pub set: &'a [u64],
    /// Of its shingles.
    pub fingerprint: u128,
    /// Length of its text in bytes.
    pub bytes: u64,
}

impl Document<'_> {
    /// Length of its text in bytes.
    pub fn bytes(&self) -> u64 {
        self.shingled.map_or(self.text.len() as u64, |shingled| shingled.bytes)
    }
}

/// Takes what a block holds.
pub trait Sink {
    /// A document.
    fn document(&mut self, document: &Document<'_>);

    /// A file or record that is no document.
    fn skipped(&mut self, skipped: Skipped);
}

/// What a document was in its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Raw<'a> {
    /// Its record without the line feed, byte for byte as it stands in the decompressed input
    /// (in UTF-8 where that has another encoding); of a text from a stream all there is.
    Record(&'a [u8]),
    /// A file of its own.
    File(&'a Path),
    /// A part of a file: an attachment, a file in an archive.
    Part(&'a Path),
    /// A row of a Parquet file, counted from 0 over all row groups. Messages count from 1.
    Row(u64),
}

/// Takes what a block holds, with the bytes of each record.
pub trait RawSink {
    /// A document and what it was in its input.
    fn record(&mut self, document: &Document<'_>, raw: Raw<'_>);

    /// A file or record that is no document.
    fn skipped(&mut self, skipped: Skipped);
}

/// Where a block stands among all: by source in the order of the inputs (in a folder the text
/// files first, then its files of records), then from start to end. It depends on the inputs only,
/// never on threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BlockNumber {
    /// The source, from 0.
    pub source: u32,
    /// The block of that source, from 0. Parquet leaves numbers out between its row groups.
    pub index: u32,
}

/// Where a document stands in its block. Meaningful to that block's [`Retained`] only; places of
/// one block are in reading order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    start: u32,
    length: u32,
    line: u32,
    /// Which of the documents of that record or file.
    part: u32,
}

impl Place {
    /// Bytes of the record or file, as it was read (at most `u32::MAX`).
    pub fn bytes(self) -> u32 {
        self.length
    }

    /// The place as numbers, to be stored.
    pub fn to_numbers(self) -> [u32; 4] {
        [self.start, self.length, self.line, self.part]
    }

    /// The place that [`to_numbers`](Self::to_numbers) gave. Others are no harm: fetching from
    /// there is an error.
    pub fn from_numbers([start, length, line, part]: [u32; 4]) -> Self {
        Self { start, length, line, part }
    }
}

/// Buffers of one thread, used again from block to block. They grow to the longest document.
#[derive(Default)]
pub struct Scratch {
    id: String,
    text: String,
    line_id: String,
    bytes: Vec<u8>,
    values: ::csv::ByteRecord,
    further: extra_fields::Further,
    extractor: Option<lookalike_extract::Extractor>,
    part_texts: part_texts::PartTexts,
    words: normalize::Words,
}

impl Scratch {
    /// For a thread that retains every block it reads: keeps the texts of files with many
    /// documents for [`Block::retain_read`], so that such a file is read through only once.
    pub fn retaining() -> Self {
        let mut scratch = Self::default();
        scratch.part_texts.keep();
        scratch
    }
}
