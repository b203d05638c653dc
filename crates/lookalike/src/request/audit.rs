//! The use case `audit`: measures the recall of the run in a report.

use super::RunInputs;
use crate::audit::{Audit, AuditError, AuditOptions, Report, pairs_file, true_neighbours};
use crate::progress::{Progress, Stage};
use lookalike_core::params::Params;
use std::path::PathBuf;

/// An audit of the run that a report describes.
pub struct AuditRequest {
    report: Report,
    pairs: Option<PathBuf>,
    inputs: RunInputs,
    options: AuditOptions,
}

impl AuditRequest {
    /// Reads the parameters of the report, and checks the file of pairs. The report, the file of
    /// pairs and the parameters decide how the documents are read.
    ///
    /// # Errors
    /// [`AuditError`] if the report or the file of pairs cannot be read.
    pub fn new(
        report: PathBuf,
        pairs: Option<PathBuf>,
        mut inputs: RunInputs,
        options: AuditOptions,
    ) -> Result<Self, AuditError> {
        let opened = Report::open(&report)?;
        pairs.as_deref().map(pairs_file).transpose()?;
        inputs.leave_out(pairs.iter().cloned().chain([report]));
        inputs.shingle_by(&opened.params);
        let options = AuditOptions { ids_by_file: opened.ids_by_file, ..options };
        Ok(Self { report: opened, pairs, inputs, options })
    }

    /// Measures the recall of the run. Returns it with the parameters of the run.
    ///
    /// # Errors
    /// Errors of [`true_neighbours`], and [`AuditError`] if the report is about other
    /// documents.
    pub fn run(self, progress: &dyn Progress) -> Result<(Audit, Params), AuditError> {
        let Self { report, pairs, inputs, options } = self;
        let neighbours = true_neighbours(|| inputs.open(), &report.params, &options, progress)?;
        report.check(neighbours.inputs())?;
        progress.begin(Stage::Judge, None);
        Ok((report.judge(&neighbours, pairs.as_deref())?, report.params))
    }
}
