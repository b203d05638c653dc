//! Verified pairs: decided batch by batch, given in the order of their ids, held in memory or on
//! the disk.

use super::batch::Batch;
use super::component::Decided;
use super::findings::EQUAL;
use super::results::Take;
use crate::error::Error;
use crate::spill::codec::{Reader, key_part, put_bytes, put_u64};
use crate::spill::{Sorted, Sorter};
use lookalike_core::verify::Overlap;
use std::io;

/// The most pairs a run lists: that of a million equal documents would be 5 · 10¹¹.
pub const MAX_PAIRS: u64 = 200_000_000;

/// Pairs that are put in order at a time.
const SORTED_PAIRS: usize = 1 << 20;

/// Two documents whose exact similarity reaches the threshold; `a` < `b` byte by byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The lesser id.
    pub a: String,
    /// The greater id.
    pub b: String,
    /// Their exact overlap, as in [`Duplicate::overlap`](super::Duplicate::overlap).
    pub overlap: Overlap,
}

/// All verified pairs of a run, sorted by both ids; each pair once.
#[derive(Debug, Default)]
pub struct Pairs {
    sorted: Sorted,
    len: u64,
}

impl Pairs {
    /// How many there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The pairs in order; may be asked for again. They are read as they are asked for.
    pub fn iter(&self) -> impl Iterator<Item = io::Result<Pair>> + '_ {
        let mut records = self.sorted.iter().peekable();
        let mut of_one: std::vec::IntoIter<Pair> = Vec::new().into_iter();
        std::iter::from_fn(move || {
            loop {
                if let Some(pair) = of_one.next() {
                    return Some(Ok(pair));
                }
                let first = records.next()?;
                // A document with very many pairs has several records.
                let mut pairs = Vec::new();
                let mut next = Some(first);
                while let Some(record) = next {
                    let read = record.and_then(|(key, payload)| {
                        decode(&payload, &mut pairs).ok_or_else(corrupt)?;
                        Ok(key)
                    });
                    let key = match read {
                        Ok(key) => key,
                        Err(error) => return Some(Err(error.into_io())),
                    };
                    next = records.next_if(|other| {
                        other.as_ref().is_ok_and(|(other, _)| same_document(&key, other))
                    });
                }
                pairs.sort_unstable_by(|x, y| x.b.cmp(&y.b));
                of_one = pairs.into_iter();
            }
        })
    }

    /// Of records as [`records`] makes them.
    pub(super) fn new(sorted: Sorted, len: u64) -> Self {
        Self { sorted, len }
    }

    /// Of pairs made by hand, in any order.
    ///
    /// # Errors
    /// None, as they are held in memory.
    pub fn of(pairs: &[Pair]) -> Result<Self, Error> {
        let mut sorter = Sorter::new(None, usize::MAX);
        for pair in pairs {
            let others = std::iter::once((pair.b.as_str(), pair.overlap));
            record(&pair.a, others, &mut |key, payload| sorter.push(key, payload))?;
        }
        Ok(Self::new(sorter.finish()?, pairs.len() as u64))
    }
}

fn corrupt() -> Error {
    Error::TemporaryFile { what: "verified pairs".to_owned() }
}

/// Gives the pairs of a batch as records: those of the members that stand for their equals, and
/// with them those of their equals, at most `most`; they are counted first. Returns how many.
pub(super) fn records(
    batch: &Batch,
    decided: &Decided,
    most: u64,
    take: &mut Take<'_>,
) -> Result<u64, Error> {
    let got = count(batch, &decided.pairs);
    if got > most {
        return Err(Error::TooManyPairs { got: got + (MAX_PAIRS - most) });
    }
    let mut ordered = Ordered::new(batch, take);
    for &(a, b, overlap) in &decided.pairs {
        for &x in batch.class(&a) {
            for &y in batch.class(&b) {
                ordered.push(x, y, overlap);
            }
        }
        ordered.flush(SORTED_PAIRS)?;
    }
    for class in &batch.classes {
        for (i, &x) in class.iter().enumerate() {
            for &y in &class[..i] {
                ordered.push(x, y, EQUAL);
            }
            ordered.flush(SORTED_PAIRS)?;
        }
    }
    ordered.flush(0)?;
    Ok(ordered.given)
}

/// Puts pairs in the order of their ids, some at a time.
struct Ordered<'a> {
    batch: &'a Batch,
    by_id: Vec<u32>,
    ranks: Vec<u32>,
    pairs: Vec<(u32, u32, Overlap)>,
    take: &'a mut Take<'a>,
    given: u64,
}

impl<'a> Ordered<'a> {
    fn new(batch: &'a Batch, take: &'a mut Take<'a>) -> Self {
        let mut by_id: Vec<u32> = (0..batch.documents.len() as u32).collect();
        by_id.sort_unstable_by(|a, b| batch.records.row(*a).id.cmp(batch.records.row(*b).id));
        let mut ranks = vec![0; by_id.len()];
        for (rank, document) in (0u32..).zip(&by_id) {
            ranks[*document as usize] = rank;
        }
        Self { batch, by_id, ranks, pairs: Vec::new(), take, given: 0 }
    }

    /// Takes a pair, unless nobody asks how alike the two are.
    fn push(&mut self, x: u32, y: u32, overlap: Overlap) {
        if self.batch.records.is_reference(x) && self.batch.records.is_reference(y) {
            return;
        }
        let (x, y) = (self.ranks[x as usize], self.ranks[y as usize]);
        self.pairs.push(if x < y { (x, y, overlap) } else { (y, x, overlap.swapped()) });
    }

    /// Hands on what it holds, if that is more than `most`.
    fn flush(&mut self, most: usize) -> Result<(), Error> {
        if self.pairs.len() <= most {
            return Ok(());
        }
        self.pairs.sort_unstable_by_key(|(a, b, _)| (*a, *b));
        let id = |rank: u32| self.batch.records.row(self.by_id[rank as usize]).id;
        for of_one in self.pairs.chunk_by(|x, y| x.0 == y.0) {
            let others = of_one.iter().map(|(_, b, overlap)| (id(*b), *overlap));
            record(id(of_one[0].0), others, self.take)?;
        }
        self.given += self.pairs.len() as u64;
        self.pairs.clear();
        Ok(())
    }
}

/// A document's id and some of its pairs with greater ids; the key are that id and the first of
/// these.
fn record<'i>(
    a: &str,
    others: impl Iterator<Item = (&'i str, Overlap)>,
    take: &mut Take<'_>,
) -> Result<(), Error> {
    let (mut key, mut payload) = (Vec::new(), Vec::new());
    key_part(&mut key, a.as_bytes());
    let end = key.len();
    put_bytes(&mut payload, a.as_bytes());
    for (b, overlap) in others {
        if key.len() == end {
            key.extend_from_slice(b.as_bytes());
        }
        put_bytes(&mut payload, b.as_bytes());
        for value in [overlap.intersection, overlap.left, overlap.right] {
            put_u64(&mut payload, value);
        }
    }
    take(&key, &payload)
}

/// Whether two keys begin with the same id.
fn same_document(a: &[u8], b: &[u8]) -> bool {
    // The id ends with two zeros that can stand nowhere inside of it.
    let id = |key: &[u8]| key.windows(2).position(|w| w == [0, 0]).unwrap_or(key.len());
    a[..id(a)] == b[..id(b)]
}

fn decode(payload: &[u8], pairs: &mut Vec<Pair>) -> Option<()> {
    let mut reader = Reader::new(payload);
    let id = |reader: &mut Reader<'_>| Some(std::str::from_utf8(reader.bytes()?).ok()?.to_owned());
    let a = id(&mut reader)?;
    while !reader.is_empty() {
        let b = id(&mut reader)?;
        let overlap =
            Overlap { intersection: reader.u64()?, left: reader.u64()?, right: reader.u64()? };
        pairs.push(Pair { a: a.clone(), b, overlap });
    }
    Some(())
}

/// How many pairs there are in a batch, those between reference documents included.
fn count(batch: &Batch, verified: &[(u32, u32, Overlap)]) -> u64 {
    let class = |document: &u32| batch.class(document).len() as u64;
    let across = verified.iter().map(|(a, b, _)| class(a).saturating_mul(class(b)));
    let within = batch.classes.iter().map(|class| {
        let size = class.len() as u64;
        size * (size - 1) / 2
    });
    across.chain(within).fold(0, u64::saturating_add)
}
