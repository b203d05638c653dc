//! Runs of `n` tokens that occur more than once, joined to longer ones that have the same places.
//!
//! Runs that begin at neighbouring positions overlap in `n − 1` tokens. Where two of them are
//! neighbours at every place that either of them has, they have the same places, and all that
//! follows can treat them as one. Longest sequences of such runs are the *unitigs* of a de Bruijn
//! graph (Chikhi, Limasset, Jackman, Simpson, Medvedev, *On the representation of de Bruijn
//! graphs*, 2015, section 2), with the additional condition that the numbers of places are equal.
//! Each run of `n` tokens is in one unitig, so unitigs have at most as many places as there are
//! repeated runs, and on text many times fewer.

use super::position_set::PositionSet;
use super::run_hash::RunHasher;
use std::convert::Infallible;

/// A run of `n` tokens, as [`group_equal`] takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunRecord {
    /// The hash of its tokens.
    pub hash: u64,
    /// Its number: runs are numbered in the order of document and position.
    pub run: u64,
}

/// A run that has an equal one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct EqualRun {
    /// Its number.
    pub run: u64,
    /// The number of the first run that is equal to it; its own where it is the first.
    pub first: u64,
}

/// A repeated run of `n` tokens at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RepeatedRun {
    /// The number of its document.
    pub document: u32,
    /// The position of its first token.
    pub position: u32,
    /// The number of its class: equal runs have one class. Classes are numbered in the order of
    /// their first runs, so that what is stored of them is gone through from its begin to its end.
    pub class: u32,
}

/// Gives each run that has an equal one its first, and drops the runs that are alone. `records`
/// ascend; the runs come out in that order. O(records).
///
/// # Errors
/// The first of `records` or of `take`.
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
    /// How many runs each unitig has; it has `n − 1` tokens more.
    pub runs: Vec<u32>,
    /// Where the unitigs are. Places with one unitig have equal tokens, unless hashes collide.
    pub places: Vec<UnitigPlace>,
}

/// No class, or more than one.
const NONE: u32 = u32::MAX;

impl Unitigs {
    /// Joins repeated runs. `runs` gives all of them in ascending order of document and position,
    /// the same each time; `classes` is how many classes they have, below 2³² − 1.
    /// O(runs); 8 bytes for each class, 4 for each unitig and 12 for each of its places.
    ///
    /// # Errors
    /// The first of `runs`.
    pub fn new<E, I>(runs: impl Fn() -> I, classes: usize) -> Result<Self, E>
    where
        I: Iterator<Item = Result<RepeatedRun, E>>,
    {
        let next = next_classes(runs(), classes)?;
        let mut unitig_of = vec![NONE; classes];
        let mut unitigs = Self::default();
        let mut before: Option<RepeatedRun> = None;
        for run in runs() {
            let run = run?;
            let continues = before
                .is_some_and(|old| is_neighbour(old, run) && next[old.class as usize] == run.class);
            before = Some(run);
            if continues {
                // Each unitig is measured at its first place.
                if let Some(place) = unitigs.places.last()
                    && unitig_of[run.class as usize] == NONE
                {
                    unitig_of[run.class as usize] = place.unitig;
                    unitigs.runs[place.unitig as usize] += 1;
                }
                continue;
            }
            let unitig = &mut unitig_of[run.class as usize];
            if *unitig == NONE {
                *unitig = unitigs.runs.len() as u32;
                unitigs.runs.push(1);
            }
            let document = run.document;
            let position = run.position;
            unitigs.places.push(UnitigPlace { document, position, unitig: *unitig });
        }
        Ok(unitigs)
    }

    /// The unitigs of documents in memory, each given by its tokens: 16 bytes for each token.
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
        let repeated = |run: &EqualRun| {
            let (document, position) = places[run.run as usize];
            Ok(RepeatedRun { document, position, class: firsts.number(run.first) })
        };
        let Ok::<_, Infallible>(unitigs) = Self::new(|| runs.iter().map(repeated), classes);
        unitigs
    }

    /// Whether the place behind `place` begins one run after its last: a repeated run may continue
    /// from one to the other.
    pub fn continues(&self, place: usize) -> bool {
        let Some([here, next]) =
            self.places.get(place..place + 2).and_then(<[_]>::first_chunk::<2>)
        else {
            return false;
        };
        let end = u64::from(here.position) + u64::from(self.runs[here.unitig as usize]);
        here.document == next.document && end == u64::from(next.position)
    }
}

/// The class that follows each class at all of its places and is nowhere else, [`NONE`] where there
/// is none: both have the same places.
fn next_classes<E>(
    runs: impl Iterator<Item = Result<RepeatedRun, E>>,
    classes: usize,
) -> Result<Vec<u32>, E> {
    // A class whose neighbours were not met yet is its own, which no class is everywhere.
    let mut next: Vec<u32> = (0..classes as u32).collect();
    let mut previous = next.clone();
    let meet = |known: &mut u32, class: u32, neighbour: u32| {
        *known = if *known == class || *known == neighbour { neighbour } else { NONE };
    };
    let mut before: Option<RepeatedRun> = None;
    for run in runs {
        let run = run?;
        let is_next = |old: &RepeatedRun| is_neighbour(*old, run) && old.class != run.class;
        let joined = before.filter(is_next);
        if let Some(old) = before.replace(run) {
            meet(&mut next[old.class as usize], old.class, joined.map_or(NONE, |_| run.class));
        }
        let old = joined.map_or(NONE, |old| old.class);
        meet(&mut previous[run.class as usize], run.class, old);
    }
    if let Some(last) = before {
        meet(&mut next[last.class as usize], last.class, NONE);
    }
    for (class, next) in (0..).zip(&mut next) {
        if *next != NONE && previous[*next as usize] != class {
            *next = NONE;
        }
    }
    Ok(next)
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
    fn runs_with_the_same_places_are_joined() {
        let found = unitigs(&["--abcdefgh", "abcdefgh..", "+cdef"], 3);
        let want = [
            ("abcd", vec![(0, 2), (1, 0)]),
            ("cdef", vec![(0, 4), (1, 2), (2, 1)]),
            ("efgh", vec![(0, 6), (1, 4)]),
        ];
        let want = want.map(|(text, places)| (text.to_owned(), places));
        assert_eq!(found, want);
    }

    #[test]
    fn what_overlaps_itself_and_what_ends_with_a_document_is_not_joined() {
        let found = unitigs(&["aaaaa"], 2);
        assert_eq!(found, [("aa".to_owned(), vec![(0, 0), (0, 1), (0, 2), (0, 3)])]);
        let found = unitigs(&["ababab"], 2);
        let want = [("ab", vec![(0, 0), (0, 2), (0, 4)]), ("ba", vec![(0, 1), (0, 3)])];
        assert_eq!(found, want.map(|(text, places)| (text.to_owned(), places)));
        // The second document ends where the run of the first goes on.
        assert_eq!(unitigs(&["abcdx", "abcd", "bcdx"], 3).len(), 3);
    }
}
