//! Rows of a Parquet file, packed as bytes in a block.
//!
//! A row consists of the values of its columns: the id (unless ids are row numbers), the text, the
//! extra fields. A value consists of its length in four little-endian bytes and its bytes; null is
//! the length 2³² − 1.

use crate::document::{DocumentPosition, ExtraFields, Raw, ReadBuffers, SourceSink, StatedFields};
use crate::error::{Field, ReadError, SkipReason};
use crate::format::record::{self, InvalidRecord, RecordBoundary, RecordDocument};
use crate::format::{RecordAgain, RecordFormat, TakeText, WholeRecords};
use crate::options::ReadOptions;

/// The length of null.
const NULL: u32 = u32::MAX;

/// The format of packed rows.
pub(crate) struct PackedRowsFormat;

impl RecordFormat for PackedRowsFormat {
    /// Returns the whole block, because the reader of row groups packs only whole rows.
    fn cut(&self, bytes: &[u8]) -> RecordBoundary {
        RecordBoundary { whole: bytes.len(), unclosed: false, records: 0 }
    }

    fn read(
        &self,
        records: &WholeRecords<'_>,
        scratch: &mut ReadBuffers,
        sink: &mut SourceSink<'_>,
    ) -> Result<(), ReadError> {
        let options = &records.source.settings.options;
        let ReadBuffers { line_id, extra, .. } = scratch;
        let mut start = 0;
        let mut line = 0;
        while let Some(row) = first(&records.bytes[start..], options) {
            let place = DocumentPosition::of_record(start, row.len(), line);
            extra.clear();
            let parsed = document(row, options).and_then(|record| {
                set_extra(row, record.id, options, extra)?;
                Ok(record)
            });
            let raw = Raw::Row(records.first_line - 1 + u64::from(line));
            records.give(parsed, &extra.list(), place, (raw, ""), line_id, sink)?;
            start += row.len();
            line += 1;
        }
        Ok(())
    }

    fn read_again(
        &self,
        record: &RecordAgain<'_>,
        _: &mut ReadBuffers,
        take: TakeText<'_>,
    ) -> Result<(), String> {
        let parsed = document(record.bytes, &record.source.settings.options);
        record.give(parsed, StatedFields::Nothing, take)
    }
}

/// Appends a value. It must be shorter than 2³² − 1 bytes.
#[cfg(feature = "parquet")]
pub(crate) fn push(bytes: &mut Vec<u8>, value: Option<&[u8]>) {
    let length = value.map_or(NULL, |value| value.len() as u32);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(value.unwrap_or_default());
}

/// The values of one or several rows.
struct PackedValues<'a>(&'a [u8]);

impl<'a> Iterator for PackedValues<'a> {
    type Item = Option<&'a [u8]>;

    fn next(&mut self) -> Option<Option<&'a [u8]>> {
        let (length, rest) = self.0.split_first_chunk::<4>()?;
        let length = u32::from_le_bytes(*length);
        if length == NULL {
            self.0 = rest;
            return Some(None);
        }
        let (value, rest) = rest.split_at_checked(length as usize)?;
        self.0 = rest;
        Some(Some(value))
    }
}

/// Number of values of a row.
fn width(options: &ReadOptions) -> usize {
    usize::from(!options.line_ids) + 1 + options.fields.len()
}

/// The first row of `bytes`; `None` if the row is incomplete.
fn first<'a>(bytes: &'a [u8], options: &ReadOptions) -> Option<&'a [u8]> {
    let mut values = PackedValues(bytes);
    for _ in 0..width(options) {
        values.next()?;
    }
    bytes.get(..bytes.len() - values.0.len())
}

/// The document of a row.
fn document<'a>(row: &'a [u8], options: &ReadOptions) -> Result<RecordDocument<'a>, InvalidRecord> {
    let mut values = PackedValues(row);
    let id = if options.line_ids {
        None
    } else {
        Some(
            text(values.next().flatten(), Field::Id, &options.id_field)
                .map_err(InvalidRecord::new)?,
        )
    };
    if id.is_some_and(str::is_empty) {
        return Err(InvalidRecord::new(SkipReason::EmptyId));
    }
    match text(values.next().flatten(), Field::Text, &options.text_field) {
        Ok(text) => Ok(RecordDocument { id, text }),
        Err(reason) => Err(InvalidRecord { id: id.map(str::to_owned), reason }),
    }
}

/// Sets the extra values of a row whose document is valid. Invalid UTF-8 makes the row bad.
fn set_extra(
    row: &[u8],
    id: Option<&str>,
    options: &ReadOptions,
    extra: &mut ExtraFields,
) -> Result<(), InvalidRecord> {
    for value in PackedValues(row).skip(width(options) - options.fields.len()) {
        let value = value.map(record::utf8).transpose();
        extra.push(value.map_err(|reason| InvalidRecord { id: id.map(str::to_owned), reason })?);
    }
    Ok(())
}

fn text<'a>(value: Option<&'a [u8]>, field: Field, name: &str) -> Result<&'a str, SkipReason> {
    match value {
        Some(value) => record::utf8(value),
        None => Err(SkipReason::Null { field, name: name.to_owned() }),
    }
}
