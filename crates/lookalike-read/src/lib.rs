#![doc = include_str!("../README.md")]
//!
//! # Design
//!
//! ```text
//! Collection::open ── next_block ──► Block ── read ──► DocumentSink::document
//!                                      │                           ::skipped
//!                                      └─ retain ──► RetainedBlock ── fetch ──► text
//!                                                                  └─ replay ──► DocumentSink
//! ```
//!
//! The format of each input:
//!
//! | input | without [`ReadOptions::format`] |
//! |---|---|
//! | `*.jsonl`, `*.ndjson` | [`Format::Jsonl`], [`Format::Json`] for an array |
//! | `*.json` | [`Format::Jsonl`] or [`Format::Json`] for records, otherwise [`Format::File`] |
//! | `*.csv`, `*.tsv`, `*.train` | [`Format::Csv`], [`Format::Tsv`], [`Format::Lines`] |
//! | `*.parquet` | [`Format::Parquet`] |
//! | `*.mbox`, `*.warc`, `*.tar`, `*.tgz` | [`Format::Mbox`], [`Format::Warc`], [`Format::Tar`] |
//! | `*.zip` | its files, as the files of a folder |
//! | any other file | by its first bytes: JSON, Parquet, mbox, WARC, tar, or [`Format::File`] |
//! | a folder | its files with these names as above; any other as [`Format::File`] |
//! | `-`, a pipe | JSON, mailbox, crawl or tar by its first bytes, otherwise an error |
//! | [`InMemoryDocuments`] | documents in the caller's memory, not copied |
//!
//! Each name may also end in `.gz` or `.zst`. The exception is Parquet, which is read at positions
//! and has its own compression. The first bytes take precedence over the name: a gzip or Parquet
//! file named `a.jsonl` is read as gzip or Parquet.
//!
//! Ids of files are paths: relative to the folder if one folder is the only input, otherwise the
//! named input followed by the path. Their separator is always `/`. Bytes that are not UTF-8 become
//! `\xNN`, and backslashes become `\x5C`. Ids of records come from the record; the id from a JSON
//! number is the number's text. The id of a document in a file or archive ends with its name in
//! that file. `docs/reference/files.md` describes further rules.

mod bytes;
mod collection;
mod document;
mod error;
mod file;
mod format;
mod input;
mod measure;
mod options;
mod source;
#[cfg(test)]
mod tests;
mod text;

pub use bytes::Spool;
pub use collection::{Block, Collection, RetainedBlock};
pub use document::{
    BlockNumber, Description, Document, DocumentContents, DocumentPosition, DocumentSink, Raw,
    ReadBuffers, SinkError, StoredShingles, UnitParent, UnitRange,
};
pub use error::{
    Field, Location, ReadError, SkipReason, SkippedItem, TableProblem, limit_parameter,
};
pub use file::name_of;
pub use format::{CsvHeader, JsonLine, JsonLineReader, has_member};
pub use input::{Side, refuse_streams};
pub use measure::{Content, InputStamp, MAX_DOCUMENT_BYTES, RecordSize, Stamp};
pub use options::{Format, ReadOptions, parse_delimiter};
pub use source::{
    DocumentRowError, DocumentRows, InMemoryDocuments, LaneRange, RetainedState, SpooledTexts,
};
pub use text::{
    NormalForm, Normalization, TextNormalizer, TextUnit, language_of, stop_words, unit,
};
