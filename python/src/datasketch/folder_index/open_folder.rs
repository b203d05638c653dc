//! An open folder, and the records of a key in it.

use super::ids::{MOST_REPEATS, nth};
use lookalike::store::IndexError;
use lookalike::store::backend::{Backend, Snapshot};
use lookalike::store::settings::IndexSettings;
use std::sync::Arc;

/// The index in a folder, with its settings.
pub(super) struct OpenFolder {
    pub(super) backend: Box<dyn Backend>,
    pub(super) settings: Arc<IndexSettings>,
}

/// Returns the number of stored records of a key. The records have consecutive numbers from 0 on,
/// so a search with doubling steps finds the last one.
pub(super) fn records_of(snapshot: &mut dyn Snapshot, id: &str) -> Result<u32, IndexError> {
    let mut is_there =
        |at: u32| Ok::<bool, IndexError>(snapshot.number_of(&nth(id, at))?.is_some());
    let mut count = 0;
    let mut step = 1;
    while count < MOST_REPEATS && is_there(count + step - 1)? {
        count += step;
        step *= 2;
    }
    // At least one of the next `step` records is missing.
    while step > 1 {
        step /= 2;
        if is_there(count + step - 1)? {
            count += step;
        }
    }
    Ok(count)
}
