//! Options of reading: format, fields, ignore rules.

pub(crate) mod format;
pub(crate) mod settings;
pub(crate) mod source_info;

pub use format::Format;
pub(crate) use settings::SourceSettings;
pub(crate) use source_info::SourceInfo;

use crate::error::ReadError;
use crate::text::{Normalization, TextUnit};
use lookalike_core::parameter::Parameter;
use lookalike_core::params::ShingleRule;
use std::path::PathBuf;

/// Options of reading. `Default` detects the format of each input by its name and first byte, takes
/// the fields `id` and `text`, respects ignore files and stops at a bad record.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "switches of the command line, each on its own")]
pub struct ReadOptions {
    /// The format of every file. Detected for each file if `None`.
    pub format: Option<Format>,
    /// The field (JSONL) or column (CSV, TSV, Parquet) with the id. In JSONL, `meta.id` is the
    /// field `id` of the object `meta`, unless there is a field named `meta.id`. In Parquet, it is
    /// the column `id` of the group `meta`. The id from a number is the number's text.
    pub id_field: String,
    /// The field or column with the text, in the notation of [`id_field`](Self::id_field).
    pub text_field: String,
    /// Further fields or columns whose values become [`Document::fields`], in the notation of
    /// [`id_field`](Self::id_field).
    ///
    /// JSON strings are decoded (unless one contains half a surrogate pair); other values are
    /// copied from the line. Null and a missing field have no value. In Parquet, numbers and
    /// booleans become text. Dates and times become the number that represents them. A column that
    /// is not in the header exactly once is an error. For files, the names are
    /// [`lookalike_extract::Fields::NAMES`]; plain texts and files of lines have no fields.
    ///
    /// [`Document::fields`]: crate::Document::fields
    pub fields: Vec<String>,
    /// The byte between the values of CSV and TSV. If `None`, it is detected for each CSV file, and
    /// is a tab in TSV.
    pub delimiter: Option<u8>,
    /// Whether the id of a record is `NAME:LINE` instead of the value of a field. `NAME` is the
    /// file's name as in ids of text files. `LINE` is the number, from 1, of the record's first
    /// line, of its row, or of its element in an array. JSON whose first records have no field `id`
    /// also gets these ids, unless [`id_field`](Self::id_field) is another field.
    pub line_ids: bool,
    /// Whether bad records are passed to [`DocumentSink::skipped`](crate::DocumentSink::skipped),
    /// and reading continues. Otherwise, a bad record is an error.
    pub skip_bad: bool,
    /// In folders, whether files and folders with a name that begins with a dot are read.
    pub hidden: bool,
    /// In folders, whether `.gitignore` and `.ignore` files are respected, inside and outside of
    /// git repositories, also in parent folders.
    pub ignore_files: bool,
    /// In folders, whether symbolic links are followed. Otherwise, they are skipped and listed.
    pub follow_links: bool,
    /// In folders, patterns of files to read; if empty, all files are read. They are `.gitignore`
    /// patterns: `*.txt` matches in every folder, `/a/*.txt` only in folder `a`. They take
    /// precedence over ignore files. Excluded files are neither read nor listed.
    pub include: Vec<String>,
    /// In folders, patterns of files and folders that are neither read nor listed.
    pub exclude: Vec<String>,
    /// In folders, types of files to read, under the names of ripgrep (`txt`, `md`, `html`, `pdf`,
    /// `py`, …). If empty, all types are read.
    pub types: Vec<String>,
    /// In folders, files and whole folders that are neither read nor listed, such as the outputs of
    /// the run.
    pub leave_out: Vec<PathBuf>,
    /// The character encoding of every file, by a label of the WHATWG Encoding Standard such as
    /// `windows-1252`. If `None`, the encoding of a text file is detected by its byte order mark,
    /// by valid UTF-8, or by its letters. Records are UTF-8, unless a byte order mark indicates
    /// another encoding. Parquet is always UTF-8.
    pub encoding: Option<String>,
    /// Options and limits for files other than plain text. With [`Format::Text`] all files are
    /// taken as plain text.
    pub extract: lookalike_extract::ExtractOptions,
    /// Maximum decompressed size of a compressed file of records in bytes. Unlimited if `None`,
    /// because memory contains only one block of the file at a time.
    pub max_expanded: Option<u64>,
    /// The changes to every text before it is compared.
    pub normalization: Normalization,
    /// The definition of the shingles of the run. An index among the references is read as shingle
    /// sets if it has the same definition of shingles and the same `normalization`, otherwise as
    /// texts.
    pub shingle: Option<ShingleRule>,
    /// The unit of comparison. Units other than documents have the id `DOC#n`, with n from 1.
    pub unit: TextUnit,
}

/// Reads the value of [`ReadOptions::delimiter`]: one ASCII character, or `tab` or `\t` for a tab.
///
/// # Errors
/// [`ReadError::Filter`] for any other text, including a quote and a line end.
pub fn parse_delimiter(text: &str) -> Result<u8, ReadError> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte @ (b' '..=b'~' | b'\t')] if *byte != b'"' => Ok(*byte),
        _ => Err(ReadError::Filter {
            parameter: Parameter::Delimiter,
            got: text.to_owned(),
            problem: "expected one character such as ; or |, or tab".to_owned(),
        }),
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            id_field: "id".to_owned(),
            text_field: "text".to_owned(),
            fields: Vec::new(),
            delimiter: None,
            line_ids: false,
            skip_bad: false,
            hidden: false,
            ignore_files: true,
            follow_links: false,
            include: Vec::new(),
            exclude: Vec::new(),
            types: Vec::new(),
            leave_out: Vec::new(),
            encoding: None,
            extract: lookalike_extract::ExtractOptions::default(),
            max_expanded: None,
            normalization: Normalization::default(),
            shingle: None,
            unit: TextUnit::Document,
        }
    }
}
