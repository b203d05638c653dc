//! Reads user decisions from a file, an index or the caller's lines, and reports their effects.

use crate::error::{OptionError, run_error};
use crate::input::ids::{IdKind, in_digits};
use crate::options::KeywordOptions;
use lookalike::decisions::{self, DecisionError, Decisions, ReviewDecision};
use lookalike::find::DecisionCounts;
use lookalike::report::json::DecisionsView;
use lookalike::store::index::{Access, IndexLocation, open};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name of the option. Messages use it as the file name of the caller's lines.
const GIVEN: &str = "decisions";

impl KeywordOptions<'_> {
    /// Returns the user decisions in force. The option is a path, or the lines of a file as bytes.
    /// `row_digits` is the number of digits of row numbers as ids, or `None` for other ids.
    ///
    /// # Errors
    /// `OptionError` for lines of the caller that are not decisions, and read errors.
    pub(crate) fn decisions(
        &self,
        py: Python<'_>,
        row_digits: Option<usize>,
    ) -> PyResult<Option<Arc<Decisions>>> {
        let Some(value) = self.take(GIVEN)? else { return Ok(None) };
        let mut read = if let Ok(lines) = value.cast::<PyBytes>() {
            let lines = lines.as_bytes();
            py.detach(|| decisions::read(lines, Path::new(GIVEN)))
                .map_err(|error| OptionError::new_err(error.to_string()))?
        } else {
            let named: PathBuf = value.extract()?;
            py.detach(|| read(&named)).map_err(run_error)?
        };
        if let Some(digits) = row_digits {
            for id in read.iter_mut().flat_map(|decision| &mut decision.documents) {
                *id = in_digits(std::mem::take(id), digits);
            }
        }
        Ok(Some(Arc::new(Decisions::new(read))))
    }
}

/// Reads decisions from a file, or from the log of an index.
fn read(named: &Path) -> Result<Vec<ReviewDecision>, DecisionError> {
    match IndexLocation::among_inputs(named) {
        None => decisions::read_file(named),
        Some(location) => decisions::of_index(&open(&location, Access::Read)?, 0),
    }
}

/// Returns the effects of the decisions of a run as JSON in the format of
/// `docs/reference/decisions.md`. Its ids have the form of ids in results.
pub(crate) fn counts(counts: &DecisionCounts, ids: IdKind) -> PyResult<String> {
    let mut counts = counts.clone();
    let unapplied = counts.unapplied.iter_mut().flat_map(|decision| &mut decision.documents);
    let contradicting = counts.contradictions.iter_mut().flat_map(|both| &mut both.documents);
    for id in unapplied.chain(contradicting) {
        *id = ids.display_id(id).to_owned();
    }
    let view = DecisionsView::from(&counts);
    serde_json::to_string(&view).map_err(|error| OptionError::new_err(error.to_string()))
}
