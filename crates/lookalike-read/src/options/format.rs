//! The names of the formats.

use crate::bytes::decompress::strip;
use crate::error::ReadError;
use lookalike_core::error::parse_name;
use lookalike_core::parameter::Parameter;
use std::fmt;
use std::str::FromStr;

/// The format in which an input contains documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// A file is one document, with its path as the id and its contents as the text.
    Text,
    /// A file is one document or contains several, depending on its kind: a text, a web page, an
    /// archive. It is never read as a file of records. A stream is one text.
    File,
    /// A line is one document: its id, a blank (space or tab), and its text.
    Lines,
    /// A line is one JSON object with a field for the id and one for the text.
    Jsonl,
    /// An array of JSON objects, each of which is one document, as for [`Jsonl`](Self::Jsonl).
    Json,
    /// A record of separated values is one document; the first record names the columns. Commas,
    /// semicolons, tabs or bars separate the values, as found in the header and the first records.
    Csv,
    /// As [`Csv`](Self::Csv), with tabs between the values.
    Tsv,
    /// A row is one document; the footer names the columns.
    Parquet,
    /// A message is one document. Messages follow each other, each after a line `From …`.
    Mbox,
    /// A crawl (WARC, or WET with the texts of its pages): a page is one document.
    Warc,
    /// The files of a tar archive.
    Tar,
}

impl Format {
    /// All formats, in the order in which messages name them.
    const ALL: [Self; 11] = [
        Self::Text,
        Self::Lines,
        Self::Jsonl,
        Self::Json,
        Self::Csv,
        Self::Tsv,
        Self::Parquet,
        Self::File,
        Self::Mbox,
        Self::Warc,
        Self::Tar,
    ];

    /// The name in options.
    fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::File => "file",
            Self::Lines => "lines",
            Self::Jsonl => "jsonl",
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Parquet => "parquet",
            Self::Mbox => "mbox",
            Self::Warc => "warc",
            Self::Tar => "tar",
        }
    }

    /// The format that the extension of a file name shows. `name` must not have an extension of
    /// compression.
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

    /// Returns true for a format with its own compression.
    pub fn is_binary(self) -> bool {
        self == Self::Parquet
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = ReadError;

    fn from_str(text: &str) -> Result<Self, ReadError> {
        let expected = "text, lines, jsonl, json, csv, tsv, parquet, file, mbox, warc or tar";
        Ok(parse_name(text, &Self::ALL, Self::name, Parameter::Format, expected)?)
    }
}
