//! The model in memory passes the conformance tests of all backends.

use crate::conformance::Place;
use lookalike_index::backend::Backend;
use lookalike_index::memory::MemoryBackend;
use lookalike_index::settings::IndexSettings;
use std::path::Path;

struct Memory;

impl Place for Memory {
    fn create(&self, settings: &IndexSettings) -> Box<dyn Backend> {
        Box::new(MemoryBackend::new(settings.clone()))
    }

    fn reopen(&self, backend: Box<dyn Backend>) -> Box<dyn Backend> {
        backend
    }

    fn reader(&self) -> Option<Box<dyn Backend>> {
        None
    }

    fn restored(&self, _: &Path) -> Option<Box<dyn Backend>> {
        None
    }
}

crate::conformance::suite!(|| Memory);

#[test]
fn containment_is_found() {
    crate::conformance::containment_is_found(|| Memory);
}

#[test]
fn originals_and_versions_are_kept() {
    crate::conformance::versions_equal_the_model(|| Memory);
    crate::conformance::versions_follow_their_document(|| Memory);
    crate::conformance::originals_over_the_limit_are_refused(|| Memory);
    crate::conformance::an_index_without_originals_says_so(|| Memory);
}
