//! Finds the document sets that tests read.

use crate::skipped::print_skipped;
use std::path::{Path, PathBuf};

/// Returns the folder of the document sets: the value of `TEST_DATA`, or `shared/data` next to the
/// repository. If the folder is absent, prints `SKIPPED` and returns `None`.
pub fn document_sets() -> Option<PathBuf> {
    let folder = configured_folder();
    if folder.is_dir() {
        return Some(folder);
    }
    print_skipped("the document sets are neither in TEST_DATA nor in ../shared/data");
    None
}

/// Returns the path of a file or folder of the document sets, such as `mail/docs.jsonl.gz`. If it
/// is absent, prints `SKIPPED` and returns `None`.
pub fn document_set_path(name: &str) -> Option<PathBuf> {
    let path = configured_folder().join(name);
    if path.exists() {
        return Some(path);
    }
    print_skipped(&format!("{name} is neither in TEST_DATA nor in ../shared/data"));
    None
}

/// Returns the folder of the document sets, which may be absent.
#[expect(clippy::disallowed_methods, reason = "the folder of the sets is in the environment")]
fn configured_folder() -> PathBuf {
    let sibling = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    std::env::var_os("TEST_DATA").map_or_else(sibling, PathBuf::from)
}
