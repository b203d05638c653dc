//! Blocks in, parts out: every document read, shingled, signed and banded; its text dropped.

use super::FindOptions;
use super::workers::on_threads;
use crate::error::Error;
use crate::progress::Progress;
use crate::read::{
    Block, BlockNumber, Collection, Document, Place, ReadError, Retained, Scratch, Sink, Skipped,
};
use lookalike_core::band;
use lookalike_core::shingle::Shingler;
use lookalike_core::signature::Signer;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The documents of one block, column by column.
pub(super) struct Part {
    number: BlockNumber,
    pub(super) retained: Retained,
    pub(super) ids: Ids,
    /// Length of each text in bytes.
    pub(super) lengths: Vec<u64>,
    pub(super) places: Vec<Place>,
    pub(super) fingerprints: Vec<u128>,
    /// Whether each document has a token at all.
    pub(super) empty: Vec<bool>,
    /// Bucket keys, band after band: all documents' keys of the first band, then of the second.
    pub(super) keys: Vec<u64>,
    pub(super) skipped: Vec<Skipped>,
}

impl Part {
    /// How many documents it has.
    pub(super) fn len(&self) -> usize {
        self.lengths.len()
    }

    /// The keys of one band, in document order.
    pub(super) fn column(&self, band: usize) -> &[u64] {
        &self.keys[band * self.len()..][..self.len()]
    }
}

/// Many short texts in one.
#[derive(Debug, Default)]
pub(super) struct Ids {
    text: String,
    ends: Vec<u32>,
}

impl Ids {
    fn push(&mut self, id: &str) {
        self.text.push_str(id);
        // A block is far below 4 GiB, but for a record of that size, whose id then is cut short.
        self.ends.push(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
    }

    /// The i-th text.
    pub(super) fn get(&self, i: usize) -> &str {
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        self.text.get(start..self.ends[i] as usize).unwrap_or_default()
    }
}

/// Reads the whole collection. Parts come in reading order.
pub(super) fn prepare(
    collection: &Collection,
    options: &FindOptions,
    progress: &dyn Progress,
) -> Result<Vec<Part>, Error> {
    let told = AtomicU64::new(0);
    // Blocks of one source are given out in order and finished once begun, so of several failures
    // in it the first is told, whoever meets it. Between sources it is the first of those met.
    let failure: Mutex<Option<(BlockNumber, ReadError)>> = Mutex::new(None);
    let parts = on_threads(options.threads, |stop| {
        let mut preparer = Preparer::new(options);
        let mut scratch = Scratch::default();
        let mut parts = Vec::new();
        while !stop.asked() {
            let Some(block) = collection.next_block()? else { break };
            let number = block.number();
            match preparer.part(block, &mut scratch) {
                Ok(part) => parts.push(part),
                Err(error) => {
                    let mut first = failure.lock().unwrap_or_else(PoisonError::into_inner);
                    if first.as_ref().is_none_or(|(earlier, _)| number < *earlier) {
                        *first = Some((number, error));
                    }
                    stop.ask();
                }
            }
            let read = collection.bytes_read();
            progress.advance(read.saturating_sub(told.fetch_max(read, Ordering::Relaxed)));
        }
        Ok(parts)
    });
    if let Some((_, error)) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error.into());
    }
    let mut parts: Vec<Part> = parts?.into_iter().flatten().collect();
    parts.sort_unstable_by_key(|part| part.number);
    Ok(parts)
}

/// One thread's tools, and the columns of the block at hand.
struct Preparer {
    shingler: Shingler,
    signer: Signer,
    bands: usize,
    rows: usize,
    ids: Ids,
    lengths: Vec<u64>,
    places: Vec<Place>,
    fingerprints: Vec<u128>,
    empty: Vec<bool>,
    /// Bucket keys, document after document.
    keys: Vec<u64>,
    skipped: Vec<Skipped>,
}

impl Preparer {
    fn new(options: &FindOptions) -> Self {
        let params = &options.params;
        let (scheme, num_hashes, seed) = (params.scheme(), params.num_hashes(), params.seed());
        Self {
            shingler: Shingler::with_kernel(params.shingle(), options.kernel),
            signer: Signer::with_kernel(scheme, num_hashes, seed, options.kernel),
            bands: params.bands(),
            rows: params.rows(),
            ids: Ids::default(),
            lengths: Vec::new(),
            places: Vec::new(),
            fingerprints: Vec::new(),
            empty: Vec::new(),
            keys: Vec::new(),
            skipped: Vec::new(),
        }
    }

    fn part(&mut self, block: Block, scratch: &mut Scratch) -> Result<Part, ReadError> {
        block.read(scratch, self)?;
        let keys = transpose(&self.keys, self.bands);
        self.keys.clear();
        Ok(Part {
            number: block.number(),
            retained: block.retain(None)?,
            ids: std::mem::take(&mut self.ids),
            lengths: std::mem::take(&mut self.lengths),
            places: std::mem::take(&mut self.places),
            fingerprints: std::mem::take(&mut self.fingerprints),
            empty: std::mem::take(&mut self.empty),
            keys,
            skipped: std::mem::take(&mut self.skipped),
        })
    }
}

impl Sink for Preparer {
    fn document(&mut self, document: &Document<'_>) {
        let &Document { id, text, place, .. } = document;
        let shingles = self.shingler.shingle(text);
        let start = self.keys.len();
        self.keys.resize(start + self.bands, 0);
        if !shingles.hashes.is_empty() {
            let signature = self.signer.sign(shingles.hashes);
            band::bucket_keys(signature, self.rows, &mut self.keys[start..]);
        }
        self.empty.push(shingles.hashes.is_empty());
        self.fingerprints.push(shingles.fingerprint);
        self.ids.push(id);
        self.lengths.push(text.len() as u64);
        self.places.push(place);
    }

    fn skipped(&mut self, skipped: Skipped) {
        self.skipped.push(skipped);
    }
}

/// Document after document → band after band. Done per block, while it is in the cache.
fn transpose(keys: &[u64], bands: usize) -> Vec<u64> {
    let documents = keys.len() / bands;
    let mut columns = Vec::with_capacity(keys.len());
    for band in 0..bands {
        columns.extend((0..documents).map(|document| keys[document * bands + band]));
    }
    columns
}
