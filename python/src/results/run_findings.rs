//! The findings of a run, and the rows of its documents in memory.

use crate::error::{DocumentError, OptionError, run_error};
use crate::input::ids::{IdColumn, IdKind};
use arrow_array::ArrayRef;
use arrow_array::builder::Float64Builder;
use lookalike::core::params::Measure;
use lookalike::core::verify::Overlap;
use lookalike::error::Error;
use lookalike::find::{DocumentNumber, FindOptions, Findings};
use lookalike::read::{Document, Raw, ReadOptions, TextUnit};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};
use std::sync::Arc;

/// The findings of a run.
pub(crate) struct RunFindings {
    pub(crate) findings: Arc<Findings>,
    pub(crate) options: FindOptions,
    pub(crate) rows: RowNumbers,
}

impl RunFindings {
    pub(crate) fn measures(&self) -> &'static [(&'static str, Measure)] {
        match self.options.params.measure() {
            Measure::Jaccard => &[("jaccard", Measure::Jaccard)],
            Measure::Containment => {
                &[("jaccard", Measure::Jaccard), ("containment", Measure::Containment)]
            }
        }
    }

    /// Returns the number of the document of a row, or `None` if the row was skipped.
    pub(crate) fn document_of(&self, row: usize) -> Option<DocumentNumber> {
        self.rows.number(row as u64, self.findings.counts.documents)
    }
}

/// The rows of documents, and the type of their ids.
pub(crate) struct RowNumbers {
    pub(crate) ids: IdKind,
    /// The unit of comparison.
    pub(crate) unit: TextUnit,
    /// The row of each document, by document number. `None` if rows and document numbers are equal.
    /// They differ if bad documents are skipped, units are compared, or a list excludes documents.
    rows: Option<Vec<u64>>,
}

impl RowNumbers {
    /// The numbers of documents that are not in memory.
    pub(crate) fn of_files() -> Self {
        Self { ids: IdKind::Files, unit: TextUnit::Document, rows: None }
    }

    /// Determines the rows of the documents of a run. `ids` is the type of their ids.
    ///
    /// # Errors
    /// If the documents cannot be read again.
    pub(crate) fn of(
        ids: IdKind,
        reading: &ReadOptions,
        findings: &Findings,
    ) -> Result<Self, Error> {
        let unit = reading.unit;
        let are_rows =
            !reading.skip_bad && unit == TextUnit::Document && findings.dropped.is_none();
        if !ids.is_held() || are_rows {
            return Ok(Self { ids, unit, rows: None });
        }
        let mut rows = Vec::new();
        let mut take = |_: DocumentNumber, document: &Document<'_>| {
            rows.push(if let Raw::Row(row) = document.raw { row } else { 0 });
            Ok::<_, Error>(())
        };
        findings.replay(&mut take)?;
        Ok(Self { ids, unit, rows: Some(rows) })
    }

    /// Creates a column for the ids of the compared documents or units.
    pub(crate) fn id_column(&self) -> IdColumn {
        IdColumn::new(self.ids.of_unit(self.unit))
    }

    /// Returns the number of the document of a row. Returns `None` if the row was skipped or does
    /// not exist. `documents` is the number of documents.
    fn number(&self, row: u64, documents: u64) -> Option<DocumentNumber> {
        let number = match &self.rows {
            Some(rows) => rows.binary_search(&row).ok().map(|number| number as u64),
            None => Some(row).filter(|row| *row < documents),
        };
        number.and_then(|number| u32::try_from(number).ok()).map(DocumentNumber)
    }

    /// Returns the number of the document with an id. Without an id, returns the number of the
    /// document of a row, or `row` itself for documents in files.
    ///
    /// # Errors
    /// `DocumentError` if the document does not exist. `OptionError` for an id of another type, and
    /// for a row of documents in memory that are compared by units.
    pub(crate) fn find(
        &self,
        py: Python<'_>,
        findings: &Findings,
        row: Option<u64>,
        id: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<DocumentNumber> {
        if let Some(id) = id {
            let id = self.id_text(id)?;
            let document = py
                .detach(|| findings.document_with(|document| self.ids.display_id(document) == id));
            let unknown = || DocumentError::new_err(format!("no document has the id {id:?}"));
            return document.map_err(run_error)?.ok_or_else(unknown);
        }
        if self.unit != TextUnit::Document && self.ids.is_held() {
            return Err(OptionError::new_err(
                "a row may have several units; name one by its id, such as text('0#1')",
            ));
        }
        let row = row.unwrap_or(0);
        let documents = findings.counts.documents;
        self.number(row, documents).ok_or_else(|| {
            let remedy =
                if self.rows.is_some() { "; found.skipped lists the skipped ones" } else { "" };
            DocumentError::new_err(format!(
                "document {row} does not exist; the run read {documents} documents{remedy}"
            ))
        })
    }

    /// Converts an id of the caller to text, in its form in results.
    fn id_text(&self, id: &Bound<'_, PyAny>) -> PyResult<String> {
        let is_number = matches!(self.ids.of_unit(self.unit), IdKind::Numbers | IdKind::Unsigned);
        match (id.is_instance_of::<PyString>(), id.is_instance_of::<PyInt>()) {
            (true, _) if !is_number => id.extract(),
            (_, true) => Ok(id.str()?.to_string()),
            (is_text, _) => {
                let label = if is_text { "row" } else { "id" };
                let expected = if is_number { "a whole number" } else { "a str" };
                let text =
                    format!("{label}: expected {expected}, as the ids are, got {}", id.repr()?);
                Err(OptionError::new_err(text))
            }
        }
    }

    /// Returns the row of a document, or `None` for a reference document or a document in a file.
    pub(crate) fn row(&self, document: DocumentNumber, reference: bool) -> Option<u64> {
        match (&self.rows, reference || !self.ids.is_held()) {
            (_, true) => None,
            (Some(rows), _) => rows.get(document.0 as usize).copied(),
            (None, _) => Some(u64::from(document.0)),
        }
    }
}

/// Columns of similarities, one for each measure.
pub(crate) struct SimilarityColumns {
    measures: &'static [(&'static str, Measure)],
    columns: Vec<Float64Builder>,
}

impl SimilarityColumns {
    pub(crate) fn new(measures: &'static [(&'static str, Measure)]) -> Self {
        Self { measures, columns: measures.iter().map(|_| Float64Builder::new()).collect() }
    }

    /// Appends similarities, rounded to six decimals as in result files.
    pub(crate) fn push(&mut self, overlap: Option<&Overlap>) {
        for (column, (_, measure)) in self.columns.iter_mut().zip(self.measures) {
            column.append_option(overlap.map(|overlap| overlap.rounded(*measure)));
        }
    }

    pub(crate) fn finish(mut self, null: bool) -> Vec<(&'static str, ArrayRef, bool)> {
        let columns = self.columns.iter_mut().zip(self.measures);
        columns.map(|(column, (name, _))| (*name, Arc::new(column.finish()) as _, null)).collect()
    }
}
