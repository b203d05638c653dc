//! Checks of a stored document, shared by all databases.

use crate::entry::{IndexRecord, RecordFields};
use crate::error::IndexError;
use crate::set;
use crate::settings::IndexSettings;
use lookalike_core::params::Scheme;
use lookalike_core::signature::Signer;

/// All fields of a record. A check reads all of them.
pub(crate) const EVERYTHING: RecordFields =
    RecordFields { signature: true, set: true, metadata: true, text: true };

/// Checks documents.
pub(crate) struct RecordChecker<'a> {
    settings: &'a IndexSettings,
    /// Computes signatures again; `None` if the index keeps no sets.
    signer: Option<Signer>,
    set: Vec<u64>,
}

impl<'a> RecordChecker<'a> {
    /// # Errors
    /// [`IndexError::Params`] for an unknown scheme of signatures.
    pub(crate) fn new(settings: &'a IndexSettings) -> Result<Self, IndexError> {
        let signer = if settings.store.has_sets() {
            let scheme = settings.scheme.parse::<Scheme>()?;
            Some(Signer::new(scheme, settings.num_hashes, settings.seed))
        } else {
            None
        };
        Ok(Self { settings, signer, set: Vec::new() })
    }

    /// The first problem of a document that was read with [`EVERYTHING`].
    pub(crate) fn problem(&mut self, record: &IndexRecord) -> Option<String> {
        let got = record.signature.len();
        let expected = self.settings.num_hashes;
        if got != 0 && got != expected {
            return Some(format!("its signature has {got} values, expected {expected}"));
        }
        if record.text.is_some() && !self.settings.store.has_texts() {
            return Some("it has a text, the index keeps none".to_owned());
        }
        let Some(signer) = &mut self.signer else {
            let has_set = record.set.is_some();
            return has_set.then(|| "it has a shingle set, the index keeps none".to_owned());
        };
        let Some(code) = &record.set else { return Some("it has no shingle set".to_owned()) };
        if let Err(error) = set::decode(code, &mut self.set) {
            return Some(error.damage());
        }
        let upper: Vec<u32> = self.set.iter().map(|hash| (hash >> 32) as u32).collect();
        let signature = if upper.is_empty() { &[][..] } else { signer.sign(&upper) };
        let differs = signature != record.signature;
        differs.then(|| "its signature does not match its shingle set".to_owned())
    }
}
