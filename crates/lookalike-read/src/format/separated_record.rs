//! The values of a record of separated values, by the rules of the crate `csv`: a quote opens a
//! value only at its start, two quotes inside are one, text after the closing quote belongs to the
//! value, and a line feed or a carriage return ends a record.

use memchr::{memchr, memchr3};
use std::ops::Range;

/// For values of at least this length, the exact memory is reserved, because doubling a buffer
/// could take twice the memory.
const LONG_VALUE_BYTES: usize = 4 << 20;

/// A value in its written form.
pub(crate) struct WrittenValue {
    /// Its place in the bytes, with its quotes.
    pub(crate) range: Range<usize>,
    /// Whether the quote that opens it is closed.
    pub(crate) is_closed: bool,
}

impl WrittenValue {
    /// The value that begins at `start`. It ends before a delimiter, a line end, or the end of the
    /// bytes.
    pub(crate) fn at(start: usize, delimiter: u8, bytes: &[u8]) -> Self {
        let mut at = start;
        if bytes.get(at) == Some(&b'"') {
            // Two quotes in a row are one quote of the value, which continues after them.
            while bytes.get(at) == Some(&b'"') {
                let Some(next) = memchr(b'"', &bytes[at + 1..]) else {
                    return Self { range: start..bytes.len(), is_closed: false };
                };
                at += next + 2;
            }
        }
        let rest = bytes.get(at..).unwrap_or_default();
        let length = memchr3(delimiter, b'\n', b'\r', rest).unwrap_or(rest.len());
        Self { range: start..at + length, is_closed: true }
    }
}

/// The range of a value in a record, with its quotes; `None` if the record has fewer values.
pub(crate) fn value_range(record: &[u8], delimiter: u8, column: usize) -> Option<Range<usize>> {
    let mut at = 0;
    for _ in 0..column {
        let end = WrittenValue::at(at, delimiter, record).range.end;
        if record.get(end) != Some(&delimiter) {
            return None;
        }
        at = end + 1;
    }
    Some(WrittenValue::at(at, delimiter, record).range)
}

/// The values of a record without their quotes.
#[derive(Default)]
pub(crate) struct SeparatedRecord {
    /// The first values.
    values: Vec<ValuePlace>,
    /// The number of all values.
    count: usize,
    /// The values that do not occur in the record in one piece.
    joined: Vec<u8>,
}

/// The place of a value.
enum ValuePlace {
    /// In the bytes of the record.
    Record(Range<usize>),
    /// In [`SeparatedRecord::joined`].
    Joined(Range<usize>),
}

impl SeparatedRecord {
    /// Skips blank lines from `start` on, reads the record of `bytes` after them, and returns its
    /// place; `None` if there is none. The place includes the byte that ends the record. The line
    /// feed of CR LF counts as a blank line after it.
    ///
    /// Keeps the first `most` values and counts the others: the place of a value takes more memory
    /// than a short value in the record.
    pub(crate) fn read(
        &mut self,
        delimiter: u8,
        bytes: &[u8],
        start: usize,
        most: usize,
    ) -> Option<Range<usize>> {
        self.values.clear();
        self.count = 0;
        self.joined.clear();
        let start = start + bytes[start..].iter().position(|b| !matches!(b, b'\r' | b'\n'))?;
        let record = &bytes[start..];
        let mut at = 0;
        loop {
            let WrittenValue { range, .. } = WrittenValue::at(at, delimiter, record);
            at = range.end;
            if self.count < most {
                self.push(record, range);
            }
            self.count += 1;
            if record.get(at) != Some(&delimiter) {
                return Some(start..bytes.len().min(start + at + 1));
            }
            at += 1;
        }
    }

    /// Adds the value in this range of the record.
    fn push(&mut self, record: &[u8], range: Range<usize>) {
        let Some(mut rest) = record[range.clone()].strip_prefix(b"\"") else {
            self.values.push(ValuePlace::Record(range));
            return;
        };
        let inside = range.start + 1;
        let quote = memchr(b'"', rest).unwrap_or(rest.len());
        if quote + 1 >= rest.len() {
            self.values.push(ValuePlace::Record(inside..inside + quote));
            return;
        }
        let start = self.joined.len();
        if rest.len() >= LONG_VALUE_BYTES {
            self.joined.reserve_exact(rest.len());
        }
        while let Some(quote) = memchr(b'"', rest) {
            self.joined.extend_from_slice(&rest[..quote]);
            rest = &rest[quote + 1..];
            let Some(after) = rest.strip_prefix(b"\"") else { break };
            self.joined.push(b'"');
            rest = after;
        }
        self.joined.extend_from_slice(rest);
        self.values.push(ValuePlace::Joined(start..self.joined.len()));
    }

    /// The number of values in the record, with those that are not kept.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// The kept values of `record`, which was read last.
    pub(crate) fn iter<'a>(&'a self, record: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        self.values.iter().map(|value| match value {
            ValuePlace::Record(range) => &record[range.clone()],
            ValuePlace::Joined(range) => &self.joined[range.clone()],
        })
    }

    /// A kept value of `record`, which was read last.
    pub(crate) fn get<'a>(&'a self, record: &'a [u8], column: usize) -> Option<&'a [u8]> {
        self.iter(record).nth(column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn separated_values_match_csv_crate(
            text in "[ab,;\"\n\r\0\u{e9}]{0,60}",
            delimiter in prop::sample::select(b",;b".to_vec()),
        ) {
            let bytes = text.as_bytes();
            let mut reader = csv::ReaderBuilder::new();
            let reader = reader.delimiter(delimiter).has_headers(false).flexible(true);
            let mut reader = reader.from_reader(bytes);
            let mut expected = csv::ByteRecord::new();
            let mut record = SeparatedRecord::default();
            let mut at = 0;
            while reader.read_byte_record(&mut expected).unwrap() {
                let place = record.read(delimiter, bytes, at, 1).unwrap();
                prop_assert_eq!(record.len(), expected.len());
                let first: Vec<&[u8]> = record.iter(&bytes[place]).collect();
                prop_assert_eq!(first, [&expected[0]]);
                let place = record.read(delimiter, bytes, at, usize::MAX).unwrap();
                at = place.end;
                prop_assert_eq!(at as u64, reader.position().byte());
                let written = &bytes[place];
                let found: Vec<&[u8]> = record.iter(written).collect();
                prop_assert_eq!(found, expected.iter().collect::<Vec<_>>());
                let last = value_range(written, delimiter, record.len() - 1).unwrap();
                prop_assert!(written[last.end..].len() <= 1);
                prop_assert_eq!(value_range(written, delimiter, record.len()), None);
            }
            prop_assert_eq!(record.read(delimiter, bytes, at, usize::MAX), None);
        }
    }
}
