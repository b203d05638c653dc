//! Candidates without a miss: documents that share a rare shingle.
//!
//! Two documents with Jaccard t or more share one of the |x| − ⌈t·|x|⌉ + 1 rarest shingles of each,
//! in whatever order of rarity, as long as it is the same for all (Chaudhuri, Ganti, Kaushik 2006;
//! Bayardo, Ma, Srikant 2007). The one that is not larger needs about half as many (Xiao et al.
//! 2008), so documents *stand* in the buckets of the former and *look* for others in those of the
//! latter only: forms that share most of a template, but too little, meet nowhere. Shingles that
//! occur once are shared by nobody, so most documents have nothing to look up. For containment the
//! rarest shingles of the shorter document are looked up among *all* shingles of the longer one,
//! which takes one more reading.

use super::bucket_lists::{BucketLists, DocumentLists};
use super::documents::{DocumentState, RunDocuments};
use super::entries::Entries;
use super::memory::Budget;
use super::ranges::KeyRange;
use super::shingle_counts::CompleteCounts;
use super::shingles::ShingleCutter;
use super::workers::{Counter, on_threads};
use crate::error::Error;
use crate::find::options::FindOptions;
use crate::progress::Progress;
use crate::read::{Document, ReadBuffers};
use crate::spill::TempSpace;
use lookalike_core::params::{Measure, Params};
use lookalike_core::prefix;
use std::sync::{Arc, Mutex, PoisonError};

/// Entries that one thread gathers before it hands them on.
const GATHERED: usize = 1 << 16;

/// The mark of a key under which a document looks for others, not only is in it.
const LOOKS: u64 = 1;

/// What all threads share.
pub(super) struct ExactCandidates<'a> {
    pub(super) documents: &'a RunDocuments,
    pub(super) options: &'a FindOptions,
    pub(super) budget: &'a Budget,
    pub(super) temp: &'a Arc<TempSpace>,
}

impl ExactCandidates<'_> {
    /// Adds the buckets of rare shingles to `lists`.
    pub(super) fn buckets(
        &self,
        counted: CompleteCounts,
        lists: &mut BucketLists<'_>,
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        let probing = Entries::new(self.temp, "rare", self.budget);
        let rare = |document: &Document<'_>, tools: &mut CandidateBuffers, out: &mut Vec<u64>| {
            tools.rare(document, &self.options.params, &counted, out);
        };
        self.read(&probing, &rare, progress)?;
        // What follows needs the memory.
        drop(counted);
        if self.options.params.measure() == Measure::Jaccard {
            return self.list(&probing, None, lists);
        }
        let filter = KeyFilter::new(&probing, self.budget)?;
        let inserted = Entries::new(self.temp, "shared", self.budget);
        let shared = |document: &Document<'_>, tools: &mut CandidateBuffers, out: &mut Vec<u64>| {
            let hashes = tools.cutter.shingles(document).hashes;
            out.extend(hashes.iter().map(|h| key(*h)).filter(|key| filter.may_have(*key)));
            out.sort_unstable();
            out.dedup();
        };
        self.read(&inserted, &shared, progress)?;
        drop(filter);
        self.list(&inserted, Some(&probing), lists)
    }

    /// Reads all documents that represent their equals again and adds what `keys` gives for each.
    fn read(
        &self,
        entries: &Entries<'_>,
        keys: &(impl Fn(&Document<'_>, &mut CandidateBuffers, &mut Vec<u64>) + Sync),
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        let counter = Counter::default();
        let params = &self.options.params;
        on_threads::<_, Error>(self.options.threads, |stop| {
            let mut tools = CandidateBuffers::new(self.options);
            let mut scratch = ReadBuffers::default();
            let (mut out, mut gathered) = (Vec::new(), Vec::new());
            while let Some(i) = counter.next(self.documents.part_count()) {
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
                progress.advance(u64::from(self.documents.part(i).documents))?;
                if gathered.len() > GATHERED {
                    entries.add(std::mem::take(&mut gathered))?;
                }
            }
            debug_assert!(params.exact());
            entries.add(gathered)
        })?;
        Ok(())
    }

    /// Adds the documents that have the same key, a range of keys at a time.
    fn list(
        &self,
        inserted: &Entries<'_>,
        probing: Option<&Entries<'_>>,
        lists: &mut BucketLists<'_>,
    ) -> Result<(), Error> {
        let ranges = inserted.ranges(self.budget, self.options.threads.get());
        let counter = Counter::default();
        let lists = Mutex::new(lists);
        on_threads::<_, Error>(self.options.threads, |stop| {
            while let Some(i) = counter.next(ranges.len()) {
                if stop.asked() {
                    break;
                }
                let found = match probing {
                    None => marked(&inserted.sorted(ranges[i])?),
                    Some(probing) => directed(inserted, probing, ranges[i])?,
                };
                lists.lock().unwrap_or_else(PoisonError::into_inner).add(found)?;
            }
            Ok(())
        })?;
        Ok(())
    }
}

/// For each key under which somebody looks, which its mark tells: how many have it, who, and who
/// looks.
fn marked(entries: &[(u64, u32)]) -> DocumentLists {
    let mut lists = DocumentLists::default();
    let equal = |a: &(u64, u32), b: &(u64, u32)| a.0 & !LOOKS == b.0 & !LOOKS;
    for bucket in entries.chunk_by(equal).filter(|bucket| bucket.len() > 1) {
        // Marked keys come after the others.
        let probing = &bucket[bucket.partition_point(|entry| entry.0 & LOOKS == 0)..];
        if !probing.is_empty() {
            let both = bucket.iter().chain(probing).map(|(_, document)| *document);
            lists.push(std::iter::once(bucket.len() as u32).chain(both));
        }
    }
    lists
}

/// For each key that somebody looks for: how many have it, who, and who looks.
fn directed(
    inserted: &Entries<'_>,
    probing: &Entries<'_>,
    range: KeyRange,
) -> Result<DocumentLists, Error> {
    let (inserted, probing) = (inserted.sorted(range)?, probing.sorted(range)?);
    let mut lists = DocumentLists::default();
    let mut rest = probing.as_slice();
    for bucket in inserted.chunk_by(|a, b| a.0 == b.0).filter(|bucket| bucket.len() > 1) {
        let key = bucket[0].0;
        rest = &rest[rest.partition_point(|entry| entry.0 < key)..];
        let probing = &rest[..rest.partition_point(|entry| entry.0 == key)];
        if probing.is_empty() {
            continue;
        }
        let both = bucket.iter().chain(probing).map(|(_, document)| *document);
        lists.push(std::iter::once(bucket.len() as u32).chain(both));
    }
    Ok(lists)
}

/// The key of a shingle: what signatures see of its hash. Others that share it only make more
/// candidates.
fn key(upper: u32) -> u64 {
    u64::from(upper) << 32
}

/// One thread's tools.
struct CandidateBuffers {
    cutter: ShingleCutter,
    /// Count above hash of the shingles that occur more than once.
    shared: Vec<u64>,
}

impl CandidateBuffers {
    fn new(options: &FindOptions) -> Self {
        Self { cutter: ShingleCutter::new(options), shared: Vec::new() }
    }

    /// The keys of the rarest shingles of a document, but for those that occur nowhere else; for
    /// Jaccard with a mark where it looks.
    ///
    /// Shingles are put in order by the upper halves of their hashes, which some may share: as many
    /// different halves hold at least as many different shingles. Repeats in the text make the
    /// prefix longer than it must be.
    fn rare(
        &mut self,
        document: &Document<'_>,
        params: &Params,
        counted: &CompleteCounts,
        out: &mut Vec<u64>,
    ) {
        let hashes = self.cutter.shingles(document).hashes;
        let length = prefix::prefix_length(hashes.len(), params.threshold());
        let looks = match params.measure() {
            Measure::Jaccard => prefix::short_prefix_length(hashes.len(), params.threshold()),
            Measure::Containment => 0,
        };
        let singles = counted.look_up(hashes, length, &mut self.shared);
        if singles < length {
            self.shared.sort_unstable();
            self.shared.dedup();
            let rarest = self.shared.iter().take(length - singles).enumerate();
            let mark = |i| if i + singles < looks { LOOKS } else { 0 };
            out.extend(rarest.map(|(i, shared)| key(*shared as u32) | mark(i)));
        }
    }
}

/// Which keys somebody looks for; sometimes says yes where nobody does.
struct KeyFilter {
    bits: Vec<u64>,
    shift: u32,
}

impl KeyFilter {
    /// Some 32 bits for each entry, as far as memory goes.
    fn new(entries: &Entries<'_>, budget: &Budget) -> Result<Self, Error> {
        let most = (budget.filter() as u64).saturating_mul(8).max(1 << 16);
        let bits = (32 * entries.len() as u64).next_power_of_two().max(1 << 16);
        let log2 = bits.min(most).ilog2();
        let mut filter = Self { bits: vec![0; 1 << (log2 - 6)], shift: 64 - log2 };
        for range in entries.ranges(budget, 1) {
            for (key, _) in entries.sorted(range)? {
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
