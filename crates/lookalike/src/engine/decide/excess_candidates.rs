//! Detects an excess of candidates: unrelated documents are so similar that most of them are
//! compared with each other.

use crate::engine::decide::ordered_component::OrderedComponent;
use crate::engine::decide::shingle_sets::ShingleSets;
use crate::engine::error::FindError;
use crate::progress::ExcessCandidates;
use lookalike_core::curve::{self, Choice, Cost};
use lookalike_core::verify;

/// The number of remaining pairs that causes a warning. Comparing them takes about a second.
const MANY: u64 = 1_000_000;
/// The number of documents in the sample whose similarity is measured.
const SAMPLE: usize = 400;
/// The most shingles in the sample, 8 bytes each.
const SAMPLE_SHINGLES: usize = 4_000_000;

/// Returns the report about a component with this many remaining pairs; `None` if they are few.
///
/// # Errors
/// A shingle set cannot be made.
pub(crate) fn excess_candidates(
    component: &OrderedComponent<'_>,
    pairs: u64,
    sets: &mut ShingleSets<'_>,
) -> Result<Option<ExcessCandidates>, FindError> {
    if pairs < MANY {
        return Ok(None);
    }
    let sample = sample(component, sets)?;
    let count = sample.len() as u64;
    let mut similarities = Vec::new();
    for (i, a) in sample.iter().enumerate() {
        similarities.extend(sample[..i].iter().map(|b| verify::overlap(a, b).jaccard()));
    }
    let mean = similarities.iter().sum::<f64>() / (similarities.len().max(1) as f64);
    let size = sample.iter().map(Vec::len).sum::<usize>() / sample.len().max(1);
    let cost = Cost::of_sample(component.len() as u64, count, similarities).with_set_size(size);
    let params = &component.options.params;
    let used =
        Choice { num_hashes: params.num_hashes(), bands: params.bands(), rows: params.rows() };
    let choice = curve::choose_for(params.threshold(), params.recall(), None, &cost).ok();
    let is_better =
        |choice: &Choice| 2.0 * cost.per_document_ns(*choice) < cost.per_document_ns(used);
    let better = choice.filter(is_better);
    Ok(Some(ExcessCandidates { documents: component.len(), pairs, mean, better }))
}

/// Returns the sets of members at even distances in the keep order.
fn sample(
    component: &OrderedComponent<'_>,
    sets: &mut ShingleSets<'_>,
) -> Result<Vec<Vec<u64>>, FindError> {
    let step = component.len().div_ceil(SAMPLE).max(1);
    let mut sample = Vec::new();
    let mut shingles = 0;
    for member in component.members().step_by(step) {
        let set = component.set(member, sets)?;
        shingles += set.len();
        if shingles > SAMPLE_SHINGLES && sample.len() > 1 {
            break;
        }
        sample.push(set.to_vec());
    }
    Ok(sample)
}
