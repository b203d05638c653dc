//! Which folders of sketches this process has created. Pickles in these are its own.

use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A folder, and when it was created where the file system knows.
type Identity = (PathBuf, Option<SystemTime>);

static CREATED: Mutex<BTreeSet<Identity>> = Mutex::new(BTreeSet::new());

/// Nothing for a folder that is not there.
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

/// Whether this process has created a folder.
pub(super) fn is_own(folder: &Path) -> bool {
    let created = CREATED.lock();
    identity(folder).is_some_and(|identity| created.contains(&identity))
}
