//! Writes findings to files, with the same bytes as the command line.

use crate::error::{FileError, OptionError, run_error};
use lookalike::report::csv::CellRule;
use lookalike::report::run_page::RunSubject;
use lookalike::report::{Output, OutputKind, Target};
use pyo3::prelude::*;
use std::path::Path;

/// Writes groups, pairs, skipped records or the report. `label` is `groups`, `pairs`, `skipped` or
/// `report`. The extension of the path selects the format.
pub(crate) fn write(label: &str, path: &Path, subject: &RunSubject<'_>) -> PyResult<()> {
    let kind = match label {
        "groups" => OutputKind::Groups,
        "pairs" => OutputKind::Pairs,
        "skipped" => OutputKind::Skipped,
        _ => OutputKind::Report,
    };
    let target = Target::new(path, kind.formats());
    let target = target.map_err(|error| FileError::new_err(error.to_string()))?;
    if kind == OutputKind::Pairs && subject.findings.pairs.is_none() {
        return Err(OptionError::new_err("pairs were not requested; find with pairs=True"));
    }
    let written = Output::create(&target)
        .and_then(|output| kind.write(output, target.format(), subject, CellRule::Exact));
    written.map_err(run_error)
}
