//! Sorted matches → how much of each item is in the corpus, and what that makes of benchmarks.

use super::benchmark::{BenchmarkItem, BenchmarkItems};
use super::matches::{self, MatchKey, RunMatch};
use super::scan::CorpusScan;
use crate::error::Error;
use crate::read::SkippedItem;
use crate::spill::codec::{FieldReader, put_bytes};
use crate::spill::{RecordCursor, SortedRecords, Sorter};

/// What was found.
pub struct Contamination {
    /// All items in reading order, field after field.
    pub items: Vec<ItemVerdict>,
    /// The items of each benchmark and field.
    pub benchmarks: Vec<BenchmarkSummary>,
    /// How many documents of the corpus were compared.
    pub documents: u64,
    /// How many of them have a run of a contaminated item.
    pub contaminated_documents: u64,
    /// What could not be read of the benchmark and of the corpus.
    pub skipped: Vec<SkippedItem>,
    matches: SortedRecords,
    contaminated: SortedRecords,
}

/// A document of the corpus that has a run of a contaminated item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContaminatedDocument {
    /// The file, folder or stream that it is in.
    pub source: String,
    /// Its id.
    pub id: String,
}

/// How much of an item is in the corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemVerdict {
    /// The item.
    pub item: BenchmarkItem,
    /// How many of its words are in matched runs.
    pub covered: u32,
    /// How many documents have such a run.
    pub documents: u64,
    /// Whether the share of words reaches the threshold.
    pub contaminated: bool,
}

/// The items of a benchmark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchmarkSummary {
    /// The file, folder or stream.
    pub benchmark: String,
    /// The field, where several are looked for.
    pub field: Option<String>,
    /// How many items there are.
    pub items: u64,
    /// How many of them have no words.
    pub empty: u64,
    /// How many are contaminated.
    pub contaminated: u64,
    /// How many words they have in all.
    pub words: u64,
    /// How many of the words are in matched runs.
    pub covered: u64,
}

/// An item with all its matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemMatches<'a> {
    /// The item.
    pub verdict: &'a ItemVerdict,
    /// Its matches by source and id of the document, then by position.
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
        threshold: f64,
    ) -> Result<Self, Error> {
        let BenchmarkItems { items, mut skipped, .. } = read;
        skipped.extend(scanned.skipped);
        skipped.sort_by(|a, b| (&a.source, a.line, &a.id).cmp(&(&b.source, b.line, &b.id)));
        let verdict = |item: super::benchmark::ItemWords| ItemVerdict {
            item: item.item,
            covered: 0,
            documents: 0,
            contaminated: false,
        };
        let mut items: Vec<ItemVerdict> = items.into_iter().map(verdict).collect();
        let (matches, sorter) = (scanned.matches, scanned.contaminated);
        count(&mut items, &matches)?;
        for item in &mut items {
            item.contaminated = item.item.words > 0 && item.share() >= threshold;
        }
        let benchmarks = summaries(&items);
        let contaminated = contaminated_documents(&items, &matches, sorter)?;
        let mut found = Self {
            items,
            benchmarks,
            documents: scanned.documents,
            contaminated_documents: 0,
            skipped,
            matches,
            contaminated,
        };
        let mut documents = 0;
        for document in found.each_contaminated_document() {
            document?;
            documents += 1;
        }
        found.contaminated_documents = documents;
        Ok(found)
    }

    /// The documents that have a run of a contaminated item, each once, by source and id.
    pub fn each_contaminated_document(
        &self,
    ) -> impl Iterator<Item = Result<ContaminatedDocument, Error>> {
        let (mut cursor, mut last) = (self.contaminated.cursor(), Vec::new());
        std::iter::from_fn(move || {
            loop {
                match cursor.next_record() {
                    Err(error) => return Some(Err(error)),
                    Ok(None) => return None,
                    // No key is empty.
                    Ok(Some((key, _))) if last == key => {}
                    Ok(Some((key, payload))) => {
                        last.clear();
                        last.extend_from_slice(key);
                        return Some(document_of(payload).ok_or_else(damaged));
                    }
                }
            }
        })
    }

    /// The items with their matches, in the order of [`items`](Self::items), those without among
    /// them.
    pub fn with_matches(&self) -> impl Iterator<Item = Result<ItemMatches<'_>, Error>> {
        let mut cursor = PendingMatches { cursor: self.matches.cursor(), next: None };
        (0u32..).zip(&self.items).map(move |(number, verdict)| {
            let mut matches = Vec::new();
            while let Some((_, found)) = cursor.next_of(number)? {
                matches.push(found);
            }
            Ok(ItemMatches { verdict, matches })
        })
    }
}

/// Counts documents and words of the matches of each item.
fn count(items: &mut [ItemVerdict], matches: &SortedRecords) -> Result<(), Error> {
    let mut cursor = PendingMatches { cursor: matches.cursor(), next: None };
    for (number, item) in (0u32..).zip(items) {
        let mut is_covered = vec![false; item.item.words as usize];
        let mut document = None;
        while let Some((key, found)) = cursor.next_of(number)? {
            let key = MatchKey::of(&key).map(|key| key.document.to_vec());
            if key != document {
                (item.documents, document) = (item.documents + 1, key);
            }
            let words = found.in_item.words.start as usize..found.in_item.words.end as usize;
            is_covered.get_mut(words).ok_or_else(damaged)?.fill(true);
        }
        item.covered = is_covered.iter().filter(|covered| **covered).count() as u32;
    }
    Ok(())
}

/// The documents with matches of contaminated items, by source and id; some more than once.
fn contaminated_documents(
    items: &[ItemVerdict],
    matches: &SortedRecords,
    mut sorter: Sorter,
) -> Result<SortedRecords, Error> {
    let mut cursor = PendingMatches { cursor: matches.cursor(), next: None };
    let mut payload = Vec::new();
    for (number, item) in (0u32..).zip(items) {
        let mut last = Vec::new();
        while let Some((key, found)) = cursor.next_of(number)? {
            let name = MatchKey::of(&key).ok_or_else(damaged)?.name;
            if item.contaminated && last != name {
                payload.clear();
                put_bytes(&mut payload, found.source.as_bytes());
                put_bytes(&mut payload, found.document.as_bytes());
                sorter.push(name, &payload)?;
                last = name.to_vec();
            }
        }
    }
    sorter.finish()
}

fn document_of(payload: &[u8]) -> Option<ContaminatedDocument> {
    let mut fields = FieldReader::new(payload);
    let source = fields.str()?.to_owned();
    Some(ContaminatedDocument { source, id: fields.str()?.to_owned() })
}

fn damaged() -> Error {
    Error::temporary_file("the matches of items")
}

/// Matches that are read item by item.
struct PendingMatches<'a> {
    cursor: RecordCursor<'a>,
    /// One of a later item.
    next: Option<(Vec<u8>, RunMatch)>,
}

impl PendingMatches<'_> {
    /// The next match of an item.
    fn next_of(&mut self, item: u32) -> Result<Option<(Vec<u8>, RunMatch)>, Error> {
        if self.next.is_none() {
            let record = self.cursor.next_record()?;
            self.next = record
                .map(|(key, payload)| {
                    let found = matches::decode(payload).ok_or_else(damaged)?;
                    Ok::<_, Error>((key.to_vec(), found))
                })
                .transpose()?;
        }
        let is_of_item = |(key, _): &mut (Vec<u8>, RunMatch)| {
            MatchKey::of(key).is_some_and(|key| key.item == item)
        };
        Ok(self.next.take_if(is_of_item))
    }
}

/// A row for each benchmark and field, in the order in which they are first met.
fn summaries(items: &[ItemVerdict]) -> Vec<BenchmarkSummary> {
    let mut summaries: Vec<BenchmarkSummary> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for ItemVerdict { item, covered, contaminated, .. } in items {
        let place = *places.entry((&item.benchmark, &item.field)).or_insert_with(|| {
            let (benchmark, field) = (item.benchmark.clone(), item.field.clone());
            let (items, empty, contaminated, words, covered) = (0, 0, 0, 0, 0);
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
