//! Converts the options for creating an index, and compares them with an existing index.

use crate::error::index_error;
use crate::error::params_error;
use crate::options::KeywordOptions;
use lookalike::store::Index;
use lookalike::store::settings::{IndexSettings, StoredContent};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The names of the kinds of stored content.
const STORES: [(&str, StoredContent); 4] = [
    ("signatures", StoredContent::Signatures),
    ("sets", StoredContent::Sets),
    ("texts", StoredContent::Texts),
    ("originals", StoredContent::Originals),
];

/// Converts the options of a new index.
///
/// # Errors
/// `OptionError` for an invalid option.
pub(super) fn settings(arguments: &Bound<'_, PyDict>) -> PyResult<IndexSettings> {
    let options = KeywordOptions::new(arguments)?;
    let normalization = options.normalization()?;
    let names = STORES.map(|(name, _)| name);
    let store = options.word("store", &names)?.map_or(StoredContent::Texts, |at| STORES[at].1);
    let max_original = options.bytes("max_original")?;
    let params = options.params(normalization)?;
    options.finish()?;
    let settings = IndexSettings::new(&params, &normalization.to_string(), store);
    let settings = settings.and_then(|settings| match max_original {
        None => Ok(settings),
        Some(most) => settings.with_max_original(most),
    });
    settings.map_err(|error| params_error(&error))
}

/// Rejects options that differ from the settings of an index. Ignores options without a value or
/// with the value `None`. Does not compare the threshold, the recall and the measure.
///
/// # Errors
/// `MismatchError` with both values, `OptionError` for an invalid option.
pub(super) fn check_compatible(arguments: &Bound<'_, PyDict>, index: &Index) -> PyResult<()> {
    let has = index.settings();
    let arguments = arguments.copy()?;
    arguments.set_item("threshold", has.threshold)?;
    arguments.set_item("recall", has.recall)?;
    arguments.set_item("measure", has.measure().to_string())?;
    let mut requested = settings(&arguments)?;
    let is_given = |names: &[&str]| {
        names.iter().try_fold(false, |is_given, name| {
            Ok::<bool, PyErr>(is_given || arguments.get_item(name)?.is_some_and(|v| !v.is_none()))
        })
    };
    // A normalization that segments words also sets the token rule, so the rule
    // counts as requested.
    let is_segmented = requested.normalization.contains("segment:");
    default_to(is_given(&["normalize"])?, &mut requested.normalization, &has.normalization);
    default_to(is_given(&["shingle"])?, &mut requested.shingle, &has.shingle);
    default_to(is_segmented || is_given(&["tokens"])?, &mut requested.tokens, &has.tokens);
    default_to(is_given(&["case"])?, &mut requested.case, &has.case);
    default_to(is_given(&["frequencies"])?, &mut requested.frequencies, &has.frequencies);
    default_to(is_given(&["stop_words"])?, &mut requested.stop_words, &has.stop_words);
    default_to(is_given(&["num_hashes"])?, &mut requested.num_hashes, &has.num_hashes);
    default_to(is_given(&["bands"])?, &mut requested.bands, &has.bands);
    default_to(is_given(&["rows"])?, &mut requested.rows, &has.rows);
    default_to(is_given(&["scheme"])?, &mut requested.scheme, &has.scheme);
    default_to(is_given(&["seed"])?, &mut requested.seed, &has.seed);
    default_to(is_given(&["store"])?, &mut requested.store, &has.store);
    has.check_compatible(&requested, index.name()).map_err(index_error)
}

/// Uses the value of the index for an option without a value.
fn default_to<T: Clone>(is_given: bool, requested: &mut T, has: &T) {
    if !is_given {
        requested.clone_from(has);
    }
}
