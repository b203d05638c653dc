//! The rows of a report: the places of passages, in report order, in memory or on the disk.
//!
//! ```text
//! Passages ─ rank of each ─┐
//! documents (threads) ─ places found in texts ─ PlaceRows ─ sorted → PassageRows
//! ```

use super::places::{LocatedPlace, PLACE_BYTES, PlaceTaker, WantedPlace};
use crate::engine::ids::Id;
use crate::engine::{Budget, DocumentNumber, FindError, TextRun};
use crate::spill::codec::{FieldReader, put_bytes, put_u32, put_u64};
use crate::spill::{SortedRecords, Sorter, until_error};
use crate::words::TextSpan;
use lookalike_core::passage::maximal::{Passage, Passages};
use lookalike_core::passage::unitig::Unitigs;
use parking_lot::Mutex;
use std::cmp::Reverse;
use std::io;
use std::mem::take;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of memory for each maximal run while passages are formed.
const RUN_BYTES: u64 = 32;
/// Bytes of memory for each passage, with its rank and its number of rows.
const PASSAGE_BYTES: u64 = 52;
/// Bytes of memory for each document with a place: its count of repeated bytes, twice because the
/// vector grows.
const REPEATED_BYTES: u64 = 2 * size_of::<(u64, DocumentNumber)>() as u64;

/// Receives the places of passages.
pub(super) struct PlaceRows<'a> {
    run: &'a TextRun,
    pub(super) passages: Passages,
    /// The number of each passage in report order.
    ranks: Vec<u32>,
    /// The number of rows of each passage.
    rows: Vec<u32>,
    /// The passages whose first place is not a maximal run, sorted by first place.
    within: Vec<u32>,
    received: Mutex<TakenPlaces>,
}

struct TakenPlaces {
    sorter: Sorter,
    repeated: Vec<(u64, DocumentNumber)>,
}

impl<'a> PlaceRows<'a> {
    /// Prepares rows for the passages of at least `length` words.
    pub(super) fn new(
        run: &'a TextRun,
        budget: &Budget,
        unitigs: &Unitigs,
        length: u32,
    ) -> Result<Self, FindError> {
        let passages = Passages::new(unitigs, length, &run.order);
        let documents = passages.runs.chunk_by(|a, b| a.document == b.document).count();
        budget.need_beside_shares(
            documents as u64 * REPEATED_BYTES
                + unitigs.places.len() as u64 * PLACE_BYTES
                + passages.runs.len() as u64 * RUN_BYTES
                + passages.passages.len() as u64 * PASSAGE_BYTES,
        )?;
        let of = &passages.passages;
        let first = |passage: &Passage| (run.order[passage.document as usize], passage.position);
        let mut ranked: Vec<u32> = (0..of.len() as u32).collect();
        ranked.sort_unstable_by_key(|number| {
            let passage = of[*number as usize];
            (Reverse((passage.documents, passage.places, passage.tokens)), first(&passage))
        });
        let mut ranks = vec![0; of.len()];
        for (rank, passage) in (0..).zip(ranked) {
            ranks[passage as usize] = rank;
        }
        let mut rows = vec![0; of.len()];
        let mut has_first = vec![false; of.len()];
        for run in &passages.runs {
            let at = run.passage as usize;
            rows[at] += 1;
            has_first[at] |= (of[at].document, of[at].position) == (run.document, run.position);
        }
        let mut within: Vec<u32> =
            (0..of.len() as u32).filter(|passage| !has_first[*passage as usize]).collect();
        for passage in &within {
            rows[*passage as usize] += 1;
        }
        within.sort_unstable_by_key(|passage| {
            let Passage { document, position, .. } = of[*passage as usize];
            (document, position)
        });
        let sorter = Sorter::new(Some(Arc::clone(run.temp())), budget.share(8));
        let received = Mutex::new(TakenPlaces { sorter, repeated: Vec::new() });
        Ok(Self { run, passages, ranks, rows, within, received })
    }

    /// Returns all rows.
    pub(super) fn finish(self) -> Result<PassageRows, FindError> {
        let TakenPlaces { sorter, mut repeated } = self.received.into_inner();
        repeated.sort_unstable_by_key(|(bytes, document)| (Reverse(*bytes), *document));
        let sorted = sorter.finish()?;
        let passages = self.passages.passages.len();
        Ok(PassageRows { sorted, passages, repeated })
    }

    /// Encodes a row as a record, into `key` and `payload`.
    fn encode(&self, located: &LocatedPlace, key: &mut Vec<u8>, payload: &mut Vec<u8>) {
        let LocatedPlace { place, span, excerpt } = located;
        key.clear();
        key.extend_from_slice(&self.ranks[place.passage as usize].to_be_bytes());
        key.push(u8::from(!place.is_first));
        key.extend_from_slice(&self.run.order[place.document.index()].to_be_bytes());
        key.extend_from_slice(&place.position.to_be_bytes());
        payload.clear();
        put_u32(payload, place.document.0);
        put_u32(payload, place.is_maximal.into());
        for range in [&span.bytes, &span.chars] {
            put_u64(payload, range.start);
            put_u64(payload, range.end);
        }
        if place.is_first {
            let Passage { tokens, places, documents, .. } =
                self.passages.passages[place.passage as usize];
            for number in [tokens, places, documents, self.rows[place.passage as usize]] {
                put_u32(payload, number);
            }
            put_bytes(payload, excerpt.as_bytes());
        }
    }
}

impl PlaceTaker for PlaceRows<'_> {
    fn requested(&self, documents: &Range<DocumentNumber>) -> Vec<WantedPlace> {
        let Passages { passages, runs } = &self.passages;
        let from = runs.partition_point(|run| run.document < documents.start.0);
        let count = runs[from..].partition_point(|run| run.document < documents.end.0);
        let mut requested: Vec<WantedPlace> = Vec::with_capacity(count);
        requested.extend(runs[from..from + count].iter().map(|run| {
            let Passage { document, position, .. } = passages[run.passage as usize];
            WantedPlace {
                document: DocumentNumber(run.document),
                position: run.position,
                tokens: run.tokens,
                passage: run.passage,
                is_maximal: true,
                is_first: (document, position) == (run.document, run.position),
            }
        }));
        let document = |passage: &u32| DocumentNumber(passages[*passage as usize].document);
        let from = self.within.partition_point(|passage| document(passage) < documents.start);
        let within = self.within[from..].iter();
        requested.extend(within.take_while(|passage| document(passage) < documents.end).map(
            |&at| {
                let Passage { document, position, tokens, .. } = passages[at as usize];
                WantedPlace {
                    document: DocumentNumber(document),
                    position,
                    tokens,
                    passage: at,
                    is_maximal: false,
                    is_first: true,
                }
            },
        ));
        requested.sort_unstable();
        requested
    }

    fn take(&self, located: &[LocatedPlace]) -> Result<(), FindError> {
        let mut key = Vec::new();
        let mut payload = Vec::new();
        let mut received = self.received.lock();
        for places in located.chunk_by(|a, b| a.place.document == b.place.document) {
            let bytes = repeated_bytes(places.iter().map(|place| &place.span));
            received.repeated.push((bytes, places[0].place.document));
            for place in places {
                self.encode(place, &mut key, &mut payload);
                received.sorter.push(&key, &payload)?;
            }
        }
        Ok(())
    }
}

/// Counts the bytes of a document that are in passages. `places` are the places of passages in the
/// document.
pub(crate) fn repeated_bytes<'a>(places: impl IntoIterator<Item = &'a TextSpan>) -> u64 {
    let mut ranges: Vec<&Range<u64>> = places.into_iter().map(|span| &span.bytes).collect();
    ranges.sort_unstable_by_key(|range| range.start);
    let mut end = 0;
    let new = ranges.into_iter().map(|range| {
        let before = end;
        end = end.max(range.end);
        end.saturating_sub(before.max(range.start))
    });
    new.sum()
}

/// A repeated sequence of words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPassage {
    /// Its number in the order of [`PassageRows`], from 0.
    pub number: u32,
    /// The number of words.
    pub words: u32,
    /// The number of places with these words, alone or within longer repeated runs; at least 2.
    pub places: u32,
    /// The number of documents with these places.
    pub documents: u32,
    /// The number of rows: one for its first place, and one for each other maximal run.
    pub rows: u32,
    /// The beginning of the text at its first place.
    pub excerpt: String,
}

/// A place of a passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassagePlace {
    /// The number of the passage.
    pub passage: u32,
    /// The number of the document, in reading order.
    pub document: DocumentNumber,
    /// The position of its first word.
    pub position: u32,
    /// Its range in the original text of the document.
    pub span: TextSpan,
    /// Whether it is the first place of the passage, by the keep order and the position.
    pub is_first: bool,
    /// Whether the run is maximal. The first place of a passage may instead lie within a longer
    /// repeated run.
    pub is_maximal: bool,
}

/// A place of a passage, and the passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassageRow {
    /// The passage, shared by the rows of all its places.
    pub passage: Arc<FoundPassage>,
    /// The place.
    pub place: PassagePlace,
}

/// The places of all passages, held in memory or on the disk. Passages are ordered by their numbers
/// of documents, of places and of words, all descending, and then by their first places. The first
/// row of a passage is its first place. The other maximal runs follow, by the order of documents
/// and by position.
#[derive(Debug, Default)]
pub struct PassageRows {
    sorted: SortedRecords,
    passages: usize,
    /// Bytes of each document that are in passages, most first.
    repeated: Vec<(u64, DocumentNumber)>,
}

impl PassageRows {
    /// The number of places.
    pub fn len(&self) -> usize {
        self.sorted.len() as usize
    }

    /// Returns true if the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of passages.
    pub fn passages(&self) -> usize {
        self.passages
    }

    /// The number of documents with a place.
    pub fn documents(&self) -> usize {
        self.repeated.len()
    }

    /// Returns the `count` documents with the most bytes in passages, and these numbers of bytes.
    /// Also returns documents with as many bytes as the last one.
    pub(super) fn most_repeated(&self, count: usize) -> &[(u64, DocumentNumber)] {
        let last = count.checked_sub(1).and_then(|last| self.repeated.get(last));
        let least = last.map_or(0, |(bytes, _)| *bytes);
        &self.repeated[..self.repeated.partition_point(|(bytes, _)| *bytes >= least)]
    }

    /// Iterates over the rows in order. Can be called repeatedly. Ends after an error of the
    /// temporary file.
    pub fn iter(&self) -> impl Iterator<Item = io::Result<PassageRow>> + '_ {
        let mut cursor = self.sorted.cursor();
        let mut last = None::<Arc<FoundPassage>>;
        let rows = until_error(move || {
            let Some((key, payload)) = cursor.next_record()? else { return Ok(None) };
            let row = decode(key, payload, take(&mut last));
            let row = row.ok_or_else(|| cursor.damaged("a place of a passage"))?;
            last = Some(Arc::clone(&row.passage));
            Ok(Some(row))
        });
        rows.map(|row| row.map_err(FindError::into_io))
    }
}

/// Decodes a record of [`PlaceRows::encode`]. `last` is the passage of the previous row.
fn decode(key: &[u8], payload: &[u8], last: Option<Arc<FoundPassage>>) -> Option<PassageRow> {
    let number = |at: usize| {
        let bytes = key.get(at..).and_then(<[u8]>::first_chunk::<4>)?;
        Some(u32::from_be_bytes(*bytes))
    };
    let passage = number(0)?;
    let is_first = *key.get(4)? == 0;
    let mut fields = FieldReader::new(payload);
    let document = DocumentNumber(fields.u32()?);
    let is_maximal = fields.u32()? == 1;
    let mut range = || Some(fields.u64()?..fields.u64()?);
    let span = TextSpan { bytes: range()?, chars: range()? };
    let of = if is_first {
        let words = fields.u32()?;
        let places = fields.u32()?;
        let documents = fields.u32()?;
        let rows = fields.u32()?;
        let excerpt = std::str::from_utf8(fields.bytes()?).ok()?.to_owned();
        Arc::new(FoundPassage { number: passage, words, places, documents, rows, excerpt })
    } else {
        last.filter(|last| last.number == passage)?
    };
    let position = number(9)?;
    let place = PassagePlace { passage, document, position, span, is_first, is_maximal };
    Some(PassageRow { passage: of, place })
}
