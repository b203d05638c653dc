//! A run → a file of its groups, its pairs, what was skipped, or all of it.

use super::csv::CellRule;
use super::run_page::{self, RunSubject};
use super::{Output, OutputFormat, csv, json, jsonl};
use crate::error::Error;
use crate::find::Pairs;

/// What a file holds of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputKind {
    /// The groups.
    Groups,
    /// The verified pairs; none where the run did not list them.
    Pairs,
    /// What was not read, and the empty documents.
    Skipped,
    /// All of it.
    Report,
}

/// The formats of pairs.
const PAIR_FORMATS: &[OutputFormat] = &[
    OutputFormat::Csv,
    #[cfg(feature = "parquet")]
    OutputFormat::Parquet,
];

impl OutputKind {
    /// The formats that it is written in.
    pub fn formats(self) -> &'static [OutputFormat] {
        match self {
            Self::Groups => &[
                OutputFormat::Jsonl,
                OutputFormat::Csv,
                #[cfg(feature = "parquet")]
                OutputFormat::Parquet,
            ],
            Self::Pairs => PAIR_FORMATS,
            Self::Skipped => &[OutputFormat::Csv],
            Self::Report => &[OutputFormat::Json, OutputFormat::Html],
        }
    }

    /// Writes the file in one of these formats and gives it its name. `cells` are those of tables
    /// in CSV.
    ///
    /// # Errors
    /// The output cannot be written, a temporary file cannot be read, or an input cannot be read
    /// again for a page.
    pub fn write(
        self,
        output: Output,
        format: OutputFormat,
        subject: &RunSubject<'_>,
        cells: CellRule,
    ) -> Result<(), Error> {
        let RunSubject { findings, options, audit, .. } = *subject;
        let (groups, measure, none) =
            (&findings.groups, options.params.measure(), Pairs::default());
        let pairs = findings.pairs.as_ref().unwrap_or(&none);
        match (self, format) {
            #[cfg(feature = "parquet")]
            (Self::Groups, OutputFormat::Parquet) => {
                super::parquet::groups(output, groups, measure)
            }
            (Self::Groups, OutputFormat::Jsonl) => {
                output.finish(|out| jsonl::groups(out, groups, measure))
            }
            (Self::Groups, _) => output.finish(|out| csv::groups(out, groups, measure, cells)),
            #[cfg(feature = "parquet")]
            (Self::Pairs, OutputFormat::Parquet) => super::parquet::pairs(output, pairs, measure),
            (Self::Pairs, _) => output.finish(|out| csv::pairs(out, pairs, measure, cells)),
            (Self::Skipped, _) => output.finish(|out| {
                let (skipped, textless_copies) = (&findings.skipped, &findings.textless_copies);
                csv::skipped(out, skipped, textless_copies, &findings.empty, cells)
            }),
            (Self::Report, OutputFormat::Html) => run_page::write(output, subject),
            (Self::Report, _) => output.finish(|out| json::summary(out, findings, options, audit)),
        }
    }
}
