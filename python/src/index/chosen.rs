//! Options that an index is created with: chosen when it is made, held against it when it is
//! opened.

use crate::error::index_error;
use crate::error::params_error;
use crate::options::KeywordOptions;
use lookalike::store::Index;
use lookalike::store::settings::{IndexSettings, StoredContent};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The settings of a new index.
///
/// # Errors
/// `OptionError` for what an option cannot be.
pub(super) fn settings(arguments: &Bound<'_, PyDict>) -> PyResult<IndexSettings> {
    let options = KeywordOptions::new(arguments)?;
    let normalization = options.normalization()?;
    let store = options.word("store", &["signatures", "sets", "texts"])?;
    let store = store.map_or(StoredContent::Sets, |at| {
        [StoredContent::Signatures, StoredContent::Sets, StoredContent::Texts][at]
    });
    let params = options.params(normalization)?;
    options.finish()?;
    let settings = IndexSettings::new(&params, &normalization.to_string(), store);
    settings.map_err(|error| params_error(&error))
}

/// Refuses what an index has otherwise; what is `None` was not asked for.
///
/// # Errors
/// `MismatchError` with both, `OptionError` for what an option cannot be.
pub(super) fn check_compatible(arguments: &Bound<'_, PyDict>, index: &Index) -> PyResult<()> {
    let has = index.settings();
    let arguments = arguments.copy()?;
    arguments.set_item("threshold", has.threshold)?;
    arguments.set_item("recall", has.recall)?;
    arguments.set_item("measure", has.measure().to_string())?;
    let mut asked = settings(&arguments)?;
    let said = |names: &[&str]| {
        names.iter().try_fold(false, |said, name| {
            Ok::<bool, PyErr>(said || arguments.get_item(name)?.is_some_and(|v| !v.is_none()))
        })
    };
    keep(
        said(&["normalize", "language", "segment"])?,
        &mut asked.normalization,
        &has.normalization,
    );
    keep(said(&["shingle"])?, &mut asked.shingle, &has.shingle);
    keep(said(&["tokens", "segment"])?, &mut asked.tokens, &has.tokens);
    keep(said(&["case"])?, &mut asked.case, &has.case);
    keep(said(&["frequencies"])?, &mut asked.frequencies, &has.frequencies);
    keep(said(&["stop_words"])?, &mut asked.stop_words, &has.stop_words);
    keep(said(&["num_hashes"])?, &mut asked.num_hashes, &has.num_hashes);
    keep(said(&["bands"])?, &mut asked.bands, &has.bands);
    keep(said(&["rows"])?, &mut asked.rows, &has.rows);
    keep(said(&["scheme"])?, &mut asked.scheme, &has.scheme);
    keep(said(&["seed"])?, &mut asked.seed, &has.seed);
    keep(said(&["store"])?, &mut asked.store, &has.store);
    has.check_compatible(&asked, index.name()).map_err(index_error)
}

/// What was not said is what the index has.
fn keep<T: Clone>(said: bool, asked: &mut T, has: &T) {
    if !said {
        asked.clone_from(has);
    }
}
