//! Converts rows of `docs` to documents.

use crate::checksum::{self, RowFields};
use crate::entry::{DocumentNumber, IndexRecord, RecordFields};
use crate::error::IndexError;
use crate::text_code;
use postgres::Row;
use postgres::types::{FromSql, Type, WasNull};
use std::error::Error as _;

/// The types of the columns of an index, and of the results of its queries.
const TYPES: [Type; 6] = [Type::INT8, Type::INT4, Type::INT2, Type::BOOL, Type::TEXT, Type::BYTEA];

/// The value of an empty column in messages.
const NULL: &str = "NULL";

/// The columns that [`record`] reads, in order.
pub(super) fn columns(wanted: RecordFields) -> String {
    let choose = |is_wanted, column, kind| {
        if is_wanted { format!("{column}::{kind}") } else { format!("NULL::{kind}") }
    };
    format!(
        "doc, id, uuid_send(fingerprint), bytes, added, modified, expires, {}, {}, {}, {}, \
         checksums",
        choose(wanted.signature, "sig", "bytea"),
        choose(wanted.set, "set", "bytea"),
        choose(wanted.metadata, "metadata", "text"),
        choose(wanted.text, "text", "bytea"),
    )
}

/// Reads the columns into a record.
pub(super) fn record(
    row: &Row,
    wanted: RecordFields,
    record: &mut IndexRecord,
) -> Result<(), IndexError> {
    let id: String = column(row, "docs", 1)?;
    let doc: i64 = column(row, "docs", 0)?;
    let fingerprint: &[u8] = value(row, 2, &id)?;
    let signature: Option<&[u8]> = value(row, 7, &id)?;
    let metadata: Option<&str> = value(row, 9, &id)?;
    let text: Option<&[u8]> = value(row, 10, &id)?;
    let fingerprint = <[u8; 16]>::try_from(fingerprint);
    let fingerprint = fingerprint
        .map_err(|_| IndexError::damaged_document(&id, "its fingerprint has no 16 bytes"))?;
    let fingerprint = u128::from_be_bytes(fingerprint);
    let set: Option<&[u8]> = value(row, 8, &id)?;
    let bytes = value::<i64>(row, 3, &id)?;
    let added = value(row, 4, &id)?;
    let bytes = u64::try_from(bytes)
        .map_err(|_| IndexError::damaged_document(&id, "its length is negative"))?;
    let modified = value(row, 5, &id)?;
    let expires = value(row, 6, &id)?;
    let fields = RowFields {
        number: doc as u64,
        id: id.as_bytes(),
        fingerprint: &fingerprint.to_le_bytes(),
        bytes,
        added,
        modified,
        expires,
        metadata: &[],
    };
    let parts = [
        (wanted.signature, signature),
        (wanted.metadata, metadata.map(str::as_bytes)),
        (wanted.set, set),
        (wanted.text, text),
    ];
    verified(&fields, parts, value(row, 11, &id)?)
        .map_err(|why| IndexError::damaged_document(&id, why))?;
    *record = IndexRecord {
        number: DocumentNumber::of_signed(doc),
        fingerprint,
        bytes,
        added,
        modified,
        expires,
        signature: signature.map_or(Ok(Vec::new()), |bytes| self::signature(bytes, &id))?,
        set: set.map(<[u8]>::to_vec),
        metadata: match metadata {
            Some(json) => serde_json::from_str(json).map_err(|error| {
                IndexError::damaged_document(&id, format!("its metadata is not an object: {error}"))
            })?,
            None => serde_json::Map::new(),
        },
        text: text.map(|bytes| decompress_text(bytes, &id)).transpose()?,
        id,
    };
    Ok(())
}

/// The names of the parts of a row, in the order of their checksums, which follow the checksum of
/// the row.
const PARTS: [&str; 4] = ["signature", "metadata", "shingle set", "text"];

/// The checksums of a row and its parts, 8 bytes each, little-endian; 0 for a missing part.
pub(super) fn checksums(fields: &RowFields<'_>, parts: [Option<&[u8]>; 4]) -> [u8; 40] {
    let mut all = [0; 40];
    let (sums, _) = all.as_chunks_mut::<8>();
    sums[0] = fields.checksum(&mut Vec::new()).to_le_bytes();
    for (sum, part) in sums[1..].iter_mut().zip(parts) {
        let part = part.map_or(0, |bytes| checksum::content(fields.number, bytes));
        *sum = part.to_le_bytes();
    }
    all
}

/// Verifies the checksums of a row and of the requested parts.
///
/// # Errors
/// A description of the problem.
fn verified(
    fields: &RowFields<'_>,
    parts: [(bool, Option<&[u8]>); 4],
    stored: &[u8],
) -> Result<(), String> {
    let got = checksums(fields, parts.map(|(_, part)| part));
    if stored.len() != got.len() {
        return Err(format!("its checksums have {} bytes, expected 40", stored.len()));
    }
    if stored[..8] != got[..8] {
        return Err("the checksum of its row is wrong".to_owned());
    }
    for (at, (name, (is_wanted, _))) in PARTS.iter().zip(parts).enumerate() {
        let place = 8 * (at + 1)..8 * (at + 2);
        if is_wanted && stored[place.clone()] != got[place] {
            return Err(format!("the checksum of its {name} is wrong"));
        }
    }
    Ok(())
}

/// A signature from its bytes.
pub(super) fn signature(bytes: &[u8], id: &str) -> Result<Vec<u32>, IndexError> {
    let (values, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(IndexError::damaged_document(
            id,
            "its signature is not a row of 32-bit values",
        ));
    }
    Ok(values.iter().map(|value| u32::from_le_bytes(*value)).collect())
}

/// The value of a column of the document `id`.
fn value<'a, T: FromSql<'a>>(row: &'a Row, at: usize, id: &str) -> Result<T, IndexError> {
    column(row, "docs", at).map_err(|error| match error {
        IndexError::Column { column, got, .. } if got == NULL => {
            IndexError::damaged_document(id, format!("its {column} is {NULL}"))
        }
        error => error,
    })
}

/// The value of a column. `table` names the table in the error for a value of another type.
pub(super) fn column<'a, T: FromSql<'a>>(
    row: &'a Row,
    table: &'static str,
    column: usize,
) -> Result<T, IndexError> {
    row.try_get(column).map_err(|error| {
        let stored = row.columns().get(column);
        let expected = TYPES.iter().find(|kind| T::accepts(kind));
        let got = match stored {
            Some(stored) if !T::accepts(stored.type_()) => stored.type_().name().to_owned(),
            _ if error.source().is_some_and(<dyn std::error::Error>::is::<WasNull>) => {
                NULL.to_owned()
            }
            _ => super::failure::reported(&error),
        };
        IndexError::Column {
            table,
            column: stored.map_or_else(|| column.to_string(), |stored| stored.name().to_owned()),
            expected: expected.map_or("another type", Type::name).to_owned(),
            got,
        }
    })
}

/// The value of a column that contains the `octet_length` of a column of `docs`; 0 for `NULL`.
pub(super) fn length(row: &Row, at: usize) -> Result<i64, IndexError> {
    Ok(column::<Option<i32>>(row, "docs", at)?.unwrap_or(0).into())
}

/// Decompresses a text.
pub(super) fn decompress_text(bytes: &[u8], id: &str) -> Result<String, IndexError> {
    text_code::decode(bytes)
        .ok_or_else(|| IndexError::damaged_document(id, "its text cannot be decompressed"))
}

/// The key from which a loop over a table continues. With a damaged database index, the search for
/// a later key may return an earlier key, so that the loop would never end.
///
/// # Errors
/// [`IndexError::Damaged`] for a key that is not after the last one.
pub(super) fn later(table: &str, last: i64, next: i64) -> Result<i64, IndexError> {
    if next > last {
        return Ok(next);
    }
    let what = format!("the database index of table {table}");
    let why =
        format!("key {next} comes after key {last}; run REINDEX TABLE {table} in the database");
    Err(IndexError::damaged(what, why))
}
