//! The index in a folder passes the conformance tests: with tiny segments that are merged all the
//! time, without automatic merges, and with the defaults.
#![cfg(feature = "sqlite")]
#![allow(clippy::unwrap_used, reason = "these are tests")]

use crate::conformance::Place;
use lookalike_index::backend::Backend;
use lookalike_index::folder::{self, Tuning};
use lookalike_index::index::Access;
use lookalike_index::settings::IndexSettings;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

const WRITE: Access = Access::Write { wait: Duration::ZERO };

struct Folder {
    temp: TempDir,
    tuning: Tuning,
}

impl Folder {
    fn new(tuning: Tuning) -> Self {
        Self { temp: tempfile::tempdir().unwrap(), tuning }
    }

    fn path(&self) -> std::path::PathBuf {
        self.temp.path().join("news.lookalike")
    }
}

impl Place for Folder {
    fn create(&self, settings: &IndexSettings) -> Box<dyn Backend> {
        folder::create_with(&self.path(), settings, self.tuning).unwrap()
    }

    fn reopen(&self, backend: Box<dyn Backend>) -> Box<dyn Backend> {
        drop(backend);
        folder::open_with(&self.path(), WRITE, self.tuning).unwrap()
    }

    fn reader(&self) -> Option<Box<dyn Backend>> {
        Some(folder::open_with(&self.path(), Access::Read, self.tuning).unwrap())
    }

    fn restored(&self, backup: &Path) -> Option<Box<dyn Backend>> {
        Some(folder::open_with(backup, WRITE, self.tuning).unwrap())
    }
}

/// Segments of a few documents; two segments are merged at once.
mod tiny {
    use super::*;

    crate::conformance::suite!(|| Folder::new(Tuning { tail: 5, fan_out: 2, background: true }));
}

/// Segments that only `compact` merges.
mod unmerged {
    use super::*;

    crate::conformance::suite!(|| Folder::new(Tuning { tail: 1, fan_out: 8, background: false }));
}

/// The default tuning. With so few documents, there is no segment.
mod defaults {
    use super::*;

    crate::conformance::suite!(|| Folder::new(Tuning::default()));
}

/// Returns the tunings of the modules above.
fn tunings() -> [Tuning; 3] {
    [
        Tuning { tail: 5, fan_out: 2, background: true },
        Tuning { tail: 1, fan_out: 8, background: false },
        Tuning::default(),
    ]
}

#[test]
fn containment_is_found() {
    for tuning in tunings() {
        crate::conformance::containment_is_found(|| Folder::new(tuning));
    }
}

#[test]
fn originals_and_versions_are_kept() {
    for tuning in tunings() {
        crate::conformance::versions_equal_the_model(|| Folder::new(tuning));
        crate::conformance::versions_follow_their_document(|| Folder::new(tuning));
        crate::conformance::removed_documents_are_no_bases(|| Folder::new(tuning));
    }
    crate::conformance::originals_over_the_limit_are_refused(|| Folder::new(Tuning::default()));
    crate::conformance::an_index_without_originals_says_so(|| Folder::new(Tuning::default()));
}
