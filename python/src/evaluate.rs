//! `evaluate`: measures the precision and recall of a report against a file of
//! true pairs or groups.

use crate::call;
use crate::error::{DocumentError, OptionError};
use lookalike::core::error::ParamsError;
use lookalike::evaluate::{EvaluateOptions, evaluate as compare};
use lookalike::find::FindError;
use lookalike::report::json;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Compares a report with a truth file. Returns JSON, as the command line prints it.
#[pyfunction]
pub(crate) fn evaluate(
    py: Python<'_>,
    report: PathBuf,
    truth: PathBuf,
    threshold: Option<f64>,
    all_members: bool,
) -> PyResult<String> {
    if let Some(got) = threshold.filter(|threshold| !(*threshold > 0.0 && *threshold <= 1.0)) {
        return Err(OptionError::new_err(ParamsError::Threshold { got }.to_string()));
    }
    let options = EvaluateOptions { threshold, all_members, ..EvaluateOptions::default() };
    let found = call::reading(py, None, move |_| {
        let found = match compare(&report, &truth, &options) {
            Err(error @ FindError::Table { .. }) => return Ok(Err(error)),
            other => other?,
        };
        let mut text = Vec::new();
        json::evaluation(&mut text, &found).map_err(FindError::of_io)?;
        Ok(Ok(String::from_utf8_lossy(&text).into_owned()))
    })?;
    found.map_err(|error| DocumentError::new_err(error.to_string()))
}
