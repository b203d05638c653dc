//! Copies the values of a column chunk for the rows that are kept.
//!
//! A row begins where the repetition level is 0 and includes all levels up to the next such place.
//! A value exists where the definition level is the highest. So levels alone select the rows,
//! regardless of the column's nesting.

use super::input::ParquetInput;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType,
    Int32Type, Int64Type, Int96Type,
};
use parquet::errors::{ParquetError, Result};
use parquet::file::writer::SerializedColumnWriter;
use std::collections::BTreeMap;
use std::ops::Range;

/// Rows read at a time at most.
const BATCH_ROWS: usize = 8192;

/// Rows of a column chunk.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChunkRows<'a> {
    /// The first row, counted from the beginning of the chunk.
    pub(super) first: usize,
    /// Whether to keep each row, starting with `first`.
    pub(super) keep: &'a [bool],
    /// The number of rows to hold in memory.
    pub(super) batch: usize,
    /// The ranges to cut from values, by the row counted from the beginning of the chunk.
    pub(super) cuts: &'a RowCuts,
}

/// Ranges of bytes by row, ascending and disjoint.
pub(super) type RowCuts = BTreeMap<usize, Vec<Range<usize>>>;

/// Removes ranges from a value.
type CutValue<T> = fn(&mut T, &[Range<usize>]) -> Result<()>;

/// Copies rows from a reader at the beginning of its chunk.
pub(super) fn copy(
    reader: ColumnReader,
    rows: ChunkRows<'_>,
    writer: &mut SerializedColumnWriter<'_>,
) -> Result<()> {
    match reader {
        ColumnReader::BoolColumnReader(r) => typed(r, rows, writer.typed::<BoolType>(), uncut),
        ColumnReader::Int32ColumnReader(r) => typed(r, rows, writer.typed::<Int32Type>(), uncut),
        ColumnReader::Int64ColumnReader(r) => typed(r, rows, writer.typed::<Int64Type>(), uncut),
        ColumnReader::Int96ColumnReader(r) => typed(r, rows, writer.typed::<Int96Type>(), uncut),
        ColumnReader::FloatColumnReader(r) => typed(r, rows, writer.typed::<FloatType>(), uncut),
        ColumnReader::DoubleColumnReader(r) => typed(r, rows, writer.typed::<DoubleType>(), uncut),
        ColumnReader::ByteArrayColumnReader(r) => {
            typed(r, rows, writer.typed::<ByteArrayType>(), cut_bytes)
        }
        ColumnReader::FixedLenByteArrayColumnReader(r) => {
            typed(r, rows, writer.typed::<FixedLenByteArrayType>(), uncut)
        }
    }
}

/// The number of rows from the start of a row group that can be read in all columns, and the error
/// after them.
pub(super) fn readable_rows(input: &ParquetInput, group: usize) -> (usize, Option<ParquetError>) {
    let mut rows = (input.start(group + 1) - input.start(group)) as usize;
    let mut problem = None;
    for column in 0..input.columns() {
        let batch = input.batch_rows(group, column).clamp(1, BATCH_ROWS);
        let mut read = 0;
        let result = input
            .reader(group, column)
            .and_then(|reader| read_rows(reader, rows, batch, &mut |more| read += more));
        if let Err(error) = result {
            rows = read;
            problem = Some(error);
        }
    }
    (rows, problem)
}

/// Reads `rows` rows from the beginning of a chunk, `batch` at a time. Calls `advance` with the
/// number of rows of each batch.
fn read_rows(
    reader: ColumnReader,
    rows: usize,
    batch: usize,
    advance: &mut impl FnMut(usize),
) -> Result<()> {
    fn typed<T: DataType>(
        mut reader: ColumnReaderImpl<T>,
        rows: usize,
        batch: usize,
        advance: &mut impl FnMut(usize),
    ) -> Result<()> {
        let mut read = 0;
        let mut values = ValueBatch::<T>::default();
        while read < rows {
            let count = batch.min(rows - read);
            values.read(&mut reader, count)?;
            advance(count);
            read += count;
        }
        Ok(())
    }
    match reader {
        ColumnReader::BoolColumnReader(r) => typed(r, rows, batch, advance),
        ColumnReader::Int32ColumnReader(r) => typed(r, rows, batch, advance),
        ColumnReader::Int64ColumnReader(r) => typed(r, rows, batch, advance),
        ColumnReader::Int96ColumnReader(r) => typed(r, rows, batch, advance),
        ColumnReader::FloatColumnReader(r) => typed(r, rows, batch, advance),
        ColumnReader::DoubleColumnReader(r) => typed(r, rows, batch, advance),
        ColumnReader::ByteArrayColumnReader(r) => typed(r, rows, batch, advance),
        ColumnReader::FixedLenByteArrayColumnReader(r) => typed(r, rows, batch, advance),
    }
}

/// Returns the error for a type whose values cannot be cut.
fn uncut<T>(_: &mut T, _: &[Range<usize>]) -> Result<()> {
    Err(ParquetError::General("the column of texts does not hold bytes".to_owned()))
}

fn cut_bytes(value: &mut ByteArray, removed_ranges: &[Range<usize>]) -> Result<()> {
    let mut kept = Vec::new();
    let mut start = 0;
    for range in removed_ranges {
        let part = value.data().get(start..range.start).filter(|_| range.end <= value.len());
        kept.extend_from_slice(part.ok_or_else(changed)?);
        start = range.end;
    }
    kept.extend_from_slice(value.data().get(start..).ok_or_else(changed)?);
    *value = ByteArray::from(kept);
    Ok(())
}

fn changed() -> ParquetError {
    ParquetError::General("a text is no longer what it was".to_owned())
}

fn typed<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    rows: ChunkRows<'_>,
    writer: &mut ColumnWriterImpl<'_, T>,
    cut: CutValue<T::T>,
) -> Result<()> {
    let most = {
        let column = writer.get_descriptor();
        (column.max_def_level(), column.max_rep_level())
    };
    skip(&mut reader, rows.first)?;
    let mut batch = ValueBatch::<T>::default();
    let mut keep = rows.keep;
    let mut row = rows.first;
    while !keep.is_empty() {
        let count = keep.len().min(rows.batch.clamp(1, BATCH_ROWS));
        let (now, later) = keep.split_at(count);
        if now.iter().all(|keep| !keep) {
            skip(&mut reader, count)?;
        } else {
            batch.read(&mut reader, count)?;
            for (cut_row, removed_ranges) in rows.cuts.range(row..row + count) {
                cut(batch.value_of(cut_row - row, most)?, removed_ranges)?;
            }
            batch.choose(now, most);
            let definitions = (most.0 > 0).then_some(batch.definitions.as_slice());
            let repetitions = (most.1 > 0).then_some(batch.repetitions.as_slice());
            writer.write_batch(&batch.values, definitions, repetitions)?;
        }
        keep = later;
        row += count;
    }
    Ok(())
}

fn skip<T: DataType>(reader: &mut ColumnReaderImpl<T>, rows: usize) -> Result<()> {
    if rows == 0 || reader.skip_records(rows)? == rows { Ok(()) } else { Err(too_short()) }
}

fn too_short() -> ParquetError {
    ParquetError::General("a column has fewer rows than its row group".to_owned())
}

/// Levels and values of some rows.
struct ValueBatch<T: DataType> {
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
    values: Vec<T::T>,
}

impl<T: DataType> Default for ValueBatch<T> {
    fn default() -> Self {
        Self { definitions: Vec::new(), repetitions: Vec::new(), values: Vec::new() }
    }
}

impl<T: DataType> ValueBatch<T> {
    /// Replaces the content by the next `count` rows.
    fn read(&mut self, reader: &mut ColumnReaderImpl<T>, count: usize) -> Result<()> {
        self.definitions.clear();
        self.repetitions.clear();
        self.values.clear();
        let (rows, _, _) = reader.read_records(
            count,
            Some(&mut self.definitions),
            Some(&mut self.repetitions),
            &mut self.values,
        )?;
        if rows == count { Ok(()) } else { Err(too_short()) }
    }

    /// Returns the value of a row. The column must not be repeated.
    fn value_of(&mut self, row: usize, most: (i16, i16)) -> Result<&mut T::T> {
        let is_there = |level: &&i16| **level == most.0;
        let at = match self.definitions.get(..row) {
            Some(before) if most.0 > 0 => before.iter().filter(is_there).count(),
            _ => row,
        };
        let value = self.values.get_mut(at).filter(|_| most.1 == 0);
        value.ok_or_else(changed)
    }

    /// Keeps only the levels and values of the rows to keep. `most` are the highest levels.
    fn choose(&mut self, keep: &[bool], most: (i16, i16)) {
        if keep.iter().all(|keep| *keep) {
            return;
        }
        let (values, levels) = masks(keep, &self.definitions, &self.repetitions, most);
        retain(&mut self.values, &values);
        if let Some(levels) = levels {
            retain(&mut self.definitions, &levels);
            retain(&mut self.repetitions, &levels);
        }
    }
}

/// Masks of the values and of the levels of the rows to keep. `None` if the column has no levels.
fn masks(
    keep: &[bool],
    definitions: &[i16],
    repetitions: &[i16],
    most: (i16, i16),
) -> (Vec<bool>, Option<Vec<bool>>) {
    if most == (0, 0) {
        return (keep.to_vec(), None);
    }
    let count = if most.1 > 0 { repetitions.len() } else { definitions.len() };
    let mut levels = Vec::with_capacity(count);
    let mut values = Vec::new();
    let mut rows = keep.iter();
    let mut kept = false;
    for at in 0..count {
        if most.1 == 0 || repetitions.get(at) == Some(&0) {
            kept = rows.next().copied().unwrap_or(false);
        }
        levels.push(kept);
        if most.0 == 0 || definitions.get(at) == Some(&most.0) {
            values.push(kept);
        }
    }
    (values, Some(levels))
}

fn retain<V>(values: &mut Vec<V>, mask: &[bool]) {
    let mut mask = mask.iter();
    values.retain(|_| mask.next().copied().unwrap_or(false));
}
