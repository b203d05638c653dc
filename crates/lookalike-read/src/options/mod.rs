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

/// How the inputs are to be read. `Default` finds the format of each input by its name and first
/// byte, takes the fields `id` and `text`, respects ignore files and stops at a bad record.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "switches of the command line, each on its own")]
pub struct ReadOptions {
    /// The format of every file; found for each by itself when `None`.
    pub format: Option<Format>,
    /// The field (JSONL) or column (CSV, TSV, Parquet) that holds the id. In JSONL, `meta.id` is
    /// the field `id` of the object `meta` where no field is called `meta.id` itself; in Parquet,
    /// the column `id` of the group `meta`. A number is an id by its text.
    pub id_field: String,
    /// The field or column that holds the text, written as [`id_field`](Self::id_field) is.
    pub text_field: String,
    /// Further fields or columns whose values are given as [`Document::fields`], each written as
    /// [`id_field`](Self::id_field) is. JSON strings are given without escapes (with them where one
    /// is half a surrogate pair), other values as written in the line; null and a missing field
    /// have no value. In Parquet, numbers and booleans are given as text, dates and times as the
    /// number that represents them. A column that is not in the header once is an error. Of files,
    /// the names of [`lookalike_extract::Fields::NAMES`]; plain texts and files of lines have none.
    ///
    /// [`Document::fields`]: crate::Document::fields
    pub fields: Vec<String>,
    /// The byte between the values of CSV and TSV; found for each file of CSV when `None`, and a
    /// tab in TSV.
    pub delimiter: Option<u8>,
    /// The id of a record is `NAME:LINE` and does not come from a field. `NAME` is the file's name
    /// as in ids of text files. `LINE` is the number, from 1, of the record's first line, of its
    /// row, or of its element in an array. JSON whose first records have no field `id` gets these
    /// ids as well, unless [`id_field`](Self::id_field) is another field.
    pub line_ids: bool,
    /// A bad record is given to [`DocumentSink::skipped`](crate::DocumentSink::skipped) and the
    /// rest is read; it is an error otherwise.
    pub skip_bad: bool,
    /// Folders: files and folders whose name begins with a dot are read too.
    pub hidden: bool,
    /// Folders: `.gitignore` and `.ignore` files are respected, inside and outside of git
    /// repositories, also in parent folders.
    pub ignore_files: bool,
    /// Folders: symbolic links are followed. They are skipped and listed otherwise.
    pub follow_links: bool,
    /// Folders: only files that match one of these patterns are read, if there are any. They are
    /// patterns of `.gitignore`: `*.txt` matches in every folder, `/a/*.txt` in that one, and they
    /// win over ignore files. Excluded files are neither read nor listed.
    pub include: Vec<String>,
    /// Folders: files, and folders, that match one of these patterns are neither read nor listed.
    pub exclude: Vec<String>,
    /// Folders: only files of these types are read, if there are any: the names that ripgrep has
    /// (`txt`, `md`, `html`, `pdf`, `py`, …).
    pub types: Vec<String>,
    /// Folders: files, and folders with all that is in them, that are neither read nor listed, such
    /// as those a run will write.
    pub leave_out: Vec<PathBuf>,
    /// The character encoding of every file, by a label of the WHATWG Encoding Standard such as
    /// `windows-1252`. When `None`, a text file's is found by its byte order mark, by being valid
    /// UTF-8, or by its letters; records are UTF-8, or what their byte order mark says. Parquet is
    /// UTF-8 always.
    pub encoding: Option<String>,
    /// Options and limits for files other than plain text. With [`Format::Text`] all files are
    /// taken as plain text.
    pub extract: lookalike_extract::ExtractOptions,
    /// The most bytes that a compressed file of records may become. Unlimited when `None`: memory
    /// holds one block of it at a time.
    pub max_expanded: Option<u64>,
    /// What is done to every text.
    pub normalization: Normalization,
    /// How the run cuts documents. An index among the references is read as shingle sets if its
    /// documents are cut so and it has the same `normalization`; otherwise as texts.
    pub shingle: Option<ShingleRule>,
    /// What is compared as a document; units other than documents have the id `DOC#n`, n from 1.
    pub unit: TextUnit,
}

/// Reads the value of [`ReadOptions::delimiter`]: one ASCII character, or `tab` or `\t` for a tab.
///
/// # Errors
/// [`ReadError::Filter`] for any other text, a quote and a line end.
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
