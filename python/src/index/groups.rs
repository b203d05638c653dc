//! Groups of near-duplicates among the documents of an index.

use super::open_index::Handle;
use crate::call;
use crate::error::index_error;
use crate::error::{params_error, run_error};
use crate::find::PyFindings;
use crate::options::KeywordOptions;
use lookalike::core::params::Params;
use lookalike::decisions::{self, Decisions};
use lookalike::find::FindError;
use lookalike::index::{self, GroupingOptions, params_for, time};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// Finds the groups of an index. `arguments` contains the options of `find` that the
/// index does not determine.
///
/// # Errors
/// `OptionError` for an invalid option, and errors of the engine.
pub(super) fn groups(
    py: Python<'_>,
    handle: &Handle,
    arguments: &Bound<'_, PyDict>,
    progress: Option<&Py<PyAny>>,
) -> PyResult<PyFindings> {
    let options = KeywordOptions::new(arguments)?;
    let params = params(handle.index.params(), &options)?;
    let mut find = options.find(params)?;
    // Use the decisions of the index, unless other decisions or none are requested.
    let own = options.flag("own_decisions")?;
    find.decisions = options.decisions(py, None)?;
    options.finish()?;
    let found = call::long(py, progress, |watch| {
        if own {
            let decided = Decisions::new(decisions::of_index(&handle.index, 0)?);
            find.decisions = (decided.read > 0).then(|| Arc::new(decided));
        }
        match index::groups(&handle.index, &find, time::now(), watch) {
            Err(error @ FindError::Interrupted) => Err(error.into()),
            found => Ok(found),
        }
    });
    match found? {
        Ok(findings) => Ok(PyFindings::of_index(findings, find)),
        Err(FindError::Index(error)) => Err(index_error(error)),
        Err(error) => Err(run_error(error)),
    }
}

/// Returns the parameters of the index. If the caller sets another threshold, recall or measure, or
/// `exact`, returns the parameters that `find` chooses for these options.
fn params(has: &Params, options: &KeywordOptions<'_>) -> PyResult<Params> {
    let aim = GroupingOptions {
        threshold: options.number("threshold")?,
        recall: options.number("recall")?,
        measure: options.choice("measure")?,
        exact: options.flag("exact")?,
    };
    params_for(has, aim).map_err(|error| params_error(&error))
}
