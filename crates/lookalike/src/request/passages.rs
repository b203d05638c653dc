//! The use case `passages`: finds repeated passages.

use super::RunInputs;
use crate::engine::FindError;
use crate::passages::{PassageFindings, PassageOptions, passages_in};
use crate::progress::Progress;
use crate::read::Collection;

/// A search for repeated passages.
pub struct PassageRequest {
    inputs: RunInputs,
    options: PassageOptions,
}

/// A search whose inputs are open.
pub struct OpenedPassages {
    collection: Collection,
    options: PassageOptions,
}

impl PassageRequest {
    /// Finds the repeated passages of `inputs`.
    pub fn new(inputs: RunInputs, options: PassageOptions) -> Self {
        let (inputs, options) = inputs.for_passages(options);
        Self { inputs, options }
    }

    /// Opens the inputs.
    ///
    /// # Errors
    /// [`FindError::Read`] if an input cannot be opened.
    pub fn open(self) -> Result<OpenedPassages, FindError> {
        Ok(OpenedPassages {
            collection: self.inputs.open().map_err(FindError::Read)?,
            options: self.options,
        })
    }
}

impl OpenedPassages {
    /// Runs all stages. Returns the passages, and the options of the search for the report.
    ///
    /// # Errors
    /// Errors of [`passages_in`].
    pub fn run(
        self,
        progress: &dyn Progress,
    ) -> Result<(PassageFindings, PassageOptions), FindError> {
        Ok((passages_in(&self.collection, &self.options, progress)?, self.options))
    }
}
