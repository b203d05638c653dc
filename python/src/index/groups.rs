//! The near-duplicates among the documents of an index, as the engine's run finds them.

use super::opened::Handle;
use super::telling::told;
use crate::call;
use crate::error::{params_error, run_error};
use crate::find::Findings;
use crate::options::Options;
use lookalike::core::params::{Measure, Params, Wishes};
use lookalike::error::Error;
use lookalike::index::{self, time};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Finds them. `arguments` are the options of `find` that an index does not decide.
///
/// # Errors
/// `OptionError` for what an option cannot be, and those of the engine.
pub(super) fn groups(
    py: Python<'_>,
    handle: &Handle,
    arguments: &Bound<'_, PyDict>,
    progress: Option<&Py<PyAny>>,
) -> PyResult<Findings> {
    let options = Options::new(arguments)?;
    let params = params(handle.index.params(), &options)?;
    let find = options.find(params)?;
    options.finish()?;
    let found = call::long(py, progress, |watch| {
        match index::groups(&handle.index, &find, time::now(), watch) {
            Err(Error::Interrupted) => Err(Error::Interrupted),
            found => Ok(found),
        }
    });
    match found? {
        Ok(findings) => Ok(Findings::of_index(findings, find)),
        Err(Error::Index(error)) => Err(told(error)),
        Err(error) => Err(run_error(error)),
    }
}

/// Those of the index, or for another aim those that `find` would choose.
fn params(has: &Params, options: &Options<'_>) -> PyResult<Params> {
    let threshold = options.number("threshold")?.unwrap_or(has.threshold());
    let recall = options.number("recall")?.unwrap_or(has.recall());
    let measure = options.choice("measure")?.unwrap_or(Measure::Jaccard);
    let exact = options.flag("exact")?;
    // Signatures are not used where candidates are exact.
    let same = !exact
        && measure == Measure::Jaccard
        && threshold.to_bits() == has.threshold().to_bits()
        && recall.to_bits() == has.recall().to_bits();
    let wishes = Wishes {
        shingle: has.shingle().clone(),
        threshold,
        measure,
        exact,
        recall,
        num_hashes: same.then(|| has.num_hashes()),
        bands: same.then(|| has.bands()),
        rows: same.then(|| has.rows()),
        scheme: has.scheme(),
        seed: has.seed(),
    };
    Params::new(&wishes).map_err(|error| params_error(&error))
}
