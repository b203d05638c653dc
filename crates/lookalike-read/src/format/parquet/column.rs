//! Converts a column of a row group to values as text, a batch of rows at a time.

use crate::error::Field;
use crate::format::packed_rows;
use ::parquet::basic::{ConvertedType, LogicalType, Type};
use ::parquet::column::page::PageReader;
use ::parquet::column::reader::ColumnReaderImpl;
use ::parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type,
};
use ::parquet::errors::Result;
use ::parquet::schema::types::{ColumnDescPtr, ColumnDescriptor};
use std::fmt::{Display, Write};

/// The kind of a column's values, for columns that can be read as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnKind {
    Text,
    Int32 { signed: bool },
    Int64 { signed: bool },
    Boolean,
    Float,
    Double,
}

impl ColumnKind {
    /// `None` for lists and their elements, and for values that cannot be text.
    pub(super) fn of(column: &ColumnDescriptor) -> Option<Self> {
        if column.max_rep_level() > 0 {
            return None;
        }
        let signed = !matches!(
            column.logical_type_ref(),
            Some(LogicalType::Integer(integer)) if !integer.is_signed
        ) && !matches!(
            column.converted_type(),
            ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64
        );
        match (column.physical_type(), column.logical_type_ref()) {
            (_, Some(LogicalType::Decimal(_))) => None,
            _ if column.converted_type() == ConvertedType::DECIMAL => None,
            (
                Type::BYTE_ARRAY,
                None | Some(LogicalType::String | LogicalType::Enum | LogicalType::Json),
            ) if column.converted_type() != ConvertedType::BSON => Some(Self::Text),
            (Type::INT32, _) => Some(Self::Int32 { signed }),
            (Type::INT64, _) => Some(Self::Int64 { signed }),
            (Type::BOOLEAN, _) => Some(Self::Boolean),
            (Type::FLOAT, _) => Some(Self::Float),
            (Type::DOUBLE, _) => Some(Self::Double),
            _ => None,
        }
    }

    /// Returns true if an id, a text or another field can have this kind.
    pub(super) fn suits(self, field: Field) -> bool {
        match field {
            Field::Id => matches!(self, Self::Text | Self::Int32 { .. } | Self::Int64 { .. }),
            Field::Text => self == Self::Text,
            Field::Extra => true,
        }
    }
}

/// The type of a column, for messages: `string`, `int64`, `list of string`, `int64 (Timestamp)`.
pub(super) fn type_of(column: &ColumnDescriptor) -> String {
    let list = if column.max_rep_level() > 0 { "list of " } else { "" };
    let kind = ColumnKind::of(column);
    let physical = column.physical_type().to_string().to_lowercase();
    let unsigned = matches!(
        kind,
        Some(ColumnKind::Int32 { signed: false } | ColumnKind::Int64 { signed: false })
    );
    let u = if unsigned { "u" } else { "" };
    match column.logical_type_ref() {
        Some(LogicalType::String) => format!("{list}string"),
        Some(LogicalType::Integer(_)) | None => format!("{list}{u}{physical}"),
        Some(logical) => {
            let logical = format!("{logical:?}");
            let name = logical.split('(').next().unwrap_or_default();
            format!("{list}{physical} ({name})")
        }
    }
}

/// A column that is being read.
pub(super) trait ParquetColumn: Send {
    /// Decodes the next rows, at most `rows`. Returns their number.
    fn fill(&mut self, rows: usize) -> Result<usize>;

    /// Appends the value of the next decoded row. `text` is a buffer.
    fn push(&mut self, text: &mut String, row: &mut Vec<u8>);
}

/// Opens a column for reading.
pub(super) fn open(
    kind: ColumnKind,
    column: ColumnDescPtr,
    pages: Box<dyn PageReader>,
) -> Box<dyn ParquetColumn> {
    match kind {
        ColumnKind::Text => typed::<ByteArrayType>(column, pages, |value, _, row| {
            packed_rows::push(row, value.map(ByteArray::data));
        }),
        ColumnKind::Int32 { signed: true } => typed::<Int32Type>(column, pages, push_text),
        ColumnKind::Int32 { signed: false } => typed::<Int32Type>(column, pages, |n, text, row| {
            push_text(n.map(|n| *n as u32).as_ref(), text, row);
        }),
        ColumnKind::Int64 { signed: true } => typed::<Int64Type>(column, pages, push_text),
        ColumnKind::Int64 { signed: false } => typed::<Int64Type>(column, pages, |n, text, row| {
            push_text(n.map(|n| *n as u64).as_ref(), text, row);
        }),
        ColumnKind::Boolean => typed::<BoolType>(column, pages, push_text),
        // NaN counts as null, as in Arrow tables.
        ColumnKind::Float => typed::<FloatType>(column, pages, |n, text, row| {
            push_text(n.filter(|n| !n.is_nan()), text, row);
        }),
        ColumnKind::Double => typed::<DoubleType>(column, pages, |n, text, row| {
            push_text(n.filter(|n| !n.is_nan()), text, row);
        }),
    }
}

fn push_text<T: Display>(value: Option<&T>, text: &mut String, row: &mut Vec<u8>) {
    text.clear();
    let value = value.map(|value| {
        // Writing to a string does not fail.
        let _ = write!(text, "{value}");
        text.as_bytes()
    });
    packed_rows::push(row, value);
}

/// Appends a value to a row; the string is a buffer.
type PushValue<T> = fn(Option<&T>, &mut String, &mut Vec<u8>);

/// A column of one type, and its decoded batch.
struct TypedColumn<T: DataType> {
    reader: ColumnReaderImpl<T>,
    push: PushValue<T::T>,
    /// The definition level of a value that is not null; 0 if no value can be null.
    value_level: i16,
    levels: Vec<i16>,
    values: Vec<T::T>,
    /// The next row and the next value of the batch.
    row: usize,
    value: usize,
}

fn typed<T: DataType>(
    column: ColumnDescPtr,
    pages: Box<dyn PageReader>,
    push: PushValue<T::T>,
) -> Box<dyn ParquetColumn> {
    Box::new(TypedColumn::<T> {
        value_level: column.max_def_level(),
        reader: ColumnReaderImpl::new(column, pages),
        push,
        levels: Vec::new(),
        values: Vec::new(),
        row: 0,
        value: 0,
    })
}

impl<T: DataType> ParquetColumn for TypedColumn<T> {
    fn fill(&mut self, rows: usize) -> Result<usize> {
        self.levels.clear();
        self.values.clear();
        self.row = 0;
        self.value = 0;
        let levels = Some(&mut self.levels);
        let values = &mut self.values;
        Ok(self.reader.read_records(rows, levels, None, values)?.0)
    }

    fn push(&mut self, text: &mut String, row: &mut Vec<u8>) {
        let level = self.levels.get(self.row);
        self.row += 1;
        let mut value = None;
        if self.value_level == 0 || level.is_some_and(|level| *level >= self.value_level) {
            value = self.values.get(self.value);
            self.value += 1;
        }
        (self.push)(value, text, row);
    }
}
