//! Findings as files, with the bytes that the command line writes.

use crate::error::{FileError, OptionError, run_error};
use lookalike::error::Error;
use lookalike::find::{FindOptions, Findings, Pairs};
use lookalike::report::{self, Output, OutputFormat, Target};
use pyo3::prelude::*;
use std::path::Path;

const GROUPS: &[OutputFormat] = &[OutputFormat::Jsonl, OutputFormat::Csv, OutputFormat::Parquet];
const PAIRS: &[OutputFormat] = &[OutputFormat::Csv, OutputFormat::Parquet];
const SKIPPED: &[OutputFormat] = &[OutputFormat::Csv];
const REPORT: &[OutputFormat] = &[OutputFormat::Json];

/// Writes `what` (`groups`, `pairs`, `skipped` or `report`) in the format that the name tells.
pub(crate) fn write(
    what: &str,
    path: &Path,
    findings: &Findings,
    options: &FindOptions,
) -> PyResult<()> {
    let possible = match what {
        "groups" => GROUPS,
        "pairs" => PAIRS,
        "skipped" => SKIPPED,
        _ => REPORT,
    };
    let target = Target::new(path, possible);
    let target = target.map_err(|error| FileError::new_err(error.to_string()))?;
    if what == "pairs" && findings.pairs.is_none() {
        return Err(OptionError::new_err("pairs were not asked for; find with pairs=True"));
    }
    written(what, &target, findings, options).map_err(run_error)
}

fn written(
    what: &str,
    target: &Target,
    findings: &Findings,
    options: &FindOptions,
) -> Result<(), Error> {
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
        _ => output.finish(|out| {
            report::json::summary(out, findings, options, None)?;
            out.write_all(b"\n")
        }),
    }
}
