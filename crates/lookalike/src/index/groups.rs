//! The documents of an index in, groups of near-duplicates out: the same as of a fresh run.

use crate::error::Error;
use crate::progress::Progress;
use crate::read::Collection;
use crate::run::{self, FindOptions, Findings};
use lookalike_core::params::{Params, Wishes};
use lookalike_index::Index;
use lookalike_index::settings::Settings;

/// Finds the near-duplicates among the documents of an index as they are now, but for those that
/// expired before `now` (in ns since 1970).
///
/// It is what [`run::find`] finds in the same documents read from files in the order of their
/// numbers, for any threshold: signatures are made anew of the stored shingle sets. Cost: one
/// pass over the sets, then a second reading of those that share a bucket.
///
/// # Errors
/// [`IndexError::NoSets`](lookalike_index::IndexError::NoSets) for an index that keeps no shingle sets, `OtherSettings`
/// for parameters that cut documents otherwise than the index does, and what a run gives.
pub fn groups(
    index: &Index,
    options: &FindOptions,
    now: i64,
    progress: &dyn Progress,
) -> Result<Findings, Error> {
    let (settings, params) = (index.settings(), index.params());
    let asked = Params::new(&Wishes {
        shingle: options.params.shingle().clone(),
        measure: params.measure(),
        threshold: params.threshold(),
        exact: params.exact(),
        recall: params.recall(),
        num_hashes: Some(params.num_hashes()),
        bands: Some(params.bands()),
        rows: Some(params.rows()),
        scheme: params.scheme(),
        seed: params.seed(),
    })?;
    let asked = Settings::new(&asked, &settings.wording, settings.store)?;
    settings.expect(&asked, index.name())?;
    let collection = Collection::of_index(index, now, &options.fields())?;
    run::find(&collection, options, progress)
}
