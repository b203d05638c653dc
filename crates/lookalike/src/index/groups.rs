//! Finds groups of near-duplicates among the documents of an index, as a fresh run would.

use super::categories::index_categories::IndexCategories;
use crate::categories::{Category, NO_CATEGORY};
use crate::engine::{CategoryName, FindError, FindOptions, Findings, GroupCategories};
use crate::find;
use crate::progress::Progress;
use crate::read::Collection;
use lookalike_core::error::ParamsError;
use lookalike_core::params::{Measure, Params, ParamsBuilder};
use lookalike_index::Index;

/// Requested parameters of groups. `None` selects the value of the index.
#[derive(Debug, Clone, Copy)]
pub struct GroupingOptions {
    /// Least exact similarity: above 0, at most 1.
    pub threshold: Option<f64>,
    /// Minimum predicted recall for the pairs whose similarity equals the threshold: above 0, below
    /// 1.
    pub recall: Option<f64>,
    /// The measure of similarity for the threshold.
    pub measure: Option<Measure>,
    /// Whether to find all pairs instead of the predicted share.
    pub exact: bool,
}

/// Returns the parameters of an index. If the options differ from them, returns the parameters that
/// a fresh run would choose.
///
/// # Errors
/// Errors of [`Params::new`].
pub fn params_for(has: &Params, aim: GroupingOptions) -> Result<Params, ParamsError> {
    let GroupingOptions { exact, .. } = aim;
    let measure = aim.measure.unwrap_or(has.measure());
    let threshold = aim.threshold.unwrap_or(has.threshold());
    let recall = aim.recall.unwrap_or(has.recall());
    // Exact candidates do not use signatures.
    let same = !exact
        && measure == Measure::Jaccard
        && has.measure() == Measure::Jaccard
        && threshold.to_bits() == has.threshold().to_bits()
        && recall.to_bits() == has.recall().to_bits();
    let builder = ParamsBuilder {
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
    Params::new(&builder)
}

/// Finds the near-duplicates among the current documents of an index, except those that expired
/// before `now` (in ns since 1970).
///
/// For any threshold, [`find::find`] returns the same result for the same documents, read from
/// files in the order of their numbers. Signatures are computed again from the stored shingle sets.
/// Cost: one pass over the sets, and a second one over the sets that share a bucket.
///
/// # Errors
/// [`NoSets`](lookalike_index::IndexError::NoSets) for an index without shingle sets,
/// `OtherSettings` for parameters whose shingles differ from the shingles of the index, and errors
/// of a run.
pub fn groups(
    index: &Index,
    options: &FindOptions,
    now: i64,
    progress: &dyn Progress,
) -> Result<Findings, FindError> {
    index.check_shingles(options.params.shingle(), &index.settings().normalization)?;
    let collection = Collection::of_index(index, now, &options.fields())?;
    let mut findings = find::in_collection(&collection, options, progress)?;
    if let Some(categories) = group_categories(index, &findings)? {
        findings.groups.set_categories(categories);
    }
    Ok(findings)
}

/// Returns the categories of the keepers, if the index has categories.
fn group_categories(
    index: &Index,
    findings: &Findings,
) -> Result<Option<GroupCategories>, FindError> {
    let mut snapshot = index.snapshot()?;
    let Some(categories) = IndexCategories::read(&mut *snapshot, None)? else { return Ok(None) };
    let mut groups = Vec::with_capacity(findings.groups.len());
    for group in findings.groups.iter() {
        let group = group.map_err(FindError::of_io)?;
        // A keeper that was removed after the search has no category.
        let number = snapshot.number_of(&group.keeper.id)?;
        let category = number.map(|number| categories.of_document(&mut *snapshot, number));
        groups.push(category.transpose()?.unwrap_or(NO_CATEGORY));
    }
    let name = |category: &Category| {
        let path = category.path.clone();
        let label = category.label.clone();
        CategoryName { path, label }
    };
    let names = categories.model().categories().iter().map(name).collect();
    Ok(Some(GroupCategories::new(names, groups)))
}
