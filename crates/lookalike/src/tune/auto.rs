//! Bands and rows for a collection, from a sample of it.

use super::document_sample::SAMPLE_DOCUMENTS;
use super::plan::{MeasuredSample, plan};
use crate::engine::FindError;
use crate::progress::Progress;
use crate::read::Collection;
use lookalike_core::params::{Params, ParamsBuilder};

/// Parameters for a collection.
#[derive(Debug, Clone)]
pub struct ChosenBands {
    /// As was wished, with the values, bands and rows that are expected to take the least time.
    pub params: Params,
    /// How many documents were drawn for that.
    pub documents: usize,
}

/// Chooses values, bands and rows for a collection by the similarities of [`SAMPLE_DOCUMENTS`] of
/// its documents, drawn by the hash of their ids, so that the choice does not depend on their
/// order. Bands and rows of `builder` are not looked at; a number of values that is named stays.
/// Reads the collection once.
///
/// # Errors
/// As those of [`sample`](super::sample); parameters out of range, and a recall that the number of
/// values named does not allow.
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
