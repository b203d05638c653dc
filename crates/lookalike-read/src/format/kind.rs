//! The names of the formats.

use crate::decompress::Compression;
use crate::decompress::strip;
use crate::error::ReadError;
use lookalike_extract::ExtractError;
use std::fmt;
use std::str::FromStr;

/// How the bytes of an input become documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// A file is one document, its path the id, and its text is what it holds.
    Text,
    /// A file is one document, or holds some, by what it is: a text, a web page, an archive; but
    /// never a file of records. A stream is one text.
    File,
    /// A line is one document: its id, a blank (space or tab), its text.
    Lines,
    /// A line is one JSON object with a field for the id and one for the text.
    Jsonl,
    /// A record of comma-separated values is one document; the first record names the columns.
    Csv,
    /// The same with tabs between the values.
    Tsv,
    /// A row is one document; the footer names the columns.
    Parquet,
    /// A message is one document: messages one after the other, each behind a line `From …`.
    Mbox,
    /// What a crawler fetched or made of it (WARC, WET): a page is one document.
    Warc,
    /// The files of a tar archive.
    Tar,
}

/// The names, in the order of the formats.
const NAMES: [(Format, &str); 10] = [
    (Format::Text, "text"),
    (Format::File, "file"),
    (Format::Lines, "lines"),
    (Format::Jsonl, "jsonl"),
    (Format::Csv, "csv"),
    (Format::Tsv, "tsv"),
    (Format::Parquet, "parquet"),
    (Format::Mbox, "mbox"),
    (Format::Warc, "warc"),
    (Format::Tar, "tar"),
];

impl Format {
    /// The format of the extension of a file's name, which has no extension of compression.
    pub fn of_name(name: &str) -> Option<Self> {
        let ends = [
            (".jsonl", Self::Jsonl),
            (".ndjson", Self::Jsonl),
            (".csv", Self::Csv),
            (".tsv", Self::Tsv),
            (".train", Self::Lines),
            (".parquet", Self::Parquet),
            (".mbox", Self::Mbox),
            (".warc", Self::Warc),
            (".wet", Self::Warc),
            (".tar", Self::Tar),
            (".tgz", Self::Tar),
        ];
        ends.into_iter().find(|(end, _)| strip(name, end).is_some()).map(|(_, format)| format)
    }

    /// Why a file of this name in an archive is not read: it has records of its own.
    pub(crate) fn refused_in_archive(name: &str) -> Option<ExtractError> {
        let (_, stem) = Compression::of_name(name);
        let format = Self::of_name(stem).filter(|format| {
            matches!(format, Self::Jsonl | Self::Parquet | Self::Mbox | Self::Warc)
        })?;
        let kind = format!("a {format} file in an archive (unpacked, its records are read)");
        Some(ExtractError::Unsupported { kind })
    }

    /// Whether it is one that compresses by itself.
    pub fn is_binary(self) -> bool {
        self == Self::Parquet
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAMES[*self as usize].1)
    }
}

impl FromStr for Format {
    type Err = ReadError;

    fn from_str(text: &str) -> Result<Self, ReadError> {
        let mut formats = NAMES.iter().filter(|(_, name)| *name == text);
        let format = formats.next().map(|(format, _)| *format);
        format.ok_or_else(|| ReadError::UnknownFormat { got: text.to_owned() })
    }
}
