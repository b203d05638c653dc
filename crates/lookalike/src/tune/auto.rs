//! Chooses bands and rows for a collection from a sample of it.

use super::document_sample::SAMPLE_DOCUMENTS;
use super::plan::{MeasuredSample, plan};
use crate::engine::FindError;
use crate::progress::Progress;
use crate::read::Collection;
use lookalike_core::params::{Params, ParamsBuilder};

/// Parameters for a collection.
#[derive(Debug, Clone)]
pub struct ChosenBands {
    /// The requested parameters, with the values, bands and rows that are expected to take the
    /// least time.
    pub params: Params,
    /// The number of documents in the sample.
    pub documents: usize,
}

/// Chooses values, bands and rows for a collection by the similarities of a sample of
/// [`SAMPLE_DOCUMENTS`] documents. The documents are drawn by the hashes of their ids, so the
/// choice does not depend on their order. Ignores the bands and rows of `builder`, but keeps a
/// given number of values. Reads the collection once.
///
/// # Errors
/// Errors of [`sample`](super::sample); parameters out of range, and a recall that the given number
/// of values cannot reach.
pub fn choose_bands(
    collection: &Collection,
    builder: &ParamsBuilder,
    progress: &dyn Progress,
) -> Result<ChosenBands, FindError> {
    let builder = ParamsBuilder { bands: None, rows: None, ..builder.clone() };
    let params = Params::new(&builder)?;
    let rule = params.shingle();
    let rules = [rule.clone()];
    let size = SAMPLE_DOCUMENTS;
    let measured = MeasuredSample::of(collection, size, params.seed(), &rules, rule, progress)?;
    let best = plan(&builder, &params, Some(&measured), None)?.best;
    let chosen = ParamsBuilder {
        num_hashes: Some(best.num_hashes),
        bands: Some(best.bands),
        rows: Some(best.rows),
        ..builder
    };
    Ok(ChosenBands { params: Params::new(&chosen)?, documents: measured.sample.texts.len() })
}
