//! Exact candidates: documents that share rare shingles. No similar pair is missed.
//!
//! The prefix of a document x is its |x| − ⌈t·|x|⌉ + 1 rarest shingles. If two documents have a
//! Jaccard similarity of t or more, their prefixes share a shingle (Chaudhuri, Ganti, Kaushik 2006;
//! Bayardo, Ma, Srikant 2007). The order of rarity only has to be the same for all documents. For
//! the document that is not larger, a prefix of about half the length suffices (Xiao et al. 2008).
//! So a document is inserted into the buckets of its longer prefix and probes only the buckets of
//! its shorter one. Forms that share most of a template, but not enough, do not meet. A shingle
//! that occurs once is not shared, so most documents do not probe any bucket.
//!
//! For containment, the rarest shingles of the shorter document probe the buckets of *all* shingles
//! of the longer one. If the shorter document probes one more shingle than its prefix has, the
//! longer one must have two of the probed shingles, and so on. So a document probes some shingles
//! beyond its prefix, counts the shared ones, and ignores the documents that share only a sentence
//! with it (the ℓ-prefix scheme: Wang, Li, Feng, *Can we beat the prefix filtering?*, 2012).
//!
//! ```text
//! DocumentShingles, by part ─ count → rests of prefixes
//!   ─ count → shingles that occur more than once, by group of documents
//!   ─ rarest of each document → probing keys, by part
//!   ─ Jaccard: equal keys → lists
//!   ─ containment: DocumentShingles with the same key → lists, or meetings by group of documents
//!       ─ documents with enough meetings → lists
//! ```

use crate::engine::error::FindError;
use crate::engine::ids::{DocumentNumber, Id};
use crate::engine::link::bucket_lists::{BucketLists, DocumentLists};
use crate::engine::link::document_values::{
    DocumentParts, DocumentValues, mark, pack, place, rest,
};
use crate::engine::link::prefix_rests::PrefixRests;
use crate::engine::link::probed_keys::ProbedKeys;
use crate::engine::link::ranges::{KeyRange, KeyRanges};
use crate::engine::memory::Budget;
use crate::engine::options::FindOptions;
use crate::engine::prepare::documents::{DocumentState, RunDocuments};
use crate::engine::prepare::shingle_log::{
    DocumentShingles, PLACE_BITS, key, part_and_place, spread,
};
use crate::engine::workers::{Counter, on_threads};
use crate::progress::Progress;
use crate::spill::{CompleteParts, PartLog, PartLogWriter, SpillError, TempSpace};
use lookalike_core::params::Measure;
use lookalike_core::prefix;
use parking_lot::Mutex;
use std::sync::Arc;

/// Bytes of memory for a key or a shingle of a part.
const ENTRY_BYTES: usize = 32;

/// The most keys that a document probes beyond its prefix.
const MORE_KEYS: usize = 15;

/// The most uses of a document's keys, for each of its shingles. If the keys have more, their
/// meetings are not logged.
const USES_PER_SHINGLE: usize = 6;

/// If most documents of a key probe it, they probably resemble each other. Their meetings are then
/// logged only if there are at most this many documents.
const SMALL: usize = 8;

/// Values of lists that one thread gathers before it adds them.
const MOST_LISTED: usize = 1 << 16;

/// The mark of a key that the document probes, for Jaccard.
const PROBES: u8 = 1;

/// The values that all threads share.
pub(crate) struct ExactCandidates<'a> {
    pub(crate) documents: &'a RunDocuments,
    pub(crate) groups: DocumentParts,
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
        let lists = Mutex::new(lists);
        let probing = self.rare(&self.shared(progress)?, progress)?;
        if self.options.params.measure() == Measure::Jaccard {
            return self.list_equal(&probing, &lists, progress);
        }
        let meetings = self.meet(&probing, &lists, progress)?;
        self.list_containing(&meetings, &lists, progress)
    }

    /// Creates a log of values of documents, by group of documents.
    fn document_log(&self, name: &'static str, share: usize) -> PartLog<u64> {
        PartLog::new(self.temp, name, share, self.groups.count(), self.budget.threads())
    }

    /// Adds a value of a document to a log from [`document_log`](Self::document_log).
    #[inline]
    fn push(
        &self,
        writer: &mut PartLogWriter<'_, u64>,
        document: DocumentNumber,
        mark: u8,
        rest: u32,
    ) -> Result<(), FindError> {
        let (group, place) = self.groups.place(document);
        writer.push(group, [pack(place, mark, rest)])?;
        Ok(())
    }

    /// Passes the values of each document of a group to `take`, and removes them from the log.
    /// Returns the number of documents.
    fn each_document(
        &self,
        log: &CompleteParts<u64>,
        group: usize,
        values: &mut DocumentValues,
        mut take: impl FnMut(DocumentNumber, &mut [u64]) -> Result<(), FindError>,
    ) -> Result<usize, FindError> {
        let documents = self.groups.documents(group);
        let most = self.budget.share(16) / self.options.threads.get() / size_of::<u64>();
        values.count(log, group, documents.len())?;
        while values.load_next(log, group, most)? {
            for index in values.loaded() {
                take(DocumentNumber::new(documents.start + index), values.of(index))?;
            }
        }
        log.clear(group);
        Ok(documents.len())
    }

    /// Whether a document takes part itself. Copies are represented by an equal document.
    fn is_plain(&self, document: DocumentNumber) -> bool {
        self.documents.state(document) == DocumentState::PLAIN
    }

    /// Removes the shingles in memory that occur once. Returns the rests of the prefixes.
    fn rests(&self, progress: &dyn Progress) -> Result<PrefixRests, FindError> {
        let threshold = self.options.params.threshold();
        let length = |document| {
            if self.is_plain(document) {
                prefix::prefix_length(self.shingles.count(document), threshold) as u32
            } else {
                0
            }
        };
        let mut rests = PrefixRests::new(self.shingles.documents().map(length));
        let counter = Counter::default();
        let singles = on_threads::<_, FindError>(self.options.threads, |stop| {
            let mut counters = self.shingles.counters();
            let mut singles = rests.counter();
            while let Some(part) =
                counter.next(self.shingles.parts()).filter(|_| !stop.is_requested())
            {
                // The caller may cancel the run.
                progress.advance(0)?;
                self.shingles.count_part(part, &mut counters)?;
                let mut is_shared = |upper, number| {
                    let is_single = counters.get(key(upper)) == 1;
                    singles.add(number, is_single);
                    !is_single
                };
                self.shingles.retain_held(part, &mut is_shared);
                self.shingles.each_stored(part, |shingles| {
                    shingles.for_each(|upper, number| _ = is_shared(upper, number));
                })?;
            }
            Ok(singles)
        })?;
        for singles in &singles {
            rests.subtract(singles);
        }
        Ok(rests)
    }

    /// Logs, by document, the shingles that occur more than once, each with its count and the upper
    /// half of its hash. Documents without a rest of their prefix are left out.
    ///
    /// For Jaccard, they are not counted either. Their prefixes meet no other prefix, and any order
    /// of the shingles suffices that is the same for all documents.
    fn shared(&self, progress: &dyn Progress) -> Result<CompleteParts<u64>, FindError> {
        let rests = self.rests(progress)?;
        let is_jaccard = self.options.params.measure() == Measure::Jaccard;
        let share = self.budget.shared_shingles(self.options.params.measure());
        let log = self.document_log("shared", share + self.shingles.room());
        let counter = Counter::default();
        on_threads::<_, FindError>(self.options.threads, |stop| {
            let mut counters = self.shingles.counters();
            let mut writer = log.writer();
            let mut needed = Vec::new();
            let has_rest = |number| rests.has_rest(number);
            while let Some(part) =
                counter.next(self.shingles.parts()).filter(|_| !stop.is_requested())
            {
                progress.advance(0)?;
                if is_jaccard {
                    self.shingles.retain_held(part, |_, number| has_rest(number));
                    self.shingles.count_some(part, &mut counters, has_rest)?;
                } else {
                    self.shingles.count_part(part, &mut counters)?;
                }
                let mut added = Ok(());
                self.shingles.each(part, |shingles| {
                    shingles.select(has_rest, &mut needed);
                    for &(upper, number) in &needed {
                        let uses = counters.get(key(upper));
                        if uses != 1 && added.is_ok() {
                            let document = self.shingles.document(number);
                            added = self.push(&mut writer, document, uses, upper);
                        }
                    }
                })?;
                added?;
                if is_jaccard {
                    // Only containment needs the shingles again.
                    self.shingles.clear(part);
                }
            }
            Ok(writer.finish()?)
        })?;
        Ok(log.finish())
    }

    /// Returns, by part of the shingles, the keys of each document's rarest shingles that other
    /// documents also have.
    fn rare(
        &self,
        shared: &CompleteParts<u64>,
        progress: &dyn Progress,
    ) -> Result<CompleteParts<u64>, FindError> {
        let share = self.budget.buckets() / 2;
        let log =
            PartLog::new(self.temp, "rare", share, self.shingles.parts(), self.budget.threads());
        let counter = Counter::default();
        on_threads::<_, FindError>(self.options.threads, |stop| {
            let mut values = DocumentValues::default();
            let mut writer = log.writer();
            let mut keys = Vec::new();
            while let Some(group) = counter.next(shared.len()).filter(|_| !stop.is_requested()) {
                let documents =
                    self.each_document(shared, group, &mut values, |document, own| {
                        self.rarest(document, own, &mut keys);
                        for (upper, mark) in keys.drain(..) {
                            let (part, place) = part_and_place(upper);
                            writer.push(part, [pack(place, mark, document.0)])?;
                        }
                        Ok(())
                    })?;
                progress.advance(documents as u64)?;
            }
            Ok(writer.finish()?)
        })?;
        Ok(log.finish())
    }

    /// Adds the keys of the rarest shingles of a document to `keys`, with their marks. `shared` are
    /// all its shingles that other documents also have.
    ///
    /// For Jaccard, the keys that the document probes are marked.
    ///
    /// For containment, the mark is the number of keys that a document must have to contain this
    /// one: 1 for the prefix alone, and 1 more for every key beyond the prefix. The mark is 0 if
    /// the keys of the prefix have too many uses.
    ///
    /// Shingles are identified by the upper halves of their hashes, which different shingles may
    /// share. So n different halves represent at least n different shingles. Repeats in the text
    /// only make the prefix longer than necessary.
    fn rarest(&self, document: DocumentNumber, shared: &mut [u64], keys: &mut Vec<(u32, u8)>) {
        let params = &self.options.params;
        let count = self.shingles.count(document);
        let length = prefix::prefix_length(count, params.threshold());
        let singles = count.saturating_sub(shared.len());
        if shared.is_empty() || singles >= length {
            return;
        }
        let prefix = length - singles;
        let rarest = sort_least(shared, prefix + MORE_KEYS);
        let rarest = rarest.chunk_by(|a, b| a == b).map(|repeats| repeats[0]);
        if params.measure() == Measure::Jaccard {
            let probed = prefix::short_prefix_length(count, params.threshold());
            keys.extend(rarest.take(prefix).enumerate().map(|(i, shingle)| {
                (rest(shingle), if i + singles < probed { PROBES } else { 0 })
            }));
            return;
        }
        let most = USES_PER_SHINGLE * count;
        let mut meetings = 0;
        for shingle in rarest.take(prefix + MORE_KEYS) {
            // The greatest value also represents all greater counts.
            let uses = match mark(shingle) {
                u8::MAX => usize::MAX,
                uses => usize::from(uses),
            };
            let more = uses.saturating_add(meetings);
            if keys.len() >= prefix && more > most {
                break;
            }
            meetings = more;
            keys.push((rest(shingle), 0));
        }
        if meetings <= most {
            let required = (keys.len() + 1).saturating_sub(prefix).max(1);
            for (_, mark) in keys {
                *mark = required as u8;
            }
        }
    }

    /// Loads the keys of a part that are in a range, sorted.
    fn load_keys(
        &self,
        keys: &CompleteParts<u64>,
        part: usize,
        range: KeyRange,
        out: &mut Vec<u64>,
    ) -> Result<(), FindError> {
        out.clear();
        keys.each(part, |keys| {
            out.extend(keys.iter().filter(|key| range.has(spread(place(**key)))));
        })?;
        let is_known = |key: &u64| {
            place(*key) >> PLACE_BITS == 0 && (rest(*key) as usize) < self.documents.len()
        };
        if !out.iter().all(is_known) {
            return Err(SpillError::altered("the keys of documents").into());
        }
        out.sort_unstable();
        Ok(())
    }

    /// Lists the documents of each key, and the documents that probe its bucket.
    fn list_equal(
        &self,
        keys: &CompleteParts<u64>,
        lists: &Mutex<&mut BucketLists>,
        progress: &dyn Progress,
    ) -> Result<(), FindError> {
        let counter = Counter::default();
        on_threads::<_, FindError>(self.options.threads, |stop| {
            let mut entries = Vec::new();
            while let Some(part) = counter.next(keys.len()).filter(|_| !stop.is_requested()) {
                progress.advance(0)?;
                for range in KeyRanges::new(keys.values(part), ENTRY_BYTES, self.budget) {
                    self.load_keys(keys, part, range, &mut entries)?;
                    let mut found = DocumentLists::default();
                    let buckets = entries.chunk_by(|a, b| place(*a) == place(*b));
                    for bucket in buckets.filter(|bucket| bucket.len() > 1) {
                        // Marked keys are sorted after the others.
                        let probing = &bucket[bucket.partition_point(|key| mark(*key) == 0)..];
                        if !probing.is_empty() {
                            found.push_directed(documents_of(bucket), documents_of(probing));
                        }
                    }
                    lists.lock().add(found)?;
                }
                keys.clear(part);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Joins probed keys with the documents that have them. Returns a meeting for each document
    /// that probes a key and each other document that has it. A meeting is a value of the probing
    /// document: the mark of the key, and the other document. Keys that are too common for meetings
    /// are listed instead.
    fn meet(
        &self,
        probing: &CompleteParts<u64>,
        lists: &Mutex<&mut BucketLists>,
        progress: &dyn Progress,
    ) -> Result<CompleteParts<u64>, FindError> {
        let log = self.document_log("meetings", self.budget.buckets() / 2);
        let counter = Counter::default();
        let parts = self.shingles.parts();
        let before = |part: usize| (self.documents.len() * part / parts) as u64;
        on_threads::<_, FindError>(self.options.threads, |stop| {
            let mut writer = log.writer();
            let mut keys = ProbedKeys::default();
            while let Some(part) = counter.next(parts).filter(|_| !stop.is_requested()) {
                let probing_values = probing.values(part);
                let values = probing_values + self.shingles.values(part);
                let ranges = KeyRanges::new(values, ENTRY_BYTES, self.budget);
                for range in ranges.take_while(|_| probing_values > 0) {
                    self.load_keys(probing, part, range, keys.entries_mut())?;
                    keys.index();
                    self.shingles.each(part, |shingles| {
                        keys.add_documents(shingles, |number| {
                            Some(self.shingles.document(number)).filter(|d| self.is_plain(*d))
                        });
                    })?;
                    let mut found = DocumentLists::default();
                    keys.each_bucket(|probing, bucket| {
                        let listed = if bucket.len() > SMALL && 2 * probing.len() > bucket.len() {
                            probing.len()
                        } else {
                            probing.partition_point(|entry| mark(*entry) == 0)
                        };
                        let (listed, counted) = probing.split_at(listed);
                        if !listed.is_empty() {
                            found.push_directed(bucket.iter().copied(), documents_of(listed));
                        }
                        for entry in counted {
                            let document = DocumentNumber(rest(*entry));
                            for other in bucket.iter().filter(|other| **other != document) {
                                self.push(&mut writer, document, mark(*entry), other.0)?;
                            }
                        }
                        Ok::<_, FindError>(())
                    })?;
                    lists.lock().add(found)?;
                }
                probing.clear(part);
                // The next step needs the memory.
                self.shingles.clear(part);
                progress.advance(before(part + 1) - before(part))?;
            }
            Ok(writer.finish()?)
        })?;
        Ok(log.finish())
    }

    /// Lists, for each document, the documents that have enough of its keys to contain it.
    fn list_containing(
        &self,
        meetings: &CompleteParts<u64>,
        lists: &Mutex<&mut BucketLists>,
        progress: &dyn Progress,
    ) -> Result<(), FindError> {
        let counter = Counter::default();
        on_threads::<_, FindError>(self.options.threads, |stop| {
            let mut values = DocumentValues::default();
            let mut members = Vec::new();
            while let Some(group) = counter.next(meetings.len()).filter(|_| !stop.is_requested()) {
                progress.advance(0)?;
                let mut found = DocumentLists::default();
                self.each_document(meetings, group, &mut values, |document, meetings| {
                    meetings.sort_unstable();
                    let equal = meetings.chunk_by(|a, b| a == b);
                    let enough = equal.filter(|equal| equal.len() >= usize::from(mark(equal[0])));
                    members.clear();
                    members.extend(enough.map(|equal| DocumentNumber(rest(equal[0]))));
                    if members.iter().any(|member| member.index() >= self.documents.len()) {
                        return Err(SpillError::altered("the meetings of documents").into());
                    }
                    if !members.is_empty() {
                        members.push(document);
                        members.sort_unstable();
                        found.push_directed(members.iter().copied(), std::iter::once(document));
                    }
                    if found.len() > MOST_LISTED {
                        lists.lock().add(std::mem::take(&mut found))?;
                    }
                    Ok(())
                })?;
                lists.lock().add(found)?;
            }
            Ok(())
        })?;
        Ok(())
    }
}

/// Sorts and returns the least values: at least `count` different ones, or all values.
fn sort_least(values: &mut [u64], count: usize) -> &[u64] {
    let mut end = count;
    while end < values.len() {
        let (least, ..) = values.select_nth_unstable(end);
        least.sort_unstable();
        if least.chunk_by(|a, b| a == b).count() >= count {
            return &values[..end];
        }
        end *= 2;
    }
    values.sort_unstable();
    values
}

/// The documents of keys.
fn documents_of(keys: &[u64]) -> impl ExactSizeIterator<Item = DocumentNumber> {
    keys.iter().map(|key| DocumentNumber(rest(*key)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_core::hash::SplitMix64;

    #[test]
    fn enough_different_values_are_sorted() {
        let mut random = SplitMix64::new(3);
        for _ in 0..2_000 {
            let different = 1 + random.below(60);
            let len = random.below(300);
            let mut values: Vec<u64> = (0..len).map(|_| random.below(different)).collect();
            let mut expected = values.clone();
            expected.sort_unstable();
            let count = 1 + random.below(40) as usize;
            let least = sort_least(&mut values, count);
            assert_eq!(least, &expected[..least.len()]);
            let found = least.chunk_by(|a, b| a == b).count();
            assert!(found >= count || least.len() == expected.len(), "{found} of {count}");
        }
    }
}
