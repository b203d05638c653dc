//! Repeated runs of `n` tokens, joined to longer runs that have the same places.
//!
//! Runs at neighbouring positions overlap in `n − 1` tokens. If two runs are neighbours at each of
//! their places, they have the same places, and later stages can treat them as one. The longest
//! sequences of such runs are the *unitigs* of a de Bruijn graph (Chikhi, Limasset, Jackman,
//! Simpson, Medvedev, *On the representation of de Bruijn graphs*, 2015, section 2), with the
//! additional condition that the numbers of places are equal. Each run of `n` tokens is in one
//! unitig, so unitigs have at most as many places as there are repeated runs, and far fewer on
//! text.

use super::position_set::PositionSet;
use super::run_hash::RunHasher;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A run of `n` tokens, as input of [`group_equal`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunRecord {
    /// The hash of its tokens.
    pub hash: u64,
    /// Its number. Runs are numbered in the order of document and position.
    pub run: u64,
}

/// A run that has an equal one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct EqualRun {
    /// Its number.
    pub run: u64,
    /// The number of the first run that is equal to it, which may be the run itself.
    pub first: u64,
}

/// A repeated run of `n` tokens at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RepeatedRun {
    /// The number of its document.
    pub document: u32,
    /// The position of its first token.
    pub position: u32,
    /// The number of its class, which equal runs share. Classes must be numbered in the order of
    /// their first runs: [`ClassNeighbours::number_unitigs`] requires this order, and arrays of
    /// classes are then read mostly from start to end.
    pub class: u32,
}

/// Passes each run that has an equal one to `take`, with the first of the equal runs. Drops runs
/// without an equal one. `records` are ascending, and `take` is called in the same order.
/// O(records).
///
/// # Errors
/// The first error of `records` or of `take`.
pub fn group_equal<E>(
    records: impl IntoIterator<Item = Result<RunRecord, E>>,
    mut take: impl FnMut(EqualRun) -> Result<(), E>,
) -> Result<(), E> {
    let mut first: Option<RunRecord> = None;
    let mut is_alone = true;
    for record in records {
        let record = record?;
        match first {
            Some(RunRecord { hash, run }) if hash == record.hash => {
                if is_alone {
                    take(EqualRun { run, first: run })?;
                }
                is_alone = false;
                take(EqualRun { run: record.run, first: run })?;
            }
            _ => {
                first = Some(record);
                is_alone = true;
            }
        }
    }
    Ok(())
}

/// A unitig at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnitigPlace {
    /// The number of the document.
    pub document: u32,
    /// The position of the first token of its first run.
    pub position: u32,
    /// The number of the unitig.
    pub unitig: u32,
}

/// All unitigs, and their places in ascending order of document and position.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unitigs {
    /// The number of runs of each unitig. Its number of tokens is greater by `n − 1`.
    pub runs: Vec<u32>,
    /// The places of the unitigs. Places of the same unitig have equal tokens, unless hashes
    /// collide.
    pub places: Vec<UnitigPlace>,
}

/// No class, or more than one.
const NONE: u32 = u32::MAX;

/// For each class of repeated runs, the classes before and after it at all of its places.
#[derive(Debug)]
pub struct ClassNeighbours {
    // `NONE` means that neighbours differ. In its own entry, a class means "no neighbour found
    // yet", because no class is its own neighbour everywhere.
    next: Vec<AtomicU32>,
    previous: Vec<AtomicU32>,
}

impl ClassNeighbours {
    /// Prepares for runs of `classes` classes, below 2³² − 1. Takes 8 bytes of memory per class.
    pub fn new(classes: usize) -> Self {
        let own = || (0..classes as u32).map(AtomicU32::new).collect();
        Self { next: own(), previous: own() }
    }

    /// Records all repeated runs of some documents, in ascending order of document and position.
    /// Threads can record different documents at once, in any order. O(runs).
    ///
    /// # Errors
    /// The first error of `runs`.
    pub fn record<E>(
        &self,
        runs: impl IntoIterator<Item = Result<RepeatedRun, E>>,
    ) -> Result<(), E> {
        let mut before: Option<RepeatedRun> = None;
        for run in runs {
            let run = run?;
            let old = before.replace(run);
            let joined = old.filter(|old| is_neighbour(*old, run) && old.class != run.class);
            if let Some(old) = old {
                record_neighbour(&self.next, old.class, joined.map_or(NONE, |_| run.class));
            }
            record_neighbour(&self.previous, run.class, joined.map_or(NONE, |old| old.class));
        }
        if let Some(last) = before {
            record_neighbour(&self.next, last.class, NONE);
        }
        Ok(())
    }

    /// Numbers the unitigs in the order of their first places. All runs must be recorded, and
    /// classes must be numbered in the order of their first runs. Takes O(classes) time, and 4
    /// bytes of memory per unitig.
    pub fn number_unitigs(self) -> NumberedUnitigs {
        let values = |classes: Vec<AtomicU32>| -> Vec<u32> {
            classes.into_iter().map(AtomicU32::into_inner).collect()
        };
        let next = values(self.next);
        let mut previous = values(self.previous);
        let mut runs = Vec::new();
        for first in 0..next.len() as u32 {
            let before = previous[first as usize];
            if before != NONE && next[before as usize] == first {
                previous[first as usize] = NONE;
                continue;
            }
            // The later classes of a unitig have greater numbers, so their entries are unchanged.
            let mut count = 1;
            let mut class = first;
            loop {
                let after = next[class as usize];
                if after == NONE || previous[after as usize] != class {
                    break;
                }
                debug_assert!(after > class, "classes are in the order of their first runs");
                class = after;
                count += 1;
            }
            previous[first as usize] = runs.len() as u32;
            runs.push(count);
        }
        NumberedUnitigs { runs, by_first_class: previous }
    }
}

/// Records a neighbour of `class`, or [`NONE`]. The result does not depend on the order of calls.
#[inline]
fn record_neighbour(known: &[AtomicU32], class: u32, neighbour: u32) {
    let known = &known[class as usize];
    let found = known.load(Relaxed);
    if found == NONE || found == neighbour {
        return;
    }
    let is_first = found == class
        && match known.compare_exchange(class, neighbour, Relaxed, Relaxed) {
            Ok(_) => true,
            Err(other) => other == neighbour,
        };
    if !is_first {
        known.store(NONE, Relaxed);
    }
}

/// Unitigs without their places.
#[derive(Debug)]
pub struct NumberedUnitigs {
    /// The number of runs of each unitig. Its number of tokens is greater by `n − 1`.
    pub runs: Vec<u32>,
    /// The unitig that begins with each class, or [`NONE`].
    by_first_class: Vec<u32>,
}

impl NumberedUnitigs {
    /// Returns the place of the unitig that begins with `run`, if one does. O(1).
    #[inline]
    pub fn place(&self, run: RepeatedRun) -> Option<UnitigPlace> {
        let RepeatedRun { document, position, class } = run;
        let unitig = self.by_first_class[class as usize];
        (unitig != NONE).then_some(UnitigPlace { document, position, unitig })
    }
}

impl Unitigs {
    /// Computes the unitigs of documents in memory, given by their tokens. Takes 24 bytes of memory
    /// per token, and 16 more per repeated run.
    pub fn of_documents(documents: &[Vec<u64>], length: usize) -> Self {
        let hasher = RunHasher::new(length, 0);
        let mut records = Vec::new();
        let mut places = Vec::new();
        for (document, tokens) in documents.iter().enumerate() {
            let mut position = 0;
            hasher.hash(tokens, |hash| {
                records.push(RunRecord { hash, run: places.len() as u64 });
                places.push((document as u32, position));
                position += 1;
            });
        }
        records.sort_unstable();
        let mut runs = Vec::new();
        let mut firsts = PositionSet::new(places.len() as u64);
        let result = group_equal(records.into_iter().map(Ok), |run| {
            firsts.insert(run.first);
            runs.push(run);
            Ok(())
        });
        let Ok::<_, Infallible>(()) = result;
        runs.sort_unstable();
        let classes = firsts.number_members();
        let repeated = runs.iter().map(|run| {
            let (document, position) = places[run.run as usize];
            RepeatedRun { document, position, class: firsts.number(run.first) }
        });
        let neighbours = ClassNeighbours::new(classes);
        let Ok::<_, Infallible>(()) = neighbours.record(repeated.clone().map(Ok));
        let unitigs = neighbours.number_unitigs();
        let places = repeated.filter_map(|run| unitigs.place(run)).collect();
        Self { runs: unitigs.runs, places }
    }

    /// Returns true if the next place begins one run after the end of `place`, so that a repeated
    /// run may continue from one to the other.
    pub fn continues(&self, place: usize) -> bool {
        let Some([current, next]) =
            self.places.get(place..place + 2).and_then(<[_]>::first_chunk::<2>)
        else {
            return false;
        };
        let end = u64::from(current.position) + u64::from(self.runs[current.unitig as usize]);
        current.document == next.document && end == u64::from(next.position)
    }
}

fn is_neighbour(run: RepeatedRun, after: RepeatedRun) -> bool {
    run.document == after.document && run.position.checked_add(1) == Some(after.position)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The unitigs of documents whose tokens are characters, as (text, places).
    fn unitigs(documents: &[&str], n: usize) -> Vec<(String, Vec<(u32, u32)>)> {
        let tokens = |text: &&str| text.chars().map(u64::from).collect();
        let tokens: Vec<Vec<u64>> = documents.iter().map(tokens).collect();
        let unitigs = Unitigs::of_documents(&tokens, n);
        let mut found: Vec<(String, Vec<(u32, u32)>)> = Vec::new();
        for (unitig, runs) in unitigs.runs.iter().enumerate() {
            let places = unitigs.places.iter().filter(|place| place.unitig == unitig as u32);
            let places: Vec<_> = places.map(|place| (place.document, place.position)).collect();
            let (document, position) = places[0];
            let length = *runs as usize + n - 1;
            let text = documents[document as usize].chars().skip(position as usize).take(length);
            found.push((text.collect(), places));
        }
        found
    }

    #[test]
    fn runs_with_equal_places_are_joined() {
        let found = unitigs(&["--abcdefgh", "abcdefgh..", "+cdef"], 3);
        let expected = [
            ("abcd", vec![(0, 2), (1, 0)]),
            ("cdef", vec![(0, 4), (1, 2), (2, 1)]),
            ("efgh", vec![(0, 6), (1, 4)]),
        ];
        let expected = expected.map(|(text, places)| (text.to_owned(), places));
        assert_eq!(found, expected);
    }

    #[test]
    fn order_of_records_has_no_effect() {
        // Class 1 follows class 0 at both places; class 2 follows class 1 at one of two places.
        let run = |document, position, class| RepeatedRun { document, position, class };
        let documents = [
            vec![run(0, 0, 0), run(0, 1, 1), run(0, 2, 2)],
            vec![run(1, 4, 0), run(1, 5, 1)],
            vec![run(2, 0, 2)],
        ];
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let neighbours = ClassNeighbours::new(3);
            for document in order {
                let runs = documents[document].iter().copied();
                let Ok::<_, Infallible>(()) = neighbours.record(runs.map(Ok));
            }
            let unitigs = neighbours.number_unitigs();
            assert_eq!(unitigs.runs, [2, 1]);
            assert_eq!(unitigs.by_first_class, [0, NONE, 1]);
        }
    }

    #[test]
    fn self_overlapping_runs_are_not_joined() {
        let found = unitigs(&["aaaaa"], 2);
        assert_eq!(found, [("aa".to_owned(), vec![(0, 0), (0, 1), (0, 2), (0, 3)])]);
        let found = unitigs(&["ababab"], 2);
        let expected = [("ab", vec![(0, 0), (0, 2), (0, 4)]), ("ba", vec![(0, 1), (0, 3)])];
        assert_eq!(found, expected.map(|(text, places)| (text.to_owned(), places)));
        // The second document ends where the run of the first continues.
        assert_eq!(unitigs(&["abcdx", "abcd", "bcdx"], 3).len(), 3);
    }
}
