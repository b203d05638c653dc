//! What is kept of the documents of one block: fixed-width columns, and a row of everything else.
//!
//! ```text
//! column 0: hash of the id   1, 2: fingerprint   3 …: bucket keys      (u64 each)
//! row: place, fingerprint, length, source, keep key, id
//! ```
//!
//! The layout is the same in memory and in temporary files; it is no promise to anybody.

use crate::read::DocumentPosition;

/// The column of the ids' hashes.
pub(super) const ID_COLUMN: usize = 0;
/// The columns of the upper and the lower half of the fingerprint.
pub(super) const FINGERPRINT_COLUMNS: [usize; 2] = [1, 2];
/// The column of the first band's keys.
pub(super) const FIRST_BAND_COLUMN: usize = 3;

/// Bytes of a row before the keep key.
const HEAD_BYTES: usize = 16 + 16 + 8 + 4 + 4;

/// Everything about a document that no stage looks at column by column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DocumentRow<'a> {
    /// Where its text can be read again.
    pub(super) place: DocumentPosition,
    pub(super) fingerprint: u128,
    /// Length of the text in bytes.
    pub(super) bytes: u64,
    /// The number of the source it is counted under.
    pub(super) label: u32,
    /// Its key in the keep order.
    pub(super) key: &'a [u8],
    pub(super) id: &'a str,
}

impl<'a> DocumentRow<'a> {
    /// Appends the row to `out`.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        for value in self.place.to_numbers() {
            out.extend_from_slice(&value.to_le_bytes());
        }
        out.extend_from_slice(&self.fingerprint.to_le_bytes());
        out.extend_from_slice(&self.bytes.to_le_bytes());
        out.extend_from_slice(&self.label.to_le_bytes());
        out.extend_from_slice(&(self.key.len() as u32).to_le_bytes());
        out.extend_from_slice(self.key);
        out.extend_from_slice(self.id.as_bytes());
    }

    /// A row that says nothing.
    pub(super) fn none() -> Self {
        let place = DocumentPosition::from_numbers([0; 4]);
        Self { place, fingerprint: 0, bytes: 0, label: 0, key: &[], id: "" }
    }

    /// Reads what [`write`](Self::write) wrote; `None` if the bytes are something else.
    pub(super) fn read(row: &'a [u8]) -> Option<Self> {
        let (head, rest) = row.split_at_checked(HEAD_BYTES)?;
        let u32_at = |at: usize| Some(u32::from_le_bytes(head.get(at..at + 4)?.try_into().ok()?));
        let place =
            DocumentPosition::from_numbers([u32_at(0)?, u32_at(4)?, u32_at(8)?, u32_at(12)?]);
        let fingerprint = u128::from_le_bytes(head.get(16..32)?.try_into().ok()?);
        let bytes = u64::from_le_bytes(head.get(32..40)?.try_into().ok()?);
        let (key, id) = rest.split_at_checked(u32_at(44)? as usize)?;
        let id = std::str::from_utf8(id).ok()?;
        Some(Self { place, fingerprint, bytes, label: u32_at(40)?, key, id })
    }
}

/// The keep key of a row, and the bytes of its id: what
/// [`keep::compare`](lookalike_core::keep::compare) compares. Called often, so that nothing else is
/// read.
pub(super) fn keep_key_and_id(row: &[u8]) -> Option<(&[u8], &[u8])> {
    let (head, rest) = row.split_at_checked(HEAD_BYTES)?;
    rest.split_at_checked(u32::from_le_bytes(head.get(44..48)?.try_into().ok()?) as usize)
}

/// Many rows, one after the other.
#[derive(Debug, Clone, Default)]
pub(super) struct RowBuffer {
    pub(super) bytes: Vec<u8>,
    /// Where each row ends. A block's rows are far below 4 GiB, for its texts are below 2 GiB.
    pub(super) ends: Vec<u32>,
}

impl RowBuffer {
    /// Appends a row.
    pub(super) fn push(&mut self, row: &DocumentRow<'_>) {
        row.write(&mut self.bytes);
        self.ends.push(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX));
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The bytes of the i-th row.
    pub(super) fn get(&self, i: usize) -> &[u8] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        self.bytes.get(start..self.ends[i] as usize).unwrap_or_default()
    }

    /// Bytes of memory held.
    pub(super) fn held(&self) -> usize {
        self.bytes.capacity() + 4 * self.ends.capacity()
    }
}

/// Fixed-width columns, one after the other, each with one value per document.
#[derive(Debug, Clone, Default)]
pub(super) struct FixedColumns {
    pub(super) values: Vec<u64>,
    pub(super) documents: usize,
}

impl FixedColumns {
    /// From values document after document, `width` each. Done per block, while it is in the cache.
    pub(super) fn transposed(values: &[u64], width: usize) -> Self {
        let documents = values.len() / width;
        let mut columns = Vec::with_capacity(values.len());
        for column in 0..width {
            columns.extend((0..documents).map(|document| values[document * width + column]));
        }
        Self { values: columns, documents }
    }

    /// The values of one column.
    pub(super) fn get(&self, column: usize) -> &[u64] {
        &self.values[column * self.documents..][..self.documents]
    }

    /// How many there are; 0 without documents.
    pub(super) fn width(&self) -> usize {
        self.values.len().checked_div(self.documents).unwrap_or(0)
    }

    /// The values of some documents.
    pub(super) fn select(&self, documents: &[usize]) -> Self {
        let columns = (0..self.width()).map(|column| self.get(column));
        let values = columns.flat_map(|values| documents.iter().map(|document| values[*document]));
        Self { values: values.collect(), documents: documents.len() }
    }

    /// Bytes of memory held.
    pub(super) fn held(&self) -> usize {
        8 * self.values.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_read_back_and_short_ones_are_refused() {
        let row = DocumentRow {
            place: DocumentPosition::from_numbers([1, u32::MAX, 3, 9]),
            fingerprint: u128::MAX - 5,
            bytes: 1 << 40,
            label: 7,
            key: &[0, 255, 3],
            id: "ü\n",
        };
        let mut rows = RowBuffer::default();
        rows.push(&row);
        rows.push(&DocumentRow { id: "", key: &[], ..row });
        assert_eq!(DocumentRow::read(rows.get(0)), Some(row));
        assert_eq!(keep_key_and_id(rows.get(0)), Some((row.key, row.id.as_bytes())));
        assert_eq!(
            DocumentRow::read(rows.get(1)).map(|row| (row.id, row.key)),
            Some(("", &[][..]))
        );
        for end in 0..HEAD_BYTES + 3 {
            assert_eq!(DocumentRow::read(&rows.get(0)[..end]), None);
        }
    }

    #[test]
    fn columns_are_the_values_turned() {
        let columns = FixedColumns::transposed(&[1, 2, 3, 4, 5, 6], 3);
        assert_eq!((columns.get(0), columns.get(2)), (&[1, 4][..], &[3, 6][..]));
        assert_eq!(FixedColumns::transposed(&[], 3).get(2), &[] as &[u64]);
        assert_eq!(columns.width(), 3);
        let second = columns.select(&[1]);
        assert_eq!((second.get(0), second.get(2), second.documents), (&[4][..], &[6][..], 1));
        assert_eq!((columns.select(&[]).width(), columns.select(&[]).documents), (0, 0));
    }
}
