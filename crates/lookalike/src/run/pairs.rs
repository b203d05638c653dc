//! Verified pairs, in little memory: ids once, pairs by number.

use super::collected::Collected;
use super::findings::EQUAL;
use crate::error::Error;
use lookalike_core::verify::Overlap;

/// The most pairs a run lists: they are held in memory, at 32 bytes each.
pub const MAX_PAIRS: u64 = 200_000_000;

/// Two documents whose exact similarity reaches the threshold; `a` < `b` byte by byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair<'a> {
    /// The lesser id.
    pub a: &'a str,
    /// The greater id.
    pub b: &'a str,
    /// Their exact overlap, as in [`Duplicate::overlap`](super::Duplicate::overlap).
    pub overlap: Overlap,
}

/// All verified pairs of a run, sorted by both ids; each pair once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pairs {
    /// Ids of the documents that are in a pair, ascending.
    ids: Vec<String>,
    pairs: Vec<(u32, u32, Overlap)>,
}

impl Pairs {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The pairs in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Pair<'_>> {
        let id = |number: u32| self.ids[number as usize].as_str();
        self.pairs.iter().map(move |&(a, b, overlap)| Pair { a: id(a), b: id(b), overlap })
    }
}

impl FromIterator<(String, String, Overlap)> for Pairs {
    /// From pairs in any order, their ids in any order, too.
    fn from_iter<I: IntoIterator<Item = (String, String, Overlap)>>(pairs: I) -> Self {
        let pairs: Vec<(String, String, Overlap)> = pairs.into_iter().collect();
        let mut ids: Vec<String> =
            pairs.iter().flat_map(|(a, b, _)| [a.clone(), b.clone()]).collect();
        ids.sort_unstable();
        ids.dedup();
        let number = |id: &String| ids.partition_point(|other| other < id) as u32;
        let pairs = pairs.iter().map(|(a, b, overlap)| (number(a), number(b), *overlap)).collect();
        Self::sorted(ids, pairs)
    }
}

impl Pairs {
    fn sorted(ids: Vec<String>, mut pairs: Vec<(u32, u32, Overlap)>) -> Self {
        for pair in &mut pairs {
            if pair.0 > pair.1 {
                *pair = (pair.1, pair.0, pair.2.swapped());
            }
        }
        pairs.sort_unstable_by_key(|(a, b, _)| (*a, *b));
        Self { ids, pairs }
    }
}

/// All pairs of documents behind the verified pairs of those that stand for their equals. They are
/// counted first: a million equal documents form 5 · 10¹¹.
pub(super) fn pairs(
    documents: &Collected,
    verified: &[(u32, u32, Overlap)],
) -> Result<Pairs, Error> {
    let got = count(documents, verified);
    if got > MAX_PAIRS {
        return Err(Error::TooManyPairs { got });
    }
    let mut pairs = Vec::with_capacity(got as usize);
    for &(a, b, overlap) in verified {
        for x in std::iter::once(a).chain(documents.copies_of(a)) {
            for y in std::iter::once(b).chain(documents.copies_of(b)) {
                pairs.push((x, y, overlap));
            }
        }
    }
    for (first, x) in documents.copies() {
        pairs.push((first, x, EQUAL));
        let earlier = documents.copies_of(first).take_while(|y| *y < x);
        pairs.extend(earlier.map(|y| (x, y, EQUAL)));
    }
    let mut involved: Vec<u32> = pairs.iter().flat_map(|(a, b, _)| [*a, *b]).collect();
    involved.sort_unstable();
    involved.dedup();
    involved.sort_unstable_by(|a, b| documents.id(*a).cmp(documents.id(*b)));
    let mut numbers = vec![0; documents.len()];
    for (number, document) in (0u32..).zip(&involved) {
        numbers[*document as usize] = number;
    }
    for (a, b, _) in &mut pairs {
        (*a, *b) = (numbers[*a as usize], numbers[*b as usize]);
    }
    let ids = involved.iter().map(|document| documents.id(*document).to_owned()).collect();
    Ok(Pairs::sorted(ids, pairs))
}

/// How many pairs there are.
fn count(documents: &Collected, verified: &[(u32, u32, Overlap)]) -> u64 {
    let class = |document| 1 + documents.copies_of(document).count() as u64;
    let across: u64 = verified.iter().map(|(a, b, _)| class(*a) * class(*b)).sum();
    let copies: Vec<(u32, u32)> = documents.copies().collect();
    let within = copies.chunk_by(|a, b| a.0 == b.0).map(|class| {
        let size = 1 + class.len() as u64;
        size * (size - 1) / 2
    });
    across.saturating_add(within.sum())
}
