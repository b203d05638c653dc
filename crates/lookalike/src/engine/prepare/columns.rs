//! The stored values of the documents of one block: fixed-width columns, and a row of other values.
//!
//! ```text
//! column 0: hash of the id   1, 2: fingerprint   3 …: bucket keys   last 2: bits of the signature
//! (u64 each; without bands, columns 0 to 2)
//! row: place, fingerprint, length, source, keep key, range of the unit if it is one, id
//! ```
//!
//! The layout is the same in memory and in temporary files, and may change.

use crate::engine::ids::{self, Id, RowIndex, SourceNumber};
use crate::read::{DocumentPosition, UnitRange};
use crate::spill::SpillError;
use std::borrow::Cow;

/// The column of the ids' hashes.
pub(crate) const ID_COLUMN: usize = 0;
/// The columns of the upper and the lower half of the fingerprint.
pub(crate) const FINGERPRINT_COLUMNS: [usize; 2] = [1, 2];
/// The column of the first band's keys.
pub(crate) const FIRST_BAND_COLUMN: usize = 3;

/// The number of columns with this number of bands.
pub(crate) fn width(bands: usize) -> usize {
    FIRST_BAND_COLUMN + bands + if bands > 0 { bit_columns(bands).len() } else { 0 }
}

/// The columns of the bits of the signature, after the keys of this number of bands.
pub(crate) fn bit_columns(bands: usize) -> [usize; 2] {
    [0, 1].map(|i| FIRST_BAND_COLUMN + bands + i)
}

/// Bytes of a row before the keep key.
const HEAD_BYTES: usize = 16 + 16 + 8 + 4 + 4;
/// A flag in the length of the key. If set, the range of a unit follows the key.
const HAS_UNIT: u32 = 1 << 31;
/// Bytes of the range of a unit.
const UNIT_BYTES: usize = 16;

/// The values of a document that no stage reads column by column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DocumentRow<'a> {
    /// The place where its text can be read again.
    pub(crate) place: DocumentPosition,
    pub(crate) fingerprint: u128,
    /// Length of the text in bytes.
    pub(crate) bytes: u64,
    /// The source that the document is counted under.
    pub(crate) source: SourceNumber,
    /// Its key in the keep order.
    pub(crate) key: &'a [u8],
    pub(crate) id: &'a str,
}

impl<'a> DocumentRow<'a> {
    /// Appends the row to `out`.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        for value in self.place.to_numbers() {
            out.extend_from_slice(&value.to_le_bytes());
        }
        out.extend_from_slice(&self.fingerprint.to_le_bytes());
        out.extend_from_slice(&self.bytes.to_le_bytes());
        out.extend_from_slice(&self.source.0.to_le_bytes());
        let unit = self.place.unit().map(UnitRange::to_numbers);
        let flag = if unit.is_some() { HAS_UNIT } else { 0 };
        out.extend_from_slice(&(self.key.len() as u32 | flag).to_le_bytes());
        out.extend_from_slice(self.key);
        out.extend(unit.iter().flatten().flat_map(|value| value.to_le_bytes()));
        out.extend_from_slice(self.id.as_bytes());
    }

    /// Reads a row that [`write`](Self::write) appended.
    ///
    /// # Errors
    /// [`SpillError::Altered`] if the bytes are not a row.
    pub(crate) fn read(row: &'a [u8]) -> Result<Self, SpillError> {
        Self::parse(row).ok_or_else(damaged)
    }

    fn parse(row: &'a [u8]) -> Option<Self> {
        let (head, rest) = row.split_at_checked(HEAD_BYTES)?;
        let u32_at = |at: usize| Some(u32::from_le_bytes(head.get(at..at + 4)?.try_into().ok()?));
        let place =
            DocumentPosition::from_numbers([u32_at(0)?, u32_at(4)?, u32_at(8)?, u32_at(12)?]);
        let length = u32_at(44)?;
        let (key, rest) = rest.split_at_checked((length & !HAS_UNIT) as usize)?;
        let (unit, id) =
            rest.split_at_checked(if length & HAS_UNIT == 0 { 0 } else { UNIT_BYTES })?;
        let mut numbers = unit.as_chunks().0.iter().map(|value| u32::from_le_bytes(*value));
        let mut next = || numbers.next();
        let unit = match [next(), next(), next(), next()] {
            [Some(a), Some(b), Some(c), Some(d)] => Some(UnitRange::from_numbers([a, b, c, d])),
            _ => None,
        };
        let fingerprint = u128::from_le_bytes(head.get(16..32)?.try_into().ok()?);
        let bytes = u64::from_le_bytes(head.get(32..40)?.try_into().ok()?);
        let source = SourceNumber(u32_at(40)?);
        let id = std::str::from_utf8(id).ok()?;
        let place = place.with_unit(unit);
        Some(Self { place, fingerprint, bytes, source, key, id })
    }
}

/// The error of bytes that are not a row.
pub(crate) fn damaged() -> SpillError {
    SpillError::altered("a row of a document")
}

/// Many rows, one after the other.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowBuffer {
    pub(crate) bytes: Vec<u8>,
    /// The end of each row. The rows of a block are far below 4 GiB, because its texts are below 2
    /// GiB.
    pub(crate) ends: Vec<u32>,
}

impl RowBuffer {
    /// Appends a row.
    pub(crate) fn push(&mut self, row: &DocumentRow<'_>) {
        row.write(&mut self.bytes);
        self.ends.push(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX));
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The indices of all rows.
    pub(crate) fn indices(&self) -> impl Iterator<Item = RowIndex> + use<> {
        ids::first(self.len())
    }

    /// Reads a row.
    pub(crate) fn get(&self, row: RowIndex) -> Result<DocumentRow<'_>, SpillError> {
        let i = row.index();
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        DocumentRow::read(self.bytes.get(start..self.ends[i] as usize).ok_or_else(damaged)?)
    }

    /// Returns the rows in the form of a log: the end of each row, then the rows.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(4 * self.ends.len() + self.bytes.len());
        bytes.extend(self.ends.iter().flat_map(|end| end.to_le_bytes()));
        bytes.extend_from_slice(&self.bytes);
        bytes
    }
}

/// The rows of a block, in the form of a log.
pub(crate) struct Rows<'a> {
    bytes: Cow<'a, [u8]>,
    documents: usize,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(bytes: Cow<'a, [u8]>, documents: usize) -> Self {
        Self { bytes, documents }
    }

    /// Reads a row.
    pub(crate) fn get(&self, row: RowIndex) -> Result<DocumentRow<'_>, SpillError> {
        let i = row.index();
        let (ends, rows) = self.bytes.split_at_checked(4 * self.documents).ok_or_else(damaged)?;
        let end_of = |i: usize| ends.as_chunks().0.get(i).map(|end| u32::from_le_bytes(*end));
        let start = i.checked_sub(1).map_or(Some(0), end_of);
        let row =
            start.zip(end_of(i)).and_then(|(start, end)| rows.get(start as usize..end as usize));
        DocumentRow::read(row.ok_or_else(damaged)?)
    }

    /// All rows.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Result<DocumentRow<'_>, SpillError>> {
        ids::first(self.documents).map(|row| self.get(row))
    }
}

/// Fixed-width columns, one after the other, each with one value per document.
#[derive(Debug, Clone, Default)]
pub(crate) struct FixedColumns {
    pub(crate) values: Vec<u64>,
    pub(crate) documents: usize,
}

impl FixedColumns {
    /// Transposes the values of documents, `width` each. Runs for each block while its values are
    /// in the cache.
    pub(crate) fn transposed(values: &[u64], width: usize) -> Self {
        let documents = values.len() / width;
        let mut columns = Vec::with_capacity(values.len());
        for column in 0..width {
            columns.extend((0..documents).map(|document| values[document * width + column]));
        }
        Self { values: columns, documents }
    }

    /// The values of one column.
    pub(crate) fn get(&self, column: usize) -> &[u64] {
        &self.values[column * self.documents..][..self.documents]
    }

    /// The number of columns; 0 without documents.
    pub(crate) fn width(&self) -> usize {
        self.values.len().checked_div(self.documents).unwrap_or(0)
    }

    /// The value of a document in a column.
    pub(crate) fn value(&self, column: usize, row: RowIndex) -> u64 {
        self.get(column)[row.index()]
    }

    /// The values of some documents.
    pub(crate) fn select(&self, rows: &[RowIndex]) -> Self {
        let columns = (0..self.width()).map(|column| self.get(column));
        let values = columns.flat_map(|values| rows.iter().map(|row| values[row.index()]));
        Self { values: values.collect(), documents: rows.len() }
    }

    /// Bytes of memory held.
    pub(crate) fn held_bytes(&self) -> usize {
        8 * self.values.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn document_rows_round_trip() {
        let row = DocumentRow {
            place: DocumentPosition::from_numbers([1, u32::MAX, 3, 9]),
            fingerprint: u128::MAX - 5,
            bytes: 1 << 40,
            source: SourceNumber(7),
            key: &[0, 255, 3],
            id: "ü\n",
        };
        let mut buffer = RowBuffer::default();
        buffer.push(&row);
        buffer.push(&DocumentRow { id: "", key: &[], ..row });
        let unit = Some(UnitRange::from_numbers([7, u32::MAX, 5, 8]));
        let of_unit = DocumentRow { place: row.place.with_unit(unit), ..row };
        buffer.push(&of_unit);
        assert_eq!(buffer.get(RowIndex(2)).unwrap(), of_unit);
        assert_eq!(buffer.get(RowIndex(0)).unwrap(), row);
        for end in 0..HEAD_BYTES + 3 {
            assert!(DocumentRow::read(&buffer.bytes[..end]).is_err());
        }
        let bytes = buffer.into_bytes();
        let rows = Rows::new(Cow::Borrowed(&bytes), 3);
        assert_eq!(rows.get(RowIndex(0)).unwrap(), row);
        assert_eq!(rows.get(RowIndex(1)).map(|row| (row.id, row.key)).unwrap(), ("", &[][..]));
        assert_eq!(rows.get(RowIndex(2)).unwrap(), of_unit);
        assert!(rows.get(RowIndex(3)).is_err());
        for end in 0..bytes.len() {
            assert!(Rows::new(Cow::Borrowed(&bytes[..end]), 3).get(RowIndex(2)).is_err());
        }
    }

    #[test]
    fn columns_are_the_values_turned() {
        let columns = FixedColumns::transposed(&[1, 2, 3, 4, 5, 6], 3);
        assert_eq!((columns.get(0), columns.get(2)), (&[1, 4][..], &[3, 6][..]));
        assert_eq!(FixedColumns::transposed(&[], 3).get(2), &[] as &[u64]);
        assert_eq!(columns.width(), 3);
        let second = columns.select(&[RowIndex(1)]);
        assert_eq!((second.get(0), second.get(2), second.documents), (&[4][..], &[6][..], 1));
        assert_eq!((columns.select(&[]).width(), columns.select(&[]).documents), (0, 0));
    }
}
