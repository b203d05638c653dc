//! One column of a row group → values as text, a batch of rows at a time.

use crate::format::packed_rows;
use crate::table_problem::Field;
use ::parquet::basic::{ConvertedType, LogicalType, Type};
use ::parquet::column::page::PageReader;
use ::parquet::column::reader::ColumnReaderImpl;
use ::parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type,
};
use ::parquet::errors::Result;
use ::parquet::schema::types::{ColumnDescPtr, ColumnDescriptor};
use std::fmt::{Display, Write};

/// What a column holds, of what can be read as text.
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
    /// `None` for lists, for what is inside of one, and for values that are no text.
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

    /// Whether an id, a text or another field can be of this kind.
    pub(super) fn suits(self, field: Field) -> bool {
        match field {
            Field::Id => matches!(self, Self::Text | Self::Int32 { .. } | Self::Int64 { .. }),
            Field::Text => self == Self::Text,
            Field::Extra => true,
        }
    }
}

/// What a column holds, for messages: `string`, `int64`, `list of string`, `int64 (Timestamp)`.
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
pub(super) enum ParquetColumn {
    Text(TypedColumn<ByteArrayType>),
    Int32(TypedColumn<Int32Type>),
    Uint32(TypedColumn<Int32Type>),
    Int64(TypedColumn<Int64Type>),
    Uint64(TypedColumn<Int64Type>),
    Boolean(TypedColumn<BoolType>),
    Float(TypedColumn<FloatType>),
    Double(TypedColumn<DoubleType>),
}

impl ParquetColumn {
    pub(super) fn new(kind: ColumnKind, column: ColumnDescPtr, pages: Box<dyn PageReader>) -> Self {
        match kind {
            ColumnKind::Text => Self::Text(TypedColumn::new(column, pages)),
            ColumnKind::Int32 { signed: true } => Self::Int32(TypedColumn::new(column, pages)),
            ColumnKind::Int32 { signed: false } => Self::Uint32(TypedColumn::new(column, pages)),
            ColumnKind::Int64 { signed: true } => Self::Int64(TypedColumn::new(column, pages)),
            ColumnKind::Int64 { signed: false } => Self::Uint64(TypedColumn::new(column, pages)),
            ColumnKind::Boolean => Self::Boolean(TypedColumn::new(column, pages)),
            ColumnKind::Float => Self::Float(TypedColumn::new(column, pages)),
            ColumnKind::Double => Self::Double(TypedColumn::new(column, pages)),
        }
    }

    /// Decodes the next rows, at most `rows`; gives how many.
    pub(super) fn fill(&mut self, rows: usize) -> Result<usize> {
        match self {
            Self::Text(column) => column.fill(rows),
            Self::Int32(column) | Self::Uint32(column) => column.fill(rows),
            Self::Int64(column) | Self::Uint64(column) => column.fill(rows),
            Self::Boolean(column) => column.fill(rows),
            Self::Float(column) => column.fill(rows),
            Self::Double(column) => column.fill(rows),
        }
    }

    /// Appends the value of the next decoded row. `text` is a buffer.
    pub(super) fn push(&mut self, text: &mut String, row: &mut Vec<u8>) {
        match self {
            Self::Text(column) => packed_rows::push(row, column.take().map(ByteArray::data)),
            Self::Int32(column) => push_text(column.take(), text, row),
            Self::Uint32(column) => push_text(column.take().map(|n| *n as u32), text, row),
            Self::Int64(column) => push_text(column.take(), text, row),
            Self::Uint64(column) => push_text(column.take().map(|n| *n as u64), text, row),
            Self::Boolean(column) => push_text(column.take(), text, row),
            Self::Float(column) => push_text(column.take(), text, row),
            Self::Double(column) => push_text(column.take(), text, row),
        }
    }
}

fn push_text(value: Option<impl Display>, text: &mut String, row: &mut Vec<u8>) {
    text.clear();
    let value = value.map(|value| {
        // Writing to a string does not fail.
        let _ = write!(text, "{value}");
        text.as_bytes()
    });
    packed_rows::push(row, value);
}

/// A column of one type, and the batch of it that is decoded.
pub(super) struct TypedColumn<T: DataType> {
    reader: ColumnReaderImpl<T>,
    /// The definition level of a value that is there; 0 where none can be null.
    whole: i16,
    levels: Vec<i16>,
    values: Vec<T::T>,
    /// The next row and the next value of the batch.
    row: usize,
    value: usize,
}

impl<T: DataType> TypedColumn<T> {
    fn new(column: ColumnDescPtr, pages: Box<dyn PageReader>) -> Self {
        Self {
            whole: column.max_def_level(),
            reader: ColumnReaderImpl::new(column, pages),
            levels: Vec::new(),
            values: Vec::new(),
            row: 0,
            value: 0,
        }
    }

    fn fill(&mut self, rows: usize) -> Result<usize> {
        self.levels.clear();
        self.values.clear();
        (self.row, self.value) = (0, 0);
        let (levels, values) = (Some(&mut self.levels), &mut self.values);
        Ok(self.reader.read_records(rows, levels, None, values)?.0)
    }

    /// The value of the next row.
    fn take(&mut self) -> Option<&T::T> {
        let row = self.row;
        self.row += 1;
        if self.whole > 0 && self.levels.get(row).is_none_or(|level| *level < self.whole) {
            return None;
        }
        let value = self.values.get(self.value);
        self.value += 1;
        value
    }
}
