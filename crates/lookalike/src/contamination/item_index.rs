//! The runs of words of all items, by their hashes.

use super::benchmark::ItemWords;
use super::options::ContaminationOptions;
use lookalike_core::passage::run_hash::RunHasher;
use std::collections::{BTreeMap, BTreeSet};

/// Bits of the filter for each run.
const FILTER_BITS: usize = 16;
/// Runs of a document that have room before the first are looked for among them.
const LEAST_HITS: usize = 1024;

/// The runs of all items. Equal runs have one class.
pub(super) struct ItemIndex {
    /// One for each length: that of the runs, and those of shorter items.
    tables: Vec<RunTable>,
    /// The class of each run of each item, in the order of the runs.
    classes: Vec<Vec<u32>>,
    /// The items of each class, ascending.
    items: BTreeMap<u32, Vec<u32>>,
}

/// The runs of one length.
struct RunTable {
    hasher: RunHasher,
    /// Bits that are set for the hashes there are; a power of two.
    filter: Vec<u64>,
    /// The hashes, ascending.
    hashes: Vec<u64>,
    /// The class of the first.
    first_class: u32,
}

/// How many words the runs of an item have.
pub(super) fn run_length(words: usize, ngram: usize) -> usize {
    words.min(ngram)
}

impl ItemIndex {
    pub(super) fn new(items: &[ItemWords], options: &ContaminationOptions) -> Self {
        let length = |item: &ItemWords| run_length(item.tokens.len(), options.ngram);
        let lengths: BTreeSet<usize> = items.iter().map(length).filter(|n| *n > 0).collect();
        let mut index = Self {
            tables: Vec::new(),
            classes: vec![Vec::new(); items.len()],
            items: BTreeMap::new(),
        };
        let mut first_class = 0;
        for words in lengths {
            let of_length = || items.iter().enumerate().filter(|(_, item)| length(item) == words);
            let hasher = RunHasher::new(words, 0);
            let mut hashes = Vec::new();
            of_length().for_each(|(_, item)| hasher.hash(&item.tokens, |hash| hashes.push(hash)));
            hashes.sort_unstable();
            hashes.dedup();
            let table = RunTable::new(hasher, hashes, first_class);
            first_class += table.hashes.len() as u32;
            for (number, item) in of_length() {
                let classes = &mut index.classes[number];
                table.hasher.hash(&item.tokens, |hash| classes.extend(table.class(hash)));
                for class in &*classes {
                    let items = index.items.entry(*class).or_default();
                    if items.last() != Some(&(number as u32)) {
                        items.push(number as u32);
                    }
                }
            }
            index.tables.push(table);
        }
        index
    }

    /// The class of each run of an item.
    pub(super) fn classes(&self, item: u32) -> &[u32] {
        self.classes.get(item as usize).map_or(&[], Vec::as_slice)
    }

    /// The items that have a run.
    pub(super) fn items(&self, class: u32) -> &[u32] {
        self.items.get(&class).map_or(&[], Vec::as_slice)
    }

    /// The classes of a document's runs, ascending, with the first position of each.
    pub(super) fn hits(&self, tokens: &[u64], hits: &mut Vec<(u32, u32)>) {
        hits.clear();
        for table in &self.tables {
            let mut position = 0;
            table.hasher.hash(tokens, |hash| {
                if let Some(class) = table.class(hash) {
                    // A document that has a run again and again takes no more than its classes.
                    if hits.len() == hits.capacity() {
                        keep_first(hits);
                        hits.reserve(hits.len().max(LEAST_HITS));
                    }
                    hits.push((class, position));
                }
                position += 1;
            });
        }
        keep_first(hits);
    }
}

/// Sorts classes with positions, and keeps the first position of each.
fn keep_first(hits: &mut Vec<(u32, u32)>) {
    hits.sort_unstable();
    hits.dedup_by_key(|(class, _)| *class);
}

impl RunTable {
    fn new(hasher: RunHasher, hashes: Vec<u64>, first_class: u32) -> Self {
        let bits = (hashes.len() * FILTER_BITS).next_power_of_two().max(64);
        let mut table = Self { hasher, filter: vec![0; bits / 64], hashes, first_class };
        for hash in &table.hashes {
            let bit = *hash as usize & (bits - 1);
            table.filter[bit / 64] |= 1 << (bit % 64);
        }
        table
    }

    #[inline]
    fn class(&self, hash: u64) -> Option<u32> {
        let bit = hash as usize & (self.filter.len() * 64 - 1);
        if self.filter[bit / 64] >> (bit % 64) & 1 == 0 {
            return None;
        }
        self.hashes.binary_search(&hash).ok().map(|at| self.first_class + at as u32)
    }
}
