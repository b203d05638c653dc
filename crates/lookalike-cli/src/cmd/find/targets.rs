//! Names in, files out: groups, pairs and skipped as they are found, reports of the whole.
//!
//! All names are checked, and all files made, before a run begins.

use super::args::FindOutputArgs;
use crate::cmd::CommandError;
use lookalike::core::params::Measure;
use lookalike::error::Error;
use lookalike::find::{Findings, Pairs};
use lookalike::report::csv::CellRule;
use lookalike::report::run_page::{self, RunSubject};
use lookalike::report::{self, Output, OutputFormat, Target};
use std::path::{Path, PathBuf};

/// The files that are asked for.
pub(in crate::cmd) struct FindTargets {
    groups: Option<Target>,
    pairs: Option<Target>,
    skipped: Option<Target>,
    reports: Vec<Target>,
    cells: CellRule,
}

impl FindTargets {
    /// Refuses names that do not say what to write.
    pub(in crate::cmd) fn new(args: &FindOutputArgs) -> Result<Self, CommandError> {
        const LIST: &[OutputFormat] = &[OutputFormat::Csv];
        const TABLE: &[OutputFormat] = &[
            OutputFormat::Csv,
            #[cfg(feature = "parquet")]
            OutputFormat::Parquet,
        ];
        const GROUPS: &[OutputFormat] = &[
            OutputFormat::Jsonl,
            OutputFormat::Csv,
            #[cfg(feature = "parquet")]
            OutputFormat::Parquet,
        ];
        const REPORT: &[OutputFormat] = &[OutputFormat::Json, OutputFormat::Html];
        let named = |option: &str, path: &Path, possible| {
            let target = Target::new(path, possible);
            target.map_err(|error| CommandError::Usage(format!("{option}: {error}")))
        };
        let target = |option, path: &Option<PathBuf>, possible| {
            path.as_deref().map(|path| named(option, path, possible)).transpose()
        };
        let reports = args.report.iter().map(|path| named("--report", path, REPORT));
        let targets = Self {
            groups: target("--output", &args.output, GROUPS)?,
            pairs: target("--pairs", &args.pairs, TABLE)?,
            skipped: target("--skipped", &args.skipped, LIST)?,
            reports: reports.collect::<Result<_, _>>()?,
            cells: args.cells(),
        };
        Ok(targets)
    }

    /// Every one of them.
    pub(in crate::cmd) fn all(&self) -> impl Iterator<Item = &Target> {
        [&self.groups, &self.pairs, &self.skipped].into_iter().flatten().chain(&self.reports)
    }

    /// Refuses two outputs of one name; inputs are never overwritten.
    pub(in crate::cmd) fn refuse_taken(
        &self,
        inputs: &[PathBuf],
        reference: &[PathBuf],
    ) -> Result<(), CommandError> {
        report::check_places(self.all().map(Target::path), None, inputs, reference)
            .map_err(|taken| CommandError::Usage(taken.to_string()))
    }

    /// Makes the files of results, under temporary names.
    pub(in crate::cmd) fn create(&self) -> Result<FindOutputs, CommandError> {
        let create = |target: &Option<Target>| target.as_ref().map(Output::create).transpose();
        Ok(FindOutputs {
            groups: create(&self.groups)?.zip(self.groups.as_ref().map(Target::format)),
            pairs: create(&self.pairs)?.zip(self.pairs.as_ref().map(Target::format)),
            skipped: create(&self.skipped)?,
            cells: self.cells,
        })
    }

    /// Makes those of reports.
    pub(in crate::cmd) fn create_reports(&self) -> Result<FindReports, CommandError> {
        let create = |target: &Target| Ok((Output::create(target)?, target.format()));
        Ok(FindReports { reports: self.reports.iter().map(create).collect::<Result<_, Error>>()? })
    }
}

/// The files that are being written.
pub(in crate::cmd) struct FindOutputs {
    groups: Option<(Output, OutputFormat)>,
    pairs: Option<(Output, OutputFormat)>,
    skipped: Option<Output>,
    cells: CellRule,
}

impl FindOutputs {
    /// Writes and names them.
    pub(in crate::cmd) fn write(
        self,
        findings: &Findings,
        measure: Measure,
    ) -> Result<(), CommandError> {
        let (groups, cells) = (&findings.groups, self.cells);
        match self.groups {
            #[cfg(feature = "parquet")]
            Some((output, OutputFormat::Parquet)) => {
                report::parquet::groups(output, groups, measure)?;
            }
            Some((output, OutputFormat::Jsonl)) => {
                output.finish(|out| report::jsonl::groups(out, groups, measure))?;
            }
            Some((output, _)) => {
                output.finish(|out| report::csv::groups(out, groups, measure, cells))?;
            }
            None => {}
        }
        let none = Pairs::default();
        let pairs = findings.pairs.as_ref().unwrap_or(&none);
        match self.pairs {
            #[cfg(feature = "parquet")]
            Some((output, OutputFormat::Parquet)) => {
                report::parquet::pairs(output, pairs, measure)?;
            }
            Some((output, _)) => {
                output.finish(|out| report::csv::pairs(out, pairs, measure, cells))?;
            }
            None => {}
        }
        if let Some(output) = self.skipped {
            let (skipped, empty) = (&findings.skipped, &findings.empty);
            let identical = &findings.identical;
            output.finish(|out| report::csv::skipped(out, skipped, identical, empty, cells))?;
        }
        Ok(())
    }
}

/// The reports that are being written.
pub(in crate::cmd) struct FindReports {
    reports: Vec<(Output, OutputFormat)>,
}

impl FindReports {
    /// Writes and names them.
    pub(in crate::cmd) fn write(self, subject: &RunSubject<'_>) -> Result<(), CommandError> {
        let RunSubject { findings, options, audit, .. } = *subject;
        for (output, format) in self.reports {
            if format == OutputFormat::Html {
                run_page::write(output, subject)?;
            } else {
                output.finish(|out| report::json::summary(out, findings, options, audit))?;
            }
        }
        Ok(())
    }
}
