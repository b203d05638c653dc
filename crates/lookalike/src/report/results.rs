//! Writes a run to a file: its groups, its pairs, the skipped items, or all of them.

use super::csv::CellRule;
use super::run_page::{self, RunSubject};
use super::{Output, OutputFormat, csv, json, jsonl};
use crate::engine::Pairs;
use crate::report::error::OutputError;

/// The content of a file of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputKind {
    /// The groups.
    Groups,
    /// The verified pairs; none if the run did not list them.
    Pairs,
    /// The skipped items, and the empty documents.
    Skipped,
    /// The whole run.
    Report,
}

/// The formats of pairs.
const PAIR_FORMATS: &[OutputFormat] = &[
    OutputFormat::Csv,
    #[cfg(feature = "parquet")]
    OutputFormat::Parquet,
];

impl OutputKind {
    /// The possible formats.
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

    /// Writes the file in one of the possible formats, and renames it to its final name. `cells`
    /// applies to tables in CSV.
    ///
    /// # Errors
    /// [`OutputError::Name`] for another format. Other errors if the output cannot be written, a
    /// temporary file cannot be read, or an input cannot be read again for a page.
    pub fn write(
        self,
        output: Output,
        format: OutputFormat,
        subject: &RunSubject<'_>,
        cells: CellRule,
    ) -> Result<(), OutputError> {
        let RunSubject { findings, options, audit, .. } = *subject;
        let groups = &findings.groups;
        let measure = options.params.measure();
        let no_pairs = Pairs::default();
        let pairs = findings.pairs.as_ref().unwrap_or(&no_pairs);
        match (self, format) {
            #[cfg(feature = "parquet")]
            (Self::Groups, OutputFormat::Parquet) => {
                super::parquet::groups(output, groups, measure)
            }
            (Self::Groups, OutputFormat::Jsonl) => {
                output.finish(|out| jsonl::groups(out, groups, measure))
            }
            (Self::Groups, OutputFormat::Csv) => {
                output.finish(|out| csv::groups(out, groups, measure, cells))
            }
            #[cfg(feature = "parquet")]
            (Self::Pairs, OutputFormat::Parquet) => super::parquet::pairs(output, pairs, measure),
            (Self::Pairs, OutputFormat::Csv) => {
                output.finish(|out| csv::pairs(out, pairs, measure, cells))
            }
            (Self::Skipped, OutputFormat::Csv) => output.finish(|out| {
                let skipped = &findings.skipped;
                let textless_copies = &findings.textless_copies;
                csv::skipped(out, skipped, textless_copies, &findings.empty, cells)
            }),
            (Self::Report, OutputFormat::Html) => run_page::write(output, subject),
            (Self::Report, OutputFormat::Json) => {
                output.finish(|out| json::summary(out, findings, options, audit))
            }
            (Self::Groups | Self::Pairs | Self::Skipped | Self::Report, _) => {
                Err(output.other_format(self.formats()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::{FindOptions, find};
    use crate::report::{Target, UnknownName};
    use lookalike_core::params::{Params, ParamsBuilder};

    #[test]
    fn impossible_formats_leave_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("in.jsonl");
        std::fs::write(&input, "{\"id\":\"a\",\"text\":\"one two\"}\n").unwrap();
        let inputs = [input];
        let options = FindOptions::new(Params::new(&ParamsBuilder::default()).unwrap());
        let findings = find(&inputs, &options).unwrap();
        let findings = &findings;
        let options = &options;
        let subject =
            RunSubject { findings, options, inputs: &inputs, reference: &[], audit: None };
        let all = [OutputFormat::Jsonl, OutputFormat::Csv, OutputFormat::Json, OutputFormat::Html];
        let kinds =
            [OutputKind::Groups, OutputKind::Pairs, OutputKind::Skipped, OutputKind::Report];
        for kind in kinds {
            for format in all {
                let path = folder.path().join("out.csv");
                let output =
                    Output::create(&Target::new(&path, &[OutputFormat::Csv]).unwrap()).unwrap();
                let written = kind.write(output, format, &subject, CellRule::default());
                let is_possible = kind.formats().contains(&format);
                assert_eq!(written.is_ok(), is_possible, "{kind:?} {format:?}: {written:?}");
                assert_eq!(path.exists(), is_possible);
                match written {
                    Ok(()) => std::fs::remove_file(&path).unwrap(),
                    Err(OutputError::Name(UnknownName { possible, .. })) => {
                        assert_eq!(possible, kind.formats());
                    }
                    Err(error) => panic!("{kind:?} {format:?}: {error}"),
                }
            }
        }
    }
}
