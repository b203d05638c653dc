//! Exact candidates: documents that share a rare shingle. No similar pair is missed.
//!
//! Two documents with Jaccard t or more share one of the |x| − ⌈t·|x|⌉ + 1 rarest shingles of each,
//! in any order of rarity that is the same for all (Chaudhuri, Ganti, Kaushik 2006; Bayardo, Ma,
//! Srikant 2007). The one that is not larger needs about half as many (Xiao et al. 2008). So
//! documents are inserted into the buckets of the longer prefix and probe only the buckets of the
//! shorter one. Forms that share most of a template, but not enough, do not meet. A shingle that
//! occurs once is not shared, so most documents do not probe any bucket. For containment the rarest
//! shingles of the shorter document probe the buckets of *all* shingles of the longer one, which
//! requires one more reading.

use crate::engine::error::FindError;
use crate::engine::ids::DocumentNumber;
use crate::engine::link::bucket_lists::{BucketLists, DocumentLists};
use crate::engine::link::ranges::{KeyRange, KeyRanges};
use crate::engine::memory::Budget;
use crate::engine::options::FindOptions;
use crate::engine::prepare::documents::{DocumentState, RunDocuments};
use crate::engine::prepare::shingle_counts::CompleteCounts;
use crate::engine::prepare::shingles::ShingleCutter;
use crate::engine::workers::{Counter, on_threads};
use crate::progress::Progress;
use crate::read::{Document, ReadBuffers};
use crate::spill::{SpillLog, TempSpace};
use lookalike_core::params::{Measure, Params};
use lookalike_core::prefix;
use parking_lot::Mutex;
use std::sync::Arc;

/// Entries that one thread gathers before it adds them to the log.
const GATHERED: usize = 1 << 16;

/// Bytes of memory for one entry while they are sorted.
const SORTED_BYTES: usize = 40;

/// A key and a document that has it. The lowest bit of a key is a mark. Keys that differ only in
/// the mark are in the same range.
type KeyEntry = (u64, DocumentNumber);

/// The mark of a key whose bucket the document also probes.
const PROBES: u64 = 1;

/// The values that all threads share.
pub(crate) struct ExactCandidates<'a> {
    pub(crate) documents: &'a RunDocuments,
    pub(crate) options: &'a FindOptions,
    pub(crate) budget: &'a Budget,
    pub(crate) temp: &'a Arc<TempSpace>,
}

impl ExactCandidates<'_> {
    /// Adds the buckets of rare shingles to `lists`.
    pub(crate) fn buckets(
        &self,
        counted: CompleteCounts,
        lists: &mut BucketLists,
        progress: &dyn Progress,
    ) -> Result<(), FindError> {
        let rare = |document: &Document<'_>, tools: &mut CandidateBuffers, out: &mut Vec<u64>| {
            tools.rare(document, &self.options.params, &counted, out);
        };
        let probing = self.read("rare", &rare, progress)?;
        // The next step needs the memory.
        drop(counted);
        if self.options.params.measure() == Measure::Jaccard {
            return self.list(&probing, None, lists);
        }
        let filter = KeyFilter::new(&probing, self.budget)?;
        let shared = |document: &Document<'_>, tools: &mut CandidateBuffers, out: &mut Vec<u64>| {
            let hashes = tools.cutter.shingles(document).hashes;
            out.extend(hashes.iter().map(|h| key(*h)).filter(|key| filter.may_have(*key)));
            out.sort_unstable();
            out.dedup();
        };
        let inserted = self.read("shared", &shared, progress)?;
        drop(filter);
        self.list(&inserted, Some(&probing), lists)
    }

    /// Reads all documents that represent equal ones again, and collects the keys that `keys`
    /// returns for each.
    fn read(
        &self,
        name: &'static str,
        keys: &(impl Fn(&Document<'_>, &mut CandidateBuffers, &mut Vec<u64>) + Sync),
        progress: &dyn Progress,
    ) -> Result<SpillLog<KeyEntry>, FindError> {
        let counter = Counter::default();
        let log = Mutex::new(SpillLog::scratch(self.temp, name, self.budget.buckets() / 2));
        let add = |entries| log.lock().append(entries).map(drop);
        on_threads::<_, FindError>(self.options.threads, |stop| {
            let mut tools = CandidateBuffers::new(self.options);
            let mut scratch = ReadBuffers::default();
            let mut out = Vec::new();
            let mut gathered = Vec::new();
            while let Some(i) = counter.next(self.documents.store.blocks.len()) {
                if stop.asked() {
                    return Ok(());
                }
                self.documents.read_again(i, self.options, &mut scratch, |number, document| {
                    if self.documents.state(number) == DocumentState::PLAIN {
                        out.clear();
                        keys(document, &mut tools, &mut out);
                        gathered.extend(out.iter().map(|key| (*key, number)));
                    }
                })?;
                let block = &self.documents.store.blocks[i];
                progress.advance(u64::from(block.notes.documents))?;
                if gathered.len() > GATHERED {
                    add(std::mem::take(&mut gathered))?;
                }
            }
            Ok(add(gathered)?)
        })?;
        Ok(log.into_inner())
    }

    /// Lists the documents with the same key, one range of keys at a time.
    fn list(
        &self,
        inserted: &SpillLog<KeyEntry>,
        probing: Option<&SpillLog<KeyEntry>>,
        lists: &mut BucketLists,
    ) -> Result<(), FindError> {
        let ranges = ranges(inserted, self.budget, self.options.threads.get());
        let counter = Counter::default();
        let lists = Mutex::new(lists);
        on_threads::<_, FindError>(self.options.threads, |stop| {
            while let Some(i) = counter.next(ranges.len()) {
                if stop.asked() {
                    break;
                }
                let found = match probing {
                    None => marked(&sorted(inserted, ranges[i])?),
                    Some(probing) => directed(inserted, probing, ranges[i])?,
                };
                lists.lock().add(found)?;
            }
            Ok(())
        })?;
        Ok(())
    }
}

/// Ranges of keys whose entries one thread can sort at a time.
fn ranges(log: &SpillLog<KeyEntry>, budget: &Budget, at_least: usize) -> Vec<KeyRange> {
    KeyRanges::at_least(at_least, log.len() as usize, SORTED_BYTES, budget).collect()
}

/// The entries of a range, sorted.
fn sorted(log: &SpillLog<KeyEntry>, range: KeyRange) -> Result<Vec<KeyEntry>, FindError> {
    let mut found = Vec::new();
    log.each_record(<[KeyEntry]>::len, |some| {
        found.extend(some.iter().filter(|(key, _)| range.has(key & !PROBES)));
        Ok::<_, FindError>(())
    })?;
    found.sort_unstable();
    Ok(found)
}

fn documents_of(entries: &[KeyEntry]) -> impl ExactSizeIterator<Item = DocumentNumber> {
    entries.iter().map(|(_, document)| *document)
}

/// Lists the documents of each key that is marked in an entry, and the documents that probe its
/// bucket.
fn marked(entries: &[KeyEntry]) -> DocumentLists {
    let mut lists = DocumentLists::default();
    let equal = |a: &KeyEntry, b: &KeyEntry| a.0 & !PROBES == b.0 & !PROBES;
    for bucket in entries.chunk_by(equal).filter(|bucket| bucket.len() > 1) {
        // Marked keys are sorted after the others.
        let probing = &bucket[bucket.partition_point(|entry| entry.0 & PROBES == 0)..];
        if !probing.is_empty() {
            lists.push_directed(documents_of(bucket), documents_of(probing));
        }
    }
    lists
}

/// Lists the documents of each probed key, and the documents that probe its bucket.
fn directed(
    inserted: &SpillLog<KeyEntry>,
    probing: &SpillLog<KeyEntry>,
    range: KeyRange,
) -> Result<DocumentLists, FindError> {
    let inserted = sorted(inserted, range)?;
    let probing = sorted(probing, range)?;
    let mut lists = DocumentLists::default();
    let mut rest = probing.as_slice();
    for bucket in inserted.chunk_by(|a, b| a.0 == b.0).filter(|bucket| bucket.len() > 1) {
        let key = bucket[0].0;
        rest = &rest[rest.partition_point(|entry| entry.0 < key)..];
        let probing = &rest[..rest.partition_point(|entry| entry.0 == key)];
        if probing.is_empty() {
            continue;
        }
        lists.push_directed(documents_of(bucket), documents_of(probing));
    }
    Ok(lists)
}

/// Returns the key of a shingle: the part of its hash that signatures use. Shingles with the same
/// key only cause more candidates.
fn key(upper: u32) -> u64 {
    u64::from(upper) << 32
}

/// The buffers of one thread.
struct CandidateBuffers {
    cutter: ShingleCutter,
    /// Shingles that occur more than once, each as its count above its hash.
    shared: Vec<u64>,
}

impl CandidateBuffers {
    fn new(options: &FindOptions) -> Self {
        Self { cutter: ShingleCutter::new(options), shared: Vec::new() }
    }

    /// Returns the keys of the rarest shingles of a document that other documents also have. For
    /// Jaccard, keys that the document probes are marked.
    ///
    /// Shingles are sorted by the upper halves of their hashes, which some may share. A number of
    /// different halves represents at least as many different shingles. Repeats in the text only
    /// make the prefix longer than necessary.
    fn rare(
        &mut self,
        document: &Document<'_>,
        params: &Params,
        counted: &CompleteCounts,
        out: &mut Vec<u64>,
    ) {
        let hashes = self.cutter.shingles(document).hashes;
        let length = prefix::prefix_length(hashes.len(), params.threshold());
        let probed = match params.measure() {
            Measure::Jaccard => prefix::short_prefix_length(hashes.len(), params.threshold()),
            Measure::Containment => 0,
        };
        let singles = counted.look_up(hashes, length, &mut self.shared);
        if singles < length {
            self.shared.sort_unstable();
            self.shared.dedup();
            let rarest = self.shared.iter().take(length - singles).enumerate();
            let mark = |i| if i + singles < probed { PROBES } else { 0 };
            out.extend(rarest.map(|(i, shared)| key(*shared as u32) | mark(i)));
        }
    }
}

/// A Bloom filter with one hash of the probed keys. It has no false negatives.
struct KeyFilter {
    bits: Vec<u64>,
    shift: u32,
}

impl KeyFilter {
    /// Creates a filter of some 32 bits per entry, if memory allows.
    fn new(entries: &SpillLog<KeyEntry>, budget: &Budget) -> Result<Self, FindError> {
        let most = (budget.filter() as u64).saturating_mul(8).max(1 << 16);
        let bits = (32 * entries.len()).next_power_of_two().max(1 << 16);
        let log2 = bits.min(most).ilog2();
        let mut filter = Self { bits: vec![0; 1 << (log2 - 6)], shift: 64 - log2 };
        for range in ranges(entries, budget, 1) {
            for (key, _) in sorted(entries, range)? {
                let bit = filter.bit(key);
                filter.bits[(bit / 64) as usize] |= 1 << (bit % 64);
            }
        }
        Ok(filter)
    }

    fn bit(&self, key: u64) -> u64 {
        key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift
    }

    fn may_have(&self, key: u64) -> bool {
        let bit = self.bit(key);
        self.bits[(bit / 64) as usize] >> (bit % 64) & 1 == 1
    }
}
