//! Adds the columns of an annotation to the Arrow schema in the metadata of a Parquet file.
//!
//! Writers based on Arrow store their schema as an entry `ARROW:schema`. It is an encapsulated
//! message of the [Arrow format] in base 64, and the metadata of the message is a table of
//! [FlatBuffers]. Readers derive the types of all columns from this schema, so it must contain all
//! columns. The existing bytes are kept unchanged. New tables point to them and to the new fields.
//! The new tables are written before the existing bytes, because offsets in [FlatBuffers] only lead
//! forward.
//!
//! The crate `arrow-ipc` is not used. It would write a new schema without the fields that it does
//! not know, and it depends on all of Arrow's arrays.
//!
//! [Arrow format]: https://arrow.apache.org/docs/format/Columnar.html
//! [FlatBuffers]: https://flatbuffers.dev/internals/
//!
//! Neither speed nor size has been compared with `arrow-ipc` (November 2026).

use crate::report::parquet::Cell;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine as _, alphabet};

/// The bytes before the length of a message.
const CONTINUATION: [u8; 4] = [0xFF; 4];
/// The number of `Schema` in the union of headers.
const SCHEMA: u8 = 1;
/// Bytes reserved for each field of a table: the size of the largest field.
const SLOT: usize = 8;
/// Accepts base 64 with or without padding, since writers differ.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Returns the schema with nullable columns appended; `None` if the schema is invalid.
pub(super) fn extended(schema: &str, columns: &[(String, Cell)]) -> Option<String> {
    let bytes = LENIENT.decode(schema).ok()?;
    let bytes = bytes.strip_prefix(&CONTINUATION).unwrap_or(&bytes);
    let (length, bytes) = bytes.split_first_chunk::<4>()?;
    let old = Old { bytes: bytes.get(..u32::from_le_bytes(*length) as usize)? };
    let new = New::with(&old, columns)?;
    let length = u32::try_from(new.len()).ok()?.to_le_bytes();
    Some(LENIENT.encode([&CONTINUATION[..], &length, &new].concat()))
}

/// A buffer to read. Every access checks the position.
struct Old<'a> {
    bytes: &'a [u8],
}

impl Old<'_> {
    fn chunk<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.bytes.get(at..)?.first_chunk().copied()
    }

    /// Returns the target of the offset at `at`.
    fn follow(&self, at: usize) -> Option<usize> {
        at.checked_add(u32::from_le_bytes(self.chunk(at)?) as usize)
    }

    /// Returns the position of a table's field; `None` if the field has the default value.
    fn field(&self, table: usize, number: usize) -> Option<usize> {
        let back = i32::from_le_bytes(self.chunk(table)?);
        let descriptor = table.checked_add_signed(isize::try_from(-i64::from(back)).ok()?)?;
        let size = u16::from_le_bytes(self.chunk(descriptor)?) as usize;
        let place = 4 + 2 * number;
        if place + 2 > size {
            return None;
        }
        match u16::from_le_bytes(self.chunk(descriptor + place)?) {
            0 => None,
            offset => Some(table + offset as usize),
        }
    }
}

/// A buffer being written, from its start.
struct New {
    bytes: Vec<u8>,
}

impl New {
    /// Returns the message `old` with additional columns in its schema.
    fn with(old: &Old<'_>, columns: &[(String, Cell)]) -> Option<Vec<u8>> {
        let message = old.follow(0)?;
        let kind = old.field(message, 1)?;
        if old.chunk::<1>(kind)? != [SCHEMA] {
            return None;
        }
        let schema = old.follow(old.field(message, 2)?)?;
        let fields = old.follow(old.field(schema, 1)?)?;
        let count = u32::from_le_bytes(old.chunk(fields)?) as usize;
        let places = (0..count).map(|i| old.follow(fields + 4 + 4 * i));
        let places: Vec<usize> = places.collect::<Option<_>>()?;

        let mut new = Self { bytes: vec![0; 4] };
        let top = new.table(&[true, true, true]);
        new.point(0, top);
        if let Some(version) = old.field(message, 0) {
            new.put(top + SLOT, &old.chunk::<2>(version)?);
        }
        new.put(top + 2 * SLOT, &[SCHEMA]);
        let further = [2, 3].map(|n| old.field(schema, n));
        let has = further.map(|place| place.is_some());
        let body = new.table(&[true, true, has[0], has[1]]);
        new.point(top + 3 * SLOT, body);
        if let Some(endianness) = old.field(schema, 0) {
            new.put(body + SLOT, &old.chunk::<2>(endianness)?);
        }
        let list = new.vector(count + columns.len());
        new.point(body + 2 * SLOT, list);
        for (i, (name, cell)) in columns.iter().enumerate() {
            let field = new.column(name, *cell);
            new.point(list + 4 * (1 + count + i), field);
        }
        new.align();
        // The old bytes follow, so their position is known.
        let start = new.bytes.len();
        for (i, place) in places.iter().enumerate() {
            new.point(list + 4 * (1 + i), start + place);
        }
        for (i, place) in further.iter().enumerate() {
            if let Some(place) = place {
                new.point(body + (3 + i) * SLOT, start + old.follow(*place)?);
            }
        }
        new.bytes.extend_from_slice(old.bytes);
        new.align();
        Some(new.bytes)
    }

    /// Appends a table and returns its position. `fields` states which fields the table has. Field
    /// number `n`, from 0, is in slot `n + 1`. The slots of fields are zero until the caller sets
    /// them.
    fn table(&mut self, fields: &[bool]) -> usize {
        self.align();
        let descriptor = self.bytes.len();
        self.push(4 + 2 * fields.len());
        self.push(SLOT * (1 + fields.len()));
        for (number, is_present) in fields.iter().enumerate() {
            self.push(if *is_present { SLOT * (1 + number) } else { 0 });
        }
        self.align();
        let table = self.bytes.len();
        self.bytes.resize(table + SLOT * (1 + fields.len()), 0);
        self.put(table, &((table - descriptor) as u32).to_le_bytes());
        table
    }

    /// Appends a vector of offsets, which are set later.
    fn vector(&mut self, count: usize) -> usize {
        self.align();
        let at = self.bytes.len();
        self.bytes.extend_from_slice(&(count as u32).to_le_bytes());
        self.bytes.resize(at + 4 + 4 * count, 0);
        at
    }

    /// Appends a nullable field without children.
    fn column(&mut self, name: &str, cell: Cell) -> usize {
        // name, nullable, kind of the type, type, dictionary, children
        let field = self.table(&[true, true, true, true, false, true]);
        self.put(field + 2 * SLOT, &[1]);
        let text = self.text(name);
        self.point(field + SLOT, text);
        let (number, kind) = match cell {
            Cell::Bool => (6, self.table(&[])),
            Cell::Text => (5, self.table(&[])),
            Cell::Int64 => {
                let table = self.table(&[true, true]);
                self.put(table + SLOT, &64u32.to_le_bytes());
                self.put(table + 2 * SLOT, &[1]);
                (2, table)
            }
            Cell::Double => {
                let table = self.table(&[true]);
                self.put(table + SLOT, &2u16.to_le_bytes());
                (3, table)
            }
        };
        self.put(field + 3 * SLOT, &[number]);
        self.point(field + 4 * SLOT, kind);
        let children = self.vector(0);
        self.point(field + 6 * SLOT, children);
        field
    }

    fn text(&mut self, text: &str) -> usize {
        self.align();
        let at = self.bytes.len();
        self.bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(0);
        at
    }

    fn push(&mut self, number: usize) {
        self.bytes.extend_from_slice(&(number as u16).to_le_bytes());
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        if let Some(place) = self.bytes.get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }

    fn point(&mut self, at: usize, to: usize) {
        self.put(at, &((to - at) as u32).to_le_bytes());
    }

    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(SLOT), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written by pyarrow 26 for `id: large_string, x: int8 not null`, with metadata `k: v`.
    const WRITTEN: &str = "\
        /////+gAAAAQAAAAAAAKAA4ABgAFAAgACgAAAAABBAAQAAAAAAAKAAwAAAAEAAgACgAAADQAAAAEAAAA\
        AQAAAAwAAAAIAAwABAAIAAgAAAAQAAAABAAAAAEAAAB2AAAAAQAAAGsAAAACAAAAXAAAABQAAAAQABQA\
        CAAAAAcADAAAABAAEAAAAAAAAAIQAAAAHAAAAAQAAAAAAAAAAQAAAHgAAAAIAAwACAAHAAgAAAAAAAAB\
        CAAAABAAFAAIAAYABwAMAAAAEAAQAAAAAAABFBAAAAAYAAAABAAAAAAAAAACAAAAaWQAAAQABAAEAAAA";

    fn names(schema: &str) -> Vec<String> {
        let bytes = LENIENT.decode(schema).unwrap();
        let old = Old { bytes: &bytes[8..] };
        let schema = old.follow(old.field(old.follow(0).unwrap(), 2).unwrap()).unwrap();
        let fields = old.follow(old.field(schema, 1).unwrap()).unwrap();
        let count = u32::from_le_bytes(old.chunk(fields).unwrap()) as usize;
        let name = |i: usize| {
            let field = old.follow(fields + 4 + 4 * i).unwrap();
            let name = old.follow(old.field(field, 0).unwrap()).unwrap();
            let length = u32::from_le_bytes(old.chunk(name).unwrap()) as usize;
            String::from_utf8(old.bytes[name + 4..name + 4 + length].to_vec()).unwrap()
        };
        (0..count).map(name).collect()
    }

    #[test]
    fn columns_are_appended() {
        assert_eq!(names(WRITTEN), ["id", "x"]);
        let columns = [("kept".to_owned(), Cell::Bool), ("größe".to_owned(), Cell::Int64)];
        let extended = extended(WRITTEN, &columns).unwrap();
        assert_eq!(names(&extended), ["id", "x", "kept", "größe"]);
        assert_eq!(names(&super::extended(&extended, &columns).unwrap()).len(), 6);
    }

    #[test]
    fn invalid_arrow_schemas_return_none() {
        let bytes = LENIENT.decode(WRITTEN).unwrap();
        assert_eq!(LENIENT.encode(&bytes), WRITTEN);
        for end in 0..bytes.len() - 8 {
            assert_eq!(extended(&LENIENT.encode(&bytes[..end]), &[]), None);
        }
        // No changed byte causes a panic. Most changes make the schema invalid.
        for at in 0..bytes.len() {
            for change in [1, 0x80, 0xFF] {
                let mut bytes = bytes.clone();
                bytes[at] ^= change;
                let _ = extended(&LENIENT.encode(&bytes), &[("c".to_owned(), Cell::Text)]);
            }
        }
        assert_eq!(extended("not base 64!", &[]), None);
    }
}
