//! Maximal runs, passages and copies, computed from unitigs.
//!
//! If a repeated run begins inside of a unitig, every place with the run's tokens is inside of the
//! same unitig, so the run can begin one token earlier at all these places. Maximal runs therefore
//! begin and end where unitigs do. The longest repeated run that begins at a place of a unitig is
//! the longest prefix that the place shares with a neighbour in the [`SuffixOrder`]. The places
//! with the tokens of this prefix are an interval of the order (Abouelhoda, Kurtz, Ohlebusch,
//! *Replacing suffix trees with enhanced suffix arrays*, 2004, section 3).

use super::suffix_order::{Sequences, SuffixOrder};
use super::unitig::{UnitigPlace, Unitigs};

/// A maximal run at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaximalRun {
    /// The number of the document.
    pub document: u32,
    /// The position of its first token.
    pub position: u32,
    /// The number of its tokens.
    pub tokens: u32,
    /// The number of its passage.
    pub passage: u32,
}

/// The tokens of equal maximal runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage {
    /// The number of its tokens.
    pub tokens: u32,
    /// The number of places with its tokens, alone or within longer repeated runs; 2 or more.
    pub places: u32,
    /// The number of documents with these places.
    pub documents: u32,
    /// The document of the first of these places, by the order of documents and the position.
    pub document: u32,
    /// The position of the first token there.
    pub position: u32,
}

/// All passages, and the runs that are maximal at their places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Passages {
    /// The passages. Their order is unspecified, but the same for the same documents.
    pub passages: Vec<Passage>,
    /// The runs by document and position.
    pub runs: Vec<MaximalRun>,
}

/// No place.
const NONE: u32 = u32::MAX;

impl Passages {
    /// Computes the passages of at least `length` tokens from the unitigs of runs of `length`
    /// tokens. `order` contains the rank of each document, which decides the first place. For n
    /// places of unitigs, takes O(n · log² n) time, 40 bytes of memory per place and 4 per
    /// document.
    ///
    /// ```
    /// use lookalike_core::passage::maximal::Passages;
    /// use lookalike_core::passage::unitig::Unitigs;
    ///
    /// let documents = [vec![1, 2, 3, 4, 5], vec![9, 2, 3, 4, 8], vec![7, 2, 3, 4, 5]];
    /// let found = Passages::new(&Unitigs::of_documents(&documents, 3), 3, &[0, 1, 2]);
    /// let runs = found.runs.iter().map(|run| (run.document, run.position, run.tokens));
    /// assert_eq!(runs.collect::<Vec<_>>(), [(0, 1, 4), (1, 1, 3), (2, 1, 4)]);
    /// let places = |run: usize| found.passages[found.runs[run].passage as usize].places;
    /// assert_eq!((places(0), places(1)), (2, 3));
    /// ```
    pub fn new(unitigs: &Unitigs, length: u32, order: &[u32]) -> Self {
        let sorted = SuffixOrder::new(unitigs);
        let found = Self::default();
        let latest = vec![NONE; order.len()];
        let open = Vec::new();
        let mut collector = PassageCollector { unitigs, length, order, open, latest, found };
        collector.collect(&sorted, &maximal_lengths(unitigs, &sorted));
        collector.found.runs.sort_unstable_by_key(|run| (run.document, run.position));
        collector.found
    }
}

impl Sequences for Unitigs {
    fn len(&self) -> usize {
        self.places.len()
    }

    fn symbol(&self, at: usize) -> u32 {
        self.places[at].unitig
    }

    fn continues(&self, at: usize) -> bool {
        Self::continues(self, at)
    }
}

/// For each place of a unitig, the number of unitigs of the maximal run that begins there, or 0 if
/// no maximal run begins there.
fn maximal_lengths(unitigs: &Unitigs, sorted: &SuffixOrder) -> Vec<u32> {
    let mut lengths = vec![0; unitigs.places.len()];
    for (index, &place) in sorted.places.iter().enumerate() {
        let next = sorted.common.get(index + 1).copied().unwrap_or(0);
        lengths[place as usize] = sorted.common[index].max(next);
    }
    // Starts at the end, so that `lengths[place - 1]` still has its original value.
    for place in (1..lengths.len()).rev() {
        if unitigs.continues(place - 1) && lengths[place - 1] > lengths[place] {
            lengths[place] = 0;
        }
    }
    lengths
}

/// An interval of places in the order that share their first `common` unitigs.
#[derive(Debug, Clone, Copy)]
struct SharedInterval {
    common: u32,
    /// The index in the order of the interval's first place.
    start: u32,
    places: u32,
    /// The number of places whose document already has an earlier place in the interval.
    repeats: u32,
    /// The first place, by the order of documents and the position.
    first: u32,
    /// The passage, if a maximal run has the shared tokens.
    passage: Option<u32>,
}

/// Walks the intervals of the order from start to end, inner intervals first.
struct PassageCollector<'a> {
    unitigs: &'a Unitigs,
    length: u32,
    order: &'a [u32],
    /// The intervals that contain the current place, the innermost last.
    open: Vec<SharedInterval>,
    /// For each document, the index in the order of its last place so far.
    latest: Vec<u32>,
    found: Passages,
}

impl PassageCollector<'_> {
    fn collect(&mut self, sorted: &SuffixOrder, maximal: &[u32]) {
        for (index, &place) in sorted.places.iter().enumerate() {
            let before = sorted.common[index];
            let next = sorted.common.get(index + 1).copied().unwrap_or(0);
            if next > before {
                let start = index as u32;
                let first = place;
                let common = next;
                let places = 0;
                let repeats = 0;
                let passage = None;
                self.open.push(SharedInterval { common, start, places, repeats, first, passage });
            }
            self.count_repeat(index as u32, place);
            self.add(place, maximal[place as usize] > 0);
            self.close(next);
        }
    }

    /// Counts a repeated place of a document, in the innermost interval that also contains the
    /// document's previous place (Hui, *Color Set Size Problem with Applications to String
    /// Matching*, 1992).
    fn count_repeat(&mut self, index: u32, place: u32) {
        let document = self.unitigs.places[place as usize].document;
        let before = std::mem::replace(&mut self.latest[document as usize], index);
        if before == NONE {
            return;
        }
        let inside = self.open.partition_point(|interval| interval.start <= before);
        if let Some(interval) = inside.checked_sub(1).and_then(|at| self.open.get_mut(at)) {
            interval.repeats += 1;
        }
    }

    /// Adds a place to the innermost interval, whose tokens are the longest repeated run at the
    /// place.
    fn add(&mut self, place: u32, is_maximal: bool) {
        let Some(mut interval) = self.open.pop() else { return };
        interval.places += 1;
        interval.first = self.earlier(interval.first, place);
        if is_maximal {
            let tokens = self.tokens(place, interval.common);
            let passages = &mut self.found.passages;
            let passage = *interval.passage.get_or_insert_with(|| {
                // The places are counted when the interval ends.
                let places = 0;
                let documents = 0;
                let document = 0;
                let position = 0;
                passages.push(Passage { tokens, places, documents, document, position });
                passages.len() as u32 - 1
            });
            let UnitigPlace { document, position, .. } = self.unitigs.places[place as usize];
            self.found.runs.push(MaximalRun { document, position, tokens, passage });
        }
        self.open.push(interval);
    }

    /// Ends the intervals that share more than `next` unitigs.
    fn close(&mut self, next: u32) {
        while let Some(inner) = self.open.pop_if(|interval| interval.common > next) {
            if let Some(passage) = inner.passage {
                let first = self.unitigs.places[inner.first as usize];
                let passage = &mut self.found.passages[passage as usize];
                passage.places = inner.places;
                passage.documents = inner.places - inner.repeats;
                passage.document = first.document;
                passage.position = first.position;
            }
            let outer = self.open.last().map_or(0, |outer| outer.common);
            if outer >= next.max(1) {
                let first = self.open.last().map_or(inner.first, |outer| outer.first);
                let first = self.earlier(first, inner.first);
                if let Some(outer) = self.open.last_mut() {
                    outer.places += inner.places;
                    outer.repeats += inner.repeats;
                    outer.first = first;
                }
            } else if next > 0 {
                self.open.push(SharedInterval { common: next, passage: None, ..inner });
            }
        }
    }

    fn earlier(&self, a: u32, b: u32) -> u32 {
        let key = |place: u32| {
            let place = self.unitigs.places[place as usize];
            (self.order[place.document as usize], place.position)
        };
        if key(b) < key(a) { b } else { a }
    }

    /// The number of tokens of `unitigs` unitigs from a place on.
    fn tokens(&self, place: u32, unitigs: u32) -> u32 {
        let first = self.unitigs.places[place as usize];
        let last = self.unitigs.places[place as usize + unitigs as usize - 1];
        last.position - first.position + self.unitigs.runs[last.unitig as usize] + self.length - 1
    }
}

/// Consecutive tokens of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenRange {
    /// The number of the document.
    pub document: u32,
    /// The position of the first token.
    pub start: u32,
    /// The position after the last token.
    pub end: u32,
}

/// The first place of each unitig, by the order of documents and the position, as an index of
/// [`Unitigs::places`]. Takes O(places of unitigs) time.
pub fn first_places(unitigs: &Unitigs, order: &[u32]) -> Vec<u32> {
    let mut first = vec![NONE; unitigs.runs.len()];
    let key = |place: &UnitigPlace| (order[place.document as usize], place.position);
    for (index, place) in unitigs.places.iter().enumerate() {
        let known = &mut first[place.unitig as usize];
        if *known == NONE || key(place) < key(&unitigs.places[*known as usize]) {
            *known = index as u32;
        }
    }
    first
}

/// Returns the tokens in copies of at least `length` tokens, given the unitigs of runs of `length`
/// tokens. The ranges do not touch, and are sorted by document and position. `order` is as for
/// [`Passages::new`]. Takes O(places of unitigs) time, and 4 bytes of memory per unitig.
pub fn copied_ranges(unitigs: &Unitigs, length: u32, order: &[u32]) -> Vec<TokenRange> {
    let first = first_places(unitigs, order);
    ranges_of(unitigs, length, |place| {
        let first = unitigs.places[first[place.unitig as usize] as usize];
        let overlaps = first.document == place.document
            && u64::from(first.position) + u64::from(length) > u64::from(place.position);
        !overlaps
    })
}

/// Returns the tokens of the unitig places that `takes` accepts, given the unitigs of runs of
/// `length` tokens. The ranges do not touch, and are sorted by document and position. Takes
/// O(places of unitigs) time.
pub fn ranges_of(
    unitigs: &Unitigs,
    length: u32,
    mut takes: impl FnMut(&UnitigPlace) -> bool,
) -> Vec<TokenRange> {
    let mut ranges = Vec::new();
    for place in unitigs.places.iter().filter(|place| takes(place)) {
        let document = place.document;
        let start = place.position;
        let end = start + unitigs.runs[place.unitig as usize] + length - 1;
        TokenRange { document, start, end }.join(&mut ranges);
    }
    ranges
}

impl TokenRange {
    /// Appends the range to `ranges`, which are sorted by document and start. If the range touches
    /// the last one, extends the last one instead.
    pub fn join(self, ranges: &mut Vec<Self>) {
        match ranges.last_mut() {
            Some(last) if last.document == self.document && last.end >= self.start => {
                last.end = last.end.max(self.end);
            }
            _ => ranges.push(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::naive;
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn documents() -> impl Strategy<Value = Vec<Vec<u64>>> {
        let document = prop_oneof![
            prop::collection::vec(0_u64..2, 0..14),
            prop::collection::vec(0_u64..4, 0..24),
            Just(vec![1; 9]),
            Just([0, 1, 2, 3].repeat(4)),
        ];
        prop::collection::vec(document, 0..6)
    }

    /// For the tokens of each passage, the numbers of places and documents and the first place.
    /// Also the maximal runs.
    type Found = (BTreeMap<Vec<u64>, (usize, usize, (usize, usize))>, Vec<naive::Run>);

    fn expected(documents: &[Vec<u64>], least: usize, order: &[u32]) -> Found {
        let runs = naive::maximal_runs(documents, least);
        let mut passages = BTreeMap::new();
        for run in &runs {
            let places = naive::places(documents, *run);
            let first = places.iter().min_by_key(|(document, at)| (order[*document], *at));
            let tokens = &documents[run.document][run.position..run.position + run.length];
            let documents: BTreeSet<usize> = places.iter().map(|place| place.0).collect();
            passages.insert(tokens.to_vec(), (places.len(), documents.len(), *first.unwrap()));
        }
        (passages, runs)
    }

    fn found(documents: &[Vec<u64>], least: usize, order: &[u32]) -> Found {
        let unitigs = Unitigs::of_documents(documents, least);
        let found = Passages::new(&unitigs, least as u32, order);
        let (mut passages, mut runs) = (BTreeMap::new(), Vec::new());
        for run in &found.runs {
            let (document, position) = (run.document as usize, run.position as usize);
            let length = run.tokens as usize;
            let tokens = documents[document][position..position + length].to_vec();
            let passage = found.passages[run.passage as usize];
            assert_eq!(passage.tokens, run.tokens);
            let first = (passage.document as usize, passage.position as usize);
            let value = (passage.places as usize, passage.documents as usize, first);
            let known = passages.insert(tokens, value);
            assert!(known.is_none_or(|known| known == value));
            runs.push(naive::Run { document, position, length });
        }
        assert_eq!(passages.len(), found.passages.len(), "a passage has one number");
        (passages, runs)
    }

    fn orders(documents: usize) -> [Vec<u32>; 2] {
        let ascending: Vec<u32> = (0..documents as u32).collect();
        [ascending.clone(), ascending.into_iter().rev().collect()]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn passages_match_the_naive_definition(
            documents in documents(),
            least in 1_usize..6,
        ) {
            for order in orders(documents.len()) {
                let passages = expected(&documents, least, &order);
                prop_assert_eq!(found(&documents, least, &order), passages);
            }
        }

        #[test]
        fn copied_ranges_match_naive_copies(documents in documents(), least in 1_usize..6) {
            let unitigs = Unitigs::of_documents(&documents, least);
            for order in orders(documents.len()) {
                let mut copied: Vec<Vec<bool>> =
                    documents.iter().map(|tokens| vec![false; tokens.len()]).collect();
                for range in copied_ranges(&unitigs, least as u32, &order) {
                    let tokens = &mut copied[range.document as usize];
                    tokens[range.start as usize..range.end as usize].fill(true);
                }
                prop_assert_eq!(copied, naive::copied_tokens(&documents, least, &order));
            }
        }
    }

    #[test]
    fn large_repetitions_yield_exact_passages() {
        let page: Vec<u64> = (0..300).map(crate::hash::mix64).collect();
        let copies = vec![page.clone(); 10_000];
        let order: Vec<u32> = (0..10_000).collect();
        let unitigs = Unitigs::of_documents(&copies, 50);
        assert_eq!(unitigs.places.len(), 10_000);
        let found = Passages::new(&unitigs, 50, &order);
        assert_eq!((found.passages.len(), found.passages[0].places), (1, 10_000));
        assert_eq!(copied_ranges(&unitigs, 50, &order).len(), 9_999);

        let line = [page[..7].repeat(300_000)];
        let unitigs = Unitigs::of_documents(&line, 50);
        let found = Passages::new(&unitigs, 50, &[0]);
        let runs: Vec<_> = found.runs.iter().map(|run| (run.position, run.tokens)).collect();
        assert_eq!(runs, [(0, 2_099_993), (7, 2_099_993)]);
        let copied = copied_ranges(&unitigs, 50, &[0]);
        assert_eq!(copied, [TokenRange { document: 0, start: 56, end: 2_100_000 }]);
    }
}
