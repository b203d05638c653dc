//! Decides the components of a batch. Components are independent, so each thread processes one at a
//! time. If few components are large, all threads first read and compare the shingle sets of these.

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
use std::num::NonZeroUsize;

/// Bytes of a pair in memory, including its entries in the index of pairs by member.
const PAIR_BYTES: usize = 48;

/// The minimum number of members of a large component. If few components are large, all threads
/// read and compare the shingle sets of these before the other components are decided.
const LARGE: usize = 1 << 9;

/// Verifies and groups all components of a batch.
pub(crate) fn decide_batch(
    documents: &RunDocuments,
    batch: &ComponentBatch,
    options: &FindOptions,
    budget: &Budget,
    progress: &dyn Progress,
) -> Result<BatchResult, FindError> {
    let most_pairs = MAX_PAIRS.min((budget.batch() / PAIR_BYTES) as u64);
    let decide = |i: usize, threads, sets: &mut ShingleSets<'_>, decided: &mut BatchResult| {
        let component = OrderedComponent::new(batch, options, batch.candidates.component(i));
        sets.begin(component.len());
        if let Some(threads) = threads {
            let members: Vec<_> = component.classes().collect();
            sets.read_ahead(batch, &members, threads)?;
        }
        let threads = threads.unwrap_or(NonZeroUsize::MIN);
        component.decide_component(sets, threads, most_pairs, decided, progress)?;
        Ok::<_, FindError>(progress.advance(component.len() as u64)?)
    };
    let threads = budget.comparing(options.threads);
    let is_large =
        |i: &usize| threads.get() > 1 && batch.candidates.component(*i).members.len() >= LARGE;
    let components = 0..batch.candidates.len();
    let (mut large, mut small): (Vec<usize>, Vec<usize>) = components.partition(is_large);
    if large.len() >= threads.get() {
        // Each thread can decide a large component.
        small.append(&mut large);
    }
    let mut decided = BatchResult::default();
    if !large.is_empty() {
        let share = budget.sets().saturating_mul(threads.get());
        let mut sets = ShingleSets::new(documents, options, share);
        for i in large {
            decide(i, Some(threads), &mut sets, &mut decided)?;
        }
    }
    let counter = Counter::default();
    let all = on_threads::<_, FindError>(threads, |stop| {
        let mut sets = ShingleSets::new(documents, options, budget.sets());
        let mut decided = BatchResult::default();
        while let Some(i) = counter.next(small.len()).filter(|_| !stop.is_requested()) {
            decide(small[i], None, &mut sets, &mut decided)?;
        }
        Ok(decided)
    })?;
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
