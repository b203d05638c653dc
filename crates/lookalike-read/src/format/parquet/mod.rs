//! Converts Parquet files to packed rows. The footer of a file names its columns and its row
//! groups.
//!
//! Row groups are independent, so each is a lane of its source, from which one thread at a time
//! takes blocks. All columns of a row group are decoded together, a batch of rows at a time. Memory
//! contains the current pages (about 1 MiB each) and the dictionaries of the columns that are read.

mod column;
mod pages;
mod row_group;

pub(crate) use row_group::RowGroup;

use crate::error::{Field, ReadError, TableProblem};
use crate::options::ReadOptions;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{
    ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader, ParquetStatisticsPolicy,
};
use column::{ColumnKind, type_of};
use pages::SharedFile;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// An open file, with its footer and the columns of documents.
pub(crate) struct ParquetFile {
    file: SharedFile,
    footer: ParquetMetaData,
    /// The columns in the order of the values of a row.
    columns: Vec<(usize, ColumnKind)>,
    /// The first row of each row group.
    first_rows: Vec<u64>,
}

impl ParquetFile {
    /// Reads the footer and finds the columns.
    pub(crate) fn open(
        path: &Path,
        display_name: &str,
        options: &ReadOptions,
    ) -> Result<Self, ReadError> {
        let io = |error| ReadError::Io { source_name: display_name.to_owned(), error };
        let file = SharedFile::new(File::open(path).map_err(io)?).map_err(io)?;
        let footer = guarded(display_name, || {
            let options = ParquetMetaDataOptions::new()
                .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
                .with_encoding_stats_policy(ParquetStatisticsPolicy::SkipAll)
                .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll);
            let reader = ParquetMetaDataReader::new().with_metadata_options(Some(options));
            reader.parse_and_finish(&file)
        })?;
        let columns = columns(&footer, display_name, options)?;
        let mut first_rows = Vec::with_capacity(footer.num_row_groups());
        let mut rows: u64 = 0;
        for group in footer.row_groups() {
            first_rows.push(rows);
            let more = u64::try_from(group.num_rows()).ok();
            rows = more.and_then(|more| rows.checked_add(more)).ok_or_else(|| {
                broken(display_name, format!("a row group of {} rows", group.num_rows()))
            })?;
        }
        Ok(Self { file, footer, columns, first_rows })
    }

    /// The number of row groups.
    pub(crate) fn groups(&self) -> usize {
        self.first_rows.len()
    }
}

/// The columns of the id, the text and the extra fields.
fn columns(
    footer: &ParquetMetaData,
    display_name: &str,
    options: &ReadOptions,
) -> Result<Vec<(usize, ColumnKind)>, ReadError> {
    let all = footer.file_metadata().schema_descr().columns();
    let present = || {
        let name = |column: &::parquet::schema::types::ColumnDescPtr| {
            format!("{}: {}", column.path().string(), type_of(column))
        };
        all.iter().map(name).collect()
    };
    let refused = |problem| ReadError::Table { source_name: display_name.to_owned(), problem };
    let wrong_count = |field, name: &str, found| {
        let name = name.to_owned();
        let present = present();
        refused(TableProblem::Column { field, name, found, present })
    };
    let find = |field: Field, name: &str| {
        let mut found = all.iter().enumerate().filter(|(_, column)| column.path().string() == name);
        let (Some((index, column)), more) = (found.next(), found.count()) else {
            return Err(wrong_count(field, name, 0));
        };
        if more > 0 {
            return Err(wrong_count(field, name, more + 1));
        }
        match ColumnKind::of(column).filter(|kind| kind.suits(field)) {
            Some(kind) => Ok((index, kind)),
            None => Err(refused(TableProblem::ColumnType {
                field,
                name: name.to_owned(),
                got: type_of(column),
                present: present(),
            })),
        }
    };
    let id = (!options.line_ids).then(|| find(Field::Id, &options.id_field));
    let text = std::iter::once(find(Field::Text, &options.text_field));
    let extra = options.fields.iter().map(|name| find(Field::Extra, name));
    id.into_iter().chain(text).chain(extra).collect()
}

/// The error for a file that the decoder rejects.
fn broken(display_name: &str, problem: String) -> ReadError {
    ReadError::Parquet { source_name: display_name.to_owned(), problem }
}

/// Runs a step of the decoder. The decoder returns errors for most damage of a file, but panics for
/// some (such as a length beyond the end of the page). Such a panic also becomes an error of the
/// file. Partly decoded values are not used afterwards.
fn guarded<T>(
    display_name: &str,
    decode: impl FnOnce() -> Result<T, ParquetError>,
) -> Result<T, ReadError> {
    match catch_unwind(AssertUnwindSafe(decode)) {
        Ok(decoded) => decoded.map_err(|error| broken(display_name, error.to_string())),
        Err(_) => Err(broken(display_name, "a page or the footer contradicts itself".to_owned())),
    }
}
