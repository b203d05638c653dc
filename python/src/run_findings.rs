//! The findings of a run with what their rows and columns need.

use crate::error::DocumentError;
use crate::ids::IdKind;
use arrow_array::ArrayRef;
use arrow_array::builder::Float64Builder;
use lookalike::core::params::Measure;
use lookalike::core::verify::Overlap;
use lookalike::find::FindOptions;
use pyo3::prelude::*;
use std::sync::Arc;

/// The findings of a run.
pub(crate) struct RunFindings {
    pub(crate) findings: Arc<lookalike::find::Findings>,
    pub(crate) options: FindOptions,
    pub(crate) ids: IdKind,
    /// The rows of the documents, where they may not be their numbers: bad ones are skipped.
    pub(crate) rows: Option<Vec<u64>>,
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

    /// The number of the document of a row.
    pub(crate) fn document(&self, row: u64) -> PyResult<u32> {
        let documents = self.findings.counts.documents;
        let number = match &self.rows {
            Some(rows) => rows.binary_search(&row).ok().map(|number| number as u64),
            None => Some(row).filter(|row| *row < documents),
        };
        let number = number.and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| {
            let remedy =
                if self.rows.is_some() { ": found.skipped lists those left out" } else { "" };
            DocumentError::new_err(format!(
                "there is no document {row} among the {documents} that were read{remedy}"
            ))
        })
    }

    /// The document of a row; none where the row was skipped.
    pub(crate) fn document_of(&self, row: usize) -> Option<u32> {
        match &self.rows {
            Some(rows) => u32::try_from(rows.binary_search(&(row as u64)).ok()?).ok(),
            None => u32::try_from(row).ok().filter(|row| u64::from(*row) < self.documents()),
        }
    }

    pub(crate) fn documents(&self) -> u64 {
        self.findings.counts.documents
    }

    /// The row of a document; none where it is a reference, or was read from a file.
    pub(crate) fn row(&self, document: u32, reference: bool) -> Option<u64> {
        match (&self.rows, reference || !self.ids.is_held()) {
            (_, true) => None,
            (Some(rows), _) => rows.get(document as usize).copied(),
            (None, _) => Some(u64::from(document)),
        }
    }
}

/// Similarities, a column for each measure.
pub(crate) struct SimilarityColumns {
    measures: &'static [(&'static str, Measure)],
    columns: Vec<Float64Builder>,
}

impl SimilarityColumns {
    pub(crate) fn new(measures: &'static [(&'static str, Measure)]) -> Self {
        Self { measures, columns: measures.iter().map(|_| Float64Builder::new()).collect() }
    }

    /// The numbers that are in files, with six decimals.
    pub(crate) fn push(&mut self, overlap: Option<&Overlap>) {
        for (column, (_, measure)) in self.columns.iter_mut().zip(self.measures) {
            let text = overlap.map(|overlap| overlap.six_decimals_of(*measure));
            column.append_option(text.and_then(|text| text.parse().ok()));
        }
    }

    pub(crate) fn finish(mut self, null: bool) -> Vec<(&'static str, ArrayRef, bool)> {
        let columns = self.columns.iter_mut().zip(self.measures);
        columns.map(|(column, (name, _))| (*name, Arc::new(column.finish()) as _, null)).collect()
    }
}
