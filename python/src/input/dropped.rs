//! Reads the list of documents to exclude from a run, from a file or from the caller's lines.

use crate::error::{OptionError, run_error};
use crate::input::compared_input::ComparedInput;
use crate::input::ids::{in_digits, row_digits};
use crate::options::KeywordOptions;
use lookalike::find::DropList;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name of the option. Messages use it as the file name of the caller's lines.
const GIVEN: &str = "drop";

impl KeywordOptions<'_> {
    /// Returns the list of documents to exclude. The option is a path, or the lines of a file as
    /// bytes. If the ids of `documents` are row numbers, pads the numbers in the list with zeros to
    /// the same length.
    ///
    /// # Errors
    /// `OptionError` if a line of the caller is not an object with an id. Other errors if the file
    /// cannot be read.
    pub(crate) fn dropped(
        &self,
        py: Python<'_>,
        documents: &ComparedInput,
        reference: Option<&ComparedInput>,
    ) -> PyResult<Option<Arc<DropList>>> {
        let Some(value) = self.take(GIVEN)? else { return Ok(None) };
        let list = if let Ok(lines) = value.cast::<PyBytes>() {
            let lines = lines.as_bytes();
            py.detach(|| DropList::of_lines(lines, Path::new(GIVEN)))
                .map_err(|error| OptionError::new_err(error.to_string()))?
        } else {
            let named: PathBuf = value.extract()?;
            py.detach(|| DropList::read(&named)).map_err(run_error)?
        };
        let list = match row_digits(documents, reference) {
            Some(digits) => list.with_ids(|id| in_digits(id, digits)),
            None => list,
        };
        Ok(Some(Arc::new(list)))
    }
}
