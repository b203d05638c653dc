//! Generated documents: shingle sets of different similarity, with signatures according to the
//! settings.

use lookalike_core::hash::{SplitMix64, mix64};
use lookalike_core::params::{Params, ParamsBuilder};
use lookalike_core::signature::Signer;
use lookalike_index::backend::Change;
use lookalike_index::entry::{IndexEntry, Metadata};
use lookalike_index::original::{OriginalEntry, original_hash};
use lookalike_index::query::QueryDocument;
use lookalike_index::set;
use lookalike_index::settings::{IndexSettings, StoredContent};

/// Few short bands, so that some dissimilar documents share a bucket.
pub fn settings(store: StoredContent) -> IndexSettings {
    let builder = ParamsBuilder {
        threshold: 0.5,
        num_hashes: Some(24),
        bands: Some(8),
        rows: Some(3),
        ..ParamsBuilder::default()
    };
    IndexSettings::new(&Params::new(&builder).unwrap(), "", store).unwrap()
}

/// A document that owns what an [`IndexEntry`] borrows.
#[derive(Debug, Clone)]
pub struct Document {
    pub id: String,
    pub set: Vec<u64>,
    pub code: Vec<u8>,
    pub fingerprint: u128,
    pub signature: Vec<u32>,
    pub text: String,
    pub original: Option<Vec<u8>>,
    pub metadata: Metadata,
    pub added: i64,
    pub modified: Option<i64>,
    pub expires: Option<i64>,
}

impl Document {
    pub fn entry(&self) -> IndexEntry<'_> {
        IndexEntry {
            id: &self.id,
            fingerprint: self.fingerprint,
            bytes: self.text.len() as u64,
            signature: &self.signature,
            set: &self.code,
            text: Some((&*self.text).into()),
            original: self.original.as_deref().map(|bytes| OriginalEntry {
                bytes,
                media_type: "text/html",
                name: ["page.html", "a.htm"][usize::from(self.added % 2 == 1)],
                sha256: original_hash(bytes),
            }),
            metadata: &self.metadata,
            added: self.added,
            modified: self.modified,
            expires: self.expires,
        }
    }

    pub fn add(&self) -> Change<'_> {
        Change::Add(self.entry())
    }

    pub fn put(&self) -> Change<'_> {
        Change::Put(self.entry())
    }

    pub fn query_document(&self) -> QueryDocument<'_> {
        QueryDocument { set: &self.set, fingerprint: self.fingerprint, signature: &self.signature }
    }

    pub fn named(mut self, id: &str) -> Self {
        id.clone_into(&mut self.id);
        self
    }
}

/// Generates documents.
pub struct Maker {
    signer: Signer,
    random: SplitMix64,
}

impl Maker {
    pub fn new(settings: &IndexSettings, seed: u64) -> Self {
        let params = settings.params().unwrap();
        let signer = Signer::new(params.scheme(), settings.num_hashes, params.seed());
        Self { signer, random: SplitMix64::new(seed) }
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.random.below(bound)
    }

    /// Creates a document of a family: about 40 shingles of the family, of which up to 11 are
    /// replaced. One in twenty documents has no shingles.
    pub fn document(&mut self, id: &str, family: u64) -> Document {
        let mut set: Vec<u64> = (0..40).map(|i| mix64(family * 1000 + i)).collect();
        let others = self.below(12) as usize;
        for hash in set.iter_mut().take(others) {
            *hash = self.random.next_u64();
        }
        if self.below(20) == 0 {
            set.clear();
        }
        self.of_set(id, set)
    }

    /// Creates a document with these shingles.
    pub fn of_set(&mut self, id: &str, mut set: Vec<u64>) -> Document {
        set.sort_unstable();
        set.dedup();
        let mut code = Vec::new();
        set::encode(&set, &mut code);
        let upper: Vec<u32> = set.iter().map(|hash| (hash >> 32) as u32).collect();
        let signature = if set.is_empty() { &[][..] } else { self.signer.sign(&upper) }.to_vec();
        let sum = set.iter().fold(0u64, |sum, hash| sum.wrapping_add(*hash));
        let fingerprint = u128::from(sum) << 64 | u128::from(mix64(sum));
        let stamp = self.random.next_u64();
        let json = format!(r#"{{"source":"{id:.3}","n":{},"none":null}}"#, stamp % 1000)
            .replace(['\\', '\n'], "/");
        Document {
            id: id.to_owned(),
            set,
            code,
            fingerprint,
            signature,
            text: format!("text {stamp} of {id} «ü»").repeat((stamp % 40) as usize),
            original: None,
            metadata: serde_json::from_str(&json).unwrap_or_default(),
            // A time before any expiry.
            added: -1 - (stamp % 5000) as i64,
            modified: stamp.is_multiple_of(2).then_some(stamp as i64),
            expires: stamp.is_multiple_of(3).then_some((stamp % 100) as i64),
        }
    }
}
