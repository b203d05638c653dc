//! Writes findings as files and reports. `docs/reference/report.md` specifies every format.
//!
//! ```text
//! groups, pairs, skipped ─ csv::…, jsonl::… ─► any writer
//! Findings ─ json::summary ─► any writer
//! RunSubject ─ run_page::write ─► html::Page, html::Streams ─ html::write ─► any writer
//! OutputKind::write ─► one of these, by the format of the Output
//! Target::new (name → format, compression) ─ create ─► Output ─ finish ─► the file, whole
//! ```
//!
//! An [`Output`] is opened before a run, so that an unwritable path fails early. The file receives
//! its name when it is complete. Equal findings produce equal bytes.

pub mod comparison;
pub mod contamination;
pub mod csv;
mod error;
pub mod html;
pub mod json;
pub mod jsonl;
pub mod notes;
mod output;
mod output_paths;
mod own_outputs;
#[cfg(feature = "parquet")]
pub mod parquet;
pub(crate) mod part_file;
mod passage_rows;
pub mod passages;
pub mod phrases;
mod results;
pub mod run_page;

pub use error::OutputError;
pub use output::Output;
pub use output_paths::{PathUser, TakenPlace, check_places};
pub use part_file::{Leftovers, remove_leftovers, write_whole_file};
pub use results::OutputKind;

use lookalike_core::parameter::Parameter;
use std::fmt;
use std::path::{Path, PathBuf};

/// The version of all formats, as described in `docs/reference/report.md`.
pub const FORMAT_VERSION: u32 = 1;

/// The reason for an empty document in the list of skipped items.
pub const EMPTY: &str = "empty: no tokens";

/// Returns a parameter as an option of the command line, such as `--num-hashes`. Reports of all
/// front ends use this spelling.
pub fn option_name(parameter: Parameter) -> String {
    match parameter {
        Parameter::AnnotateField => "--annotate=NAME".to_owned(),
        Parameter::Hidden | Parameter::NoIgnore => "--all-files".to_owned(),
        Parameter::LineIds => "--id-field :line".to_owned(),
        Parameter::MaxDepth
        | Parameter::MaxExpanded
        | Parameter::MaxFileSize
        | Parameter::MaxMembers
        | Parameter::MaxPages
        | Parameter::MaxSeconds => parameter.name().replace("max_", "--max ").replace('_', "-"),
        _ => format!("--{}", parameter.name().replace('_', "-")),
    }
}

/// The format of a file of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    /// One JSON object per line.
    Jsonl,
    /// Comma-separated values with a header.
    Csv,
    /// A whole run as one JSON object.
    Json,
    /// A whole run as a web page.
    Html,
    /// Apache Parquet, which has its own compression.
    #[cfg(feature = "parquet")]
    Parquet,
}

/// The compression of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputCompression {
    None,
    Gzip,
    Zstd,
}

impl OutputCompression {
    /// Returns the compression that the extension of a lower-case name states, and the name without
    /// this extension.
    pub(crate) fn of(name: &str) -> (Self, &str) {
        if let Some(stem) = name.strip_suffix(".gz") {
            (Self::Gzip, stem)
        } else if let Some(stem) = name.strip_suffix(".zst") {
            (Self::Zstd, stem)
        } else {
            (Self::None, name)
        }
    }
}

/// Returns whether a lower-case name has the extension of a compression, and the name without this
/// extension.
pub(crate) fn strip_compression(name: &str) -> (bool, &str) {
    let (compression, stem) = OutputCompression::of(name);
    (compression != OutputCompression::None, stem)
}

/// The name, the format and the compression of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    path: PathBuf,
    format: OutputFormat,
    compression: OutputCompression,
}

/// A file name whose extension is not a possible format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    /// The name.
    pub path: PathBuf,
    /// The possible formats.
    pub possible: &'static [OutputFormat],
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ends = |compressible: bool| {
            let formats = self.possible.iter().filter(|f| f.is_compressible() == compressible);
            formats.map(|format| format.extension()).collect::<Vec<_>>().join(" or ")
        };
        write!(
            f,
            "cannot tell from the name {} what to write; it must end in {}, which .gz or .zst may \
             follow",
            self.path.display(),
            ends(true)
        )?;
        let uncompressed = ends(false);
        if uncompressed.is_empty() { Ok(()) } else { write!(f, ", or in {uncompressed}") }
    }
}

impl std::error::Error for UnknownName {}

impl OutputFormat {
    /// Whether `.gz` or `.zst` may follow the extension.
    fn is_compressible(self) -> bool {
        matches!(self, Self::Jsonl | Self::Csv | Self::Json)
    }

    /// The extension of its files, with the dot.
    fn extension(self) -> &'static str {
        match self {
            Self::Jsonl => ".jsonl",
            Self::Csv => ".csv",
            Self::Json => ".json",
            Self::Html => ".html",
            #[cfg(feature = "parquet")]
            Self::Parquet => ".parquet",
        }
    }
}

impl Target {
    /// Derives format and compression from the extension, in upper or lower case. Does not access
    /// the file.
    ///
    /// # Errors
    /// [`UnknownName`] if the name does not end in one of the `possible` extensions.
    pub fn new(path: &Path, possible: &'static [OutputFormat]) -> Result<Self, UnknownName> {
        let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase());
        let name = name.unwrap_or_default();
        let (compression, stem) = OutputCompression::of(&name);
        let fits = |format: &OutputFormat| {
            stem.ends_with(format.extension())
                && (compression == OutputCompression::None || format.is_compressible())
        };
        let format = possible.iter().copied().find(fits);
        match format {
            Some(format) => Ok(Self { path: path.to_owned(), format, compression }),
            None => Err(UnknownName { path: path.to_owned(), possible }),
        }
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The format.
    pub fn format(&self) -> OutputFormat {
        self.format
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::engine::{
        DocumentNumber, Duplicate, Group, Groups, IdList, Keeper, Pair, Pairs, SkippedRecords,
    };
    use crate::read::{SkipReason, SkippedItem};
    use lookalike_core::verify::Overlap;

    const MOST: Overlap = Overlap { intersection: 9, left: 10, right: 9 };
    const EQUAL: Overlap = Overlap { intersection: 1, left: 1, right: 1 };

    /// Groups whose texts need quotes or escapes.
    pub(crate) fn groups() -> Groups {
        let keeper = |id: &str| Keeper {
            id: id.to_owned(),
            document: DocumentNumber(1),
            bytes: 9,
            reference: false,
            by_decision: false,
            unit: None,
        };
        let duplicate = |id: &str, overlap| Duplicate {
            id: id.to_owned(),
            document: DocumentNumber(2),
            bytes: 8,
            overlap,
            decided_by: Some(0),
            unit: None,
        };
        let groups = [
            Group { keeper: keeper("k"), duplicates: vec![duplicate("ü", MOST)] },
            Group {
                keeper: keeper("a,b"),
                duplicates: vec![duplicate("say \"x\"", EQUAL), duplicate("two\nlines", MOST)],
            },
        ];
        Groups::of(&groups).unwrap()
    }

    /// Two pairs.
    pub(crate) fn pairs() -> Pairs {
        let pair = |a: &str, b: &str, overlap| Pair {
            a: a.to_owned(),
            b: b.to_owned(),
            overlap,
            estimate: None,
            units: None,
        };
        Pairs::of(&[pair("k", "ü", MOST), pair("a,b", "say \"x\"", EQUAL)]).unwrap()
    }

    /// A record that was skipped.
    pub(crate) fn skipped() -> SkippedRecords {
        let reason = SkipReason::NotAnObject { got: "an array".into() };
        let record = SkippedItem { source: "in.jsonl".to_owned(), line: Some(7), id: None, reason };
        SkippedRecords::of(&[record]).unwrap()
    }

    /// A document without tokens.
    pub(crate) fn empty() -> IdList {
        IdList::of(["nothing"]).unwrap()
    }

    #[test]
    fn names_say_format_and_compression() {
        const BOTH: &[OutputFormat] = &[OutputFormat::Jsonl, OutputFormat::Csv];
        let target = |name: &str| Target::new(Path::new(name), BOTH);
        let reported = |name: &str| target(name).map(|t| (t.format, t.compression));
        assert_eq!(reported("x/a.jsonl"), Ok((OutputFormat::Jsonl, OutputCompression::None)));
        assert_eq!(reported("a.CSV.gz"), Ok((OutputFormat::Csv, OutputCompression::Gzip)));
        assert_eq!(reported("a.csv.zst"), Ok((OutputFormat::Csv, OutputCompression::Zstd)));
        for name in ["a.parquet", "a", "a.gz", "csv", "..", "a.csv.bz2"] {
            let message = target(name).unwrap_err().to_string();
            assert!(message.contains(".jsonl or .csv, which .gz or .zst"), "{message}");
        }
        assert!(Target::new(Path::new("a.jsonl"), &[OutputFormat::Csv]).is_err());
    }

    #[test]
    fn reports_are_pages_or_json() {
        const REPORTS: &[OutputFormat] = &[OutputFormat::Html, OutputFormat::Json];
        let format = |name: &str| Target::new(Path::new(name), REPORTS).map(|t| t.format);
        assert_eq!(format("r.HTML"), Ok(OutputFormat::Html));
        assert_eq!(format("r.json.gz"), Ok(OutputFormat::Json));
        for name in ["r.html.gz", "r.jsonl", "r.htm", "html"] {
            let message = format(name).unwrap_err().to_string();
            let expected = "in .json, which .gz or .zst may follow, or in .html";
            assert!(message.ends_with(expected), "{message}");
        }
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn parquet_is_not_compressed_once_more() {
        const TABLE: &[OutputFormat] = &[OutputFormat::Csv, OutputFormat::Parquet];
        assert!(Target::new(Path::new("a.parquet"), TABLE).is_ok());
        let message = Target::new(Path::new("a.parquet.gz"), TABLE).unwrap_err().to_string();
        assert!(
            message.ends_with(".csv, which .gz or .zst may follow, or in .parquet"),
            "{message}"
        );
    }
}
