//! The shingles of a document, cut from its text or stored in an index, with its signature and its
//! bucket keys.

use crate::engine::options::FindOptions;
use crate::read::Document;
use lookalike_core::band;
use lookalike_core::compact::SignatureBits;
use lookalike_core::kernel::Kernel;
use lookalike_core::params::{Params, ShingleRule};
use lookalike_core::shingle::{Shingler, Shingles};
use lookalike_core::signature::Signer;

/// Cuts shingles. Each thread uses its own.
pub(crate) struct ShingleCutter {
    shingler: Shingler,
    upper: Vec<u32>,
}

impl ShingleCutter {
    pub(crate) fn new(options: &FindOptions) -> Self {
        Self::of_rule(options.params.shingle(), options.kernel)
    }

    /// Creates a cutter for texts. Stored shingles must have been cut by the same `rule`.
    pub(crate) fn of_rule(rule: &ShingleRule, kernel: Kernel) -> Self {
        Self { shingler: Shingler::with_kernel(rule, kernel), upper: Vec::new() }
    }

    /// Returns the shingles of a document.
    pub(crate) fn shingles(&mut self, document: &Document<'_>) -> Shingles<'_> {
        let Some(shingled) = document.shingled else {
            return self.shingler.shingle(document.text);
        };
        self.upper.clear();
        self.upper.extend(shingled.set.iter().map(|hash| (hash >> 32) as u32));
        Shingles { hashes: &self.upper, fingerprint: shingled.fingerprint }
    }

    /// Replaces the content of `set` by the shingle set of a document, ascending and without
    /// repeats. Returns the fingerprint of [`shingles`](Self::shingles).
    pub(crate) fn set(&mut self, document: &Document<'_>, set: &mut Vec<u64>) -> u128 {
        let Some(shingled) = document.shingled else {
            return self.shingler.set(document.text, set);
        };
        set.clear();
        set.extend_from_slice(shingled.set);
        shingled.fingerprint
    }
}

/// The shingle set of a document and its signature.
#[derive(Clone, Copy)]
pub(crate) struct SignedSet<'a> {
    /// The set, ascending and without repeats.
    pub(crate) set: &'a [u64],
    /// The fingerprint of the shingles.
    pub(crate) fingerprint: u128,
    /// The signature; empty for a document without shingles, and if the signer does not sign.
    pub(crate) signature: &'a [u32],
}

/// Signs the shingle sets of documents. Each thread uses its own.
pub(crate) struct SetSigner {
    cutter: ShingleCutter,
    signer: Option<Signer>,
    set: Vec<u64>,
    upper: Vec<u32>,
}

impl SetSigner {
    /// Creates a signer with `num_hashes` values per signature; 0 disables signing. An index for
    /// containment has signatures of one value.
    pub(crate) fn new(params: &Params, num_hashes: usize) -> Self {
        Self {
            cutter: ShingleCutter::of_rule(params.shingle(), Kernel::default()),
            signer: (num_hashes > 0)
                .then(|| Signer::new(params.scheme(), num_hashes, params.seed())),
            set: Vec::new(),
            upper: Vec::new(),
        }
    }

    /// Cuts and signs a normalized text.
    pub(crate) fn sign_text(&mut self, text: &str) -> SignedSet<'_> {
        let fingerprint = self.cutter.shingler.set(text, &mut self.set);
        self.sign(fingerprint)
    }

    /// Signs a document. Uses its stored shingles, or cuts its text.
    pub(crate) fn sign_document(&mut self, document: &Document<'_>) -> SignedSet<'_> {
        let fingerprint = self.cutter.set(document, &mut self.set);
        self.sign(fingerprint)
    }

    fn sign(&mut self, fingerprint: u128) -> SignedSet<'_> {
        self.upper.clear();
        self.upper.extend(self.set.iter().map(|hash| (hash >> 32) as u32));
        let signature = match &mut self.signer {
            Some(signer) if !self.set.is_empty() => signer.sign(&self.upper),
            _ => &[],
        };
        SignedSet { set: &self.set, fingerprint, signature }
    }
}

/// Computes the bucket keys of documents from their shingles. Each thread uses its own.
pub(crate) struct BandKeys {
    signer: Signer,
    rows: usize,
    bands: usize,
}

impl BandKeys {
    /// Creates the bands of a run. An exact run has none.
    pub(crate) fn new(options: &FindOptions) -> Self {
        let params = &options.params;
        let num_hashes = params.num_hashes();
        Self {
            signer: Signer::with_kernel(params.scheme(), num_hashes, params.seed(), options.kernel),
            rows: params.rows(),
            bands: Self::count_of(options),
        }
    }

    /// The number of bands of a run.
    pub(crate) fn count_of(options: &FindOptions) -> usize {
        if options.params.exact() { 0 } else { options.params.bands() }
    }

    /// The number of bands.
    pub(crate) fn count(&self) -> usize {
        self.bands
    }

    /// Writes the bucket key of each band for a document with these shingles.
    pub(crate) fn write(&mut self, hashes: &[u32], keys: &mut [u64]) {
        band::bucket_keys(self.signer.sign(hashes), self.rows, keys);
    }

    /// Like [`write`](Self::write). Also writes the bits of the signature, after the keys.
    pub(crate) fn write_columns(&mut self, hashes: &[u32], values: &mut [u64]) {
        let signature = self.signer.sign(hashes);
        let (keys, bits) = values.split_at_mut(self.bands);
        band::bucket_keys(signature, self.rows, keys);
        bits.copy_from_slice(&SignatureBits::of(signature).0);
    }
}
