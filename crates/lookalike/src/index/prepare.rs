//! Prepares texts as documents of an index, and as queries.

use super::original::OwnedOriginal;
use crate::engine::prepare::shingles::{SetSigner, SignedSet};
use crate::read::{Normalization, TextNormalizer};
use lookalike_core::error::ParamsError;
use lookalike_core::parameter::Parameter;
use lookalike_index::entry::{EntryText, IndexEntry, Metadata};
use lookalike_index::query::QueryDocument;
use lookalike_index::settings::{IndexSettings, OriginalSettings, StoredContent};
use lookalike_index::{IndexError, set};

/// Shingles and signs texts with the settings of an index. Reuses its buffers; use one preparer per
/// thread.
pub struct TextPreparer {
    normalization: Normalization,
    words: TextNormalizer,
    signer: SetSigner,
    store: StoredContent,
    originals: Option<OriginalSettings>,
}

/// A text, shingled and signed.
#[derive(Debug, Clone, Copy)]
pub struct PreparedText<'a> {
    /// Its shingle set.
    pub set: &'a [u64],
    /// Length in bytes of the normalized text.
    pub bytes: u64,
    /// The fingerprint of its shingles.
    pub fingerprint: u128,
    /// Its signature; empty for a text without shingles.
    pub signature: &'a [u32],
    keeps_set: bool,
}

/// The stored values of a document besides its id and its text. Times are in ns since 1970.
#[derive(Debug, Clone, Default)]
pub struct DocumentFields {
    /// Any JSON object.
    pub metadata: Metadata,
    /// Time of the addition.
    pub added: i64,
    /// Time of the last change of its file.
    pub modified: Option<i64>,
    /// Time of expiry, after which the document counts as removed.
    pub expires: Option<i64>,
    /// The ids of documents that were removed as its duplicates. [`record_duplicates`] records them
    /// after the document is written.
    ///
    /// [`record_duplicates`]: super::record_duplicates
    pub duplicates: Vec<String>,
}

/// A replaced version of a document. Times are in ns since 1970.
#[derive(Debug, Clone)]
pub struct FormerVersion {
    /// When it was added.
    pub added: i64,
    /// When its file was last changed.
    pub modified: Option<i64>,
    /// Its text.
    pub text: String,
    /// Its source bytes.
    pub original: OwnedOriginal,
}

/// A document, shingled and signed, ready to be written to an index.
#[derive(Debug, Clone)]
pub struct PreparedDocument {
    /// Its id.
    pub id: String,
    /// The fingerprint of its shingles.
    pub fingerprint: u128,
    /// Length of its normalized text in bytes.
    pub bytes: u64,
    /// Its signature; empty for a document without shingles.
    pub signature: Vec<u32>,
    /// Its encoded shingle set; empty if the index keeps no sets.
    pub set: Vec<u8>,
    /// Its text, if the index keeps texts.
    pub text: Option<String>,
    /// Its source bytes, stored if the index keeps originals. If `None`, the text is stored as the
    /// original.
    pub original: Option<OwnedOriginal>,
    /// Additional stored values.
    pub fields: DocumentFields,
}

impl TextPreparer {
    /// Creates a preparer for an index with these settings.
    ///
    /// # Errors
    /// [`IndexError::Params`] for settings that this build of the crate does not support.
    pub fn new(settings: &IndexSettings) -> Result<Self, IndexError> {
        let params = settings.params()?;
        let normalization: Normalization = settings.normalization.parse()?;
        if !normalization.is_supported() {
            return Err(IndexError::Params(ParamsError::Parse {
                parameter: Parameter::Normalization,
                got: settings.normalization.clone(),
                expected: "a build with the feature `scripts`",
            }));
        }
        Ok(Self {
            normalization,
            words: TextNormalizer::default(),
            signer: SetSigner::new(&params, settings.num_hashes),
            store: settings.store,
            originals: settings.originals,
        })
    }

    /// Whether the index keeps texts.
    pub fn keeps_texts(&self) -> bool {
        self.store.has_texts()
    }

    /// The limit on originals, if the index keeps them.
    pub fn originals(&self) -> Option<OriginalSettings> {
        self.originals
    }

    /// Shingles and signs a document. Copies its text if the index keeps texts.
    pub fn document(&mut self, id: &str, text: &str, fields: DocumentFields) -> PreparedDocument {
        let stored_text = self.keeps_texts().then(|| text.to_owned());
        self.prepare(text).document(id.to_owned(), stored_text, fields)
    }

    /// Shingles and signs a text.
    pub fn prepare(&mut self, text: &str) -> PreparedText<'_> {
        let worded = self.words.of(text, self.normalization);
        let bytes = worded.len() as u64;
        let SignedSet { set, fingerprint, signature } = self.signer.sign_text(worded);
        let keeps_set = self.store.has_sets();
        PreparedText { set, bytes, fingerprint, signature, keeps_set }
    }
}

impl<'a> PreparedText<'a> {
    /// Returns the text as the document of a query.
    pub fn query_document(&self) -> QueryDocument<'a> {
        QueryDocument { set: self.set, fingerprint: self.fingerprint, signature: self.signature }
    }

    /// Appends the encoded shingle set, if the index keeps sets.
    pub(super) fn encode_set(&self, out: &mut Vec<u8>) {
        if self.keeps_set {
            set::encode(self.set, out);
        }
    }

    /// Returns the text as a document to add. Stores `text` if the index keeps texts.
    pub fn document(
        &self,
        id: String,
        text: Option<String>,
        fields: DocumentFields,
    ) -> PreparedDocument {
        let mut encoded = Vec::new();
        self.encode_set(&mut encoded);
        let Self { bytes, fingerprint, signature, .. } = *self;
        let signature = signature.to_vec();
        PreparedDocument {
            id,
            fingerprint,
            bytes,
            signature,
            set: encoded,
            text,
            original: None,
            fields,
        }
    }
}

impl PreparedDocument {
    /// The document in the form for the index.
    pub fn entry(&self) -> IndexEntry<'_> {
        let DocumentFields { metadata, added, modified, expires, .. } = &self.fields;
        IndexEntry {
            id: &self.id,
            fingerprint: self.fingerprint,
            bytes: self.bytes,
            signature: &self.signature,
            set: &self.set,
            text: self.text.as_deref().map(EntryText::from),
            original: self.original.as_ref().map(OwnedOriginal::entry),
            metadata,
            added: *added,
            modified: *modified,
            expires: *expires,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_core::params::{Params, ParamsBuilder};
    use lookalike_index::backend::Change;
    use lookalike_index::memory::MemoryBackend;
    use lookalike_index::query::{QueryBuffers, QueryRequest};
    use lookalike_index::{Index, entry::RecordFields};

    #[test]
    fn stored_documents_are_found_by_query() {
        let params =
            Params::new(&ParamsBuilder { threshold: 0.5, ..ParamsBuilder::default() }).unwrap();
        let settings = IndexSettings::new(
            &params,
            &Normalization::default().to_string(),
            StoredContent::Texts,
        )
        .unwrap();
        let mut preparer = TextPreparer::new(&settings).unwrap();
        let index = Index::new(Box::new(MemoryBackend::new(settings))).unwrap();
        let texts = [
            ("a", "the quick brown fox jumps over the lazy dog in the green park today"),
            ("b", "the quick brown fox jumps over the lazy dog in the green park now"),
            ("c", ""),
        ];
        for (id, text) in texts {
            let prepared = preparer.prepare(text);
            let fields = DocumentFields { added: 5, ..DocumentFields::default() };
            let document = prepared.document(id.to_owned(), Some(text.to_owned()), fields);
            index.write(&[Change::Put(document.entry())]).unwrap();
        }
        let question = QueryRequest {
            threshold: 0.5,
            top: None,
            nearest: None,
            filters: &[],
            now: 0,
            except: None,
            wanted: RecordFields { text: true, ..RecordFields::default() },
        };
        let mut ask = |text: &str| {
            let prepared = preparer.prepare(text);
            let answer =
                index.query(&prepared.query_document(), &question, &mut QueryBuffers::default());
            let matches = answer.unwrap().matches.into_iter();
            matches.map(|m| (m.record.id, m.similarity.six_decimals())).collect::<Vec<_>>()
        };
        let found = ask(texts[0].1);
        assert_eq!(found[0], ("a".to_owned(), "1.000000".to_owned()));
        assert_eq!(found[1], ("b".to_owned(), "0.818182".to_owned()));
        assert!(ask("").is_empty());
    }
}
