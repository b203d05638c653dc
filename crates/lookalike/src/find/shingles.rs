//! The shingles of a document, as signatures and counters take them: cut from its text, or those
//! that an index has.

use crate::find::options::FindOptions;
use crate::read::Document;
use lookalike_core::shingle::{Shingler, Shingles};

/// One thread's tools.
pub(crate) struct ShingleCutter {
    shingler: Shingler,
    upper: Vec<u32>,
}

impl ShingleCutter {
    pub(crate) fn new(options: &FindOptions) -> Self {
        let shingler = Shingler::with_kernel(options.params.shingle(), options.kernel);
        Self { shingler, upper: Vec::new() }
    }

    /// The shingles of a document; good until the next one.
    pub(crate) fn shingles(&mut self, document: &Document<'_>) -> Shingles<'_> {
        let Some(shingled) = document.shingled else {
            return self.shingler.shingle(document.text);
        };
        self.upper.clear();
        self.upper.extend(shingled.set.iter().map(|hash| (hash >> 32) as u32));
        Shingles { hashes: &self.upper, fingerprint: shingled.fingerprint }
    }
}
