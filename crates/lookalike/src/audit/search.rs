//! Finds all true neighbours of a sample in the collection.

use super::draw::{DocumentSample, IdHasher, SampledDocument};
use super::index::{Hits, SetIndex, least_overlap};
use super::neighbours::{Bins, DocumentNeighbours, Neighbours};
use crate::audit::error::AuditError;
use crate::decisions::SeparatedPairs;
use crate::digest::InputsDigest;
use crate::document_pass::DocumentVisitor;
use crate::engine::FindError;
use crate::engine::prepare::shingles::ShingleCutter;
use crate::progress::{Interruption, Progress};
use crate::read::{Block, Document, DocumentSink, SkippedItem};
use lookalike_core::hash::mix64;
use lookalike_core::kernel::Kernel;
use lookalike_core::params::Params;
use lookalike_core::verify::{self, Overlap};
use std::collections::HashMap;

/// The summand of a document in the digest of texts. `check` is the lower half of the document's
/// fingerprint, because the stages of a divided run keep only this half. The digest is a sum, so
/// the order does not matter.
pub(super) fn text_digest(check: u64) -> u64 {
    mix64(check)
}

/// The sample, shared by all threads. Equal documents are stored once.
pub(super) struct SearchedSample {
    params: Params,
    pub(super) hasher: IdHasher,
    pub(super) bins: Bins,
    /// Ids in the order in which they were drawn, and whether they belong to a reference
    /// collection.
    ids: Vec<(String, bool)>,
    /// The distinct shingle sets, each with its documents.
    classes: Vec<Class>,
    index: SetIndex,
    /// Pairs that do not count as neighbours, because a run does not compare them or because
    /// decisions separate them.
    pub(super) separated: SeparatedPairs,
}

struct Class {
    fingerprint: u128,
    set: Vec<u64>,
    documents: Vec<u32>,
}

impl SearchedSample {
    /// Prepares a sample for the search. `documents` is the number of all documents, including
    /// documents without a token.
    pub(super) fn new(
        params: &Params,
        hasher: IdHasher,
        sample: DocumentSample,
        documents: u64,
        progress: &dyn Progress,
    ) -> Result<Self, Interruption> {
        let not_full = !sample.is_full();
        let mut ids = Vec::new();
        let mut classes = Vec::<Class>::new();
        let mut known: HashMap<u128, usize> = HashMap::new();
        for (number, (id, document)) in (0u32..).zip(sample.into_documents()) {
            let SampledDocument { fingerprint, reference, set, .. } = document;
            ids.push((id, reference));
            let class = *known.entry(fingerprint).or_insert(classes.len());
            match classes.get_mut(class) {
                Some(class) => class.documents.push(number),
                None => classes.push(Class { fingerprint, set, documents: vec![number] }),
            }
        }
        let sets: Vec<&[u64]> = classes.iter().map(|class| class.set.as_slice()).collect();
        let measure = params.measure();
        let threshold = params.threshold();
        let index = SetIndex::new(&sets, |size| least_overlap(size, measure, threshold), progress)?;
        let mut bins = Bins::new(measure, threshold);
        if not_full || ids.len() as u64 == documents {
            bins = bins.of_all(ids.len());
        }
        let params = params.clone();
        let separated = SeparatedPairs::default();
        Ok(Self { params, hasher, bins, ids, classes, index, separated })
    }

    /// Returns the neighbours found in all documents. `documents` is the number of documents in the
    /// first pass. `confidence` applies to the intervals.
    pub(super) fn neighbours(
        &self,
        found: &FoundNeighbours,
        documents: u64,
        (seed, confidence): (u64, f64),
    ) -> Result<Neighbours, AuditError> {
        let second = found.inputs.documents;
        let missing = found.met.iter().filter(|met| !**met).count();
        if documents != second || missing > 0 {
            return Err(AuditError::Changed { first: documents, second, missing });
        }
        Ok(Neighbours {
            inputs: found.inputs,
            population: found.population,
            bins: self.bins.clone(),
            seed,
            confidence,
            times: Vec::new(),
            sample: found.sample.clone(),
        })
    }
}

/// The buffers and findings of one thread.
pub(super) struct Searcher<'a> {
    searched: &'a SearchedSample,
    cutter: ShingleCutter,
    hits: Hits,
    candidates: Vec<u32>,
    set: Vec<u64>,
    reference: bool,
    progress: &'a dyn Progress,
    pub(super) found: FoundNeighbours,
}

/// The findings so far.
pub(super) struct FoundNeighbours {
    pub(super) inputs: InputsDigest,
    /// The sum of [`text_digest`] over all documents.
    pub(super) texts: u64,
    pub(super) population: u64,
    /// Whether each document of the sample was found unchanged.
    pub(super) met: Vec<bool>,
    pub(super) sample: Vec<DocumentNeighbours>,
}

impl FoundNeighbours {
    /// Creates empty findings.
    pub(super) fn of(searched: &SearchedSample) -> Self {
        let sampled =
            |(id, _): &(String, bool)| DocumentNeighbours::new(id.clone(), &searched.bins);
        Self {
            inputs: InputsDigest::default(),
            texts: 0,
            population: 0,
            met: vec![false; searched.ids.len()],
            sample: searched.ids.iter().map(sampled).collect(),
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.inputs.merge(other.inputs);
        self.texts = self.texts.wrapping_add(other.texts);
        self.population += other.population;
        for (met, other_met) in self.met.iter_mut().zip(other.met) {
            *met |= other_met;
        }
        for (neighbours, other_neighbours) in self.sample.iter_mut().zip(other.sample) {
            neighbours.merge(other_neighbours);
        }
    }
}

impl<'a> Searcher<'a> {
    pub(super) fn new(
        searched: &'a SearchedSample,
        kernel: Kernel,
        progress: &'a dyn Progress,
    ) -> Self {
        Self {
            searched,
            cutter: ShingleCutter::of_rule(searched.params.shingle(), kernel),
            hits: Hits::default(),
            candidates: Vec::new(),
            set: Vec::new(),
            reference: false,
            progress,
            found: FoundNeighbours::of(searched),
        }
    }

    /// Compares a document with the sets that it may resemble.
    fn compare(&mut self, document: &Document<'_>, fingerprint: u128) {
        let searched = self.searched;
        let mut has_set = false;
        for candidate in std::mem::take(&mut self.candidates) {
            let class = &searched.classes[candidate as usize];
            let overlap = if class.fingerprint == fingerprint {
                let size = class.set.len() as u64;
                Some(Overlap { intersection: size, left: size, right: size })
            } else {
                if !has_set {
                    self.cutter.set(document, &mut self.set);
                    has_set = true;
                }
                let measure = searched.params.measure();
                let threshold = searched.params.threshold();
                verify::overlap_at_least(&class.set, &self.set, measure, threshold)
            };
            if let Some(overlap) = overlap {
                self.count(class, document.id, fingerprint, &overlap);
            }
        }
    }

    fn count(&mut self, class: &Class, id: &str, fingerprint: u128, overlap: &Overlap) {
        let separated = &self.searched.separated;
        for &document in &class.documents {
            let document = document as usize;
            let (drawn, reference) = &self.searched.ids[document];
            if drawn == id {
                self.found.met[document] |= class.fingerprint == fingerprint;
            } else if !separated.contains((drawn, *reference), (id, self.reference)) {
                let hasher = self.searched.hasher;
                let bins = &self.searched.bins;
                self.found.sample[document].add(hasher, bins, id, overlap);
            }
        }
    }
}

impl DocumentSink for Searcher<'_> {
    type Error = FindError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), FindError> {
        let shingles = self.cutter.shingles(document);
        let fingerprint = shingles.fingerprint;
        self.found.inputs.add(document.id, fingerprint);
        self.found.texts = self.found.texts.wrapping_add(text_digest(fingerprint as u64));
        if shingles.hashes.is_empty() {
            return Ok(());
        }
        self.found.population += 1;
        let index = &self.searched.index;
        index.candidates(shingles.hashes, &mut self.hits, &mut self.candidates);
        if !self.candidates.is_empty() {
            self.compare(document, fingerprint);
            // Poll for each document: a document may be compared with the whole sample, and a block
            // has many documents.
            self.progress.advance(0)?;
        }
        Ok(())
    }

    fn skipped(&mut self, _: SkippedItem) -> Result<(), FindError> {
        Ok(())
    }
}

impl DocumentVisitor for Searcher<'_> {
    fn block(&mut self, _: &Block, reference: bool) {
        self.reference = reference;
    }
}
