//! Verified pairs: decided batch by batch, listed in the order of their ids, held in memory or on
//! the disk.

use crate::engine::collect::groups::{self, HAS_UNIT, put_unit};
use crate::engine::decide::batch::ComponentBatch;
use crate::engine::decide::batch_result::{BatchResult, EQUAL, VerifiedPair};
use crate::engine::decide::estimates::SignatureEstimate;
use crate::engine::error::FindError;
use crate::engine::ids::{self, BatchIndex, Id, IdRank, IdVec};
use crate::engine::options::FindOptions;
use crate::engine::options::PairList;
use crate::read::UnitRange;
use crate::spill::codec::{FieldReader, key_part, put_bytes, put_overlap, put_u32, put_u64};
use crate::spill::{RecordCursor, SortedRecords, Sorter, until_error};
use crate::spill::{SpillError, TakeRecord};
use lookalike_core::verify::Overlap;
use std::io;

/// The most pairs that a run lists. A million equal documents would have 5 · 10¹¹.
pub const MAX_PAIRS: u64 = 200_000_000;

/// The most pairs of one record.
const RECORD_PAIRS: usize = 1 << 16;

/// Two documents whose exact similarity reaches the threshold; `a` ≤ `b` byte by byte. The ids are
/// equal only if one document belongs to the reference collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The lesser id.
    pub a: String,
    /// The greater id.
    pub b: String,
    /// Their exact overlap, as in [`Duplicate::overlap`](crate::find::Duplicate::overlap).
    pub overlap: Overlap,
    /// The estimate from their signatures, with [`PairList::WithEstimates`].
    pub estimate: Option<SignatureEstimate>,
    /// If documents are compared by unit, such as paragraphs: the range of each unit in its
    /// document.
    pub units: Option<[UnitRange; 2]>,
}

/// A [`Pair`] that is lent by a [`PairCursor`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairRef<'a> {
    /// The lesser id.
    pub a: &'a str,
    /// The greater id.
    pub b: &'a str,
    /// Their exact overlap.
    pub overlap: Overlap,
    /// The estimate from their signatures, if requested.
    pub estimate: Option<SignatureEstimate>,
    /// If documents are compared by unit, such as paragraphs: the range of each unit in its
    /// document.
    pub units: Option<[UnitRange; 2]>,
}

/// All verified pairs of a run, each listed once. They are sorted by both ids, then by the
/// intersection, left and right of their overlap. Two pairs have the same ids only if the run has a
/// reference collection.
#[derive(Debug, Default)]
pub struct Pairs {
    sorted: SortedRecords,
    len: u64,
    estimates: bool,
    units: bool,
}

impl Pairs {
    /// The number of pairs.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the pairs have estimates.
    pub fn has_estimates(&self) -> bool {
        self.estimates
    }

    /// Whether the documents are units.
    pub fn has_units(&self) -> bool {
        self.units
    }

    /// Returns true if the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Sets whether the documents are units.
    pub(crate) fn set_units(&mut self, units: bool) {
        self.units = units;
    }

    /// Iterates over the pairs in order, and reads them one by one. [`cursor`](Self::cursor) does
    /// the same without copying each pair.
    ///
    /// # Errors
    /// If a temporary file cannot be read, the iterator returns an error and ends.
    /// [`FindError::of_io`] converts it.
    pub fn iter(&self) -> impl Iterator<Item = io::Result<Pair>> + '_ {
        let mut cursor = self.cursor();
        until_error(move || {
            let pair = cursor.next_pair()?;
            Ok(pair.map(|PairRef { a, b, overlap, estimate, units }| Pair {
                a: a.to_owned(),
                b: b.to_owned(),
                overlap,
                estimate,
                units,
            }))
        })
    }

    /// Passes the pairs as records, in order, to `take`.
    pub(crate) fn each_record<E: From<SpillError>>(
        &self,
        take: &mut TakeRecord<'_, E>,
    ) -> Result<(), E> {
        self.sorted.iter().try_for_each(|record| {
            let (key, pairs) = record?;
            take(&key, &pairs)
        })
    }

    /// Reads the pairs from the first on. Holds one record of at most 64 Ki pairs in memory.
    pub fn cursor(&self) -> PairCursor<'_> {
        PairCursor {
            records: self.sorted.cursor(),
            payload: Vec::new(),
            at: 0,
            a: String::new(),
            b: Vec::new(),
            overlap: EQUAL,
            estimate: None,
            units: None,
        }
    }

    /// Creates the pairs from the records of [`records`].
    pub(crate) fn new(sorted: SortedRecords, len: u64, estimates: bool) -> Self {
        Self { sorted, len, estimates, units: false }
    }

    /// Creates the list from pairs in any order.
    ///
    /// # Errors
    /// None: the pairs are in memory.
    pub fn of(pairs: &[Pair]) -> Result<Self, FindError> {
        let mut sorter = Sorter::new(None, usize::MAX);
        let mut record = PairRecord::default();
        for pair in pairs {
            record.begin(&pair.a);
            record.add(&pair.b, pair.overlap, pair.estimate, pair.units);
            sorter.push(&record.key, &record.payload)?;
        }
        let estimates = pairs.iter().any(|pair| pair.estimate.is_some());
        Ok(Self::new(sorter.finish()?, pairs.len() as u64, estimates))
    }
}

fn corrupt() -> SpillError {
    SpillError::altered("verified pairs")
}

/// Passes the pairs of a batch to `take` as records, and returns their number. Documents with equal
/// shingles form a class, and a verified pair represents all pairs between two classes. More than
/// `most` pairs are an error. A document may have the same id as a document of a reference
/// collection, so with `has_reference`, several pairs may have the same two ids. Each pair is then
/// a record of its own.
pub(crate) fn records(
    batch: &ComponentBatch,
    decided: &BatchResult,
    options: &FindOptions,
    has_reference: bool,
    most: u64,
    take: &mut TakeRecord<'_>,
) -> Result<u64, FindError> {
    let check = |got: u64| {
        if got <= most {
            return Ok(());
        }
        Err(FindError::TooManyPairs { got: got + (MAX_PAIRS - most), most: MAX_PAIRS })
    };
    if !options.reference_pairs {
        check(count(batch, &decided.pairs))?;
    }
    let num_hashes = options.params.num_hashes() as u32;
    let ranks = Ranks::new(batch);
    let edges = Edges::new(batch, &decided.pairs);
    let mut partners = Vec::new();
    let mut record = PairRecord::default();
    let mut listed = 0;
    let record_pairs = if has_reference { 1 } else { RECORD_PAIRS };
    for (rank, &document) in ranks.by_id.entries() {
        edges.find_partners(document, rank, &ranks, &mut partners);
        if options.reference_pairs && !batch.rows.is_reference(document) {
            partners.retain(|other| batch.rows.is_reference(ranks.by_id[other.rank]));
        }
        for chunk in partners.chunks(record_pairs) {
            record.begin(ranks.ids[rank]);
            for other in chunk {
                let overlap = edges.overlap(document, other.edge);
                let equal = edges.equal_values(other.edge);
                let estimate = (options.pairs == PairList::WithEstimates)
                    .then(|| SignatureEstimate { equal: equal.unwrap_or(num_hashes), num_hashes });
                let units = units_of(batch, document, ranks.by_id[other.rank]);
                record.add(ranks.ids[other.rank], overlap, estimate, units);
                if has_reference {
                    record.order_equal_ids(overlap);
                }
            }
            take(&record.key, &record.payload)?;
        }
        listed += partners.len() as u64;
        check(listed)?;
    }
    Ok(listed)
}

/// The ranges of two documents of a batch, if they are units.
fn units_of(batch: &ComponentBatch, a: BatchIndex, b: BatchIndex) -> Option<[UnitRange; 2]> {
    let unit = |document| batch.rows.row(document).place.unit();
    unit(a).zip(unit(b)).map(<[UnitRange; 2]>::from)
}

/// The order of a batch's documents by their ids. If two have the same id, the document of the
/// reference collection comes later.
struct Ranks<'a> {
    ids: IdVec<IdRank, &'a str>,
    by_id: IdVec<IdRank, BatchIndex>,
    of: IdVec<BatchIndex, IdRank>,
}

impl<'a> Ranks<'a> {
    fn new(batch: &'a ComponentBatch) -> Self {
        let mut by_id: Vec<BatchIndex> = batch.indices().collect();
        let key =
            |document: BatchIndex| (batch.rows.row(document).id, batch.rows.is_reference(document));
        by_id.sort_unstable_by(|a, b| key(*a).cmp(&key(*b)));
        let mut of = IdVec::from(vec![IdRank(0); by_id.len()]);
        for (rank, document) in ids::from(IdRank(0)).zip(&by_id) {
            of[*document] = rank;
        }
        let ids = by_id.iter().map(|document| batch.rows.row(*document).id).collect();
        Self { ids, by_id: by_id.into(), of }
    }
}

/// The other document of a pair. Sorts by its id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PairedDocument {
    rank: IdRank,
    /// The index of the verified pair, or [`IN_CLASS`].
    edge: u32,
}

/// Represents the pairs of documents with equal shingles.
const IN_CLASS: u32 = u32::MAX;

/// The verified pairs, indexed by their documents.
struct Edges<'a> {
    batch: &'a ComponentBatch,
    verified: &'a [VerifiedPair],
    /// For each document, the start of its entries in `pairs`; then the end of `pairs`.
    starts: Vec<u32>,
    /// Indices of verified pairs.
    pairs: Vec<u32>,
}

impl<'a> Edges<'a> {
    fn new(batch: &'a ComponentBatch, verified: &'a [VerifiedPair]) -> Self {
        let mut starts = vec![0u32; batch.documents.len() + 1];
        for pair in verified {
            starts[pair.a.index()] += 1;
            starts[pair.b.index()] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        // At first, each start is the end of its entries. Entries are inserted in reverse order,
        // and each moves its start back by one.
        let mut pairs = vec![0; sum as usize];
        for (edge, pair) in verified.iter().enumerate().rev() {
            for document in [pair.a, pair.b] {
                let start = &mut starts[document.index()];
                *start -= 1;
                pairs[*start as usize] = edge as u32;
            }
        }
        Self { batch, verified, starts, pairs }
    }

    /// Clears `partners`, and fills it with the documents that make a pair with `document` and have
    /// a greater rank, in the order of ranks. Two reference documents are not a pair.
    fn find_partners(
        &self,
        document: BatchIndex,
        rank: IdRank,
        ranks: &Ranks<'_>,
        partners: &mut Vec<PairedDocument>,
    ) {
        partners.clear();
        let reference = self.batch.rows.is_reference(document);
        let mut add = |class: &[BatchIndex], edge: u32| {
            for other in class {
                let other_rank = ranks.of[*other];
                if other_rank > rank && !(reference && self.batch.rows.is_reference(*other)) {
                    partners.push(PairedDocument { rank: other_rank, edge });
                }
            }
        };
        let class = self.batch.class(document);
        let first = class[0];
        add(class, IN_CLASS);
        for &edge in self.of(first) {
            let VerifiedPair { a, b, .. } = self.verified[edge as usize];
            add(self.batch.class(if a == first { b } else { a }), edge);
        }
        if !partners.is_sorted() {
            partners.sort_unstable();
        }
    }

    /// The overlap of a document with one that [`find_partners`](Self::find_partners) lists.
    fn overlap(&self, document: BatchIndex, edge: u32) -> Overlap {
        let Some(pair) = self.verified.get(edge as usize) else { return EQUAL };
        let is_left = pair.a == self.batch.class(document)[0];
        if is_left { pair.overlap } else { pair.overlap.swapped() }
    }

    /// The number of equal values of the signatures. `None` if they were not counted, and for
    /// documents with equal shingles, whose signatures are equal.
    fn equal_values(&self, edge: u32) -> Option<u32> {
        self.verified.get(edge as usize).and_then(|pair| pair.equal_values)
    }

    /// The verified pairs of the first document of a class.
    fn of(&self, first: BatchIndex) -> &[u32] {
        let at = first.index();
        &self.pairs[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

/// A document's id, and some of the greater ids that it makes pairs with, ascending. The key is the
/// document's id and the first greater id. The record omits the prefix that an id shares with the
/// previous id, and an overlap that equals the previous overlap.
#[derive(Debug, Default)]
struct PairRecord {
    key: Vec<u8>,
    payload: Vec<u8>,
    last: Option<(Overlap, Option<SignatureEstimate>)>,
    b: Vec<u8>,
}

/// The data after the id of a pair. `SAME`: none, because the pair before has the same overlap and
/// estimate. `NEW`: the three numbers of the overlap. `NEW_WITH_ESTIMATE`: also the number of equal
/// values and the number of values of a signature. With [`HAS_UNIT`], the ranges of both units come
/// first.
const SAME: u64 = 0;
const NEW: u64 = 1;
const NEW_WITH_ESTIMATE: u64 = 2;

impl PairRecord {
    fn begin(&mut self, a: &str) {
        self.key.clear();
        self.payload.clear();
        self.b.clear();
        self.last = None;
        key_part(&mut self.key, a.as_bytes());
        put_bytes(&mut self.payload, a.as_bytes());
    }

    fn add(
        &mut self,
        b: &str,
        overlap: Overlap,
        estimate: Option<SignatureEstimate>,
        units: Option<[UnitRange; 2]>,
    ) {
        let b = b.as_bytes();
        if self.last.is_none() {
            self.key.extend_from_slice(b);
        }
        let shared = self.b.iter().zip(b).take_while(|(x, y)| x == y).count();
        put_u64(&mut self.payload, shared as u64);
        put_bytes(&mut self.payload, &b[shared..]);
        self.b.truncate(shared);
        self.b.extend_from_slice(&b[shared..]);
        let flag = if units.is_some() { HAS_UNIT } else { 0 };
        let is_same = self.last == Some((overlap, estimate));
        let kind = match estimate {
            _ if is_same => SAME,
            Some(_) => NEW_WITH_ESTIMATE,
            None => NEW,
        };
        put_u64(&mut self.payload, kind | flag);
        for unit in units.iter().flatten() {
            put_unit(&mut self.payload, Some(*unit));
        }
        if is_same {
            return;
        }
        put_overlap(&mut self.payload, overlap);
        if let Some(SignatureEstimate { equal, num_hashes }) = estimate {
            put_u32(&mut self.payload, equal);
            put_u32(&mut self.payload, num_hashes);
        }
        self.last = Some((overlap, estimate));
    }

    /// Adds the overlap to the key of a record with one pair, to order pairs with equal ids.
    fn order_equal_ids(&mut self, overlap: Overlap) {
        self.key.truncate(self.key.len() - self.b.len());
        key_part(&mut self.key, &self.b);
        for number in [overlap.intersection, overlap.left, overlap.right] {
            self.key.extend_from_slice(&number.to_be_bytes());
        }
    }
}

/// Goes through pairs in the order of their ids, one at a time.
#[derive(Debug)]
pub struct PairCursor<'a> {
    records: RecordCursor<'a>,
    /// A record, of which the first `at` bytes are read.
    payload: Vec<u8>,
    at: usize,
    a: String,
    b: Vec<u8>,
    overlap: Overlap,
    estimate: Option<SignatureEstimate>,
    units: Option<[UnitRange; 2]>,
}

impl PairCursor<'_> {
    /// The next pair, or none after the last.
    ///
    /// # Errors
    /// When the temporary file that holds the pairs cannot be read.
    pub fn next_pair(&mut self) -> io::Result<Option<PairRef<'_>>> {
        while self.at == self.payload.len() {
            let Some((_, payload)) = self.records.next_record().map_err(SpillError::into_io)?
            else {
                return Ok(None);
            };
            self.payload.clear();
            self.payload.extend_from_slice(payload);
            self.begin().ok_or_else(|| io::Error::other(corrupt()))?;
        }
        self.read().ok_or_else(|| io::Error::other(corrupt()))?;
        let b = std::str::from_utf8(&self.b).map_err(|_| io::Error::other(corrupt()))?;
        let Self { overlap, estimate, units, .. } = *self;
        Ok(Some(PairRef { a: &self.a, b, overlap, estimate, units }))
    }

    fn begin(&mut self) -> Option<()> {
        let mut reader = FieldReader::new(&self.payload);
        self.a.clear();
        self.a.push_str(reader.str()?);
        self.b.clear();
        self.at = self.payload.len() - reader.rest().len();
        Some(())
    }

    fn read(&mut self) -> Option<()> {
        let mut reader = FieldReader::new(self.payload.get(self.at..)?);
        let shared = usize::try_from(reader.u64()?).ok()?;
        if shared > self.b.len() {
            return None;
        }
        self.b.truncate(shared);
        self.b.extend_from_slice(reader.bytes()?);
        let flags = reader.u64()?;
        let first = groups::unit(flags, &mut reader)?;
        let second = groups::unit(flags, &mut reader)?;
        self.units = first.zip(second).map(<[UnitRange; 2]>::from);
        let flag = flags & !HAS_UNIT;
        if flag > NEW_WITH_ESTIMATE {
            return None;
        }
        if flag != SAME {
            self.overlap = reader.overlap()?;
            self.estimate = None;
        }
        if flag == NEW_WITH_ESTIMATE {
            let equal = reader.u32()?;
            let num_hashes = reader.u32()?;
            self.estimate = Some(SignatureEstimate { equal, num_hashes });
        }
        self.at = self.payload.len() - reader.rest().len();
        Some(())
    }
}

/// The number of pairs in a batch, including pairs of two reference documents.
fn count(batch: &ComponentBatch, verified: &[VerifiedPair]) -> u64 {
    let class = |document| batch.class(document).len() as u64;
    let across = verified.iter().map(|pair| class(pair.a).saturating_mul(class(pair.b)));
    let within = batch.classes.as_slice().iter().map(|class| {
        let size = class.len() as u64;
        size * (size - 1) / 2
    });
    across.chain(within).fold(0, u64::saturating_add)
}
