//! Texts in, entries and probes of an index out.

use crate::read::{Normalization, Words};
use lookalike_core::error::ParamsError;
use lookalike_core::parameter::Parameter;
use lookalike_core::shingle::Shingler;
use lookalike_core::signature::Signer;
use lookalike_index::entry::{IndexEntry, Metadata};
use lookalike_index::query::QueryDocument;
use lookalike_index::settings::{IndexSettings, StoredContent};
use lookalike_index::{IndexError, set};

/// Shingles and signs texts as an index wants them. Keeps its buffers; use one per thread.
pub struct TextPreparer {
    wording: Normalization,
    words: Words,
    shingler: Shingler,
    signer: Signer,
    store: StoredContent,
    upper: Vec<u32>,
    set: Vec<u64>,
}

/// A text, shingled and signed.
#[derive(Debug, Clone, Copy)]
pub struct PreparedText<'a> {
    /// What it says.
    pub text: &'a str,
    /// Its shingle set.
    pub set: &'a [u64],
    /// Length in bytes of the text as it was cut.
    pub bytes: u64,
    /// Of its shingles.
    pub fingerprint: u128,
    /// Its signature; empty for a text without shingles.
    pub signature: &'a [u32],
    keeps_set: bool,
}

impl TextPreparer {
    /// For an index with these settings.
    ///
    /// # Errors
    /// [`IndexError::Params`] for settings that this build of the crate does not know.
    pub fn new(settings: &IndexSettings) -> Result<Self, IndexError> {
        let params = settings.params()?;
        let wording: Normalization = settings.wording.parse()?;
        if !wording.is_supported() {
            return Err(IndexError::Params(ParamsError::Parse {
                parameter: Parameter::Wording,
                got: settings.wording.clone(),
                expected: "a build with the feature `scripts`",
            }));
        }
        Ok(Self {
            wording,
            words: Words::default(),
            shingler: Shingler::new(params.shingle()),
            signer: Signer::new(params.scheme(), settings.num_hashes, params.seed()),
            store: settings.store,
            upper: Vec::new(),
            set: Vec::new(),
        })
    }

    /// Whether the index keeps texts.
    pub(super) fn keeps_texts(&self) -> bool {
        self.store == StoredContent::Texts
    }

    /// Shingles and signs a text. What it gives is good until the next text.
    pub fn prepare<'a>(&'a mut self, text: &'a str) -> PreparedText<'a> {
        let worded = self.words.of(text, self.wording);
        let bytes = worded.len() as u64;
        let fingerprint = self.shingler.set(worded, &mut self.set);
        self.upper.clear();
        self.upper.extend(self.set.iter().map(|hash| (hash >> 32) as u32));
        let signature = if self.set.is_empty() { &[][..] } else { self.signer.sign(&self.upper) };
        let keeps_set = self.store != StoredContent::Signatures;
        PreparedText { text, bytes, set: &self.set, fingerprint, signature, keeps_set }
    }
}

impl<'a> PreparedText<'a> {
    /// To ask an index for what resembles the text.
    pub fn probe(&self) -> QueryDocument<'a> {
        QueryDocument { set: self.set, fingerprint: self.fingerprint, signature: self.signature }
    }

    /// Appends the encoded set as the index keeps it: nothing where it keeps no sets.
    pub fn encode_set(&self, out: &mut Vec<u8>) {
        if self.keeps_set {
            set::encode(self.set, out);
        }
    }

    /// To add the text to an index, with its [encoded set](Self::encode_set); `added` in ns since
    /// 1970. Times of change and expiry are not set.
    pub fn entry(
        &self,
        id: &'a str,
        set: &'a [u8],
        metadata: &'a Metadata,
        added: i64,
    ) -> IndexEntry<'a> {
        IndexEntry {
            id,
            fingerprint: self.fingerprint,
            bytes: self.bytes,
            signature: self.signature,
            set,
            text: Some(self.text),
            metadata,
            added,
            modified: None,
            expires: None,
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
    fn what_was_put_is_found() {
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
        let metadata = Metadata::new();
        let texts = [
            ("a", "the quick brown fox jumps over the lazy dog in the green park today"),
            ("b", "the quick brown fox jumps over the lazy dog in the green park now"),
            ("c", ""),
        ];
        for (id, text) in texts {
            let (prepared, mut set) = (preparer.prepare(text), Vec::new());
            prepared.encode_set(&mut set);
            index.write(&[Change::Put(prepared.entry(id, &set, &metadata, 5))]).unwrap();
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
            let answer = index.query(&prepared.probe(), &question, &mut QueryBuffers::default());
            let matches = answer.unwrap().matches.into_iter();
            matches.map(|m| (m.record.id, m.similarity.six_decimals())).collect::<Vec<_>>()
        };
        let found = ask(texts[0].1);
        assert_eq!(found[0], ("a".to_owned(), "1.000000".to_owned()));
        assert_eq!(found[1], ("b".to_owned(), "0.818182".to_owned()));
        assert!(ask("").is_empty());
    }
}
