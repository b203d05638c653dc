//! The use case `prepare`: computes signatures and bucket keys of documents, as columns.

use super::RunInputs;
use crate::document_pass::{DocumentVisitor, each_document};
use crate::engine::FindError;
use crate::engine::prepare::shingles::{SetSigner, SignedSet};
use crate::progress::{Progress, Stage, timed};
use crate::read::{
    Block, BlockNumber, Collection, Document, DocumentSink, Location, Raw, SkipReason, SkippedItem,
};
use lookalike_core::band;
use lookalike_core::params::Params;
use std::collections::HashMap;
use std::num::NonZeroUsize;

/// The origin of the ids of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdOrigin {
    /// Row numbers are the ids, so they are all different.
    Rows,
    /// Documents in memory have ids.
    InMemory,
    /// Documents in files have ids.
    InFiles,
}

/// A request for the signatures of documents.
pub struct PrepareRequest {
    /// The documents. A bad record and a repeated id are errors unless `skip_bad` is set.
    pub inputs: RunInputs,
    /// The shingles, the signatures and the bands.
    pub params: Params,
    /// The number of threads.
    pub threads: NonZeroUsize,
    /// The origin of the ids.
    pub ids: IdOrigin,
}

/// The documents of a block, column by column.
#[derive(Debug, Default)]
pub struct SignatureBlock {
    source: u32,
    /// The id of each document.
    pub ids: Vec<String>,
    /// The row of each document in memory, otherwise 0.
    rows: Vec<u64>,
    skipped: Vec<SkippedItem>,
    /// The number of different shingles of each document.
    pub shingles: Vec<u64>,
    /// The fingerprint of the shingles of each document, big-endian.
    pub fingerprints: Vec<[u8; 16]>,
    /// `num_hashes` values for each document; all 0 for a document without a token.
    pub signatures: Vec<u32>,
    /// `bands` keys for each document; all 0 for a document without a token.
    pub keys: Vec<u64>,
}

/// Prepared documents.
pub struct PrepareOutcome {
    /// The blocks, in reading order.
    pub blocks: Vec<SignatureBlock>,
    /// The records that were skipped, and the documents with a repeated id.
    pub skipped: Vec<SkippedItem>,
}

impl PrepareRequest {
    /// Reads the documents once.
    ///
    /// Memory: all columns.
    ///
    /// # Errors
    /// Errors of reading, [`FindError::RepeatedId`] and [`FindError::Interrupted`].
    pub fn run(self, progress: &dyn Progress) -> Result<PrepareOutcome, FindError> {
        let Self { inputs, params, threads, ids } = self;
        let collection = inputs.open()?;
        let (workers, _) = timed(progress, Stage::Prepare, collection.bytes(), || {
            each_document(&collection, threads, progress, || PrepareWorker::new(&params))
        });
        let mut blocks: Vec<(BlockNumber, SignatureBlock)> =
            workers?.into_iter().flat_map(|worker| worker.blocks).collect();
        blocks.sort_unstable_by_key(|(number, _)| *number);
        let mut blocks: Vec<SignatureBlock> = blocks.into_iter().map(|(_, block)| block).collect();
        let mut skipped = collection.listed().to_vec();
        skipped.extend(blocks.iter_mut().flat_map(|block| std::mem::take(&mut block.skipped)));
        if ids != IdOrigin::Rows {
            let repeated = repeated_documents(&blocks);
            if !inputs.reading.skip_bad
                && let Some(&(later, first)) = repeated.first()
            {
                let [first, second] =
                    [first, later].map(|at| location(&blocks, &collection, ids, at));
                let id = blocks[later.0].ids[later.1].clone();
                return Err(FindError::RepeatedId { id, first, second });
            }
            progress.advance(0)?;
            for &(later, first) in &repeated {
                let first = location(&blocks, &collection, ids, first).to_string();
                let (source, line) = match location(&blocks, &collection, ids, later) {
                    Location::Row { source, row } => (source, Some(row)),
                    other => (other.to_string(), None),
                };
                let id = Some(blocks[later.0].ids[later.1].clone());
                let reason = SkipReason::RepeatedId { first };
                skipped.push(SkippedItem { source, line, id, reason });
            }
            for of_block in repeated.chunk_by(|a, b| a.0.0 == b.0.0) {
                let removed: Vec<usize> =
                    of_block.iter().map(|((_, document), _)| *document).collect();
                blocks[of_block[0].0.0].remove(&removed, &params);
            }
        }
        Ok(PrepareOutcome { blocks, skipped })
    }
}

/// The index of a block, and the index of a document in this block.
type DocumentIndex = (usize, usize);

/// Returns the documents whose ids occurred before, in order, each with the first document that has
/// the same id.
fn repeated_documents(blocks: &[SignatureBlock]) -> Vec<(DocumentIndex, DocumentIndex)> {
    let mut known: HashMap<&str, DocumentIndex> = HashMap::new();
    let mut repeated = Vec::new();
    for (number, block) in blocks.iter().enumerate() {
        for (document, id) in block.ids.iter().enumerate() {
            let index = (number, document);
            let first = *known.entry(id).or_insert(index);
            if first != index {
                repeated.push((index, first));
            }
        }
    }
    repeated
}

fn location(
    blocks: &[SignatureBlock],
    collection: &Collection,
    ids: IdOrigin,
    (block, document): DocumentIndex,
) -> Location {
    let block = &blocks[block];
    let source = collection.source_name(block.source).unwrap_or_default().to_owned();
    if ids == IdOrigin::InMemory {
        return Location::Row { source, row: block.rows[document] };
    }
    Location::Whole { source }
}

impl SignatureBlock {
    /// Removes documents, whose indexes are ascending.
    fn remove(&mut self, removed: &[usize], params: &Params) {
        fn retain<T>(values: &mut Vec<T>, width: usize, removed: &[usize]) {
            let mut index = 0;
            values.retain(|_| {
                index += 1;
                removed.binary_search(&((index - 1) / width)).is_err()
            });
        }
        retain(&mut self.ids, 1, removed);
        retain(&mut self.rows, 1, removed);
        retain(&mut self.shingles, 1, removed);
        retain(&mut self.fingerprints, 1, removed);
        retain(&mut self.signatures, params.num_hashes(), removed);
        retain(&mut self.keys, params.bands(), removed);
    }
}

/// Prepares the blocks of one thread.
struct PrepareWorker<'a> {
    params: &'a Params,
    signer: SetSigner,
    blocks: Vec<(BlockNumber, SignatureBlock)>,
}

impl<'a> PrepareWorker<'a> {
    fn new(params: &'a Params) -> Self {
        Self { params, signer: SetSigner::new(params, params.num_hashes()), blocks: Vec::new() }
    }
}

impl DocumentVisitor for PrepareWorker<'_> {
    fn block(&mut self, block: &Block, _: bool) {
        let source = block.number().source;
        self.blocks.push((block.number(), SignatureBlock { source, ..SignatureBlock::default() }));
    }
}

impl DocumentSink for PrepareWorker<'_> {
    type Error = FindError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), FindError> {
        let Some((_, block)) = self.blocks.last_mut() else { return Ok(()) };
        let SignedSet { set, fingerprint, signature } = self.signer.sign_document(document);
        block.ids.push(document.id.to_owned());
        block.rows.push(if let Raw::Row(row) = document.raw { row } else { 0 });
        block.shingles.push(set.len() as u64);
        block.fingerprints.push(fingerprint.to_be_bytes());
        let values = block.signatures.len();
        let keys = block.keys.len();
        block.signatures.resize(values + self.params.num_hashes(), 0);
        block.keys.resize(keys + self.params.bands(), 0);
        if !signature.is_empty() {
            block.signatures[values..].copy_from_slice(signature);
            band::bucket_keys(signature, self.params.rows(), &mut block.keys[keys..]);
        }
        Ok(())
    }

    fn skipped(&mut self, skipped: SkippedItem) -> Result<(), FindError> {
        if let Some((_, block)) = self.blocks.last_mut() {
            block.skipped.push(skipped);
        }
        Ok(())
    }
}
