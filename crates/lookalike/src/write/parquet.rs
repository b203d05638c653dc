//! Tables as Apache Parquet: groups and pairs, row by row, in row groups of bounded size.

use crate::error::Error;
use crate::write::Output;
use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{
    SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter,
};
use parquet::schema::types::{Type, TypePtr};
use std::path::PathBuf;
use std::sync::Arc;

/// What stands in the footer of files written here.
pub(crate) const CREATED_BY: &str = concat!("lookalike version ", env!("CARGO_PKG_VERSION"));
/// Rows of a row group at most.
const GROUP_ROWS: usize = 1 << 18;
/// Bytes of text in a row group at most.
const GROUP_BYTES: usize = 64 << 20;

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cell {
    Bool,
    Int64,
    Double,
    Text,
}

/// Cells of a column that are not written yet.
#[derive(Debug)]
pub(crate) enum Column {
    Bool(Cells<bool>),
    Int64(Cells<i64>),
    Double(Cells<f64>),
    Text(Cells<ByteArray>),
}

/// The cells of a column: for each whether it is there, and those that are.
#[derive(Debug)]
pub(crate) struct Cells<V> {
    present: Vec<i16>,
    values: Vec<V>,
}

impl<V> Cells<V> {
    fn new() -> Self {
        Self { present: Vec::new(), values: Vec::new() }
    }

    pub(crate) fn push(&mut self, value: Option<V>) {
        self.present.push(i16::from(value.is_some()));
        self.values.extend(value);
    }
}

impl Column {
    pub(crate) fn new(cell: Cell) -> Self {
        match cell {
            Cell::Bool => Self::Bool(Cells::new()),
            Cell::Int64 => Self::Int64(Cells::new()),
            Cell::Double => Self::Double(Cells::new()),
            Cell::Text => Self::Text(Cells::new()),
        }
    }

    /// Writes all cells as the next rows, and has none then. Cells of a required column must all
    /// be there.
    pub(crate) fn write(&mut self, writer: &mut SerializedColumnWriter<'_>) -> Result<()> {
        macro_rules! write {
            ($cells:expr, $type:ty) => {{
                let Cells { present, values } = $cells;
                writer.typed::<$type>().write_batch(values, Some(present), None)?;
                present.clear();
                values.clear();
            }};
        }
        match self {
            Self::Bool(cells) => write!(cells, BoolType),
            Self::Int64(cells) => write!(cells, Int64Type),
            Self::Double(cells) => write!(cells, DoubleType),
            Self::Text(cells) => write!(cells, ByteArrayType),
        }
        Ok(())
    }
}

/// The type of a column.
pub(crate) fn column_type(name: &str, cell: Cell, repetition: Repetition) -> Result<TypePtr> {
    let (physical, logical) = match cell {
        Cell::Bool => (PhysicalType::BOOLEAN, None),
        Cell::Int64 => (PhysicalType::INT64, None),
        Cell::Double => (PhysicalType::DOUBLE, None),
        Cell::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let column = Type::primitive_type_builder(name, physical)
        .with_repetition(repetition)
        .with_logical_type(logical);
    Ok(Arc::new(column.build()?))
}

/// A table being written.
struct Table {
    path: PathBuf,
    writer: SerializedFileWriter<Output>,
    columns: Vec<Column>,
    rows: usize,
    bytes: usize,
}

impl Table {
    /// Columns by name, cells, and whether each row has one.
    fn create(output: Output, columns: &[(&str, Cell, bool)]) -> Result<Self> {
        let path = output.path().to_owned();
        let repetition = |all: bool| if all { Repetition::REQUIRED } else { Repetition::OPTIONAL };
        let fields =
            columns.iter().map(|(name, cell, all)| column_type(name, *cell, repetition(*all)));
        let schema = Type::group_type_builder("schema").with_fields(fields.collect::<Result<_>>()?);
        let properties = WriterProperties::builder()
            .set_created_by(CREATED_BY.to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        let schema = Arc::new(schema.build()?);
        let writer = SerializedFileWriter::new(output, schema, Arc::new(properties))?;
        let columns = columns.iter().map(|(_, cell, _)| Column::new(*cell)).collect();
        Ok(Self { path, writer, columns, rows: 0, bytes: 0 })
    }

    /// Ends a row, whose cells are in the columns.
    fn end_row(&mut self, bytes: usize) -> Result<()> {
        self.rows += 1;
        self.bytes += bytes;
        if self.rows >= GROUP_ROWS || self.bytes >= GROUP_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if self.rows > 0 {
            let mut group = self.writer.next_row_group()?;
            write_columns(&mut group, &mut self.columns)?;
            group.close()?;
        }
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }

    fn finish(mut self) -> std::result::Result<(), Error> {
        let path = self.path.clone();
        let flushed = self.flush().and_then(|()| self.writer.into_inner());
        flushed.map_err(|error| failed(path, error))?.finish(|_| Ok(()))
    }
}

/// Writes the cells of the next columns of a row group.
pub(crate) fn write_columns(
    group: &mut SerializedRowGroupWriter<'_, Output>,
    columns: &mut [Column],
) -> Result<()> {
    for column in columns {
        let Some(mut writer) = group.next_column()? else {
            return Err(ParquetError::General("the schema has too few columns".to_owned()));
        };
        column.write(&mut writer)?;
        writer.close()?;
    }
    Ok(())
}

/// An error of the crate as one of ours.
pub(crate) fn failed(path: PathBuf, error: ParquetError) -> Error {
    let source = match error {
        ParquetError::External(error) => match error.downcast::<std::io::Error>() {
            Ok(error) => *error,
            Err(error) => std::io::Error::other(error),
        },
        error => std::io::Error::other(error),
    };
    Error::Write { path, source }
}

/// Groups as a table with the columns `group` (64-bit integer), `id`, `role` (`keeper` or
/// `duplicate`), `keeper` (text) and the similarity with the keeper (64-bit float, null for
/// keepers): a document a row.
pub struct Groups(Table);

impl Groups {
    /// Begins the table. `measure` is the name of the similarity: `jaccard` or `containment`.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn create(output: Output, measure: &str) -> std::result::Result<Self, Error> {
        let path = output.path().to_owned();
        let columns = [
            ("group", Cell::Int64, true),
            ("id", Cell::Text, true),
            ("role", Cell::Text, true),
            ("keeper", Cell::Text, true),
            (measure, Cell::Double, false),
        ];
        Table::create(output, &columns).map(Self).map_err(|error| failed(path, error))
    }

    /// Adds a document. `similarity` is that with the keeper, as it is written elsewhere (six
    /// decimals), and none for the keeper itself.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn document(
        &mut self,
        group: u64,
        id: &str,
        keeper: &str,
        similarity: Option<&str>,
    ) -> std::result::Result<(), Error> {
        let role = if similarity.is_some() { "duplicate" } else { "keeper" };
        let number = similarity.and_then(|text| text.parse().ok());
        let [a, b, c, d, e] = self.0.columns.as_mut_slice() else { return Ok(()) };
        push_number(a, Some(group));
        push_text(b, Some(id));
        push_text(c, Some(role));
        push_text(d, Some(keeper));
        push_double(e, number);
        let path = &self.0.path.clone();
        self.0.end_row(id.len() + keeper.len()).map_err(|error| failed(path.clone(), error))
    }

    /// Brings the table to the disk and gives it its name.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn finish(self) -> std::result::Result<(), Error> {
        self.0.finish()
    }
}

/// Pairs as a table with the columns `id_a`, `id_b` (text) and the similarity (64-bit float).
pub struct Pairs(Table);

impl Pairs {
    /// Begins the table. `measure` is the name of the similarity: `jaccard` or `containment`.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn create(output: Output, measure: &str) -> std::result::Result<Self, Error> {
        let path = output.path().to_owned();
        let columns =
            [("id_a", Cell::Text, true), ("id_b", Cell::Text, true), (measure, Cell::Double, true)];
        Table::create(output, &columns).map(Self).map_err(|error| failed(path, error))
    }

    /// Adds a pair; `similarity` as it is written elsewhere, with six decimals.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn pair(
        &mut self,
        id_a: &str,
        id_b: &str,
        similarity: &str,
    ) -> std::result::Result<(), Error> {
        let [a, b, c] = self.0.columns.as_mut_slice() else { return Ok(()) };
        push_text(a, Some(id_a));
        push_text(b, Some(id_b));
        push_double(c, Some(similarity.parse().unwrap_or(f64::NAN)));
        let path = self.0.path.clone();
        self.0.end_row(id_a.len() + id_b.len()).map_err(|error| failed(path, error))
    }

    /// Brings the table to the disk and gives it its name.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn finish(self) -> std::result::Result<(), Error> {
        self.0.finish()
    }
}

/// Adds a cell to a column of that type; to no other.
pub(crate) fn push_text(column: &mut Column, value: Option<&str>) {
    if let Column::Text(cells) = column {
        cells.push(value.map(ByteArray::from));
    }
}

/// The same for whole numbers; what is above the largest 64-bit integer becomes that.
pub(crate) fn push_number(column: &mut Column, value: Option<u64>) {
    if let Column::Int64(cells) = column {
        cells.push(value.map(|value| i64::try_from(value).unwrap_or(i64::MAX)));
    }
}

/// The same for fractions.
pub(crate) fn push_double(column: &mut Column, value: Option<f64>) {
    if let Column::Double(cells) = column {
        cells.push(value);
    }
}

/// The same for truth values.
pub(crate) fn push_bool(column: &mut Column, value: Option<bool>) {
    if let Column::Bool(cells) = column {
        cells.push(value);
    }
}
