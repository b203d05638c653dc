//! Writes the kept rows of Parquet files to a Parquet file of the same schema. With an annotation,
//! also writes the removed rows.
//!
//! ```text
//! source (opens, compares schemas) ─ row, row, … → parts of row groups ─ flush → a row group
//! ```
//!
//! Rows are only marked when they arrive. When enough are pending, their columns are copied one
//! after the other. If few rows of several input row groups are kept, they are written as one row
//! group.

mod arrow_schema;
mod filter;
mod input;
#[cfg(test)]
mod tests;

use super::annotation::{Annotate, AnnotationSubject, AnnotationValues, json_spans};
use super::destination::{DocumentOrigin, FOLDER_REMEDY};
use super::non_documents::RefusedFile;
use crate::dedup::{DedupError, SurvivorsProblem};
use crate::outcome::Outcome;
use crate::report::Output;
use crate::report::parquet::{
    CREATED_BY, Cell, PendingColumn, column_type, failed, push_bool, push_double, push_number,
    push_text, write_columns,
};
use crate::spill::SpillError;
use filter::{ChunkRows, RowCuts};
use input::ParquetInput;
use parquet::basic::Repetition;
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// The types of the columns of an annotation, in the order of [`Annotate::columns`].
fn cells(annotate: &Annotate) -> &'static [Cell] {
    match annotate.subject {
        AnnotationSubject::Groups(_) => &[
            Cell::Bool,
            Cell::Int64,
            Cell::Text,
            Cell::Double,
            Cell::Text,
            Cell::Text,
            Cell::Double,
            Cell::Int64,
        ],
        AnnotationSubject::Passages => &[Cell::Bool, Cell::Int64, Cell::Text],
    }
}

/// Uncompressed bytes after which a row group is written.
const GROUP_BYTES: u64 = 128 << 20;
/// Rows after which a row group is written.
const GROUP_ROWS: usize = 1 << 20;
/// Rows after which an annotated row group is written. This is less than `GROUP_ROWS` because the
/// cells of the annotation are in memory until then.
const ANNOTATED_ROWS: usize = 1 << 18;

/// A Parquet file being written.
pub(super) struct Rewriter {
    out: PathBuf,
    /// The output, until the first source determines the schema.
    output: Option<Output>,
    writer: Option<SerializedFileWriter<Output>>,
    annotate: Option<Annotate>,
    /// The columns of the annotation, with the cells of the pending rows.
    notes: Vec<PendingColumn>,
    /// The first input. The schemas of later inputs are compared with it.
    first: Option<Arc<ParquetInput>>,
    input: Option<Arc<ParquetInput>>,
    pending: Vec<RowGroupPart>,
    rows: usize,
    bytes: u64,
    /// Whether rows that cannot be read are listed instead of ending the run.
    pub(super) skips_unreadable: bool,
    /// The current row group and its number of readable rows, if unreadable rows are listed.
    readable: Option<(usize, usize)>,
    unreadable: UnreadableRows,
}

/// Rows of the input that could not be read again.
#[derive(Debug, Default)]
pub(super) struct UnreadableRows {
    /// Files with their unreadable rows and the reason.
    pub(super) listed: Vec<RefusedFile>,
    /// Unreadable rows that were to be kept, without the rows of files that cannot be opened.
    pub(super) kept: u64,
    /// Unreadable duplicates, without dropped rows and without the rows of files that cannot be
    /// opened.
    pub(super) removed: u64,
}

/// Rows of a row group that will be written or left out.
struct RowGroupPart {
    input: Arc<ParquetInput>,
    group: usize,
    /// The first row, counted from the beginning of the row group.
    first: usize,
    keep: Vec<bool>,
    /// The column of texts, to which `cuts` applies.
    text: Option<usize>,
    cuts: RowCuts,
}

impl Rewriter {
    pub(super) fn new(output: Output, annotate: Option<Annotate>) -> Self {
        let notes = annotate.iter().flat_map(cells).map(|cell| PendingColumn::new(*cell)).collect();
        Self {
            out: output.path().to_owned(),
            output: Some(output),
            writer: None,
            annotate,
            notes,
            first: None,
            input: None,
            pending: Vec::new(),
            rows: 0,
            bytes: 0,
            skips_unreadable: false,
            readable: None,
            unreadable: UnreadableRows::default(),
        }
    }

    /// Opens a file. The first file begins the output.
    pub(super) fn source(&mut self, origin: &DocumentOrigin) -> Result<(), DedupError> {
        let Some(path) = &origin.path else {
            return Err(self.refused(format!("{} cannot be read a second time", origin.name)));
        };
        let input = match ParquetInput::open(path, &origin.name) {
            Ok(input) => input,
            Err(error) if self.skips_unreadable => {
                self.input = None;
                self.unreadable.listed.push((path.clone(), error.to_string()));
                return Ok(());
            }
            Err(error) => return Err(self.unreadable(&origin.name, &error)),
        };
        let input = Arc::new(input);
        if let Some(first) = &self.first {
            if let Some(difference) = first.difference(&input) {
                return Err(self
                    .refused(format!("{difference}: one file cannot hold both; {FOLDER_REMEDY}")));
            }
        } else {
            self.first = Some(Arc::clone(&input));
            self.begin(&input)?;
        }
        self.input = Some(input);
        self.readable = None;
        Ok(())
    }

    /// Whether all columns of a row can be read. Lists the unreadable rows of each row group once.
    /// The columns are read before writing, because a row group of the output cannot be withdrawn
    /// once begun.
    fn is_readable(&mut self, input: &ParquetInput, group: usize, at: usize) -> bool {
        if !self.skips_unreadable {
            return true;
        }
        if let Some((known, rows)) = self.readable
            && known == group
        {
            return at < rows;
        }
        let (rows, problem) = filter::readable_rows(input, group);
        if let Some(problem) = problem {
            let from = input.start(group) + rows as u64;
            let to = input.start(group + 1);
            let reason = format!("rows {} to {to} cannot be read: {problem}", from + 1);
            self.unreadable.listed.push((PathBuf::from(input.name()), reason));
        }
        self.readable = Some((group, rows));
        at < rows
    }

    fn begin(&mut self, input: &ParquetInput) -> Result<(), DedupError> {
        let schema = self.schema(input)?;
        let columns = self.new_columns();
        let properties = input.properties(CREATED_BY, columns.as_deref());
        let Some(output) = self.output.take() else { return Ok(()) };
        let writer = SerializedFileWriter::new(output, schema, Arc::new(properties));
        self.writer = Some(writer.map_err(|error| failed(self.out.clone(), error))?);
        Ok(())
    }

    /// The names and types of the annotation's columns.
    fn new_columns(&self) -> Option<Vec<(String, Cell)>> {
        let annotate = self.annotate.as_ref()?;
        Some(annotate.columns().into_iter().zip(cells(annotate).iter().copied()).collect())
    }

    /// The schema of the input, with the columns of the annotation appended.
    fn schema(&self, input: &ParquetInput) -> Result<TypePtr, DedupError> {
        let root = input.schema();
        let Some(columns) = self.new_columns() else { return Ok(root) };
        let mut fields = root.get_fields().to_vec();
        for (name, cell) in columns {
            if fields.iter().any(|field| field.name() == name) {
                return Err(self.refused(SurvivorsProblem::ColumnTaken {
                    source_name: input.name().to_string(),
                    column: name,
                }));
            }
            let column = column_type(&name, cell, Repetition::OPTIONAL);
            fields.push(column.map_err(|error| failed(self.out.clone(), error))?);
        }
        let schema = Type::group_type_builder(root.name()).with_fields(fields).build();
        Ok(schema.map(Arc::new).map_err(|error| failed(self.out.clone(), error))?)
    }

    /// Takes a row of the current source. Rows that are never passed are left out.
    pub(super) fn row(&mut self, row: u64, outcome: &Outcome<'_>) -> Result<(), DedupError> {
        self.take_row(row, outcome, None)
    }

    /// Takes a row that is kept without some ranges of its text, which is in the column
    /// `text_field`.
    pub(super) fn cut_row(
        &mut self,
        row: u64,
        text_field: &str,
        removed_ranges: &[Range<usize>],
    ) -> Result<(), DedupError> {
        self.take_row(row, &Outcome::Unique, Some((text_field, removed_ranges)))
    }

    fn take_row(
        &mut self,
        row: u64,
        outcome: &Outcome<'_>,
        cut: Option<(&str, &[Range<usize>])>,
    ) -> Result<(), DedupError> {
        let Some(input) = self.input.clone() else { return Ok(()) };
        let Some((group, at)) = input.place(row) else {
            return Err(self.refused(format!(
                "{} has no row {} any more; run again when nothing writes to it",
                input.name(),
                row + 1
            )));
        };
        if !self.is_readable(&input, group, at) {
            self.unreadable.kept += u64::from(outcome.is_kept());
            self.unreadable.removed += u64::from(matches!(outcome, Outcome::Duplicate { .. }));
            return Ok(());
        }
        let written = outcome.is_kept() || self.annotate.is_some();
        let same = |part: &RowGroupPart| part.group == group && Arc::ptr_eq(&part.input, &input);
        if !self.pending.last().is_some_and(same) {
            // A part without kept rows need not be read again.
            self.pending.pop_if(|part| !part.keep.contains(&true));
            let input = Arc::clone(&input);
            let keep = Vec::new();
            let cuts = RowCuts::new();
            self.pending.push(RowGroupPart { input, group, first: at, keep, text: None, cuts });
        }
        if let Some(part) = self.pending.last_mut() {
            // Rows in between that were not passed to this function are left out.
            part.keep.resize(at.saturating_sub(part.first), false);
            part.keep.push(written);
            if let Some((text_field, removed_ranges)) = cut {
                part.text = input.column(text_field);
                part.cuts.insert(at, removed_ranges.to_vec());
            }
        }
        if written {
            self.note(outcome)?;
            self.rows += 1;
            self.bytes += input.row_bytes(group);
        }
        let most = if self.annotate.is_some() { ANNOTATED_ROWS } else { GROUP_ROWS };
        if self.rows >= most || self.bytes >= GROUP_BYTES {
            return self.flush();
        }
        Ok(())
    }

    fn note(&mut self, outcome: &Outcome<'_>) -> Result<(), DedupError> {
        let values = AnnotationValues::of(outcome);
        match self.notes.as_mut_slice() {
            [kept, group, keeper, similarity, reason, neighbour, likeness, size] => {
                push_bool(kept, Some(values.kept));
                push_number(group, values.group);
                push_text(keeper, values.keeper);
                push_double(similarity, number(values.similarity)?);
                push_text(reason, Some(values.reason));
                push_text(neighbour, values.neighbour.map(|(id, _)| id));
                let neighbour = values.neighbour.map(|(_, similarity)| similarity);
                push_double(likeness, number(neighbour)?);
                push_number(size, values.group_size);
            }
            [kept, cut_words, passages] => {
                let (words, spans) = values.passages.unwrap_or_default();
                push_bool(kept, Some(values.kept));
                push_number(cut_words, Some(words));
                push_text(passages, Some(&json_spans(spans)));
            }
            // Without annotation, no columns exist.
            _ => {}
        }
        Ok(())
    }

    /// Writes the pending rows as a row group.
    fn flush(&mut self) -> Result<(), DedupError> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        let parts = std::mem::take(&mut self.pending);
        let Some(writer) = self.writer.as_mut().filter(|_| rows > 0) else { return Ok(()) };
        let written = write_group(writer, &parts, &mut self.notes);
        Ok(written.map_err(|error| failed(self.out.clone(), error))?)
    }

    /// Ends the file. Returns the rows that could not be read.
    pub(super) fn finish(mut self) -> Result<UnreadableRows, DedupError> {
        self.flush()?;
        match (self.writer, self.output) {
            (Some(writer), _) => {
                let output = writer.into_inner().map_err(|error| failed(self.out, error))?;
                output.finish(|_| Ok(()))?;
            }
            (None, Some(output)) => output.finish(|_| Ok(()))?,
            (None, None) => {}
        }
        Ok(self.unreadable)
    }

    fn refused(&self, problem: impl Into<SurvivorsProblem>) -> DedupError {
        DedupError::Survivors { path: self.out.clone(), problem: problem.into() }
    }

    fn unreadable(&self, name: &str, error: &ParquetError) -> DedupError {
        self.refused(format!("{name} cannot be read again: {error}"))
    }
}

/// Parses the number of a similarity.
fn number(similarity: Option<&str>) -> Result<Option<f64>, DedupError> {
    let number = similarity.map(str::parse).transpose();
    number.map_err(|_| SpillError::altered("the similarity of an outcome").into())
}

fn write_group(
    writer: &mut SerializedFileWriter<Output>,
    parts: &[RowGroupPart],
    notes: &mut [PendingColumn],
) -> Result<(), ParquetError> {
    let columns = parts.first().map_or(0, |part| part.input.columns());
    let no_cuts = RowCuts::new();
    let mut group = writer.next_row_group()?;
    for column in 0..columns {
        let Some(mut writer) = group.next_column()? else {
            return Err(ParquetError::General("the output has fewer columns".to_owned()));
        };
        for part in parts {
            let reader = part.input.reader(part.group, column)?;
            let batch = part.input.batch_rows(part.group, column);
            let cuts = if part.text == Some(column) { &part.cuts } else { &no_cuts };
            let rows = ChunkRows { first: part.first, keep: &part.keep, batch, cuts };
            filter::copy(reader, rows, &mut writer)?;
        }
        writer.close()?;
    }
    write_columns(&mut group, notes)?;
    group.close()?;
    Ok(())
}
