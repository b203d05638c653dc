//! Bucket keys in, components out, a band per thread at a time.

use super::FindOptions;
use super::collected::Collected;
use super::workers::{Counter, on_threads};
use crate::progress::Progress;
use lookalike_core::candidate::{self, BandBuckets, BandScratch, Candidates};

/// The candidates among the documents that stand for their equals.
pub(super) fn candidates(
    documents: &Collected,
    options: &FindOptions,
    progress: &dyn Progress,
) -> Candidates {
    let bands = options.params.bands();
    let counter = Counter::default();
    let found = on_threads(options.threads, |_| {
        let mut scratch = BandScratch::default();
        let mut column = Vec::new();
        let mut found: Vec<(usize, BandBuckets)> = Vec::new();
        while let Some(band) = counter.next(bands) {
            documents.column(band, &mut column);
            let active = |d| documents.stands_for_equals(d);
            found.push((band, candidate::band_buckets(&column, active, &mut scratch)));
            progress.advance(1);
        }
        Ok(found)
    });
    let mut found: Vec<_> = found.into_iter().flatten().flatten().collect();
    found.sort_unstable_by_key(|(band, _)| *band);
    let buckets: Vec<BandBuckets> = found.into_iter().map(|(_, buckets)| buckets).collect();
    Candidates::gather(documents.len(), &buckets)
}
