//! Computes, from the results of the scan, how much of each item the corpus contains, and the
//! result of each benchmark.

use super::benchmark::{BenchmarkItem, BenchmarkItems};
use super::item_index::{ItemIndex, run_length};
use super::matches::{self, ContaminatedDocument, RunMatch};
use super::scan::CorpusScan;
use crate::engine::FindError;
use crate::read::SkippedItem;
use crate::spill::{RecordCursor, SortedRecords, SpillError};
use std::collections::BTreeMap;

/// The maximum total length of the lists of sets in memory. When it is exceeded, the lists are
/// counted and dropped.
const HELD_SETS: usize = 1 << 20;

/// The result of a comparison.
pub struct Contamination {
    /// All items in reading order, field after field.
    pub items: Vec<ItemVerdict>,
    /// The items of each benchmark and field.
    pub benchmarks: Vec<BenchmarkSummary>,
    /// The number of compared documents of the corpus.
    pub documents: u64,
    /// The number of documents that contain a run of words of a contaminated item.
    pub contaminated_documents: u64,
    /// Unreadable items of the benchmark and of the corpus.
    pub skipped: Vec<SkippedItem>,
    matches: SortedRecords,
    /// The documents that contain runs of items. Each is stored with its sets of texts, which
    /// `ItemIndex` defines.
    with_runs: SortedRecords,
    /// Whether each set has a text of a contaminated item.
    is_contaminated: Vec<bool>,
}

/// The part of an item that the corpus contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemVerdict {
    /// The item.
    pub item: BenchmarkItem,
    /// The number of its words in matched runs.
    pub covered: u32,
    /// The number of documents that contain such a run.
    pub documents: u64,
    /// Whether the share of words reaches the threshold.
    pub contaminated: bool,
}

/// The items of a benchmark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchmarkSummary {
    /// The file, folder or stream.
    pub benchmark: String,
    /// The field, if several fields are searched.
    pub field: Option<String>,
    /// The number of items.
    pub items: u64,
    /// The number of items without words.
    pub empty: u64,
    /// The number of contaminated items.
    pub contaminated: u64,
    /// The number of words of all items.
    pub words: u64,
    /// The number of these words in matched runs.
    pub covered: u64,
}

/// An item with all its matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemMatches<'a> {
    /// The item.
    pub verdict: &'a ItemVerdict,
    /// Its matches by source and id of the document, then by position; empty if the options omit
    /// them.
    pub matches: Vec<RunMatch>,
}

impl ItemVerdict {
    /// The share of words that are in matched runs, from 0 to 1; 0 without words.
    pub fn share(&self) -> f64 {
        if self.item.words == 0 {
            0.0
        } else {
            f64::from(self.covered) / f64::from(self.item.words)
        }
    }
}

impl Contamination {
    pub(super) fn new(
        read: BenchmarkItems,
        scanned: CorpusScan,
        index: &ItemIndex,
        (ngram, threshold): (usize, f64),
    ) -> Result<Self, FindError> {
        let BenchmarkItems { items, mut skipped, .. } = read;
        skipped.extend(scanned.skipped);
        skipped.sort_by(|a, b| (&a.source, a.line, &a.id).cmp(&(&b.source, b.line, &b.id)));
        let documents = documents_by_text(index, &scanned.with_runs)?;
        let mut is_contaminated = vec![false; index.texts()];
        let numbered = (0u32..).zip(items);
        let items: Vec<ItemVerdict> = numbered
            .map(|(number, words)| {
                let item = words.item;
                let text = index.text(number);
                let length = run_length(words.tokens.len(), ngram);
                let covered = covered(index.classes(text), length, &scanned.is_found);
                let documents = documents[text as usize];
                let mut verdict = ItemVerdict { item, covered, documents, contaminated: false };
                verdict.contaminated = verdict.item.words > 0 && verdict.share() >= threshold;
                is_contaminated[text as usize] |= verdict.contaminated;
                verdict
            })
            .collect();
        let has_contaminated =
            |set| index.set(set).iter().any(|text| is_contaminated[*text as usize]);
        let is_contaminated = (0..index.sets()).map(has_contaminated).collect();
        let mut found = Self {
            benchmarks: summaries(&items),
            items,
            documents: scanned.documents,
            contaminated_documents: 0,
            skipped,
            matches: scanned.matches,
            with_runs: scanned.with_runs,
            is_contaminated,
        };
        let mut documents = 0;
        for document in found.each_contaminated_document() {
            document?;
            documents += 1;
        }
        found.contaminated_documents = documents;
        Ok(found)
    }

    /// Iterates over the documents that contain a run of words of a contaminated item, by source
    /// and id. Returns each document once.
    pub fn each_contaminated_document(
        &self,
    ) -> impl Iterator<Item = Result<ContaminatedDocument, FindError>> {
        let mut cursor = self.with_runs.cursor();
        let mut last = Vec::new();
        std::iter::from_fn(move || {
            loop {
                let (key, payload) = match cursor.next_record() {
                    Err(error) => return Some(Err(error.into())),
                    Ok(None) => return None,
                    Ok(Some(record)) => record,
                };
                let Some(name) = matches::name_of_document(key) else {
                    return Some(Err(damaged().into()));
                };
                // Names are never empty, so an empty one marks the start.
                if last == name {
                    continue;
                }
                let decoded = matches::decode_document(payload);
                let Some((document, sets)) = decoded else { return Some(Err(damaged().into())) };
                let is_contaminated = |set: &u32| {
                    self.is_contaminated.get(*set as usize).copied().unwrap_or_default()
                };
                if sets.iter().any(is_contaminated) {
                    last.clear();
                    last.extend_from_slice(name);
                    return Some(Ok(document));
                }
            }
        })
    }

    /// Iterates over all items with their matches, in the order of [`items`](Self::items),
    /// including items without matches.
    pub fn with_matches(&self) -> impl Iterator<Item = Result<ItemMatches<'_>, FindError>> {
        let mut cursor = PendingMatches { cursor: self.matches.cursor(), next: None };
        (0u32..).zip(&self.items).map(move |(number, verdict)| {
            let mut matches = Vec::new();
            while let Some(found) = cursor.next_of(number)? {
                matches.push(found);
            }
            Ok(ItemMatches { verdict, matches })
        })
    }
}

/// Counts the words of an item that are part of a run found in a document.
fn covered(classes: &[u32], length: usize, is_found: &[bool]) -> u32 {
    let mut covered = 0;
    let mut end = 0;
    for (at, _) in classes.iter().enumerate().filter(|(_, class)| is_found[**class as usize]) {
        covered += at + length - end.max(at);
        end = at + length;
    }
    covered as u32
}

/// For each text, counts the documents that contain one of its runs. Documents with the same sets
/// are counted together.
fn documents_by_text(index: &ItemIndex, with_runs: &SortedRecords) -> Result<Vec<u64>, FindError> {
    let mut documents = vec![0; index.texts()];
    let mut last = vec![u64::MAX; index.texts()];
    let mut lists = 0;
    let mut count = |pending: &mut BTreeMap<Vec<u32>, u64>| {
        for (sets, number) in std::mem::take(pending) {
            for text in sets.iter().flat_map(|set| index.set(*set)) {
                if std::mem::replace(&mut last[*text as usize], lists) != lists {
                    documents[*text as usize] += number;
                }
            }
            lists += 1;
        }
    };
    let mut pending = BTreeMap::<Vec<u32>, u64>::new();
    let mut entries = 0;
    let mut cursor = with_runs.cursor();
    while let Some((_, payload)) = cursor.next_record()? {
        let (_, sets) = matches::decode_document(payload).ok_or_else(damaged)?;
        entries += sets.len() + 1;
        *pending.entry(sets).or_default() += 1;
        if entries > HELD_SETS {
            count(&mut pending);
            entries = 0;
        }
    }
    count(&mut pending);
    Ok(documents)
}

fn damaged() -> SpillError {
    SpillError::altered("the matches of items")
}

/// Reads matches item by item.
struct PendingMatches<'a> {
    cursor: RecordCursor<'a>,
    /// The first match of a later item, and that item.
    next: Option<(u32, RunMatch)>,
}

impl PendingMatches<'_> {
    /// Returns the next match of an item.
    fn next_of(&mut self, item: u32) -> Result<Option<RunMatch>, FindError> {
        if self.next.is_none() {
            let record = self.cursor.next_record()?;
            let decode = |(key, payload): (&[u8], &[u8])| {
                matches::item_of(key).zip(matches::decode(payload)).ok_or_else(damaged)
            };
            self.next = record.map(decode).transpose()?;
        }
        Ok(self.next.take_if(|(of, _)| *of == item).map(|(_, found)| found))
    }
}

/// Returns a row for each benchmark and field, in the order of their first items.
fn summaries(items: &[ItemVerdict]) -> Vec<BenchmarkSummary> {
    let mut summaries: Vec<BenchmarkSummary> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for ItemVerdict { item, covered, contaminated, .. } in items {
        let place = *places.entry((&item.benchmark, &item.field)).or_insert_with(|| {
            let benchmark = item.benchmark.clone();
            let field = item.field.clone();
            let items = 0;
            let empty = 0;
            let contaminated = 0;
            let words = 0;
            let covered = 0;
            let row =
                BenchmarkSummary { benchmark, field, items, empty, contaminated, words, covered };
            summaries.push(row);
            summaries.len() - 1
        });
        let row = &mut summaries[place];
        row.items += 1;
        row.empty += u64::from(item.words == 0);
        row.contaminated += u64::from(*contaminated);
        row.words += u64::from(item.words);
        row.covered += u64::from(*covered);
    }
    summaries
}
