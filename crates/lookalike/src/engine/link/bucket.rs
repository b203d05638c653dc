//! Lists the documents that share bucket keys and have similar signatures. Each thread processes
//! one band at a time.

use crate::engine::checkpoint::Checkpoint;
use crate::engine::error::FindError;
use crate::engine::ids;
use crate::engine::link::bucket_lists::{BucketLists, DocumentLists};
use crate::engine::link::ranges::KeyRanges;
use crate::engine::memory::Budget;
use crate::engine::options::FindOptions;
use crate::engine::prepare::columns::{self, FIRST_BAND_COLUMN};
use crate::engine::prepare::documents::{DocumentState, RunDocuments};
use crate::engine::workers::{Counter, on_threads};
use crate::progress::Progress;
use lookalike_core::candidate::{self, BandScratch};
use lookalike_core::compact::SignatureBits;
use lookalike_core::params::{Params, Scheme};
use parking_lot::Mutex;
use std::collections::HashSet;

/// Bytes of memory for one document while a band is sorted.
const ENTRY_BYTES: usize = 60;

/// The most bits that may differ in the signatures of two documents that are compared. With `xor`,
/// the bits of all values are similar, so no pair is rejected.
fn most_unequal(params: &Params) -> u32 {
    match params.scheme() {
        Scheme::Xor => u32::MAX,
        _ => SignatureBits::most_unequal(params.num_hashes(), params.threshold()),
    }
}

/// Adds the buckets of all bands. Divides buckets by the bits of the signatures, which show that
/// most accidental pairs are below the threshold. Equal documents are represented by one of them.
pub(crate) fn band_buckets(
    documents: &RunDocuments,
    options: &FindOptions,
    budget: &Budget,
    lists: &mut BucketLists,
    checkpoint: &Checkpoint,
    progress: &dyn Progress,
) -> Result<(), FindError> {
    let bands = options.params.bands();
    let [first_bits, last_bits] = columns::bit_columns(bands);
    let most_unequal = most_unequal(&options.params);
    let counter = Counter::default();
    let completed: HashSet<u32> = checkpoint.completed.bands.iter().map(|step| step.band).collect();
    let lists = Mutex::new(lists);
    on_threads::<_, FindError>(options.threads, |stop| {
        let mut scratch = BandScratch::default();
        let mut keys = Vec::new();
        let mut numbers = Vec::new();
        let mut bits = Vec::new();
        while let Some(band) = counter.next(bands) {
            if completed.contains(&(band as u32)) {
                continue;
            }
            let mut of_band = Vec::new();
            for range in KeyRanges::new(documents.len(), ENTRY_BYTES, budget) {
                if stop.is_requested() {
                    return Ok(());
                }
                keys.clear();
                numbers.clear();
                bits.clear();
                let read = [FIRST_BAND_COLUMN + band, first_bits, last_bits];
                documents.scan(read, |first, [values, a, b]| {
                    for (i, document) in ids::from(first).take(values.len()).enumerate() {
                        let key = values[i];
                        if range.has(key) && documents.state(document) == DocumentState::PLAIN {
                            keys.push(key);
                            numbers.push(document);
                            bits.push(SignatureBits([a[i], b[i]]));
                        }
                    }
                })?;
                let buckets = candidate::group_equal_keys(&keys, |_| true, &mut scratch);
                let found = DocumentLists::of_band(&buckets, &numbers, |a, b| {
                    bits[a as usize].unequal(bits[b as usize]) <= most_unequal
                });
                if checkpoint.is_active() {
                    of_band.push(found);
                } else {
                    lists.lock().add(found)?;
                }
            }
            // Lists are stored only when their band is complete.
            let mut lists = lists.lock();
            of_band.into_iter().try_for_each(|found| lists.add(found))?;
            lists.end_band(band as u32, checkpoint)?;
            drop(lists);
            progress.advance(1)?;
        }
        Ok(())
    })?;
    Ok(())
}
