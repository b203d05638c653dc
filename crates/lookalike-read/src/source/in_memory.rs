//! Documents that the caller holds in memory as a source: nothing is copied, and what verification
//! needs again is where it was.

use crate::error::ReadError;
use crate::extra_fields::Further;
use crate::skipped::SkipReason;
use crate::source::Source;
use crate::{Document, Place, Raw, RawSink};
use std::ops::Range;
use std::sync::Arc;

/// The most documents in a block.
const BLOCK_DOCUMENTS: usize = 4096;

/// Documents in memory, by row. What a row holds must not change while a run has it; many threads
/// ask at once.
pub trait Held: Send + Sync {
    /// How many rows there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The id of a row below [`len`](Self::len), in `buffer` where it is made on the way.
    ///
    /// # Errors
    /// Why the row has none, such as [`SkipReason::Null`].
    fn id<'a>(&'a self, row: usize, buffer: &'a mut String) -> Result<&'a str, SkipReason>;

    /// The text of a row.
    ///
    /// # Errors
    /// Why the row has none.
    fn text(&self, row: usize) -> Result<&str, SkipReason>;

    /// Bytes of the text of a row, about.
    fn bytes(&self, row: usize) -> usize {
        self.text(row).map_or(0, str::len)
    }

    /// The value of [`ReadOptions::fields`](crate::ReadOptions::fields) of that number in a row,
    /// as text, into `buffer`; false where there is none.
    fn field(&self, row: usize, field: usize, buffer: &mut String) -> bool;
}

/// Documents in memory and what they are called in messages.
#[derive(Clone)]
pub struct HeldDocuments {
    /// Their name, such as `documents`.
    pub name: String,
    /// The documents.
    pub rows: Arc<dyn Held>,
}

/// How far the documents have been handed out.
#[derive(Default)]
pub(crate) struct Cursor {
    next: usize,
    blocks: u32,
}

impl Cursor {
    /// The number and the rows of the next block: at least one, then as many as have about
    /// `block_bytes` of text.
    pub(crate) fn next(
        &mut self,
        rows: &dyn Held,
        block_bytes: usize,
    ) -> Option<(u32, Range<usize>)> {
        let start = self.next;
        let last = rows.len().min(start.saturating_add(BLOCK_DOCUMENTS));
        let mut bytes = 0;
        while self.next < last && (bytes < block_bytes || self.next == start) {
            bytes += rows.bytes(self.next);
            self.next += 1;
        }
        let index = self.blocks;
        self.blocks += 1;
        (self.next > start).then_some((index, start..self.next))
    }
}

/// Bytes of the texts of some rows.
pub(crate) fn bytes(rows: &dyn Held, range: &Range<usize>) -> u64 {
    range.clone().map(|row| rows.bytes(row) as u64).sum()
}

/// Gives rows to the sink, in order.
pub(crate) fn read(
    source: &Source,
    rows: &dyn Held,
    range: Range<usize>,
    sink: &mut impl RawSink,
) -> Result<(), ReadError> {
    let fields = source.settings.fields.further.len();
    let (mut id, mut value, mut further) = (String::new(), String::new(), Further::default());
    for row in range {
        let number = row as u64;
        let id = match rows.id(row, &mut id) {
            Ok(id) => id,
            Err(reason) => {
                sink.skipped(source.bad(number, None, reason)?);
                continue;
            }
        };
        let text = match rows.text(row) {
            Ok(text) => text,
            Err(reason) => {
                sink.skipped(source.bad(number, Some(id.to_owned()), reason)?);
                continue;
            }
        };
        further.clear();
        for field in 0..fields {
            value.clear();
            further.push(rows.field(row, field, &mut value).then_some(value.as_str()));
        }
        let document = Document {
            id,
            text,
            place: place(row, text),
            fields: &further.list(),
            modified: None,
            shingled: None,
            about: None,
        };
        sink.record(&document, Raw::Row(number));
    }
    Ok(())
}

/// The text at a place, unless it is not what was read there.
pub(crate) fn text<'a>(rows: &'a dyn Held, at: Place, id: &str) -> Option<&'a str> {
    let row = at.start as usize;
    let mut buffer = String::new();
    let same_id = row < rows.len() && rows.id(row, &mut buffer).is_ok_and(|found| found == id);
    let text = if same_id { rows.text(row).ok()? } else { return None };
    (place(row, text) == at).then_some(text)
}

/// A run numbers fewer documents than there are values of `u32`.
fn place(row: usize, text: &str) -> Place {
    Place { start: row as u32, length: text.len() as u32, line: 0, part: 0 }
}
