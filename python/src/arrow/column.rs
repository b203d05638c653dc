//! Values of Arrow columns as text: numeric ids, and fields that decide which documents are kept.

use crate::arrow::array_chunks::ArrayChunks;
use crate::error::DocumentTypeError;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, DecimalType, DurationMicrosecondType, DurationMillisecondType,
    DurationNanosecondType, DurationSecondType, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, Int64Array, PrimitiveArray};
use arrow_schema::{DataType, TimeUnit};
use pyo3::prelude::*;
use std::fmt::{Display, Write};
use std::sync::Arc;

/// A column of numbers, booleans, dates or times. Dates and times are written as the numbers that
/// represent them.
pub(crate) struct ValueColumn {
    arrays: Vec<ArrayRef>,
    /// The first row of each array.
    starts: Vec<usize>,
    rows: usize,
    write: WriteValue,
}

/// Writes the value of a row. Returns false for NaN, which is not written.
type WriteValue = fn(&dyn Array, usize, &mut String) -> bool;

impl ValueColumn {
    /// The values of an Arrow column; `what` names it in messages.
    pub(crate) fn of_arrow(column: ArrayChunks, what: &str) -> PyResult<Self> {
        let kind = column.field.data_type();
        let write = writer(kind).ok_or_else(|| {
            DocumentTypeError::new_err(format!(
                "{what}: expected a column of strings, numbers, booleans, dates or times, got {}",
                type_name(kind)
            ))
        })?;
        let mut starts = Vec::with_capacity(column.arrays.len());
        let mut rows = 0;
        for array in &column.arrays {
            starts.push(rows);
            rows += array.len();
        }
        Ok(Self { arrays: column.arrays, starts, rows, write })
    }

    /// A column of integers.
    pub(crate) fn of_integers(values: Vec<Option<i64>>) -> Self {
        Self::of_int64(Int64Array::from(values))
    }

    /// Creates a column from an array of integers.
    pub(crate) fn of_int64(values: Int64Array) -> Self {
        let rows = values.len();
        let array: ArrayRef = Arc::new(values);
        Self { arrays: vec![array], starts: vec![0], rows, write: number::<Int64Type> }
    }

    /// Copies of the arrays, which keep no other memory alive. `None` if they are not integers.
    pub(crate) fn copied_integers(&self) -> Option<Vec<ArrayRef>> {
        self.arrays.iter().map(copied).collect()
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// Writes the value of a row. Returns false if the row does not exist or has no value.
    pub(crate) fn write(&self, row: usize, out: &mut String) -> bool {
        let chunk = self.starts.partition_point(|start| *start <= row);
        let Some(array) = chunk.checked_sub(1).and_then(|chunk| self.arrays.get(chunk)) else {
            return false;
        };
        let row = row - self.starts[chunk - 1];
        if row >= array.len() || array.is_null(row) {
            return false;
        }
        (self.write)(array.as_ref(), row, out)
    }

    /// Returns whether the column has integers below 0, and whether it has integers above
    /// `i64::MAX`.
    pub(crate) fn beyond(&self) -> (bool, bool) {
        let mut has_negative = false;
        let mut has_large = false;
        for array in &self.arrays {
            match array.data_type() {
                DataType::Int8 => has_negative |= any::<Int8Type>(array, |n| n < 0),
                DataType::Int16 => has_negative |= any::<Int16Type>(array, |n| n < 0),
                DataType::Int32 => has_negative |= any::<Int32Type>(array, |n| n < 0),
                DataType::Int64 => has_negative |= any::<Int64Type>(array, |n| n < 0),
                DataType::UInt64 => has_large |= any::<UInt64Type>(array, |n| n > i64::MAX as u64),
                _ => {}
            }
        }
        (has_negative, has_large)
    }

    /// The first row that is null.
    pub(crate) fn first_missing(&self) -> Option<usize> {
        let mut before = 0;
        for array in &self.arrays {
            if array.null_count() > 0 {
                return (0..array.len()).find(|row| array.is_null(*row)).map(|row| before + row);
            }
            before += array.len();
        }
        None
    }
}

/// Copies an array of integers. Returns `None` for other types.
fn copied(array: &ArrayRef) -> Option<ArrayRef> {
    fn of<T: ArrowPrimitiveType>(array: &ArrayRef) -> ArrayRef {
        Arc::new(array.as_primitive::<T>().iter().collect::<PrimitiveArray<T>>())
    }
    Some(match array.data_type() {
        DataType::Int8 => of::<Int8Type>(array),
        DataType::Int16 => of::<Int16Type>(array),
        DataType::Int32 => of::<Int32Type>(array),
        DataType::Int64 => of::<Int64Type>(array),
        DataType::UInt8 => of::<UInt8Type>(array),
        DataType::UInt16 => of::<UInt16Type>(array),
        DataType::UInt32 => of::<UInt32Type>(array),
        DataType::UInt64 => of::<UInt64Type>(array),
        _ => return None,
    })
}

fn any<T: ArrowPrimitiveType>(array: &dyn Array, is: impl Fn(T::Native) -> bool) -> bool {
    array.as_primitive::<T>().iter().flatten().any(is)
}

/// Returns true if values of a type can be written as text.
pub(crate) fn is_value(kind: &DataType) -> bool {
    writer(kind).is_some()
}

/// The name of a type, with the spelling of `pyarrow` for the common ones.
pub(crate) fn type_name(kind: &DataType) -> String {
    match kind {
        DataType::Utf8 => "string".to_owned(),
        DataType::LargeUtf8 => "large_string".to_owned(),
        DataType::Utf8View => "string_view".to_owned(),
        DataType::LargeBinary => "large_binary".to_owned(),
        DataType::BinaryView => "binary_view".to_owned(),
        DataType::Boolean => "bool".to_owned(),
        DataType::Float64 => "double".to_owned(),
        DataType::Float32 => "float".to_owned(),
        other => other.to_string().to_lowercase(),
    }
}

/// Returns the function that writes values of a type, or `None` if its values
/// cannot be written as text.
fn writer(kind: &DataType) -> Option<WriteValue> {
    Some(match kind {
        DataType::Boolean => |array, row, out| {
            out.push_str(if array.as_boolean().value(row) { "true" } else { "false" });
            true
        },
        DataType::Int8 => number::<Int8Type>,
        DataType::Int16 => number::<Int16Type>,
        DataType::Int32 => number::<Int32Type>,
        DataType::Int64 => number::<Int64Type>,
        DataType::UInt8 => number::<UInt8Type>,
        DataType::UInt16 => number::<UInt16Type>,
        DataType::UInt32 => number::<UInt32Type>,
        DataType::UInt64 => number::<UInt64Type>,
        DataType::Float32 => float::<Float32Type>,
        DataType::Float64 => float::<Float64Type>,
        DataType::Decimal32(..) => decimal::<Decimal32Type>,
        DataType::Decimal64(..) => decimal::<Decimal64Type>,
        DataType::Decimal128(..) => decimal::<Decimal128Type>,
        DataType::Decimal256(..) => decimal::<Decimal256Type>,
        DataType::Date32 => number::<Date32Type>,
        DataType::Date64 => number::<Date64Type>,
        DataType::Time32(TimeUnit::Second) => number::<Time32SecondType>,
        DataType::Time32(_) => number::<Time32MillisecondType>,
        DataType::Time64(TimeUnit::Microsecond) => number::<Time64MicrosecondType>,
        DataType::Time64(_) => number::<Time64NanosecondType>,
        DataType::Timestamp(TimeUnit::Second, _) => number::<TimestampSecondType>,
        DataType::Timestamp(TimeUnit::Millisecond, _) => number::<TimestampMillisecondType>,
        DataType::Timestamp(TimeUnit::Microsecond, _) => number::<TimestampMicrosecondType>,
        DataType::Timestamp(TimeUnit::Nanosecond, _) => number::<TimestampNanosecondType>,
        DataType::Duration(TimeUnit::Second) => number::<DurationSecondType>,
        DataType::Duration(TimeUnit::Millisecond) => number::<DurationMillisecondType>,
        DataType::Duration(TimeUnit::Microsecond) => number::<DurationMicrosecondType>,
        DataType::Duration(TimeUnit::Nanosecond) => number::<DurationNanosecondType>,
        _ => return None,
    })
}

fn number<T: ArrowPrimitiveType>(array: &dyn Array, row: usize, out: &mut String) -> bool
where
    T::Native: Display,
{
    // Writing to a string does not fail.
    let _ = write!(out, "{}", array.as_primitive::<T>().value(row));
    true
}

/// Writes all digits after the point.
fn decimal<T: DecimalType>(array: &dyn Array, row: usize, out: &mut String) -> bool {
    out.push_str(&array.as_primitive::<T>().value_as_string(row));
    true
}

/// Treats NaN as missing, like [`is_missing`](crate::input::text::is_missing).
fn float<T: ArrowPrimitiveType>(array: &dyn Array, row: usize, out: &mut String) -> bool
where
    T::Native: Display + Into<f64>,
{
    !array.as_primitive::<T>().value(row).into().is_nan() && number::<T>(array, row, out)
}
