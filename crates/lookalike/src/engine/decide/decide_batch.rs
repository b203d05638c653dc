//! Decides the components of a batch. Components are independent, so threads process them one after
//! the other.

use crate::engine::collect::pairs::MAX_PAIRS;
use crate::engine::decide::batch::ComponentBatch;
use crate::engine::decide::batch_result::BatchResult;
use crate::engine::decide::copies;
use crate::engine::decide::ordered_component::OrderedComponent;
use crate::engine::decide::shingle_sets::ShingleSets;
use crate::engine::error::FindError;
use crate::engine::memory::Budget;
use crate::engine::options::FindOptions;
use crate::engine::prepare::documents::RunDocuments;
use crate::engine::workers::{Counter, on_threads};
use crate::progress::Progress;

/// Bytes of a held pair, including its entries in the index of pairs by member.
const PAIR_BYTES: usize = 48;

/// Verifies and groups all components of a batch.
pub(crate) fn decide_batch(
    documents: &RunDocuments,
    batch: &ComponentBatch,
    options: &FindOptions,
    budget: &Budget,
    progress: &dyn Progress,
) -> Result<BatchResult, FindError> {
    let counter = Counter::default();
    let most_pairs = MAX_PAIRS.min((budget.batch() / PAIR_BYTES) as u64);
    let all = on_threads::<_, FindError>(budget.comparing(options.threads), |stop| {
        let mut sets = ShingleSets::new(documents, options, budget.sets());
        let mut decided = BatchResult::default();
        while let Some(i) = counter.next(batch.candidates.len()) {
            if stop.asked() {
                break;
            }
            let component = OrderedComponent::new(batch, options, batch.candidates.component(i));
            component.decide_component(&mut sets, most_pairs, &mut decided, progress)?;
            progress.advance(component.len() as u64)?;
        }
        Ok(decided)
    })?;
    let mut decided = BatchResult::default();
    for more in all {
        decided.append(more);
    }
    for class in batch.lone_classes() {
        copies::of_kept(batch, class, &mut decided);
        progress.advance(class.len() as u64)?;
    }
    // Threads finish in any order.
    decided.duplicates.sort_unstable_by_key(|duplicate| (duplicate.keeper, duplicate.document));
    decided.related.sort_unstable_by_key(|related| related.document);
    decided.pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
    Ok(decided)
}
