//! Findings as files, with the bytes that the command line writes.

use crate::error::{FileError, OptionError, run_error};
use lookalike::error::Error;
use lookalike::find::Pairs;
use lookalike::report::run_page::{self, RunSubject};
use lookalike::report::{self, Output, OutputFormat, Target};
use pyo3::prelude::*;
use std::path::Path;

const GROUPS: &[OutputFormat] = &[OutputFormat::Jsonl, OutputFormat::Csv, OutputFormat::Parquet];
const PAIRS: &[OutputFormat] = &[OutputFormat::Csv, OutputFormat::Parquet];
const SKIPPED: &[OutputFormat] = &[OutputFormat::Csv];
const REPORT: &[OutputFormat] = &[OutputFormat::Json, OutputFormat::Html];

/// Writes `what` (`groups`, `pairs`, `skipped` or `report`) in the format of the path's extension.
pub(crate) fn write(what: &str, path: &Path, subject: &RunSubject<'_>) -> PyResult<()> {
    let possible = match what {
        "groups" => GROUPS,
        "pairs" => PAIRS,
        "skipped" => SKIPPED,
        _ => REPORT,
    };
    let target = Target::new(path, possible);
    let target = target.map_err(|error| FileError::new_err(error.to_string()))?;
    if what == "pairs" && subject.findings.pairs.is_none() {
        return Err(OptionError::new_err("pairs were not asked for; find with pairs=True"));
    }
    written(what, &target, subject).map_err(run_error)
}

fn written(what: &str, target: &Target, subject: &RunSubject<'_>) -> Result<(), Error> {
    let RunSubject { findings, options, .. } = *subject;
    let (output, measure) = (Output::create(target)?, options.params.measure());
    let (none, exact) = (Pairs::default(), report::csv::CellRule::Exact);
    let pairs = findings.pairs.as_ref().unwrap_or(&none);
    match (what, target.format()) {
        ("groups", OutputFormat::Parquet) => {
            report::parquet::groups(output, &findings.groups, measure)
        }
        ("groups", OutputFormat::Jsonl) => {
            output.finish(|out| report::jsonl::groups(out, &findings.groups, measure))
        }
        ("groups", _) => {
            output.finish(|out| report::csv::groups(out, &findings.groups, measure, exact))
        }
        ("pairs", OutputFormat::Parquet) => report::parquet::pairs(output, pairs, measure),
        ("pairs", _) => output.finish(|out| report::csv::pairs(out, pairs, measure, exact)),
        ("skipped", _) => output.finish(|out| {
            let (skipped, empty) = (&findings.skipped, &findings.empty);
            report::csv::skipped(out, skipped, &findings.identical, empty, exact)
        }),
        (_, OutputFormat::Html) => run_page::write(output, subject),
        _ => output.finish(|out| {
            report::json::summary(out, findings, options, None)?;
            out.write_all(b"\n")
        }),
    }
}
