//! Computes the places of documents in the keep order, as bytes that any engine can sort.

use crate::engine::prepare::keep_keys::KeepKeyMaker;
use crate::engine::prepare::shingles::ShingleCutter;
use crate::engine::{FindError, FindOptions};
use crate::read::{Collection, Document};
use lookalike_core::keep;

/// The place of a document in the keep order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlacedDocument {
    /// Compares bytewise. The document with the smaller place is kept. Places are unique within
    /// each side.
    pub place: Vec<u8>,
    /// The fingerprint of its shingles: equal documents have equal ones.
    pub fingerprint: u128,
    /// Whether it has no shingles. Such documents are not copies of each other.
    pub is_empty: bool,
    /// The length of its text in bytes.
    pub bytes: u64,
}

/// Records which fields and patterns of the keep rules occur in the documents of a task, so that a
/// rule can be reported if it occurs in no task.
pub struct KeepRuleUse(KeepKeyMaker);

impl KeepRuleUse {
    /// Creates a recorder for the rules of a run with these options.
    ///
    /// # Errors
    /// A pattern of the keep rules is invalid.
    pub fn new(options: &FindOptions) -> Result<Self, FindError> {
        KeepKeyMaker::new(options).map(Self)
    }

    /// Records a document in memory.
    pub fn observe(&self, document: &Document<'_>) {
        self.0.observe(document);
    }

    /// Returns the position in the keep policy of each rule about a field or a pattern. Also
    /// returns whether any document so far has a value in the field or matches the pattern.
    pub fn rules(&self) -> Vec<(usize, bool)> {
        self.0.uses()
    }
}

/// Computes the places of single documents. Rules about the reading order have no effect, because
/// all documents have the same position.
pub struct KeepOrder {
    rules: KeepKeyMaker,
    cutter: ShingleCutter,
    key: Vec<u8>,
}

impl KeepOrder {
    /// Creates the order of a run with these options.
    ///
    /// # Errors
    /// A pattern of the keep rules is invalid.
    pub fn new(options: &FindOptions) -> Result<Self, FindError> {
        let rules = KeepKeyMaker::new(options)?;
        let cutter = ShingleCutter::new(options);
        Ok(Self { rules, cutter, key: Vec::new() })
    }

    /// Returns the place of a document of a collection. `reference` states whether it belongs to a
    /// reference collection, whose documents precede others.
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
