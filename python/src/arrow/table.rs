//! Results as Arrow tables.

use crate::arrow::capsule;
use crate::arrow::column::type_name;
use crate::arrow::pickled::{self, PickledColumn};
use crate::error::LookalikeError;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, Field, Schema};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::Arc;

/// Columns with the same number of rows, for any package that reads Arrow.
#[pyclass(frozen, name = "Table", module = "lookalike._engine")]
pub(crate) struct ArrowTable {
    batch: RecordBatch,
}

impl ArrowTable {
    /// Creates a table from columns: the name, the array, and whether the column is nullable.
    pub(crate) fn new(columns: Vec<(&str, ArrayRef, bool)>) -> PyResult<Self> {
        let fields: Vec<Field> = columns
            .iter()
            .map(|(name, array, null)| Field::new(*name, array.data_type().clone(), *null))
            .collect();
        let arrays = columns.into_iter().map(|(_, array, _)| array).collect();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays);
        Ok(Self { batch: batch.map_err(|error| damaged(&error))? })
    }
}

/// The error for columns that do not form a table. Columns of results have the same length, so only
/// a damaged pickle or a bug causes this error.
fn damaged(error: &ArrowError) -> PyErr {
    LookalikeError::new_err(format!("the result does not fit in a table: {error}"))
}

#[pymethods]
impl ArrowTable {
    /// A capsule with a stream of one record batch. Ignores the requested type, as the interface
    /// allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        capsule::export_stream(py, self.batch.schema(), vec![self.batch.clone()])
    }

    /// A capsule with the types of the columns.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::export_schema(py, &self.batch.schema())
    }

    /// The state from which [`of_state`](Self::of_state) restores the table.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Vec<PickledColumn<'py>>> {
        let schema = self.batch.schema();
        let columns = schema.fields().iter().zip(self.batch.columns());
        columns.map(|(field, array)| pickled::state(py, field, array.as_ref())).collect()
    }

    /// Restores a table from its state.
    #[staticmethod]
    fn of_state(state: Vec<PickledColumn<'_>>) -> PyResult<Self> {
        let columns = state.iter().map(pickled::array).collect::<PyResult<Vec<_>>>()?;
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays);
        Ok(Self { batch: batch.map_err(|error| damaged(&error))? })
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The types of the columns under their Arrow names.
    #[getter]
    fn column_types(&self) -> Vec<String> {
        let schema = self.batch.schema();
        schema.fields().iter().map(|field| type_name(field.data_type())).collect()
    }

    /// Whether each column is nullable.
    #[getter]
    fn column_nullable(&self) -> Vec<bool> {
        self.batch.schema().fields().iter().map(|field| field.is_nullable()).collect()
    }

    /// Returns at most `count` values of the column number `column`, from row `start` on.
    fn values<'py>(
        &self,
        py: Python<'py>,
        column: usize,
        start: usize,
        count: usize,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let rows = self.batch.num_rows();
        let start = start.min(rows);
        let array =
            self.batch.columns().get(column).map(|a| a.slice(start, count.min(rows - start)));
        let array = array.ok_or_else(|| LookalikeError::new_err(format!("no column {column}")))?;
        crate::arrow::values::values(py, array.as_ref())
    }
}
