//! `tune`: a threshold, a recall and perhaps documents in; bands, rows, and advice out.

use crate::call;
use crate::error::{OptionError, params_error};
use crate::inputs::{Input, Inputs};
use crate::options::Options;
use lookalike::core::curve::{self as curves, Cost};
use lookalike::core::params::{Params, ShingleRule, Unit};
use lookalike::tune::{self as tuning, Profile};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::Arc;

/// The probability that a pair becomes a candidate, at each of some similarities.
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

/// Chooses for a threshold and a recall, by a sample of documents where there are some: what was
/// chosen, all bandings of that length, and what each shingle rule makes of the sample.
#[pyfunction]
#[pyo3(signature = (documents, options, sample, count, tried, progress=None))]
pub(crate) fn tune(
    py: Python<'_>,
    documents: Option<Input>,
    options: &Bound<'_, PyDict>,
    sample: usize,
    count: Option<u64>,
    tried: Vec<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyDict>> {
    let options = Options::new(options)?;
    let wording = options.wording()?;
    let wishes = options.wishes(options.shingle(wording)?)?;
    let reading = options.reading(wording, crate::extraction::options(py)?)?;
    options.finish()?;
    let params = Params::new(&wishes).map_err(|error| params_error(&error))?;
    if params.exact() {
        let text = "there is nothing to tune: exact and containment find all pairs, without bands \
                    and rows; leave them out";
        return Err(OptionError::new_err(text));
    }
    let tried: Result<Vec<ShingleRule>, _> = tried.iter().map(|rule| rule.parse()).collect();
    let rules = rules(&wishes.shingle, &tried.map_err(|error| params_error(&error))?)?;
    let measured = match &documents {
        None => None,
        Some(documents) => {
            let inputs = Arc::new(Inputs::new(py, documents, None, reading)?);
            let (theirs, seed) = (Arc::clone(&inputs), wishes.seed);
            Some(call::reading(py, progress.as_ref(), move |watch| {
                let sample = tuning::sample(&theirs.open()?, sample, seed, watch)?;
                let profiles = tuning::measure(&sample.texts, &rules, watch)?;
                Ok((sample.documents, sample.texts.len(), profiles))
            })?)
        }
    };
    let used = |profile: &&Profile| same(&profile.rule, &wishes.shingle);
    let profile = measured.as_ref().and_then(|(.., profiles)| profiles.iter().find(used));
    let documents = count.or(measured.as_ref().map(|(documents, ..)| *documents));
    let mut cost = Cost::default();
    if let Some(profile) = profile.filter(|profile| profile.similarities.pairs() > 0) {
        cost = profile.similarities.cost(cost.documents);
    }
    cost.documents = documents.unwrap_or(cost.documents);
    let open = wishes.bands.is_none() && wishes.rows.is_none();
    let choice = if open {
        curves::choose_for(wishes.threshold, wishes.recall, wishes.num_hashes, &cost)
    } else {
        let (num_hashes, bands, rows) = (params.num_hashes(), params.bands(), params.rows());
        Ok(curves::Choice { num_hashes, bands, rows })
    };
    let choice = choice.map_err(|error| params_error(&error))?;
    let dict = PyDict::new(py);
    dict.set_item("threshold", wishes.threshold)?;
    dict.set_item("recall", wishes.recall)?;
    dict.set_item("num_hashes", choice.num_hashes)?;
    dict.set_item("bands", choice.bands)?;
    dict.set_item("rows", choice.rows)?;
    let predicted = curves::candidate_probability(wishes.threshold, choice.bands, choice.rows);
    dict.set_item("predicted_recall", predicted)?;
    dict.set_item("documents", cost.documents)?;
    let candidates = cost.candidates(choice.bands, choice.rows) * cost.documents as f64;
    dict.set_item("candidates", candidates)?;
    dict.set_item("microseconds_per_document", cost.per_document_ns(choice) / 1000.0)?;
    dict.set_item("bandings", bandings(py, &wishes, choice, &cost)?)?;
    dict.set_item("sampled", measured.as_ref().map_or(0, |(_, sampled, _)| *sampled))?;
    let profiles = measured.as_ref().map_or(&[][..], |(.., profiles)| profiles);
    dict.set_item("shingles", self::profiles(py, profiles, wishes.threshold)?)?;
    dict.set_item("advice", advice(profiles, &wishes.shingle, wishes.threshold))?;
    let similarities = profile.map_or(&[][..], |profile| profile.similarities.above_zero());
    dict.set_item("similarities", similarities)?;
    dict.set_item("pairs", profile.map_or(0, |profile| profile.similarities.pairs()))?;
    Ok(dict.unbind())
}

/// The rules to try: those named and the one in use, or the usual ones.
fn rules(used: &ShingleRule, tried: &[ShingleRule]) -> PyResult<Vec<ShingleRule>> {
    if tried.is_empty() {
        return Ok(tuning::usual_rules(used));
    }
    let mut lengths: Vec<(Unit, usize)> = tried.iter().map(|r| (r.unit(), r.size())).collect();
    lengths.push((used.unit(), used.size()));
    lengths.sort_by_key(|(unit, size)| (*unit as u8, *size));
    lengths.dedup();
    tuning::rules(used, &lengths).map_err(|error| params_error(&error))
}

fn same(a: &ShingleRule, b: &ShingleRule) -> bool {
    (a.unit(), a.size()) == (b.unit(), b.size())
}

fn bandings<'py>(
    py: Python<'py>,
    wishes: &lookalike::core::params::Wishes,
    choice: curves::Choice,
    cost: &Cost,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for banding in curves::table(wishes.threshold, wishes.recall, choice.num_hashes, cost) {
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

/// The rule that suits better than the one in use, if one does.
fn advice(profiles: &[Profile], used: &ShingleRule, threshold: f64) -> Option<String> {
    let current = profiles.iter().position(|profile| same(&profile.rule, used))?;
    let advice = tuning::advise(profiles, current, threshold)?;
    profiles.get(advice.advised).map(|profile| profile.rule.to_string())
}
