//! A Parquet file to read again: its schema, its columns, and how they were written.

use super::arrow_schema;
use crate::report::parquet::Cell;
use parquet::basic::{Compression, Encoding};
use parquet::column::reader::ColumnReader;
use parquet::errors::Result;
use parquet::file::metadata::{ColumnChunkMetaData, KeyValue, ParquetMetaData, RowGroupMetaData};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::schema::types::TypePtr;
use std::fs::File;
use std::path::Path;

/// Bytes of a column that are in memory at a time, in addition to its page.
const BATCH_BYTES: u64 = 16 << 20;

/// The entry that holds the Arrow schema.
const ARROW_SCHEMA: &str = "ARROW:schema";

pub(super) struct ParquetInput {
    name: String,
    reader: SerializedFileReader<File>,
    /// The number of rows before each row group, followed by the number of all rows.
    starts: Vec<u64>,
}

impl ParquetInput {
    /// Opens the file `path`, which messages call `name`.
    pub(super) fn open(path: &Path, name: &str) -> Result<Self> {
        let reader = SerializedFileReader::new(File::open(path)?)?;
        let mut starts = vec![0];
        let mut rows = 0;
        for group in reader.metadata().row_groups() {
            rows += u64::try_from(group.num_rows()).unwrap_or(0);
            starts.push(rows);
        }
        Ok(Self { name: name.to_owned(), reader, starts })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    fn metadata(&self) -> &ParquetMetaData {
        self.reader.metadata()
    }

    fn group(&self, group: usize) -> Option<&RowGroupMetaData> {
        self.metadata().row_groups().get(group)
    }

    pub(super) fn schema(&self) -> TypePtr {
        self.metadata().file_metadata().schema_descr().root_schema_ptr()
    }

    pub(super) fn columns(&self) -> usize {
        self.metadata().file_metadata().schema_descr().num_columns()
    }

    /// Finds a column by its name. Fields of groups have names such as `meta.text`.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        let columns = self.metadata().file_metadata().schema_descr().columns();
        columns.iter().position(|column| column.path().string() == name)
    }

    /// Returns the row group of a row of the file, and the row's position in that group.
    pub(super) fn place(&self, row: u64) -> Option<(usize, usize)> {
        let after = self.starts.partition_point(|start| *start <= row);
        let group = after.checked_sub(1)?;
        // A row after the last row group does not exist.
        self.starts.get(after)?;
        Some((group, usize::try_from(row - self.starts.get(group)?).ok()?))
    }

    /// The number of rows before a row group. After the last group, this is the number of all rows.
    pub(super) fn start(&self, group: usize) -> u64 {
        self.starts.get(group).copied().unwrap_or(0)
    }

    /// The average number of bytes of a row, uncompressed.
    pub(super) fn row_bytes(&self, group: usize) -> u64 {
        self.group(group).map_or(0, |group| ratio(group.total_byte_size(), group.num_rows()))
    }

    /// Rows of a column that are in memory at a time.
    pub(super) fn batch_rows(&self, group: usize, column: usize) -> usize {
        let Some(group) = self.group(group) else { return 1 };
        let size = group.columns().get(column).map_or(0, ColumnChunkMetaData::uncompressed_size);
        (BATCH_BYTES / ratio(size, group.num_rows()).max(1)) as usize
    }

    /// Opens a reader at the beginning of a column chunk.
    pub(super) fn reader(&self, group: usize, column: usize) -> Result<ColumnReader> {
        self.reader.get_row_group(group)?.get_column_reader(column)
    }

    /// Describes how the columns of another file differ.
    pub(super) fn difference(&self, other: &Self) -> Option<String> {
        let own_schema = self.schema();
        let other_schema = other.schema();
        let own_fields = own_schema.get_fields();
        let other_fields = other_schema.get_fields();
        let differs = (0..own_fields.len().max(other_fields.len()))
            .find(|i| own_fields.get(*i) != other_fields.get(*i))?;
        let describe = |field: Option<&TypePtr>| {
            let Some(field) = field else { return "no further column".to_owned() };
            let mut text = Vec::new();
            parquet::schema::printer::print_schema(&mut text, field);
            let text = String::from_utf8_lossy(&text);
            text.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches(';').to_owned()
        };
        Some(format!(
            "column {} of {} is `{}`, that of {} is `{}`",
            differs + 1,
            self.name,
            describe(own_fields.get(differs)),
            other.name,
            describe(other_fields.get(differs)),
        ))
    }

    /// The properties of the output: metadata, compression and encodings of this file.
    pub(super) fn properties(
        &self,
        created_by: &str,
        annotation: Option<&[(String, Cell)]>,
    ) -> WriterProperties {
        let mut properties = WriterProperties::builder()
            .set_created_by(created_by.to_owned())
            .set_key_value_metadata(self.key_values(annotation));
        if let Some(group) = self.group(0) {
            for (at, column) in group.columns().iter().enumerate() {
                // Annotations are compressed like the first column.
                if at == 0 {
                    properties = properties.set_compression(writable(column.compression()));
                }
                properties = as_in(properties, column);
            }
        }
        properties.build()
    }

    fn key_values(&self, annotation: Option<&[(String, Cell)]>) -> Option<Vec<KeyValue>> {
        let mut values = self.metadata().file_metadata().key_value_metadata()?.clone();
        let Some(columns) = annotation else { return Some(values) };
        for value in values.iter_mut().filter(|value| value.key == ARROW_SCHEMA) {
            let schema = value.value.as_deref();
            value.value = schema.and_then(|schema| arrow_schema::extended(schema, columns));
        }
        // Remove a schema that could not be extended: without the new columns, it would contradict
        // the file. If the schema is missing, readers use the types of Parquet.
        values.retain(|value| value.key != ARROW_SCHEMA || value.value.is_some());
        Some(values)
    }
}

fn as_in(
    properties: WriterPropertiesBuilder,
    column: &ColumnChunkMetaData,
) -> WriterPropertiesBuilder {
    let path = column.column_path();
    let dictionary = column.dictionary_page_offset().is_some()
        || column.encodings().any(|encoding| encoding == Encoding::RLE_DICTIONARY);
    let special = column.encodings().find(|encoding| {
        matches!(
            encoding,
            Encoding::DELTA_BINARY_PACKED
                | Encoding::DELTA_LENGTH_BYTE_ARRAY
                | Encoding::DELTA_BYTE_ARRAY
                | Encoding::BYTE_STREAM_SPLIT
        )
    });
    let properties = properties
        .set_column_compression(path.clone(), writable(column.compression()))
        .set_column_dictionary_enabled(path.clone(), dictionary);
    match special {
        Some(encoding) => properties.set_column_encoding(path.clone(), encoding),
        None => properties,
    }
}

/// Returns the compression, or a similar one if the compression cannot be written.
fn writable(compression: Compression) -> Compression {
    match compression {
        // Implementations disagree about the framing of the older kind.
        Compression::LZ4 => Compression::LZ4_RAW,
        Compression::LZO => Compression::SNAPPY,
        other => other,
    }
}

fn ratio(bytes: i64, rows: i64) -> u64 {
    u64::try_from(bytes).unwrap_or(0) / u64::try_from(rows).unwrap_or(1).max(1)
}
