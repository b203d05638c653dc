//! Converts the parameters of a run to Python objects.

use crate::error::LookalikeError;
use lookalike::core::params::Params;
use lookalike::find::{self, FindOptions};
use lookalike::report::json::BetterSettingView;
use lookalike::tune::SettingChanges;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Returns the parameters by the names of the options, with the predicted recall.
pub(crate) fn dict<'py>(py: Python<'py>, params: &Params) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("threshold", params.threshold())?;
    dict.set_item("measure", params.measure().to_string())?;
    dict.set_item("exact", params.exact())?;
    dict.set_item("shingle", params.shingle().to_string())?;
    dict.set_item("recall", params.recall())?;
    if !params.exact() {
        dict.set_item("predicted_recall", params.predicted_recall())?;
        if let Some(caveat) = params.recall_caveat() {
            dict.set_item("recall_caveat", caveat.to_string())?;
        }
        dict.set_item("scheme", params.scheme().to_string())?;
        dict.set_item("seed", params.seed())?;
        dict.set_item("num_hashes", params.num_hashes())?;
        dict.set_item("bands", params.bands())?;
        dict.set_item("rows", params.rows())?;
    }
    Ok(dict)
}

/// Returns the parameters of a run. If the run chose its bands, also `bands_sample`, the number of
/// documents in the sample for this choice.
pub(crate) fn of_run<'py>(py: Python<'py>, options: &FindOptions) -> PyResult<Bound<'py, PyDict>> {
    let dict = dict(py, &options.params)?;
    if let Some(documents) = options.bands_sample {
        dict.set_item("bands_sample", documents)?;
    }
    Ok(dict)
}

/// A setting that finds more: JSON in the format of reports, and its options as arguments of
/// `find`.
pub(crate) type BetterSettingTuple<'py> = Option<(String, Bound<'py, PyDict>)>;

/// Converts the advice of a run with few results.
pub(crate) fn better_setting<'py>(
    py: Python<'py>,
    setting: Option<&find::BetterSetting>,
) -> PyResult<BetterSettingTuple<'py>> {
    let Some(setting) = setting else { return Ok(None) };
    let json = serde_json::to_string(&BetterSettingView::from(setting));
    let json = json.map_err(|error| LookalikeError::new_err(error.to_string()))?;
    let SettingChanges { measure, shingle, stop_words, threshold } =
        setting.better.setting.changes_from(&setting.used.setting);
    let options = PyDict::new(py);
    if let Some(measure) = measure {
        options.set_item("measure", measure.to_string())?;
    }
    for (name, value) in [("shingle", shingle), ("stop_words", stop_words)] {
        if let Some(value) = value {
            options.set_item(name, value)?;
        }
    }
    if let Some(threshold) = threshold {
        options.set_item("threshold", threshold)?;
    }
    Ok(Some((json, options)))
}
