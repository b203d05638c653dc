//! The audit of divided documents: draws a sample and searches for its neighbours.

use super::columns::StageTable;
use super::plan_options::plan_options;
use crate::arrow::array_chunks::each_blob;
use crate::arrow::table::ArrowTable;
use crate::arrow::text_column::TextColumn;
use crate::error::{DamagedError, OptionError, run_error};
use crate::input::compared_input::ComparedInput;
use crate::input::inputs::ComparedInputs;
use crate::input::text::TextRows;
use arrow_array::builder::{BinaryBuilder, BooleanBuilder};
use lookalike::audit::divided::{
    AuditSample, DrawnDocument, ReadTexts, ShareNeighbours, draw_share, lot_limit,
};
use lookalike::audit::{AuditOptions, JudgedBy};
use lookalike::core::params::Params;
use lookalike::error::Error;
use lookalike::progress::NoProgress;
use lookalike::read::ReadOptions;
use lookalike::shard::BlockError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Returns the greatest hash of a drawn id. It is chosen so that about `sample` of `population`
/// documents with a token are drawn. Later attempts return a greater limit.
#[pyfunction]
pub(crate) fn draw_limit(population: u64, sample: usize, attempt: u32) -> PyResult<u64> {
    let Some(sample) = NonZeroUsize::new(sample) else {
        return Err(OptionError::new_err("sample: expected 1 or more, got 0"));
    };
    Ok(lot_limit(population, sample, attempt))
}

/// Draws the documents whose hashes are at most `limit`. Returns a row for each.
#[pyfunction]
pub(crate) fn draw(
    py: Python<'_>,
    documents: ComparedInput,
    reference: Option<ComparedInput>,
    options: &Bound<'_, PyDict>,
    seed: u64,
    limit: u64,
) -> PyResult<ArrowTable> {
    let (find, reading) = plan_options(py, options)?;
    let inputs = ComparedInputs::new(py, &documents, reference.as_ref(), reading)?;
    let audit_options =
        AuditOptions { seed, threads: NonZeroUsize::MIN, ..AuditOptions::default() };
    let drawn = py
        .detach(|| draw_share(&inputs.open()?, &find.params, &audit_options, limit, &NoProgress))
        .map_err(run_error)?;
    drawn_rows(&drawn)
}

fn drawn_rows(drawn: &[DrawnDocument]) -> PyResult<ArrowTable> {
    let mut ids = TextColumn::default();
    let mut references = BooleanBuilder::new();
    let mut fingerprints = BinaryBuilder::new();
    let mut shingles = BinaryBuilder::new();
    for document in drawn {
        ids.push(Some(&document.id));
        references.append_value(document.reference);
        fingerprints.append_value(document.fingerprint.to_le_bytes());
        let bytes: Vec<u8> =
            document.shingles.iter().flat_map(|shingle| shingle.to_le_bytes()).collect();
        shingles.append_value(bytes);
    }
    ArrowTable::new(vec![
        ("id", ids.finish(), false),
        ("reference", Arc::new(references.finish()), false),
        ("fingerprint", Arc::new(fingerprints.finish()), false),
        ("shingles", Arc::new(shingles.finish()), false),
    ])
}

/// Converts rows in the format of [`drawn_rows`].
fn drawn_of(py: Python<'_>, rows: &Bound<'_, PyAny>) -> PyResult<Vec<DrawnDocument>> {
    let mut table = StageTable::of(rows)?;
    let ids = TextRows::of_arrow(table.column("id")?, "id", py)?;
    let references = table.flags("reference")?;
    let [fingerprints, shingles] = ["fingerprint", "shingles"].map(|name| table.binary(name));
    let fingerprints = fingerprints?;
    let shingles = shingles?;
    let sets = each_blob(&fingerprints).zip(each_blob(&shingles));
    let rows = references.into_iter().zip(sets).enumerate();
    let drawn = rows.map(|(row, (reference, (fingerprint, shingles)))| {
        let id = std::str::from_utf8(ids.bytes(row)?).ok()?.to_owned();
        let fingerprint = u128::from_le_bytes(fingerprint.try_into().ok()?);
        let (shingles, rest) = shingles.as_chunks::<8>();
        let shingles = shingles.iter().map(|shingle| u64::from_le_bytes(*shingle)).collect();
        rest.is_empty().then_some(DrawnDocument { id, reference, fingerprint, shingles })
    });
    let drawn: Option<Vec<DrawnDocument>> = drawn.collect();
    drawn.filter(|drawn| drawn.len() == ids.len()).ok_or_else(|| {
        DamagedError::new_err(
            "the rows of a sample differ from the drawn rows; draw the sample again",
        )
    })
}

/// Returns the number of documents in blocks of identities, and the digest of their texts.
#[pyfunction]
pub(crate) fn read_texts(py: Python<'_>, blocks: &Bound<'_, PyAny>) -> PyResult<(u64, u64)> {
    let arrays = StageTable::of(blocks)?.binary("rows")?;
    py.detach(|| -> Result<(u64, u64), BlockError> {
        let mut read = ReadTexts::default();
        each_blob(&arrays).try_for_each(|block| read.add(block))?;
        Ok((read.documents, read.digest))
    })
    .map_err(|error| DamagedError::new_err(error.to_string()))
}

/// A sample of drawn documents, and the neighbours found so far.
#[pyclass(name = "SampleSearch", module = "lookalike._engine")]
pub(crate) struct SampleSearch {
    sample: AuditSample,
    found: ShareNeighbours,
    params: Params,
    reading: ReadOptions,
}

#[pymethods]
impl SampleSearch {
    /// `drawn` contains the rows of `draw` for all documents.
    #[new]
    fn new(
        py: Python<'_>,
        options: &Bound<'_, PyDict>,
        drawn: &Bound<'_, PyAny>,
        documents: u64,
        sample: usize,
        seed: u64,
        confidence: f64,
    ) -> PyResult<Self> {
        let (find, reading) = plan_options(py, options)?;
        let audit_options = crate::audit::options(sample, seed, confidence, NonZeroUsize::MIN)?;
        let drawn = drawn_of(py, drawn)?;
        let sample = py
            .detach(|| {
                AuditSample::new(&find.params, &audit_options, documents, drawn, &NoProgress)
            })
            .map_err(run_error)?;
        Ok(Self { found: sample.nothing(), sample, params: find.params, reading })
    }

    /// Compares documents with the sample.
    #[pyo3(signature = (documents, reference))]
    fn search(
        &mut self,
        py: Python<'_>,
        documents: ComparedInput,
        reference: Option<ComparedInput>,
    ) -> PyResult<()> {
        let reading = self.reading.clone();
        let inputs = ComparedInputs::new(py, &documents, reference.as_ref(), reading)?;
        let Self { sample, found, .. } = self;
        py.detach(|| -> Result<(), Error> {
            found.merge(sample.search_share(&inputs.open()?, &NoProgress)?);
            Ok(())
        })
        .map_err(run_error)
    }

    /// The results so far, as JSON.
    fn found(&self) -> String {
        self.found.to_json()
    }

    /// Adds the results of another search of the same sample.
    fn merge(&mut self, found: &str) -> PyResult<()> {
        let more = self.sample.share_of_json(found).map_err(run_error)?;
        self.found.merge(more);
        Ok(())
    }

    /// The number of compared documents, and the number of compared documents with a token.
    fn counts(&self) -> (u64, u64) {
        self.found.counts()
    }

    /// The number of compared documents, and the digest of their texts.
    fn texts(&self) -> (u64, u64) {
        let ReadTexts { documents, digest } = self.found.texts();
        (documents, digest)
    }

    /// Returns the ids that `judge` needs. Called after all documents were compared.
    fn ids(&mut self) -> PyResult<Vec<String>> {
        let neighbours = self.sample.neighbours(&self.found);
        let neighbours = neighbours.map_err(run_error)?;
        let mut ids: Vec<String> = neighbours.ids().map(str::to_owned).collect();
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    /// Compares the duplicates of a run, or its pairs if `pairs` is set, with the results of the
    /// search. Returns JSON in the format of `docs/explanation/audit.md`.
    fn judge(
        &self,
        py: Python<'_>,
        duplicates: Vec<String>,
        pairs: Option<Vec<(String, String)>>,
    ) -> PyResult<String> {
        py.detach(|| -> Result<String, Error> {
            let neighbours = self.sample.neighbours(&self.found)?;
            let by = if pairs.is_some() { JudgedBy::Pairs } else { JudgedBy::Groups };
            let mut judge = neighbours.judge_by(by);
            for id in &duplicates {
                judge.duplicate(id);
            }
            for (a, b) in pairs.iter().flatten() {
                judge.pair(a, b);
            }
            crate::audit::json(&judge.finish(), &self.params)
        })
        .map_err(run_error)
    }
}
