//! `places`: computes the places of documents in the keep order.

use super::columns::optional_integers;
use super::keys::{named_by_id, open, read_all};
use super::plan_options::plan_options;
use crate::arrow::table::ArrowTable;
use crate::arrow::text_column::TextColumn;
use crate::error::run_error;
use crate::input::documents::PythonDocuments;
use arrow_array::Int64Array;
use arrow_array::builder::BinaryBuilder;
use lookalike::error::Error;
use lookalike::read::{Collection, Document, DocumentSink, SkippedItem};
use lookalike::shard::{KeepOrder, PlacedDocument, ShardError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// Returns the places of documents, in order. `checks` is an Arrow array of int64 that is null if
/// documents share a node.
#[pyfunction]
pub(crate) fn places(
    py: Python<'_>,
    documents: Py<PythonDocuments>,
    options: &Bound<'_, PyDict>,
    reference: bool,
    checks: &Bound<'_, PyAny>,
) -> PyResult<ArrowTable> {
    let (find, reading) = plan_options(py, options)?;
    let checks = optional_integers(checks, "checks")?;
    let source = documents.get().source("documents", true);
    let mut order = KeepOrder::new(&find).map_err(run_error)?;
    let has_source = find.source_field.is_some();
    let columns = py.detach(|| -> Result<PlaceColumns, Error> {
        let opened = open(source, &reading)?;
        let order = &mut order;
        let columns = PlaceColumns::default();
        let collection = &opened;
        let checks = &checks[..];
        let mut sink = PlaceSink { order, collection, checks, reference, has_source, columns };
        read_all(&opened, &mut sink)?;
        let missing = checks.len().saturating_sub(sink.columns.bytes.len()) as u64;
        if missing > 0 {
            return Err(ShardError::Missing { documents: missing }.into());
        }
        Ok(sink.columns)
    });
    columns.map_err(named_by_id)?.finish()
}

struct PlaceSink<'a> {
    order: &'a mut KeepOrder,
    collection: &'a Collection,
    checks: &'a [Option<i64>],
    reference: bool,
    has_source: bool,
    columns: PlaceColumns,
}

impl DocumentSink for PlaceSink<'_> {
    type Error = Error;

    fn document(&mut self, document: &Document<'_>) -> Result<(), Error> {
        let placed = self.order.place(self.collection, document, self.reference);
        let check = self.checks.get(document.place.row() as usize);
        let is_same = |check: i64| check.cast_unsigned() == placed.fingerprint as u64;
        if !check.is_some_and(|check| check.is_none_or(is_same)) {
            return Err(ShardError::Changed { id: document.id.to_owned() }.into());
        }
        let source = document.fields.last().copied().flatten().unwrap_or_default();
        self.columns.push(&placed, self.has_source.then_some(source));
        Ok(())
    }

    /// Ignores the document. If the stage `keys` skipped it as well, it is in no component.
    /// Otherwise its place is missing in the result.
    fn skipped(&mut self, _: SkippedItem) -> Result<(), Error> {
        Ok(())
    }
}

#[derive(Default)]
struct PlaceColumns {
    places: BinaryBuilder,
    fingerprints: BinaryBuilder,
    bytes: Vec<i64>,
    sources: TextColumn,
}

impl PlaceColumns {
    fn push(&mut self, placed: &PlacedDocument, source: Option<&str>) {
        self.places.append_value(&placed.place);
        let fingerprint = (!placed.is_empty).then(|| placed.fingerprint.to_be_bytes());
        self.fingerprints.append_option(fingerprint);
        self.bytes.push(placed.bytes.cast_signed());
        self.sources.push(source);
    }

    fn finish(mut self) -> PyResult<ArrowTable> {
        ArrowTable::new(vec![
            ("place", Arc::new(self.places.finish()), false),
            ("fingerprint", Arc::new(self.fingerprints.finish()), true),
            ("bytes", Arc::new(Int64Array::from(self.bytes)), false),
            ("source", self.sources.finish(), true),
        ])
    }
}
