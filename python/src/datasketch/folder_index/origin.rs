//! Records the folders of sketches that this process has created. Their pickles may be loaded.

use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A folder and, if the file system stores it, the time of its creation.
type Identity = (PathBuf, Option<SystemTime>);

static CREATED: Mutex<BTreeSet<Identity>> = Mutex::new(BTreeSet::new());

/// The identity of a folder; `None` if it does not exist.
fn identity(folder: &Path) -> Option<Identity> {
    let path = folder.canonicalize().ok()?;
    let created = path.metadata().ok()?.created().ok();
    Some((path, created))
}

/// Records that this process has created a folder.
pub(super) fn record(folder: &Path) {
    if let Some(identity) = identity(folder) {
        CREATED.lock().insert(identity);
    }
}

/// Returns true if this process has created a folder.
pub(super) fn is_own(folder: &Path) -> bool {
    let created = CREATED.lock();
    identity(folder).is_some_and(|identity| created.contains(&identity))
}
