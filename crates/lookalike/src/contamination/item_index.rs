//! The runs of words of all items, by their hashes.

use super::benchmark::ItemWords;
use super::options::ContaminationOptions;
use lookalike_core::passage::run_hash::RunHasher;
use std::collections::{BTreeSet, HashMap};

/// Bits of the filter for each run.
const FILTER_BITS: usize = 16;
/// The initial capacity for the runs of a document.
const LEAST_HITS: usize = 1024;

/// The number of hash functions to try until no two different runs have the same hash. With the
/// last function, runs with the same hash count as equal.
const SEEDS: u64 = 8;
/// Marks a missing place or text.
const NONE: u32 = u32::MAX;

/// The runs of all items. Equal runs have the same class, and items with equal words are the same
/// text.
///
/// A document is represented by the texts whose runs it has. Many classes have equal lists of
/// texts, so these lists are numbered, as *sets*. A document with a run that a thousand texts share
/// has one set.
pub(super) struct ItemIndex {
    /// One table for each length of runs. An item with fewer than `ngram` words is a single run of
    /// its own length.
    tables: Vec<RunTable>,
    /// The text of each item.
    text_of: Vec<u32>,
    /// The items of each text, ascending.
    items: Vec<Vec<u32>>,
    /// The class of each run, by text, in the order of the runs.
    classes: Vec<Vec<u32>>,
    /// For each class, an item that contains its run, and the position of the run.
    places: Vec<(u32, u32)>,
    /// The texts of all classes, ascending within each class.
    texts: Vec<u32>,
    /// The end of the texts of each class in `texts`.
    ends: Vec<u32>,
    /// The set of each class.
    set_of: Vec<u32>,
    /// For each set, one of its classes.
    class_of_set: Vec<u32>,
}

/// The runs of one length.
struct RunTable {
    hasher: RunHasher,
    /// Bits that are set for existing hashes. The length is a power of two.
    filter: Vec<u64>,
    /// The hashes, ascending.
    hashes: Vec<u64>,
    /// The class of the first hash.
    first_class: u32,
}

/// Returns the number of words in the runs of an item.
pub(super) fn run_length(words: usize, ngram: usize) -> usize {
    words.min(ngram)
}

impl ItemIndex {
    pub(super) fn new(items: &[ItemWords], options: &ContaminationOptions) -> Self {
        let length = |item: &ItemWords| run_length(item.tokens.len(), options.ngram);
        let lengths: BTreeSet<usize> = items.iter().map(length).filter(|n| *n > 0).collect();
        let mut tables = Vec::new();
        let mut places = Vec::new();
        let mut classes = vec![Vec::new(); items.len()];
        for words in lengths {
            let of_length = || (0u32..).zip(items).filter(|(_, item)| length(item) == words);
            let first_class = places.len() as u32;
            let mut seed = 0;
            let table = loop {
                let table =
                    RunTable::new(words, seed, of_length().map(|(_, item)| item), first_class);
                places.truncate(first_class as usize);
                places.resize(first_class as usize + table.hashes.len(), (NONE, 0));
                seed += 1;
                if table.places_runs(words, items, of_length(), &mut places) || seed == SEEDS {
                    break table;
                }
            };
            for (number, item) in of_length() {
                let of_item = &mut classes[number as usize];
                table.hasher.hash(&item.tokens, |hash| of_item.extend(table.class(hash)));
            }
            tables.push(table);
        }
        let mut index = Self {
            tables,
            text_of: Vec::with_capacity(items.len()),
            items: Vec::new(),
            classes: Vec::new(),
            places,
            texts: Vec::new(),
            ends: Vec::new(),
            set_of: Vec::new(),
            class_of_set: Vec::new(),
        };
        index.number_texts(classes);
        index.list_texts();
        index.number_sets();
        index
    }

    /// Numbers the texts. Items with the same classes have the same words.
    fn number_texts(&mut self, classes: Vec<Vec<u32>>) {
        let mut numbers = HashMap::<Vec<u32>, u32>::new();
        for (item, classes) in (0u32..).zip(classes) {
            let next = self.items.len() as u32;
            let text = *numbers.entry(classes).or_insert(next);
            if text == next {
                self.items.push(Vec::new());
            }
            self.items[text as usize].push(item);
            self.text_of.push(text);
        }
        self.classes = vec![Vec::new(); numbers.len()];
        #[expect(clippy::iter_over_hash_type, reason = "each entry has its own place")]
        for (classes, text) in numbers {
            self.classes[text as usize] = classes;
        }
    }

    /// Lists the texts of each class.
    fn list_texts(&mut self) {
        let mut last = vec![NONE; self.places.len()];
        let mut is_new =
            |class: u32, text: u32| std::mem::replace(&mut last[class as usize], text) != text;
        self.ends = vec![0; self.places.len()];
        for (text, classes) in (0u32..).zip(&self.classes) {
            for class in classes.iter().filter(|class| is_new(**class, text)) {
                self.ends[*class as usize] += 1;
            }
        }
        // Each end begins as the start, and increases with every inserted text.
        let mut sum = 0;
        for end in &mut self.ends {
            sum += std::mem::replace(end, sum);
        }
        self.texts = vec![0; sum as usize];
        last.fill(NONE);
        let mut is_new =
            |class: u32, text: u32| std::mem::replace(&mut last[class as usize], text) != text;
        for (text, classes) in (0u32..).zip(&self.classes) {
            for class in classes.iter().filter(|class| is_new(**class, text)) {
                let end = &mut self.ends[*class as usize];
                self.texts[*end as usize] = text;
                *end += 1;
            }
        }
    }

    /// Assigns the same number to all classes with the same texts.
    fn number_sets(&mut self) {
        let mut order: Vec<u32> = (0..self.places.len() as u32).collect();
        order.sort_unstable_by(|a, b| self.texts_of(*a).cmp(self.texts_of(*b)).then(a.cmp(b)));
        let mut set_of = vec![0; order.len()];
        let mut class_of_set = Vec::new();
        for (set, classes) in
            (0u32..).zip(order.chunk_by(|a, b| self.texts_of(*a) == self.texts_of(*b)))
        {
            for class in classes {
                set_of[*class as usize] = set;
            }
            class_of_set.push(classes[0]);
        }
        self.set_of = set_of;
        self.class_of_set = class_of_set;
    }

    fn texts_of(&self, class: u32) -> &[u32] {
        let start = class.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.texts[start as usize..self.ends[class as usize] as usize]
    }

    /// The texts of a set, ascending.
    pub(super) fn set(&self, set: u32) -> &[u32] {
        self.class_of_set.get(set as usize).map_or(&[], |class| self.texts_of(*class))
    }

    /// The number of sets.
    pub(super) fn sets(&self) -> u32 {
        self.class_of_set.len() as u32
    }

    /// The number of texts.
    pub(super) fn texts(&self) -> usize {
        self.classes.len()
    }

    /// The number of classes.
    pub(super) fn class_count(&self) -> usize {
        self.places.len()
    }

    /// The text of an item.
    pub(super) fn text(&self, item: u32) -> u32 {
        self.text_of[item as usize]
    }

    /// The items with the words of a text.
    pub(super) fn items(&self, text: u32) -> &[u32] {
        &self.items[text as usize]
    }

    /// The class of each run of a text.
    pub(super) fn classes(&self, text: u32) -> &[u32] {
        &self.classes[text as usize]
    }

    /// Returns an item that contains the run of the class, and the position of the run.
    pub(super) fn place(&self, class: u32) -> (u32, u32) {
        self.places[class as usize]
    }

    /// Returns the sets of some classes, except smaller sets whose texts are all in the largest
    /// set.
    pub(super) fn sets_of(&self, classes: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut sets: Vec<u32> = classes.map(|class| self.set_of[class as usize]).collect();
        sets.sort_unstable();
        sets.dedup();
        let largest = sets.iter().copied().max_by_key(|set| self.set(*set).len());
        if let Some(largest) = largest {
            let all = self.set(largest);
            let has_all = |texts: &[u32]| texts.iter().all(|text| all.binary_search(text).is_ok());
            sets.retain(|set| *set == largest || !has_all(self.set(*set)));
        }
        sets
    }

    /// Finds the classes of a document's runs, ascending, with the first position of each.
    pub(super) fn hits(&self, tokens: &[u64], hits: &mut Vec<(u32, u32)>) {
        hits.clear();
        for table in &self.tables {
            let mut position = 0;
            table.hasher.hash(tokens, |hash| {
                if let Some(class) = table.class(hash) {
                    // Drop repeated runs before the buffer grows, so that it needs memory only for
                    // distinct classes.
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
    /// The runs of `words` words of some items.
    fn new<'i>(
        words: usize,
        seed: u64,
        items: impl Iterator<Item = &'i ItemWords>,
        first_class: u32,
    ) -> Self {
        let hasher = RunHasher::new(words, seed);
        let mut hashes = Vec::new();
        items.for_each(|item| hasher.hash(&item.tokens, |hash| hashes.push(hash)));
        hashes.sort_unstable();
        hashes.dedup();
        let bits = (hashes.len() * FILTER_BITS).next_power_of_two().max(64);
        let mut table = Self { hasher, filter: vec![0; bits / 64], hashes, first_class };
        for hash in &table.hashes {
            let bit = *hash as usize & (bits - 1);
            table.filter[bit / 64] |= 1 << (bit % 64);
        }
        table
    }

    /// Records the first run of each class in `places`. Returns false if two different runs of
    /// items have the same hash.
    fn places_runs<'i>(
        &self,
        words: usize,
        items: &[ItemWords],
        of_length: impl Iterator<Item = (u32, &'i ItemWords)>,
        places: &mut [(u32, u32)],
    ) -> bool {
        let mut are_equal = true;
        for (number, item) in of_length {
            let mut at = 0;
            self.hasher.hash(&item.tokens, |hash| {
                if let Some(class) = self.class(hash) {
                    let place = &mut places[class as usize];
                    if place.0 == NONE {
                        *place = (number, at);
                    }
                    let other = &items[place.0 as usize];
                    let first = place.1 as usize;
                    are_equal &= item.compared.equal(at as usize, &other.compared, first, words);
                }
                at += 1;
            });
        }
        are_equal
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
