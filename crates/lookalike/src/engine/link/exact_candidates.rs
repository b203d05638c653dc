//! Exact candidates: documents that share a rare shingle. No similar pair is missed.
//!
//! Two documents with Jaccard t or more share one of the |x| − ⌈t·|x|⌉ + 1 rarest shingles of each,
//! in any order of rarity that is the same for all (Chaudhuri, Ganti, Kaushik 2006; Bayardo, Ma,
//! Srikant 2007). The one that is not larger needs about half as many (Xiao et al. 2008). So
//! documents are inserted into the buckets of the longer prefix and probe only the buckets of the
//! shorter one. Forms that share most of a template, but not enough, do not meet. A shingle that
//! occurs once is not shared, so most documents do not probe any bucket. For containment the rarest
//! shingles of the shorter document probe the buckets of *all* shingles of the longer one.
//!
//! ```text
//! DocumentShingles, by part ─ count → shingles that occur more than once, by group of documents
//!   ─ rarest of each document → keys ─ equal keys → lists
//! ```

use crate::engine::error::FindError;
use crate::engine::ids::{DocumentNumber, Id};
use crate::engine::link::bucket_lists::{BucketLists, DocumentLists};
use crate::engine::link::ranges::{KeyRange, KeyRanges};
use crate::engine::memory::Budget;
use crate::engine::options::FindOptions;
use crate::engine::prepare::documents::{DocumentState, RunDocuments};
use crate::engine::prepare::shingle_log::{DocumentShingles, key};
use crate::engine::workers::{Counter, StopFlag, on_threads};
use crate::progress::Progress;
use crate::spill::{CompleteParts, PartLog, SpillError, SpillLog, TempSpace};
use lookalike_core::params::Measure;
use lookalike_core::prefix;
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::Arc;

/// Entries that one thread gathers before it adds them to the log.
const GATHERED: usize = 1 << 16;

/// Bytes of memory for one entry while they are sorted.
const SORTED_BYTES: usize = 40;

/// The most groups of documents, and the fewest documents of a group.
const GROUPS: usize = 1 << 10;

/// Bits of a [`SharedShingle`] below the index of its document.
const SHINGLE_BITS: u32 = 40;

/// A shingle that other documents also have: the index of the document in its group, the count of
/// the shingle (8 bits), the upper half of its hash.
type SharedShingle = u64;

/// A key and a document that has it. The lowest bit of a key is a mark. Keys that differ only in
/// the mark are in the same range.
type KeyEntry = (u64, DocumentNumber);

/// The mark of a key whose bucket the document also probes.
const PROBES: u64 = 1;

/// The values that all threads share.
pub(crate) struct ExactCandidates<'a> {
    pub(crate) documents: &'a RunDocuments,
    pub(crate) shingles: &'a DocumentShingles,
    pub(crate) options: &'a FindOptions,
    pub(crate) budget: &'a Budget,
    pub(crate) temp: &'a Arc<TempSpace>,
}

impl ExactCandidates<'_> {
    /// Adds the buckets of rare shingles to `lists`.
    pub(crate) fn buckets(
        &self,
        lists: &mut BucketLists,
        progress: &dyn Progress,
    ) -> Result<(), FindError> {
        let probing = self.rare(&self.shared(progress)?, progress)?;
        if self.options.params.measure() == Measure::Jaccard {
            return self.list(&probing, None, lists);
        }
        let inserted = self.inserted(&KeyFilter::new(&probing, self.budget)?, progress)?;
        self.list(&inserted, Some(&probing), lists)
    }

    /// The documents of a group as an exponent of 2.
    fn log2_group(&self) -> u32 {
        self.documents.len().div_ceil(GROUPS).max(GROUPS / 2).next_power_of_two().ilog2()
    }

    /// Whether a document has shingles of its own. Others are represented by equal ones.
    fn is_plain(&self, document: DocumentNumber) -> bool {
        self.documents.state(document) == DocumentState::PLAIN
    }

    /// Counts all shingles, and lists those that occur more than once for each group of documents.
    fn shared(&self, progress: &dyn Progress) -> Result<CompleteParts<SharedShingle>, FindError> {
        let log2_group = self.log2_group();
        let groups = (self.documents.len() >> log2_group) + 1;
        let log = PartLog::new(self.temp, "shared", self.budget.buckets() / 2, groups);
        let counter = Counter::default();
        on_threads::<_, FindError>(self.options.threads, |stop| {
            let mut counters = self.shingles.counters();
            let mut writer = log.writer();
            let mut counted = Vec::new();
            while let Some(part) = counter.next(self.shingles.parts()).filter(|_| !stop.asked()) {
                // The caller may cancel the run.
                progress.advance(0)?;
                self.shingles.count_part(part, &mut counters)?;
                let mut added = Ok(false);
                self.shingles.each(part, |shingles| {
                    // Many shingles occur once, at unpredictable places: a branch for each would be
                    // mispredicted.
                    let mut count = 0;
                    counted.resize(shingles.len().max(counted.len()), (0, 0, 0));
                    shingles.for_each(|upper, number| {
                        let uses = counters.get(key(upper));
                        counted[count] = (uses, upper, number);
                        count += usize::from(uses != 1);
                    });
                    for &(uses, upper, number) in &counted[..count] {
                        let document = self.shingles.document(number);
                        if self.is_plain(document) && added.is_ok() {
                            let index = document.index() & ((1 << log2_group) - 1);
                            let shared = u64::from(uses) << 32 | u64::from(upper);
                            let shared = (index as u64) << SHINGLE_BITS | shared;
                            added = writer.push(document.index() >> log2_group, [shared]);
                        }
                    }
                })?;
                added?;
                if self.options.params.measure() == Measure::Jaccard {
                    // Only containment needs them again.
                    self.shingles.clear(part);
                }
            }
            Ok(writer.finish()?)
        })?;
        Ok(log.finish())
    }

    /// Returns the keys of the rarest shingles of each document that other documents also have.
    fn rare(
        &self,
        shared: &CompleteParts<SharedShingle>,
        progress: &dyn Progress,
    ) -> Result<SpillLog<KeyEntry>, FindError> {
        let log2_group = self.log2_group();
        let counter = Counter::default();
        let bytes = self.budget.share(16) / self.options.threads.get();
        let most = bytes / size_of::<SharedShingle>();
        self.gather("rare", |add, stop| {
            let mut group = ShingleGroup::default();
            while let Some(number) = counter.next(shared.len()).filter(|_| !stop.asked()) {
                let first = number << log2_group;
                let documents = (self.documents.len() - first).min(1 << log2_group);
                group.count(shared, number, documents)?;
                while group.load_next(shared, number, most)? {
                    for index in group.loaded.clone() {
                        let document = DocumentNumber::new(first + index);
                        self.rarest(document, group.shingles(index), add);
                    }
                    add.flush()?;
                }
                shared.clear(number);
                progress.advance(documents as u64)?;
            }
            Ok(())
        })
    }

    /// Adds the keys of the rarest shingles of a document. `shared` are all its shingles that other
    /// documents also have.
    ///
    /// For Jaccard, keys that the document probes are marked.
    ///
    /// Shingles are known by the upper halves of their hashes, which some may share. A number of
    /// different halves represents at least as many different shingles. Repeats in the text only
    /// make the prefix longer than necessary.
    fn rarest(&self, document: DocumentNumber, shared: &mut [u64], add: &mut KeyGatherer<'_>) {
        let params = &self.options.params;
        let count = self.shingles.count(document);
        let length = prefix::prefix_length(count, params.threshold());
        let singles = count.saturating_sub(shared.len());
        if shared.is_empty() || singles >= length {
            return;
        }
        let probed = match params.measure() {
            Measure::Jaccard => prefix::short_prefix_length(count, params.threshold()),
            Measure::Containment => 0,
        };
        shared.sort_unstable();
        let rarest = shared.chunk_by(|a, b| a == b).take(length - singles).enumerate();
        for (i, repeats) in rarest {
            let mark = if i + singles < probed { PROBES } else { 0 };
            add.entries.push((key(repeats[0] as u32) | mark, document));
        }
    }

    /// Returns the keys of all documents that pass the filter of probed keys.
    fn inserted(
        &self,
        filter: &KeyFilter,
        progress: &dyn Progress,
    ) -> Result<SpillLog<KeyEntry>, FindError> {
        let counter = Counter::default();
        let parts = self.shingles.parts();
        let documents = self.documents.len();
        let before = |part: usize| (documents * part / parts) as u64;
        self.gather("shared", |add, stop| {
            while let Some(part) = counter.next(parts).filter(|_| !stop.asked()) {
                let mut added = Ok(());
                self.shingles.each(part, |shingles| {
                    shingles.for_each(|upper, number| {
                        if filter.may_have(key(upper)) {
                            let document = self.shingles.document(number);
                            if self.is_plain(document) {
                                add.entries.push((key(upper), document));
                            }
                        }
                    });
                    if added.is_ok() {
                        added = add.flush();
                    }
                })?;
                added?;
                // The next step needs the memory.
                self.shingles.clear(part);
                progress.advance(before(part + 1) - before(part))?;
            }
            Ok(())
        })
    }

    /// Collects the entries that `work` adds on all threads.
    fn gather(
        &self,
        name: &'static str,
        work: impl Fn(&mut KeyGatherer<'_>, &StopFlag) -> Result<(), FindError> + Sync,
    ) -> Result<SpillLog<KeyEntry>, FindError> {
        let log = Mutex::new(SpillLog::scratch(self.temp, name, self.budget.buckets() / 2));
        on_threads::<_, FindError>(self.options.threads, |stop| {
            let mut add = KeyGatherer { log: &log, entries: Vec::new() };
            work(&mut add, stop)?;
            log.lock().append(add.entries)?;
            Ok(())
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
        let entries = inserted.len() + probing.map_or(0, SpillLog::len);
        let ranges = ranges(entries, self.budget, self.options.threads.get());
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
fn ranges(entries: u64, budget: &Budget, at_least: usize) -> Vec<KeyRange> {
    KeyRanges::at_least(at_least, entries as usize, SORTED_BYTES, budget).collect()
}

/// The entries of a range, sorted.
fn sorted(log: &SpillLog<KeyEntry>, range: KeyRange) -> Result<Vec<KeyEntry>, FindError> {
    let mut found = Vec::new();
    log.each_record(<[KeyEntry]>::len, |some| {
        found.extend(some.iter().filter(|(key, _)| range.has(key & !PROBES)));
        Ok::<_, FindError>(())
    })?;
    found.sort_unstable();
    // A document has a shingle more than once.
    found.dedup();
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

/// The entries that one thread gathers.
struct KeyGatherer<'a> {
    log: &'a Mutex<SpillLog<KeyEntry>>,
    entries: Vec<KeyEntry>,
}

impl KeyGatherer<'_> {
    /// Adds the entries to the log if there are many.
    fn flush(&mut self) -> Result<(), FindError> {
        if self.entries.len() > GATHERED {
            self.log.lock().append(std::mem::take(&mut self.entries))?;
        }
        Ok(())
    }
}

/// The shared shingles of a group of documents, or of the part of it that fits in memory.
#[derive(Default)]
struct ShingleGroup {
    /// The start of the shingles of each document of the group, and the end of the last ones.
    starts: Vec<usize>,
    /// The documents in memory.
    loaded: Range<usize>,
    /// Their shingles, one document after the other.
    shingles: Vec<SharedShingle>,
}

impl ShingleGroup {
    /// Counts the shared shingles of a group of this many documents.
    fn count(
        &mut self,
        shared: &CompleteParts<SharedShingle>,
        number: usize,
        documents: usize,
    ) -> Result<(), FindError> {
        self.starts.clear();
        self.starts.resize(documents + 1, 0);
        let mut is_altered = false;
        shared.each(number, |shingles| {
            for shingle in shingles {
                match self.starts.get_mut(document_index(*shingle) + 1) {
                    Some(count) => *count += 1,
                    None => is_altered = true,
                }
            }
        })?;
        if is_altered {
            return Err(SpillError::altered("the shared shingles").into());
        }
        for i in 1..self.starts.len() {
            self.starts[i] += self.starts[i - 1];
        }
        self.loaded = 0..0;
        Ok(())
    }

    /// Loads the shingles of the next documents, up to `most` shingles and at least one document.
    /// Returns false after the last document.
    fn load_next(
        &mut self,
        shared: &CompleteParts<SharedShingle>,
        number: usize,
        most: usize,
    ) -> Result<bool, FindError> {
        let first = self.loaded.end;
        if first + 1 >= self.starts.len() {
            return Ok(false);
        }
        let start = self.starts[first];
        let fitting = self.starts[first + 1..].partition_point(|end| end - start <= most);
        self.loaded = first..first + fitting.max(1);
        let mut next: Vec<usize> =
            self.starts[self.loaded.clone()].iter().map(|place| place - start).collect();
        self.shingles.clear();
        self.shingles.resize(self.starts[self.loaded.end] - start, 0);
        let mut is_altered = false;
        shared.each(number, |shingles| {
            for shingle in shingles {
                let Some(index) = document_index(*shingle).checked_sub(first) else { continue };
                let Some(place) = next.get_mut(index) else { continue };
                match self.shingles.get_mut(*place) {
                    Some(target) => *target = *shingle,
                    None => is_altered = true,
                }
                *place += 1;
            }
        })?;
        if is_altered {
            return Err(SpillError::altered("the shared shingles").into());
        }
        Ok(true)
    }

    /// The shingles of a document in memory.
    fn shingles(&mut self, index: usize) -> &mut [SharedShingle] {
        let start = self.starts[self.loaded.start];
        &mut self.shingles[self.starts[index] - start..self.starts[index + 1] - start]
    }
}

/// The index of a document in its group.
fn document_index(shingle: SharedShingle) -> usize {
    (shingle >> SHINGLE_BITS) as usize
}

/// A Bloom filter with one hash of the probed keys. It has no false negatives. The bit of a key is
/// its top bits, which are uniform, so that the keys of one part of the shingles use a part of the
/// filter that fits the cache.
struct KeyFilter {
    bits: Vec<u64>,
    shift: u32,
}

impl KeyFilter {
    /// Creates a filter of some 32 bits per entry, if memory allows.
    fn new(entries: &SpillLog<KeyEntry>, budget: &Budget) -> Result<Self, FindError> {
        let most = (budget.filter() as u64).saturating_mul(8).clamp(1 << 16, 1 << 32);
        let bits = (32 * entries.len()).next_power_of_two().max(1 << 16);
        let log2 = bits.min(most).ilog2();
        let mut filter = Self { bits: vec![0; 1 << (log2 - 6)], shift: 64 - log2 };
        entries.each_record(<[KeyEntry]>::len, |some| {
            for (key, _) in some {
                let bit = key >> filter.shift;
                filter.bits[(bit / 64) as usize] |= 1 << (bit % 64);
            }
            Ok::<_, FindError>(())
        })?;
        Ok(filter)
    }

    fn may_have(&self, key: u64) -> bool {
        let bit = key >> self.shift;
        self.bits[(bit / 64) as usize] >> (bit % 64) & 1 == 1
    }
}
