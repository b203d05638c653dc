//! Verified pairs: decided batch by batch, given in the order of their ids, held in memory or on
//! the disk.

use super::batch::Batch;
use super::component::Decided;
use super::findings::EQUAL;
use crate::error::Error;
use crate::spill::codec::{Reader, put_bytes, put_u64};
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

    /// Of pairs made by hand, in any order.
    ///
    /// # Errors
    /// None, as they are held in memory.
    pub fn of(pairs: &[Pair]) -> Result<Self, Error> {
        let mut sorter = PairSorter::new(Sorter::new(None, usize::MAX));
        for pair in pairs {
            sorter.push(&pair.a, &[(&pair.b, pair.overlap)])?;
        }
        sorter.finish()
    }
}

fn corrupt() -> Error {
    Error::TemporaryFile { what: "verified pairs".to_owned() }
}

/// Puts pairs in order. A record is a document's id and some of its pairs with greater ids; its key
/// are that id and the first of these.
pub(super) struct PairSorter {
    sorter: Sorter,
    len: u64,
}

impl PairSorter {
    pub(super) fn new(sorter: Sorter) -> Self {
        Self { sorter, len: 0 }
    }

    fn push(&mut self, a: &str, others: &[(&str, Overlap)]) -> Result<(), Error> {
        let Some((first, _)) = others.first() else { return Ok(()) };
        let mut key = Vec::new();
        crate::spill::codec::put_ordered_str(&mut key, a);
        key.extend_from_slice(first.as_bytes());
        let mut payload = Vec::new();
        put_bytes(&mut payload, a.as_bytes());
        for (b, overlap) in others {
            put_bytes(&mut payload, b.as_bytes());
            for value in [overlap.intersection, overlap.left, overlap.right] {
                put_u64(&mut payload, value);
            }
        }
        self.len += others.len() as u64;
        self.sorter.push(&key, &payload)
    }

    pub(super) fn finish(self) -> Result<Pairs, Error> {
        Ok(Pairs { sorted: self.sorter.finish()?, len: self.len })
    }

    /// Adds the pairs of a batch: those of the members that stand for their equals, and with them
    /// those of their equals. They are counted first.
    pub(super) fn add(&mut self, batch: &Batch, decided: &Decided) -> Result<(), Error> {
        let got = self.len.saturating_add(count(batch, &decided.pairs));
        if got > MAX_PAIRS {
            return Err(Error::TooManyPairs { got });
        }
        let mut by_id: Vec<u32> = (0..batch.documents.len() as u32).collect();
        by_id.sort_unstable_by(|a, b| batch.records.row(*a).id.cmp(batch.records.row(*b).id));
        let mut ranks = vec![0; by_id.len()];
        for (rank, document) in (0u32..).zip(&by_id) {
            ranks[*document as usize] = rank;
        }
        let mut pairs: Vec<(u32, u32, Overlap)> = Vec::with_capacity(got.min(1 << 16) as usize);
        let mut first = |x: u32, y: u32, overlap: Overlap, pairs: &mut Vec<_>| {
            let (x, y) = (ranks[x as usize], ranks[y as usize]);
            pairs.push(if x < y { (x, y, overlap) } else { (y, x, overlap.swapped()) });
        };
        for &(a, b, overlap) in &decided.pairs {
            for &x in batch.class(&a) {
                for &y in batch.class(&b) {
                    if !batch.both_reference(x, y) {
                        first(x, y, overlap, &mut pairs);
                    }
                }
            }
            self.flush(batch, &by_id, &mut pairs, SORTED_PAIRS)?;
        }
        for class in &batch.classes {
            for (i, &x) in class.iter().enumerate() {
                for &y in class[..i].iter().filter(|y| !batch.both_reference(x, **y)) {
                    first(x, y, EQUAL, &mut pairs);
                }
                self.flush(batch, &by_id, &mut pairs, SORTED_PAIRS)?;
            }
        }
        self.flush(batch, &by_id, &mut pairs, 0)
    }

    /// Hands on pairs of ranks when there are more than `most`.
    fn flush(
        &mut self,
        batch: &Batch,
        by_id: &[u32],
        pairs: &mut Vec<(u32, u32, Overlap)>,
        most: usize,
    ) -> Result<(), Error> {
        if pairs.len() <= most {
            return Ok(());
        }
        pairs.sort_unstable_by_key(|(a, b, _)| (*a, *b));
        let id = |rank: u32| batch.records.row(by_id[rank as usize]).id;
        for of_one in pairs.chunk_by(|x, y| x.0 == y.0) {
            let others: Vec<(&str, Overlap)> =
                of_one.iter().map(|(_, b, overlap)| (id(*b), *overlap)).collect();
            self.push(id(of_one[0].0), &others)?;
        }
        pairs.clear();
        Ok(())
    }
}

impl Batch {
    /// Whether both are of a reference collection, so that nobody asks how alike they are.
    fn both_reference(&self, x: u32, y: u32) -> bool {
        self.records.is_reference(x) && self.records.is_reference(y)
    }
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
        let overlap = Overlap {
            intersection: reader.u64()?,
            left: reader.u64()?,
            right: reader.u64()?,
        };
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
