//! Adds a caller's documents to an index. Several threads prepare the documents, which are written
//! in order.

use super::add_options::AddOptions;
use super::batch_writer::{AddCounts, BatchWriter, InterruptedAdd, NotWritten};
use super::block_reader::{UnpreparedDocument, check};
use super::buffered_documents::BufferedDocuments;
use super::original::OwnedOriginal;
use super::pipeline::write_beside;
use super::prepare::{DocumentFields, TextPreparer};
use super::prepared_block::PreparedBlock;
use lookalike_index::entry::Metadata;
use lookalike_index::{Index, IndexError};
use parking_lot::Mutex;
use std::slice::ChunksMut;
use std::sync::Arc;
use std::thread::Builder;

/// The number of documents in a full batch.
const BATCH_DOCUMENTS: usize = 4096;
/// Bytes of text in a full batch, even if it has fewer documents.
const BATCH_BYTES: usize = 16 << 20;

/// The number of documents that a thread takes at a time.
const CHUNK: usize = 64;

/// A document to add.
#[derive(Debug, Clone)]
pub struct NewDocument<S> {
    /// Its id.
    pub id: S,
    /// Its text.
    pub text: S,
    /// Additional stored values. Moved out when the document is prepared.
    pub metadata: Metadata,
    /// The source bytes of the document, stored if the index keeps originals. If `None`, the text
    /// is stored as the original. Moved out when the document is prepared.
    pub original: Option<OwnedOriginal>,
    /// Time of its last change, in ns since 1970.
    pub modified: Option<i64>,
    /// Time of expiry in ns since 1970, after which the document counts as removed. If `None`, the
    /// time in the options applies.
    pub expires: Option<i64>,
}

/// Documents of one write.
#[derive(Debug)]
pub struct DocumentBatch<S> {
    documents: Vec<NewDocument<S>>,
    text_bytes: usize,
}

/// The error that ended the addition of documents.
#[derive(Debug)]
pub enum FeedError<E> {
    /// The feed failed.
    Feed(E),
    /// A document cannot be stored.
    Document {
        /// Its number among all documents of the call, from 0.
        row: u64,
        /// The cause.
        error: IndexError,
    },
    /// The index cannot be written. No document is the cause.
    Index(IndexError),
}

impl<S: AsRef<str>> DocumentBatch<S> {
    /// Appends a document.
    pub fn push(&mut self, document: NewDocument<S>) {
        self.text_bytes += document.text.as_ref().len();
        self.documents.push(document);
    }

    /// Whether the batch is full, so that further documents belong to the next one.
    pub fn is_full(&self) -> bool {
        self.documents.len() >= BATCH_DOCUMENTS || self.text_bytes >= BATCH_BYTES
    }
}

impl<E> From<NotWritten> for FeedError<E> {
    fn from(NotWritten { location, error }: NotWritten) -> Self {
        match location.and_then(|location| location.line) {
            Some(row) => Self::Document { row, error },
            None => Self::Index(error),
        }
    }
}

/// Adds documents to an index, in order, batch by batch. Stored batches remain stored if a later
/// one fails. With several threads, a batch is prepared while the previous one is written.
///
/// `feed` appends documents to the empty batch and returns whether more will follow. If it fails,
/// the documents that it has appended are stored. The current thread calls it. The options
/// `existing`, `added`, `expires` and `threads` apply.
///
/// # Errors
/// The error of the first document that cannot be stored, an error of writing to the index, or the
/// error of `feed`. All documents before it are stored.
pub fn add_documents<S: AsRef<str> + Send, E: Send>(
    index: &Index,
    options: &AddOptions,
    feed: impl FnMut(&mut DocumentBatch<S>) -> Result<bool, E>,
) -> Result<AddCounts, Box<InterruptedAdd<FeedError<E>>>> {
    let batch = DocumentBatch { documents: Vec::new(), text_bytes: 0 };
    let preparers = PreparerPool { index, options, idle: Vec::new() };
    let mut blocks = FeedBlocks { feed, batch, preparers, row: 0, is_over: false };
    // Every block is written as a batch.
    let mut writer = BatchWriter::new(index, options, (0, 0));
    let first = blocks.next();
    let written = if blocks.is_over || options.threads.get() == 1 {
        writer.write_all(&mut first.into_iter().chain(blocks))
    } else {
        write_beside(&mut writer, first.into_iter().chain(blocks))
    };
    writer.finish(written)
}

/// Prepares the batches of a feed as blocks.
struct FeedBlocks<'a, S, F> {
    feed: F,
    batch: DocumentBatch<S>,
    preparers: PreparerPool<'a>,
    /// Number of the first document of the next batch.
    row: u64,
    /// Whether the feed ended or failed, or a document cannot be stored.
    is_over: bool,
}

impl<S: AsRef<str> + Send, E: Send, F> Iterator for FeedBlocks<'_, S, F>
where
    F: FnMut(&mut DocumentBatch<S>) -> Result<bool, E>,
{
    type Item = PreparedBlock<FeedError<E>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        self.batch.documents.clear();
        self.batch.text_bytes = 0;
        let more = (self.feed)(&mut self.batch);
        let mut block = self.preparers.prepare(&mut self.batch.documents, self.row);
        self.is_over = !matches!(more, Ok(true)) || block.failure.is_some();
        block.failure = block.failure.or(more.err().map(FeedError::Feed));
        self.row += self.batch.documents.len() as u64;
        Some(block)
    }
}

/// Prepares documents in several threads.
struct PreparerPool<'a> {
    index: &'a Index,
    options: &'a AddOptions,
    idle: Vec<TextPreparer>,
}

/// The remaining chunks of documents, each with its number.
type ChunkQueue<'a, S> = Mutex<std::iter::Enumerate<ChunksMut<'a, NewDocument<S>>>>;

impl PreparerPool<'_> {
    /// Prepares documents up to the first that cannot be stored. The first document has the number
    /// `row`.
    fn prepare<S: AsRef<str> + Send, E: Send>(
        &mut self,
        documents: &mut [NewDocument<S>],
        row: u64,
    ) -> PreparedBlock<FeedError<E>> {
        let threads = self.options.threads.get().min(documents.len().div_ceil(CHUNK)).max(1);
        while self.idle.len() < threads {
            match TextPreparer::new(self.index.settings()) {
                Ok(preparer) => self.idle.push(preparer),
                Err(error) => return PreparedBlock::failed(FeedError::Index(error)),
            }
        }
        let chunks: &ChunkQueue<'_, S> = &Mutex::new(documents.chunks_mut(CHUNK).enumerate());
        let prepare_some = |preparer: &mut TextPreparer| {
            let mut blocks = Vec::new();
            let take = || chunks.lock().next();
            while let Some((number, chunk)) = take() {
                let first = row + (number * CHUNK) as u64;
                blocks.push((number, prepare_chunk(preparer, chunk, first, self.options)));
            }
            blocks
        };
        let (own, other_preparers) = self.idle[..threads].split_at_mut(1);
        let mut blocks: Vec<(usize, PreparedBlock<FeedError<E>>)> = std::thread::scope(|scope| {
            // If the system refuses more threads, the existing ones do the work.
            let start =
                |preparer| Builder::new().spawn_scoped(scope, || prepare_some(preparer)).ok();
            let working: Vec<_> = other_preparers.iter_mut().map_while(start).collect();
            let mut blocks: Vec<_> = own.iter_mut().flat_map(&prepare_some).collect();
            for thread in working {
                let joined = thread.join();
                blocks.extend(joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            blocks
        });
        blocks.sort_unstable_by_key(|(number, _)| *number);
        join(blocks.into_iter().map(|(_, block)| block))
    }
}

/// Joins blocks up to the first that fails.
fn join<E>(blocks: impl Iterator<Item = PreparedBlock<E>>) -> PreparedBlock<E> {
    let mut all = PreparedBlock::default();
    for mut block in blocks {
        all.documents.append(&mut block.documents);
        all.failure = block.failure;
        if all.failure.is_some() {
            break;
        }
    }
    all
}

/// Prepares the documents of a chunk, up to the first that cannot be stored.
fn prepare_chunk<S: AsRef<str>, E>(
    preparer: &mut TextPreparer,
    chunk: &mut [NewDocument<S>],
    first: u64,
    options: &AddOptions,
) -> PreparedBlock<FeedError<E>> {
    let source: Arc<str> = "documents".into();
    let mut documents = BufferedDocuments::default();
    let mut failure = None;
    for (row, document) in (first..).zip(chunk) {
        let id = document.id.as_ref();
        let text = document.text.as_ref();
        let metadata = std::mem::take(&mut document.metadata);
        let original = document.original.take();
        let checked = check_length(preparer, id, original.as_ref());
        let described = match checked.and_then(|()| check(id, text, &metadata)) {
            Ok(described) => described,
            Err(error) => {
                failure = Some(FeedError::Document { row, error });
                break;
            }
        };
        let expires = document.expires.or(options.expires);
        let modified = document.modified;
        let extra = DocumentFields { metadata, modified, expires, ..options.fields() };
        let unprepared = UnpreparedDocument {
            id,
            text,
            extra,
            original,
            former: Vec::new(),
            source: &source,
            line: Some(row),
        };
        documents.push(preparer, unprepared, described);
    }
    PreparedBlock { documents: vec![documents], failure, ..PreparedBlock::default() }
}

/// Checks the length of an original.
fn check_length(
    preparer: &TextPreparer,
    id: &str,
    original: Option<&OwnedOriginal>,
) -> Result<(), IndexError> {
    let (Some(originals), Some(original)) = (preparer.originals(), original) else { return Ok(()) };
    originals.check_length(id, original.bytes().len() as u64)
}

#[cfg(test)]
mod tests {
    use super::super::Existing;
    use super::*;
    use crate::read::Normalization;
    use lookalike_core::params::{Params, ParamsBuilder};
    use lookalike_index::entry::DocumentNumber;
    use lookalike_index::memory::MemoryBackend;
    use lookalike_index::settings::{IndexSettings, StoredContent};

    fn index() -> Index {
        let params = Params::new(&ParamsBuilder::default()).unwrap();
        let settings =
            IndexSettings::new(&params, &Normalization::default().to_string(), StoredContent::Sets);
        Index::new(Box::new(MemoryBackend::new(settings.unwrap()))).unwrap()
    }

    fn document(id: String) -> NewDocument<String> {
        let text = format!("this is what document number {id} has to say to all of us");
        NewDocument {
            id,
            text,
            metadata: Metadata::new(),
            original: None,
            modified: None,
            expires: None,
        }
    }

    /// Adds documents with these ids. Each list is a batch.
    fn put(
        index: &Index,
        batches: &[Vec<String>],
    ) -> Result<AddCounts, Box<InterruptedAdd<FeedError<&'static str>>>> {
        let mut batches = batches.iter();
        let options = AddOptions { existing: Existing::Refuse, ..AddOptions::new(1) };
        add_documents(index, &options, |batch| {
            let Some(ids) = batches.next() else { return Err("no more") };
            for id in ids {
                batch.push(document(id.clone()));
            }
            Ok(batches.len() > 0)
        })
    }

    fn ids(range: std::ops::Range<u32>) -> Vec<String> {
        range.map(|id| id.to_string()).collect()
    }

    #[test]
    fn all_are_put_in_their_order() {
        let index = index();
        let batches = [ids(0..1000), ids(1000..1001), Vec::new(), ids(1001..3000)];
        assert_eq!(put(&index, &batches).unwrap().added, 3000);
        let mut stored_ids = Vec::new();
        let mut snapshot = index.snapshot().unwrap();
        let wanted = lookalike_index::entry::RecordFields::default();
        let mut take = |record: &lookalike_index::entry::IndexRecord| {
            stored_ids.push(record.id.clone());
            Ok(())
        };
        snapshot.scan(DocumentNumber(0), 9999, wanted, &mut take).unwrap();
        assert_eq!(stored_ids, ids(0..3000));
    }

    #[test]
    fn documents_before_a_failure_are_stored() {
        for twice in [700, 1500] {
            let index = index();
            let mut batches = [ids(0..1000), ids(1000..2000), ids(2000..3000)];
            batches[twice / 1000][twice % 1000] = "5".to_owned();
            let broken = put(&index, &batches).unwrap_err();
            assert_eq!(broken.before.added, twice as u64);
            let FeedError::Document { row, error } = broken.error else { panic!("{broken:?}") };
            assert_eq!(row, twice as u64);
            assert!(matches!(error, IndexError::IdTaken { .. }));
            assert_eq!(index.snapshot().unwrap().len(), twice as u64);
        }
    }

    #[test]
    fn invalid_documents_report_their_row() {
        let index = index();
        let mut batches = [ids(0..1000), ids(1000..2000)];
        batches[1][77] = String::new();
        let broken = put(&index, &batches).unwrap_err();
        assert_eq!(broken.before.added, 1077);
        let FeedError::Document { row: 1077, error } = broken.error else { panic!("{broken:?}") };
        assert!(matches!(error, IndexError::Document { .. }));
    }

    #[test]
    fn failed_feed_stores_each_batch_once() {
        let (index, mut calls) = (index(), 0);
        let result = add_documents(&index, &AddOptions::new(1), |batch| {
            calls += 1;
            if calls == 3 {
                return Err("interrupted");
            }
            let ids = ids(calls * 100..calls * 100 + 100);
            for id in ids {
                batch.push(document(id));
            }
            Ok(true)
        });
        let broken = result.unwrap_err();
        assert_eq!(broken.before.added, 200);
        assert!(matches!(broken.error, FeedError::Feed("interrupted")));
    }

    #[test]
    fn failed_feed_keeps_its_last_batch() {
        let index = index();
        let options = AddOptions::new(1);
        let result = add_documents(&index, &options, |batch| {
            for id in ids(0..100) {
                batch.push(document(id));
            }
            Err("broken")
        });
        let broken = result.unwrap_err();
        assert_eq!(broken.before.added, 100);
        assert!(matches!(broken.error, FeedError::Feed("broken")));
    }
}
