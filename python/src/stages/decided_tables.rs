//! Returns the results of the stages `decide` and `match` one table at a time, because all rows
//! together may exceed the memory of a task.

use super::decided_rows::DecidedRows;
use crate::arrow::table::ArrowTable;
use crate::call;
use crate::error::run_error;
use lookalike::error::Error;
use lookalike::progress::Interruption;
use parking_lot::Mutex;
use pyo3::prelude::*;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

/// A function that receives the rows of each table.
pub(super) type TakeRows<'a> = dyn Fn(DecidedRows) -> Result<(), Error> + 'a;

/// The rows of a table, `None` after the last table, or an error.
type NextRows = Result<Option<DecidedRows>, Error>;

/// An iterator over tables. A thread collects the rows of the next table while the caller uses the
/// current one.
#[pyclass(frozen, module = "lookalike._engine")]
pub(crate) struct DecidedTables {
    /// `None` after the last table and after an error.
    rows: Mutex<Option<Receiver<NextRows>>>,
}

impl DecidedTables {
    /// Runs `give` on a new thread and iterates over the tables that `give` passes to its argument.
    /// If the iterator is dropped, the thread ends at the next table.
    pub(super) fn new(
        give: impl FnOnce(&TakeRows<'_>) -> Result<(), Error> + Send + 'static,
    ) -> PyResult<Self> {
        let (sender, receiver) = sync_channel(0);
        let work = move || {
            let take = |rows| sender.send(Ok(Some(rows))).map_err(|_| Interruption.into());
            // A failed send means that the iterator was dropped.
            let _ = sender.send(give(&take).map(|()| None));
        };
        let thread = thread::Builder::new().name("lookalike".to_owned()).spawn(work);
        thread.map_err(|error| call::no_thread(&error))?;
        Ok(Self { rows: Mutex::new(Some(receiver)) })
    }
}

#[pymethods]
impl DecidedTables {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<ArrowTable>> {
        let received = py.detach(|| {
            let mut rows = self.rows.lock();
            let received = rows.as_ref().map(Receiver::recv);
            if !matches!(received, Some(Ok(Ok(Some(_))))) {
                *rows = None;
            }
            received
        });
        match received {
            None | Some(Ok(Ok(None))) => Ok(None),
            Some(Ok(Ok(Some(rows)))) => rows.finish().map(Some),
            Some(Ok(Err(error))) => Err(run_error(error)),
            Some(Err(_)) => Err(call::contradiction()),
        }
    }
}
