//! `count` and `total`: count the shingles of documents.

use super::columns::{BlockKind, BlockRows, StageTable};
use super::keys::{named_by_id, open, read_all};
use super::plan_options::plan_options;
use crate::arrow::array_chunks::each_blob;
use crate::arrow::table::ArrowTable;
use crate::error::DamagedError;
use crate::input::documents::PythonDocuments;
use lookalike::read::ReadOptions;
use lookalike::shard::{CountersError, PartBlock, RarityCounter, RarityCounters};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A task of the stage `count`.
#[pyclass(name = "CountStage", module = "lookalike._engine")]
pub(crate) struct CountStage {
    counter: RarityCounter,
    reading: ReadOptions,
}

#[pymethods]
impl CountStage {
    #[new]
    fn new(py: Python<'_>, options: &Bound<'_, PyDict>, log2_slots: u32) -> PyResult<Self> {
        let (find, reading) = plan_options(py, options)?;
        Ok(Self { counter: RarityCounter::new(&find, log2_slots), reading })
    }

    /// Counts the shingles of documents.
    fn add(&mut self, py: Python<'_>, documents: Py<PythonDocuments>) -> PyResult<()> {
        let source = documents.get().source("documents", true);
        let counted = py.detach(|| {
            let opened = open(source, &self.reading)?;
            read_all(&opened, &mut self.counter)
        });
        counted.map_err(named_by_id)
    }

    /// Returns the counters of all added documents as one row.
    fn counters(&self) -> PyResult<ArrowTable> {
        row(self.counter.counters())
    }
}

/// Returns the sum of the counters of several tasks as one row.
#[pyfunction]
pub(crate) fn total_counters(py: Python<'_>, rows: &Bound<'_, PyAny>) -> PyResult<ArrowTable> {
    let arrays = StageTable::of(rows)?.binary("rows")?;
    let total = py.detach(|| -> Result<Option<RarityCounters>, CountersError> {
        let mut total: Option<RarityCounters> = None;
        for blob in each_blob(&arrays) {
            let counters = RarityCounters::decode(blob)?;
            match &mut total {
                Some(total) => total.merge(&counters)?,
                None => total = Some(counters),
            }
        }
        Ok(total)
    });
    let total = total.map_err(|error| DamagedError::new_err(error.to_string()))?;
    total.as_ref().map_or_else(|| BlockRows::default().finish(), row)
}

fn row(counters: &RarityCounters) -> PyResult<ArrowTable> {
    let mut rows = BlockRows::default();
    let block = PartBlock { part: 0, rows: counters.encode() };
    rows.push_block(BlockKind::Counters, &block);
    rows.finish()
}
