//! Documents in; their places in the keep order, as bytes that any engine sorts, out.

use crate::engine::prepare::keep_keys::KeepKeyMaker;
use crate::engine::prepare::shingles::ShingleCutter;
use crate::engine::{FindError, FindOptions};
use crate::read::{Collection, Document};
use lookalike_core::keep;

/// Where a document is in the keep order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlacedDocument {
    /// The lesser of two, byte by byte, is kept rather than the other. No two documents of one
    /// side have the same.
    pub place: Vec<u8>,
    /// The fingerprint of its shingles: equal documents have equal ones.
    pub fingerprint: u128,
    /// Whether it has no shingles: such documents are no copies of each other.
    pub is_empty: bool,
    /// The length of its text in bytes.
    pub bytes: u64,
}

/// Notes which fields and patterns of the keep rules the documents of a task have, so that a rule
/// that none of all tasks has is reported.
pub struct KeepRuleUse(KeepKeyMaker);

impl KeepRuleUse {
    /// The rules of a run with these options.
    ///
    /// # Errors
    /// A pattern of the keep rules cannot be understood.
    pub fn new(options: &FindOptions) -> Result<Self, FindError> {
        KeepKeyMaker::new(options).map(Self)
    }

    /// Notes a document in memory.
    pub fn observe(&self, document: &Document<'_>) {
        self.0.observe(document);
    }

    /// The places of the rules about fields and patterns in the keep policy, and whether a document
    /// so far has a value in the field, or matches the pattern.
    pub fn rules(&self) -> Vec<(usize, bool)> {
        self.0.uses()
    }
}

/// Finds the places of documents, each by itself. Rules about the reading order give no order here:
/// all documents have one position.
pub struct KeepOrder {
    rules: KeepKeyMaker,
    cutter: ShingleCutter,
    key: Vec<u8>,
}

impl KeepOrder {
    /// The order of a run with these options.
    ///
    /// # Errors
    /// A pattern of the keep rules cannot be understood.
    pub fn new(options: &FindOptions) -> Result<Self, FindError> {
        let rules = KeepKeyMaker::new(options)?;
        let cutter = ShingleCutter::new(options);
        Ok(Self { rules, cutter, key: Vec::new() })
    }

    /// The place of a document of a collection; `reference` states whether it is of a reference
    /// collection, whose documents come first.
    pub fn place(
        &mut self,
        collection: &Collection,
        document: &Document<'_>,
        reference: bool,
    ) -> PlacedDocument {
        self.key.clear();
        self.rules.key(collection, document, [0; 3], reference, &mut self.key);
        let place = keep::sort_key(&self.key, document.id.as_bytes());
        let shingles = self.cutter.shingles(document);
        let fingerprint = shingles.fingerprint;
        let is_empty = shingles.hashes.is_empty();
        PlacedDocument { place, fingerprint, is_empty, bytes: document.bytes() }
    }
}
