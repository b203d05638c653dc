//! The oracle of passages for real sets, which sorts the suffixes of all texts. On random
//! documents, it is compared with the definition of `lookalike-core`, which compares all places.
#![allow(clippy::unwrap_used, reason = "a test")]

use lookalike::core::params::Case;
use lookalike::core::passage::naive;
use lookalike::core::text::{CharClass, class};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

/// A document with its id, its text and the positions of its words.
pub(crate) struct OracleDocument {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) words: Vec<Range<usize>>,
    /// Number of characters before each word.
    pub(crate) chars: Vec<u64>,
}

impl OracleDocument {
    pub(crate) fn new(id: String, text: String) -> Self {
        let (mut words, mut chars): (Vec<Range<usize>>, Vec<u64>) = Default::default();
        let mut is_open = false;
        for (number, (at, c)) in (0..).zip(text.char_indices()) {
            let kind = class(c);
            match (kind, words.last_mut()) {
                (CharClass::Separator, _) => {}
                (CharClass::Word, Some(word)) if is_open => word.end = at + c.len_utf8(),
                _ => {
                    words.push(at..at + c.len_utf8());
                    chars.push(number);
                }
            }
            is_open = kind == CharClass::Word;
        }
        Self { id, text, words, chars }
    }
}

/// Documents in the keep order (longest first, then by id). Their words are joined as numbers, with
/// a unique number after each document, and all suffixes are sorted.
pub(crate) struct Oracle {
    pub(crate) documents: Vec<OracleDocument>,
    pub(crate) symbols: Vec<u32>,
    /// The document and position of each symbol.
    pub(crate) places: Vec<(usize, usize)>,
    /// The start of each document in `symbols`.
    starts: Vec<usize>,
    /// The suffixes in sorted order, by their places. `ranks` has the index of each place in this
    /// order.
    sorted: Vec<u32>,
    ranks: Vec<u32>,
    /// The number of symbols that each suffix shares with the previous one in the order.
    shared: RangeMinima,
}

/// The first index of the suffixes that begin with a passage, and the number of its words.
type PassageKey = (usize, usize);
/// The id of a document, and the first and last byte of a run.
pub(crate) type Run = (String, usize, usize);

/// The expected result: maximal runs, and for each passage the number of its places, the number of
/// its documents, and its first place.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) runs: BTreeSet<Run>,
    pub(crate) passages: BTreeMap<PassageKey, (usize, usize, Run)>,
    pub(crate) copied: usize,
}

impl Oracle {
    pub(crate) fn new(mut documents: Vec<OracleDocument>, case: Case) -> Self {
        documents.sort_by(|a, b| (b.text.len(), &a.id).cmp(&(a.text.len(), &b.id)));
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let (mut symbols, mut places, mut starts) = (Vec::new(), Vec::new(), Vec::new());
        for (document, OracleDocument { text, words, .. }) in documents.iter().enumerate() {
            starts.push(symbols.len());
            for (position, word) in words.iter().enumerate() {
                let word = &text[word.clone()];
                let word = if case == Case::Fold { word.to_lowercase() } else { word.to_owned() };
                let next = numbers.len() as u32;
                symbols.push(*numbers.entry(word).or_insert(next));
                places.push((document, position));
            }
            symbols.push(u32::MAX - document as u32);
            places.push((document, words.len()));
        }
        let (sorted, ranks) = order_of_ends(&symbols);
        let shared = RangeMinima::new(shared_symbols(&symbols, &sorted, &ranks));
        Self { documents, symbols, places, starts, sorted, ranks, shared }
    }

    /// Returns the indices of the suffixes that begin with the same `count` symbols as a place.
    fn interval(&self, at: usize, count: usize) -> Range<usize> {
        let index = self.ranks[at] as usize;
        let count = count as u32;
        self.shared.last_below(index, count)..self.shared.next_below(index + 1, count)
    }

    /// Returns the largest number of words at a place that also occur at another place.
    fn longest(&self, at: usize) -> usize {
        let index = self.ranks[at] as usize;
        let next = self.shared.values.get(index + 1).copied().unwrap_or(0);
        self.shared.values[index].max(next) as usize
    }

    fn run(&self, at: usize, count: usize) -> Run {
        let (document, position) = self.places[at];
        let OracleDocument { id, words, .. } = &self.documents[document];
        (id.clone(), words[position].start, words[position + count - 1].end)
    }

    /// Returns the key of the passage of `count` words that begins at byte `start` of a document.
    pub(crate) fn key(&self, document: usize, start: usize, count: usize) -> PassageKey {
        let words = &self.documents[document].words;
        let position = words.partition_point(|word| word.start < start);
        (self.interval(self.starts[document] + position, count).start, count)
    }

    pub(crate) fn expected(&self, least: usize) -> Expected {
        let mut expected = Expected::default();
        let first_places = self.first_places(least);
        let mut copied_until = 0;
        for at in 0..self.symbols.len() {
            let count = self.longest(at);
            if count < least {
                continue;
            }
            let is_inside = self.places[at].1 > 0 && self.longest(at - 1) > count;
            if !is_inside {
                expected.runs.insert(self.run(at, count));
                let interval = self.interval(at, count);
                expected.passages.entry((interval.start, count)).or_insert_with(|| {
                    let places = &self.sorted[interval];
                    let documents: BTreeSet<usize> =
                        places.iter().map(|at| self.places[*at as usize].0).collect();
                    let first = *places.iter().min().unwrap() as usize;
                    (places.len(), documents.len(), self.run(first, count))
                });
            }
            // Looks for an earlier place that does not overlap. The first place suffices, because
            // all places are in the keep order.
            let first = first_places[self.ranks[at] as usize] as usize;
            let overlaps = self.places[first].0 == self.places[at].0 && first + least > at;
            if !overlaps {
                expected.copied += at + least - copied_until.max(at);
                copied_until = at + least;
            }
        }
        expected
    }

    /// Returns for each index of the order the first place of the suffixes with the same first
    /// `least` symbols.
    fn first_places(&self, least: usize) -> Vec<u32> {
        let mut firsts = self.sorted.clone();
        let mut start = 0;
        for index in 1..=firsts.len() {
            if index == firsts.len() || (self.shared.values[index] as usize) < least {
                let first = self.sorted[start..index].iter().min().copied().unwrap_or(0);
                firsts[start..index].fill(first);
                start = index;
            }
        }
        firsts
    }
}

/// Sorts the suffixes of all symbols. Returns their places in order, and the index of each place.
/// Each round doubles the compared length. The last symbol occurs only once.
fn order_of_ends(symbols: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut ends = EndOrder { sorted: vec![0; symbols.len()], ranks: vec![0; symbols.len()] };
    let mut open = ends.divide(0, symbols.iter().copied().zip(0..).collect());
    let mut length = 1;
    while !open.is_empty() {
        let mut still_open = Vec::new();
        for group in open {
            let places = ends.sorted[group.clone()].iter();
            let keyed = places.map(|at| (ends.ranks[*at as usize + length], *at)).collect();
            still_open.extend(ends.divide(group.start, keyed));
        }
        (open, length) = (still_open, 2 * length);
    }
    (ends.sorted, ends.ranks)
}

struct EndOrder {
    sorted: Vec<u32>,
    /// For each place, the first index of the suffixes that are not yet ordered against its own.
    ranks: Vec<u32>,
}

impl EndOrder {
    /// Orders places by their keys, from the index `start`. Returns the groups of several places
    /// with the same key.
    fn divide(&mut self, start: usize, mut keyed: Vec<(u32, u32)>) -> Vec<Range<usize>> {
        keyed.sort_unstable();
        let (mut groups, mut start) = (Vec::new(), start);
        for group in keyed.chunk_by(|a, b| a.0 == b.0) {
            let range = start..start + group.len();
            for (index, (_, at)) in range.clone().zip(group) {
                self.sorted[index] = *at;
                self.ranks[*at as usize] = range.start as u32;
            }
            start = range.end;
            groups.extend((range.len() > 1).then_some(range));
        }
        groups
    }
}

/// Returns the number of symbols that each suffix shares with the previous one in the order.
fn shared_symbols(symbols: &[u32], sorted: &[u32], ranks: &[u32]) -> Vec<u32> {
    let mut shared = vec![0; symbols.len()];
    let mut count = 0_usize;
    for at in 0..symbols.len() {
        let Some(before) = (ranks[at] as usize).checked_sub(1) else {
            count = 0;
            continue;
        };
        let other = sorted[before] as usize;
        let rest = symbols[at + count..].iter().zip(&symbols[other + count..]);
        count += rest.take_while(|(a, b)| a == b).count();
        shared[ranks[at] as usize] = count as u32;
        count = count.saturating_sub(1);
    }
    shared
}

/// Values with a search for the nearest one below a bound. The search skips blocks without such a
/// value.
struct RangeMinima {
    values: Vec<u32>,
    of_blocks: Vec<u32>,
}

const BLOCK: usize = 256;

impl RangeMinima {
    fn new(values: Vec<u32>) -> Self {
        let least = |block: &[u32]| block.iter().min().copied().unwrap_or(0);
        let of_blocks = values.chunks(BLOCK).map(least).collect();
        Self { values, of_blocks }
    }

    /// Returns the last index up to `from` whose value is below `bound`, or 0.
    fn last_below(&self, from: usize, bound: u32) -> usize {
        let mut at = from;
        loop {
            if self.values[at] < bound || at == 0 {
                return at;
            }
            at -= 1;
            while at % BLOCK == BLOCK - 1 && at > BLOCK && self.of_blocks[at / BLOCK] >= bound {
                at -= BLOCK;
            }
        }
    }

    /// Returns the first index from `from` whose value is below `bound`, or the number of values.
    fn next_below(&self, from: usize, bound: u32) -> usize {
        let mut at = from;
        while at < self.values.len() && self.values[at] >= bound {
            at += 1;
            while at.is_multiple_of(BLOCK)
                && self.of_blocks.get(at / BLOCK).is_some_and(|b| *b >= bound)
            {
                at += BLOCK;
            }
        }
        at.min(self.values.len())
    }
}

/// Returns the expected result by the definition, with the numbers of words as tokens.
fn expected_by_definition(oracle: &Oracle, least: usize) -> Expected {
    let lengths = oracle.documents.iter().map(|document| document.words.len());
    let tokens: Vec<Vec<u32>> = oracle
        .starts
        .iter()
        .zip(lengths)
        .map(|(at, n)| oracle.symbols[*at..at + n].into())
        .collect();
    let run = |document: usize, position: usize, length: usize| {
        oracle.run(oracle.starts[document] + position, length)
    };
    let mut expected = Expected::default();
    for found in naive::maximal_runs(&tokens, least) {
        let naive::Run { document, position, length } = found;
        expected.runs.insert(run(document, position, length));
        let places = naive::places(&tokens, found);
        let documents: BTreeSet<usize> = places.iter().map(|(document, _)| *document).collect();
        let (first, at) = places[0];
        // Equal passages have the same key: the least index of their suffixes.
        let ends = places.iter().map(|(document, at)| oracle.starts[*document] + at);
        let key = ends.map(|at| oracle.ranks[at] as usize).min().unwrap();
        let value = (places.len(), documents.len(), run(first, at, length));
        expected.passages.insert((key, length), value);
    }
    let order: Vec<u32> = (0..tokens.len() as u32).collect();
    let copied = naive::copied_tokens(&tokens, least, &order);
    expected.copied = copied.into_iter().flatten().filter(|is_copied| *is_copied).count();
    expected
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_oracle_is_the_definition(
        texts in prop::collection::vec(
            prop_oneof!["([ab] ){0,14}", "([a-d],){0,22}", "(ab? ){9}", "([aA] b c d ){1,5}"], 0..6,
        ),
        least in 1_usize..6,
    ) {
        for case in [Case::Fold, Case::Keep] {
            let documents = texts.iter().enumerate();
            let documents =
                documents.map(|(at, text)| OracleDocument::new(format!("d{at}"), text.clone()));
            let oracle = Oracle::new(documents.collect(), case);
            prop_assert_eq!(oracle.expected(least), expected_by_definition(&oracle, least));
        }
    }
}

#[test]
fn range_minima_match_linear_search() {
    let mut values = vec![9; 5 * BLOCK];
    let below = [0, 3, BLOCK - 1, BLOCK, 3 * BLOCK + 7];
    for at in below {
        values[at] = 2;
    }
    let minima = RangeMinima::new(values.clone());
    for from in 0..values.len() {
        let last = (0..=from).rev().find(|at| values[*at] < 5).unwrap_or(0);
        let next = (from..values.len()).find(|at| values[*at] < 5).unwrap_or(values.len());
        assert_eq!((minima.last_below(from, 5), minima.next_below(from, 5)), (last, next));
    }
}
