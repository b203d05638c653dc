//! `audit`: measures the recall of a run from its report and its documents.

use crate::call;
use crate::error::OptionError;
use crate::input::compared_input::ComparedInput;
use crate::input::ids::row_digits;
use crate::input::inputs::ComparedInputs;
use crate::options::KeywordOptions;
use lookalike::audit::{Audit, AuditError, AuditOptions};
use lookalike::core::params::Params;
use lookalike::error::Error;
use lookalike::find::FindError;
use lookalike::report::json;
use lookalike::request::AuditRequest;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Measures the share of similar pairs that a run found. `report` is the report of this run.
/// Returns JSON in the format of `docs/explanation/audit.md`.
#[pyfunction]
#[pyo3(signature = (report, documents, reference, options, sample, confidence, progress=None))]
#[expect(clippy::too_many_arguments, reason = "the package names each of them")]
pub(crate) fn audit(
    py: Python<'_>,
    report: PathBuf,
    documents: ComparedInput,
    reference: Option<ComparedInput>,
    options: &Bound<'_, PyDict>,
    sample: usize,
    confidence: f64,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let keywords = KeywordOptions::new(options)?;
    let seed = keywords.integer("seed")?.unwrap_or(1);
    let audit_options = self::options(sample, seed, confidence, keywords.threads()?)?;
    let normalization = keywords.normalization()?;
    let reading = keywords.reading(normalization, crate::extraction::options(py)?)?;
    let decisions = keywords.decisions(py, row_digits(&documents, reference.as_ref()))?;
    keywords.finish()?;
    let inputs = ComparedInputs::new(py, &documents, reference.as_ref(), reading)?;
    inputs.refuse_streams("an audit")?;
    call::reading(py, progress.as_ref(), move |watch| {
        let audit_options = AuditOptions { decisions, ..audit_options };
        let (audit, params) =
            AuditRequest::new(report, None, inputs.run, audit_options)?.run(watch)?;
        json(&audit, &params)
    })
}

/// Checks the options of an audit.
pub(crate) fn options(
    sample: usize,
    seed: u64,
    confidence: f64,
    threads: NonZeroUsize,
) -> PyResult<AuditOptions> {
    let Some(sample) = NonZeroUsize::new(sample) else {
        return Err(OptionError::new_err("sample: expected 1 or more, got 0"));
    };
    if !(confidence > 0.0 && confidence < 1.0) {
        let error = AuditError::Confidence { got: confidence };
        return Err(OptionError::new_err(error.to_string()));
    }
    Ok(AuditOptions { sample, seed, confidence, threads, ..AuditOptions::default() })
}

/// The measurements as JSON, as the command line prints them.
pub(crate) fn json(audit: &Audit, params: &Params) -> Result<String, Error> {
    let mut text = Vec::new();
    json::audit(&mut text, audit, params).map_err(FindError::of_io)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
