//! Tables as Apache Parquet: groups and pairs, row by row, in row groups of bounded size.

use crate::engine::{ESTIMATE_COLUMNS, FindError, Groups, PairRef, Pairs};
use crate::passages::PassageFindings;
use crate::read::UnitRange;
use crate::read::unit::parent_id;
use crate::report::Output;
use crate::report::csv::UNIT_COLUMNS;
use crate::report::error::OutputError;
use lookalike_core::params::Measure;
use lookalike_core::verify::Overlap;
use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{
    SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter,
};
use parquet::schema::types::{Type, TypePtr};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// The creator in the footer of files, by which later runs recognise them.
pub(crate) const CREATED_BY: &str = concat!("lookalike version ", env!("CARGO_PKG_VERSION"));
/// The most rows of a row group.
const GROUP_ROWS: usize = 1 << 18;
/// The most bytes of text in a row group.
const GROUP_BYTES: usize = 64 << 20;

/// The type of the cells of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cell {
    Bool,
    Int64,
    Double,
    Text,
}

/// Cells of a column before they are written.
#[derive(Debug)]
pub(crate) enum PendingColumn {
    Bool(PendingCells<bool>),
    Int64(PendingCells<i64>),
    Double(PendingCells<f64>),
    Text(PendingCells<ByteArray>),
}

/// The cells of a column: whether each cell is present, and the values of the present cells.
#[derive(Debug)]
pub(crate) struct PendingCells<V> {
    present: Vec<i16>,
    values: Vec<V>,
}

impl<V> PendingCells<V> {
    fn new() -> Self {
        Self { present: Vec::new(), values: Vec::new() }
    }

    pub(crate) fn push(&mut self, value: Option<V>) {
        self.present.push(i16::from(value.is_some()));
        self.values.extend(value);
    }
}

impl PendingColumn {
    pub(crate) fn new(cell: Cell) -> Self {
        match cell {
            Cell::Bool => Self::Bool(PendingCells::new()),
            Cell::Int64 => Self::Int64(PendingCells::new()),
            Cell::Double => Self::Double(PendingCells::new()),
            Cell::Text => Self::Text(PendingCells::new()),
        }
    }

    /// Writes all cells as the next rows and clears them. Cells of a required column must all be
    /// present.
    pub(crate) fn write(
        &mut self,
        writer: &mut SerializedColumnWriter<'_>,
    ) -> Result<(), ParquetError> {
        macro_rules! write {
            ($cells:expr, $type:ty) => {{
                let PendingCells { present, values } = $cells;
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

/// Returns the type of a column.
pub(crate) fn column_type(
    name: &str,
    cell: Cell,
    repetition: Repetition,
) -> Result<TypePtr, ParquetError> {
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
struct ParquetTable {
    path: PathBuf,
    writer: SerializedFileWriter<Output>,
    columns: Vec<PendingColumn>,
    rows: usize,
    bytes: usize,
}

impl ParquetTable {
    /// Creates a table. `columns` contains the name and the type of each column, and whether every
    /// row has a cell in it.
    fn create(output: Output, columns: &[(&str, Cell, bool)]) -> Result<Self, ParquetError> {
        let path = output.path().to_owned();
        let repetition = |all: bool| if all { Repetition::REQUIRED } else { Repetition::OPTIONAL };
        let fields =
            columns.iter().map(|(name, cell, all)| column_type(name, *cell, repetition(*all)));
        let schema = Type::group_type_builder("schema")
            .with_fields(fields.collect::<Result<_, ParquetError>>()?);
        let properties = WriterProperties::builder()
            .set_created_by(CREATED_BY.to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        let schema = Arc::new(schema.build()?);
        let writer = SerializedFileWriter::new(output, schema, Arc::new(properties))?;
        let columns = columns.iter().map(|(_, cell, _)| PendingColumn::new(*cell)).collect();
        Ok(Self { path, writer, columns, rows: 0, bytes: 0 })
    }

    /// Ends a row whose cells have been added to the columns.
    fn end_row(&mut self, bytes: usize) -> Result<(), ParquetError> {
        self.rows += 1;
        self.bytes += bytes;
        if self.rows >= GROUP_ROWS || self.bytes >= GROUP_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), ParquetError> {
        if self.rows > 0 {
            let mut group = self.writer.next_row_group()?;
            write_columns(&mut group, &mut self.columns)?;
            group.close()?;
        }
        self.rows = 0;
        self.bytes = 0;
        Ok(())
    }

    fn finish(mut self) -> Result<(), OutputError> {
        let path = self.path.clone();
        let flushed = self.flush().and_then(|()| self.writer.into_inner());
        flushed.map_err(|error| failed(path, error))?.finish(|_| Ok(()))
    }
}

/// Writes the cells of the next columns of a row group.
pub(crate) fn write_columns(
    group: &mut SerializedRowGroupWriter<'_, Output>,
    columns: &mut [PendingColumn],
) -> Result<(), ParquetError> {
    for column in columns {
        let Some(mut writer) = group.next_column()? else {
            return Err(ParquetError::General("the schema has too few columns".to_owned()));
        };
        column.write(&mut writer)?;
        writer.close()?;
    }
    Ok(())
}

/// Converts an error of the crate `parquet`.
pub(crate) fn failed(path: PathBuf, error: ParquetError) -> OutputError {
    let source = match error {
        ParquetError::External(error) => match error.downcast::<std::io::Error>() {
            Ok(error) => *error,
            Err(error) => std::io::Error::other(error),
        },
        error => std::io::Error::other(error),
    };
    OutputError::Write { path, source }
}

/// Writes places of passages as a table, with the columns of
/// [`passages::csv`](super::passages::csv). `id` is a text, `first` and `maximal` are Boolean, and
/// the others are 64-bit integers.
///
/// # Errors
/// [`OutputError::Write`], and errors of temporary files.
pub fn passages(output: Output, findings: &PassageFindings) -> Result<(), OutputError> {
    let cell = |name: &&'static str| match *name {
        "id" => (*name, Cell::Text, true),
        "first" | "maximal" => (*name, Cell::Bool, true),
        _ => (*name, Cell::Int64, true),
    };
    let columns: Vec<_> = super::passage_rows::COLUMNS.iter().map(cell).collect();
    let path = output.path().to_owned();
    let failed = |error| failed(path.clone(), error);
    let mut table = ParquetTable::create(output, &columns).map_err(failed)?;
    let written = super::passage_rows::each_place(findings, |number, of, place, id| {
        let [bytes, chars] = [&place.span.bytes, &place.span.chars];
        let words = of.words.into();
        let places = of.places.into();
        let documents = of.documents.into();
        let ranges = [bytes.start, bytes.end, chars.start, chars.end];
        let mut numbers = [number, words, places, documents].into_iter().chain(ranges);
        let mut flags = [place.is_first, place.is_maximal].into_iter();
        for column in &mut table.columns {
            match column {
                PendingColumn::Int64(cells) => {
                    cells.push(Some(numbers.next().unwrap_or_default().cast_signed()));
                }
                PendingColumn::Bool(cells) => cells.push(Some(flags.next().unwrap_or_default())),
                PendingColumn::Text(cells) => cells.push(Some(ByteArray::from(id))),
                PendingColumn::Double(_) => {}
            }
        }
        table.end_row(id.len() + 80).map_err(io::Error::other)
    });
    written.map_err(|source| OutputError::Write { path: path.clone(), source })?;
    table.finish()
}

/// Writes groups as a table, one document per row, with the columns of
/// [`csv::groups`](super::csv::groups): `group` (64-bit integer), `id`, `role` and `keeper` (text),
/// and the similarities (64-bit floats with the values of the other formats; null for keepers).
///
/// # Errors
/// [`OutputError::Write`], and errors of temporary files that hold groups.
pub fn groups(output: Output, groups: &Groups, measure: Measure) -> Result<(), OutputError> {
    let mut columns = vec![
        ("group", Cell::Int64, true),
        ("id", Cell::Text, true),
        ("role", Cell::Text, true),
        ("keeper", Cell::Text, true),
    ];
    columns.extend(similarities(measure).iter().map(|(name, _)| (*name, Cell::Double, false)));
    if groups.has_units() {
        columns.extend(UNIT_COLUMNS.map(|name| (name, unit_cell(name), true)));
    }
    let path = output.path().to_owned();
    let failed = |error| failed(path.clone(), error);
    let mut table = ParquetTable::create(output, &columns).map_err(failed)?;
    for (number, group) in (1u64..).zip(groups.iter()) {
        let group = group.map_err(FindError::of_io)?;
        let keeper = group.keeper.id.as_str();
        table.push_unit(keeper, group.keeper.unit, UNIT_COLUMNS.len());
        table.member(number, keeper, keeper, None, measure).map_err(failed)?;
        for duplicate in &group.duplicates {
            let overlap = Some(&duplicate.overlap);
            table.push_unit(&duplicate.id, duplicate.unit, UNIT_COLUMNS.len());
            table.member(number, &duplicate.id, keeper, overlap, measure).map_err(failed)?;
        }
    }
    table.finish()
}

/// Writes verified pairs as a table with the columns of [`csv::pairs`](super::csv::pairs): `id_a`
/// and `id_b` (text), and the similarities and estimates (64-bit floats).
///
/// # Errors
/// [`OutputError::Write`], and errors of temporary files that hold pairs.
pub fn pairs(output: Output, pairs: &Pairs, measure: Measure) -> Result<(), OutputError> {
    let mut columns = vec![("id_a", Cell::Text, true), ("id_b", Cell::Text, true)];
    columns.extend(similarities(measure).iter().map(|(name, _)| (*name, Cell::Double, true)));
    if pairs.has_estimates() {
        columns.extend(ESTIMATE_COLUMNS.map(|name| (name, Cell::Double, true)));
    }
    let of_units = |document: &str| UNIT_COLUMNS.map(|name| format!("{name}_{document}"));
    let names = [of_units("a"), of_units("b")].concat();
    if pairs.has_units() {
        columns.extend(names.iter().map(|name| (name.as_str(), unit_cell(name), true)));
    }
    let path = output.path().to_owned();
    let failed = |error| failed(path.clone(), error);
    let mut table = ParquetTable::create(output, &columns).map_err(failed)?;
    let mut cursor = pairs.cursor();
    while let Some(pair) = cursor.next_pair().map_err(FindError::of_io)? {
        table.pair(&pair, measure).map_err(failed)?;
    }
    table.finish()
}

/// Returns the type of a column of a unit.
fn unit_cell(name: &str) -> Cell {
    if name.starts_with("parent") { Cell::Text } else { Cell::Int64 }
}

/// Returns the names and the measures of the similarities in a row.
fn similarities(measure: Measure) -> &'static [(&'static str, Measure)] {
    const BOTH: &[(&str, Measure)] =
        &[("jaccard", Measure::Jaccard), ("containment", Measure::Containment)];
    if measure == Measure::Containment { BOTH } else { &BOTH[..1] }
}

impl ParquetTable {
    fn member(
        &mut self,
        group: u64,
        id: &str,
        keeper: &str,
        overlap: Option<&Overlap>,
        measure: Measure,
    ) -> Result<(), ParquetError> {
        let role = if overlap.is_some() { "duplicate" } else { "keeper" };
        if let [number, first, second, third, rest @ ..] = self.columns.as_mut_slice() {
            push_number(number, Some(group));
            push_text(first, Some(id));
            push_text(second, Some(role));
            push_text(third, Some(keeper));
            push_similarities(rest, overlap, measure);
        }
        self.end_row(id.len() + keeper.len())
    }

    /// Adds the cells of a unit. They begin `columns` columns before the end of the row.
    fn push_unit(&mut self, id: &str, unit: Option<UnitRange>, columns: usize) {
        let Some(unit) = unit else { return };
        let first = self.columns.len().saturating_sub(columns);
        let [parent, numbers @ ..] = &mut self.columns[first..] else { return };
        push_text(parent, Some(parent_id(id)));
        for (column, number) in numbers.iter_mut().zip(unit.to_numbers()) {
            push_number(column, Some(number.into()));
        }
    }

    fn pair(&mut self, pair: &PairRef<'_>, measure: Measure) -> Result<(), ParquetError> {
        let PairRef { a, b, overlap, estimate, units } = pair;
        if let Some([of_a, of_b]) = *units {
            self.push_unit(a, Some(of_a), 2 * UNIT_COLUMNS.len());
            self.push_unit(b, Some(of_b), UNIT_COLUMNS.len());
        }
        if let [first, second, rest @ ..] = self.columns.as_mut_slice() {
            push_text(first, Some(a));
            push_text(second, Some(b));
            push_similarities(rest, Some(overlap), measure);
            let estimates = estimate.iter().flat_map(|estimate| estimate.rounded(overlap));
            for (column, value) in rest.iter_mut().skip(similarities(measure).len()).zip(estimates)
            {
                push_double(column, Some(value));
            }
        }
        self.end_row(a.len() + b.len())
    }
}

/// Adds similarities with six decimals, as in the other formats.
fn push_similarities(columns: &mut [PendingColumn], overlap: Option<&Overlap>, measure: Measure) {
    for (column, (_, measure)) in columns.iter_mut().zip(similarities(measure)) {
        push_double(column, overlap.map(|overlap| overlap.rounded(*measure)));
    }
}

/// Adds a text if the column has this type.
pub(crate) fn push_text(column: &mut PendingColumn, value: Option<&str>) {
    if let PendingColumn::Text(cells) = column {
        cells.push(value.map(ByteArray::from));
    }
}

/// Adds a whole number; larger values become the largest 64-bit integer.
pub(crate) fn push_number(column: &mut PendingColumn, value: Option<u64>) {
    if let PendingColumn::Int64(cells) = column {
        cells.push(value.map(|value| i64::try_from(value).unwrap_or(i64::MAX)));
    }
}

/// Adds a fraction.
pub(crate) fn push_double(column: &mut PendingColumn, value: Option<f64>) {
    if let PendingColumn::Double(cells) = column {
        cells.push(value);
    }
}

/// Adds a truth value.
pub(crate) fn push_bool(column: &mut PendingColumn, value: Option<bool>) {
    if let PendingColumn::Bool(cells) = column {
        cells.push(value);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests;
    use super::*;
    use crate::engine::{FindOptions, PairList};
    use crate::progress::NoProgress;
    use crate::read::{Collection, ReadOptions, TextUnit};
    use crate::report::csv::CellRule;
    use lookalike_core::params::{Params, ParamsBuilder};
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    fn rows(write: impl FnOnce(Output)) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        write(Output::named(&path).unwrap());
        let file = std::fs::File::open(path).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect()
    }

    #[test]
    fn parquet_groups_match_csv_columns() {
        let got = rows(|output| groups(output, &tests::groups(), Measure::Jaccard).unwrap());
        assert_eq!(got.len(), 5);
        assert_eq!(
            got[0],
            "{group: 1, id: \"a,b\", role: \"keeper\", keeper: \"a,b\", jaccard: null}"
        );
        assert!(got[2].ends_with("role: \"duplicate\", keeper: \"a,b\", jaccard: 0.9}"), "{got:?}");
        let got = rows(|output| groups(output, &tests::groups(), Measure::Containment).unwrap());
        assert!(got[4].ends_with("keeper: \"k\", jaccard: 0.9, containment: 1.0}"), "{got:?}");
    }

    #[test]
    fn parquet_pairs_match_csv_columns() {
        let got = rows(|output| pairs(output, &tests::pairs(), Measure::Jaccard).unwrap());
        assert_eq!(got[1], "{id_a: \"k\", id_b: \"ü\", jaccard: 0.9}");
        let got = rows(|output| pairs(output, &Pairs::default(), Measure::Jaccard).unwrap());
        assert!(got.is_empty());
    }

    /// Returns the cells of a table, its header first, formatted as in CSV.
    fn cells(write: impl FnOnce(Output)) -> Vec<Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        write(Output::named(&path).unwrap());
        let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
        let mut table = Vec::new();
        for row in reader.get_row_iter(None).unwrap() {
            let row = row.unwrap();
            let names = row.get_column_iter().map(|(name, _)| name.clone()).collect();
            let cells = row.get_column_iter().map(|(_, cell)| match cell {
                Field::Null => String::new(),
                Field::Str(text) => text.clone(),
                Field::Double(number) => format!("{number:.6}"),
                other => other.to_string(),
            });
            let cells = cells.collect();
            table.splice(0..usize::from(!table.is_empty()), [names]);
            table.push(cells);
        }
        table
    }

    /// Returns the cells of a table in CSV.
    fn cells_of_csv(write: impl FnOnce(&mut Vec<u8>)) -> Vec<Vec<String>> {
        let mut bytes = Vec::new();
        write(&mut bytes);
        let mut reader = ::csv::ReaderBuilder::new().has_headers(false).from_reader(&bytes[..]);
        let rows = reader.records().map(|row| row.unwrap());
        rows.map(|row| row.iter().map(str::to_owned).collect()).collect()
    }

    #[test]
    fn parquet_units_match_csv_columns() {
        let same = "a paragraph of nine words that is there twice";
        let texts = [format!("é\r\n\r\n{same}\n \nother"), format!("語 語\n\n\n{same} again\n")];
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in ["a#1.txt", "b.txt"].iter().zip(&texts) {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let params = ParamsBuilder { threshold: 0.5, ..ParamsBuilder::default() };
        let mut options = FindOptions::new(Params::new(&params).unwrap());
        options.pairs = PairList::WithEstimates;
        let read = ReadOptions { unit: TextUnit::Paragraph, ..ReadOptions::default() };
        let collection = Collection::open(&[folder.path().to_owned()], &read).unwrap();
        let found = crate::engine::run(&collection, &options, &NoProgress).unwrap();
        let (measure, exact) = (Measure::Jaccard, CellRule::Exact);
        let of_groups = cells(|output| groups(output, &found.groups, measure).unwrap());
        let csv = cells_of_csv(|out| {
            crate::report::csv::groups(out, &found.groups, measure, exact).unwrap();
        });
        assert_eq!(of_groups, csv);
        assert_eq!((of_groups.len(), of_groups[0].len()), (3, 10));
        let listed = found.pairs.as_ref().unwrap();
        let of_pairs = cells(|output| pairs(output, listed, measure).unwrap());
        let csv = cells_of_csv(|out| {
            crate::report::csv::pairs(out, listed, measure, exact).unwrap();
        });
        assert_eq!(of_pairs, csv);
        let unit = of_pairs[1].iter().rev().take(10).rev().map(String::as_str).collect::<Vec<_>>();
        let a = same.len() + 3;
        let b = same.len() + 7;
        let [a, a_char] = [6 + a, 5 + a].map(|end| end.to_string());
        let [b, b_char] = [10 + b, 6 + b].map(|end| end.to_string());
        assert_eq!(unit, ["a#1.txt", "6", &a, "5", &a_char, "b.txt", "10", &b, "6", &b_char]);
    }
}
