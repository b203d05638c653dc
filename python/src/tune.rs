//! `tune`: chooses bands and rows for a threshold and a recall, and advises on shingle rules if
//! documents are passed.

use crate::call;
use crate::error::{OptionError, params_error};
use crate::input::compared_input::ComparedInput;
use crate::input::inputs::ComparedInputs;
use crate::options::KeywordOptions;
use lookalike::core::curve::{self as curves, Choice};
use lookalike::core::params::{Params, ShingleRule};
use lookalike::folding::FoldingEffect;
use lookalike::request::{TuneOutcome, TuneRequest};
use lookalike::tune::{BandPlan, MeasuredSample, Profile, SampleSimilarities};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Returns the probability that a pair becomes a candidate, for each similarity.
#[pyfunction]
pub(crate) fn curve(similarities: Vec<f64>, bands: usize, rows: usize) -> PyResult<Vec<f64>> {
    if bands == 0 || rows == 0 {
        let text = format!("expected 1 or more bands and rows, got {bands} and {rows}");
        return Err(OptionError::new_err(text));
    }
    let probability = |similarity: f64| {
        if (0.0..=1.0).contains(&similarity) {
            return Ok(curves::candidate_probability(similarity, bands, rows));
        }
        Err(OptionError::new_err(format!("similarities are 0 to 1, got {similarity}")))
    };
    similarities.into_iter().map(probability).collect()
}

/// Chooses bands and rows for a threshold and a recall. If `documents` is set, uses a sample of
/// them. Returns the choice, all bandings of its signature length, and the effect of each shingle
/// rule on the sample.
#[pyfunction]
#[pyo3(signature = (documents, options, sample, count, tried, progress=None))]
pub(crate) fn tune(
    py: Python<'_>,
    documents: Option<ComparedInput>,
    options: &Bound<'_, PyDict>,
    sample: usize,
    count: Option<u64>,
    tried: Vec<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyDict>> {
    let options = KeywordOptions::new(options)?;
    let normalization = options.normalization()?;
    // Ignore bands='auto', which makes the same choice.
    let (builder, _) = options.builder_or_auto(options.shingle(normalization)?)?;
    let reading = options.reading(normalization, crate::extraction::options(py)?)?;
    options.finish()?;
    let params = Params::new(&builder).map_err(|error| params_error(&error))?;
    if params.exact() {
        let text = "there is nothing to tune: exact and containment find all pairs, without bands \
                    and rows; leave them out";
        return Err(OptionError::new_err(text));
    }
    let tried: Result<Vec<ShingleRule>, _> = tried.iter().map(|rule| rule.parse()).collect();
    let tried = tried.map_err(|error| params_error(&error))?;
    let inputs = documents.map(|documents| ComparedInputs::new(py, &documents, None, reading));
    let inputs = inputs.transpose()?.map(|inputs| inputs.run);
    let request = TuneRequest { inputs, builder, sample, tried, documents: count };
    let outcome =
        call::reading(py, progress.as_ref(), move |watch| Ok(request.open()?.run(watch)?))?;
    let TuneOutcome { plan, measured } = outcome;
    let dict = planned(py, &plan)?;
    add_measured(&dict, measured.as_ref(), plan.threshold)?;
    Ok(dict.unbind())
}

/// Returns the chosen banding, and the alternatives of its signature length.
fn planned<'py>(py: Python<'py>, plan: &BandPlan) -> PyResult<Bound<'py, PyDict>> {
    let Choice { num_hashes, bands, rows } = plan.best;
    let banding = plan.banding(plan.best);
    let dict = PyDict::new(py);
    dict.set_item("threshold", plan.threshold)?;
    dict.set_item("recall", plan.recall)?;
    dict.set_item("num_hashes", num_hashes)?;
    dict.set_item("bands", bands)?;
    dict.set_item("rows", rows)?;
    dict.set_item("predicted_recall", banding.recall)?;
    dict.set_item("recall_caveat", plan.recall_caveat.map(|caveat| caveat.to_string()))?;
    dict.set_item("documents", plan.cost.documents)?;
    dict.set_item("candidates", banding.candidates)?;
    dict.set_item("microseconds_per_document", banding.cost_ns / 1000.0)?;
    dict.set_item("bandings", bandings(py, plan)?)?;
    Ok(dict)
}

/// Adds the measurements of the sample. Without a sample, adds their default values.
fn add_measured(
    dict: &Bound<'_, PyDict>,
    measured: Option<&MeasuredSample>,
    threshold: f64,
) -> PyResult<()> {
    let profiles = measured.map_or(&[][..], |measured| &measured.profiles);
    let used = measured.and_then(MeasuredSample::used).map(|profile| &profile.similarities);
    let advised = measured.and_then(|measured| measured.advice(threshold));
    let advised = advised.and_then(|advice| profiles.get(advice.advised));
    dict.set_item("sampled", measured.map_or(0, |measured| measured.sample.texts.len()))?;
    dict.set_item("shingles", self::profiles(dict.py(), profiles, threshold)?)?;
    dict.set_item("advice", advised.map(|profile| profile.rule.to_string()))?;
    dict.set_item("similarities", used.map_or(&[][..], SampleSimilarities::above_zero))?;
    dict.set_item("pairs", used.map_or(0, SampleSimilarities::pairs))?;
    let effect = measured.map(|measured| measured.folding.clone()).unwrap_or_default();
    let folding = folding(dict.py(), &effect)?;
    if let Some((as_is, folded)) = measured.and_then(|m| m.pairs_by_folding(threshold)) {
        folding.set_item("pairs_as_is", as_is)?;
        folding.set_item("pairs_folded", folded)?;
    }
    dict.set_item("folding", folding)
}

/// Returns the effect of the normal form `fold` on a sample: the number of `documents`, the number
/// of `changed` documents, and the changed documents by script.
pub(crate) fn folding<'py>(
    py: Python<'py>,
    effect: &FoldingEffect,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let scripts = PyDict::new(py);
    for (script, count) in effect.by_script() {
        scripts.set_item(script.to_string(), count)?;
    }
    dict.set_item("documents", effect.documents())?;
    dict.set_item("changed", effect.changed())?;
    dict.set_item("scripts", scripts)?;
    Ok(dict)
}

fn bandings<'py>(py: Python<'py>, plan: &BandPlan) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    let BandPlan { threshold, recall, cost, best, .. } = plan;
    for banding in curves::table(*threshold, *recall, best.num_hashes, cost) {
        let dict = PyDict::new(py);
        dict.set_item("bands", banding.bands)?;
        dict.set_item("rows", banding.rows)?;
        dict.set_item("recall", banding.recall)?;
        dict.set_item("reaches", banding.reaches)?;
        dict.set_item("steepest", banding.steepest)?;
        dict.set_item("candidates", banding.candidates)?;
        dict.set_item("microseconds_per_document", banding.cost_ns / 1000.0)?;
        list.append(dict)?;
    }
    Ok(list)
}

fn profiles<'py>(
    py: Python<'py>,
    profiles: &[Profile],
    threshold: f64,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for profile in profiles {
        let dict = PyDict::new(py);
        dict.set_item("shingle", profile.rule.to_string())?;
        dict.set_item("documents", profile.documents)?;
        dict.set_item("empty", profile.empty)?;
        dict.set_item("short", profile.short_share())?;
        dict.set_item("median_shingles", profile.median_shingles)?;
        dict.set_item("vocabulary", profile.vocabulary)?;
        dict.set_item("shared", profile.shared_share())?;
        dict.set_item("unrelated_mean", profile.similarities.unrelated_mean())?;
        dict.set_item("unrelated_999", profile.similarities.unrelated_quantile(0.999))?;
        dict.set_item("saturated", profile.is_saturated(threshold))?;
        dict.set_item("too_long", profile.is_too_long())?;
        dict.set_item("tolerated_changes", profile.tolerated_changes(threshold))?;
        list.append(dict)?;
    }
    Ok(list)
}
