//! Documents that a program has, batch by batch into an index: shingled by all threads, written in
//! their order.

use super::add::{AddCounts, BlockWriter};
use super::add_options::AddOptions;
use super::exported::ExportedDocument;
use super::prepare::TextPreparer;
use super::prepared_block::{PreparedBlock, UnpreparedDocument, check};
use crate::error::Error;
use lookalike_index::entry::Metadata;
use lookalike_index::{Index, IndexError};
use std::slice::ChunksMut;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

/// Documents that are best handed over together.
pub const BATCH_DOCUMENTS: usize = 4096;
/// Bytes of texts after which they are handed over, however few documents they are.
pub const BATCH_BYTES: usize = 16 << 20;

/// Documents that a thread takes at a time.
const CHUNK: usize = 64;

/// A document to put.
#[derive(Debug, Clone)]
pub struct NewDocument<S> {
    /// What names it.
    pub id: S,
    /// What it says.
    pub text: S,
    /// What else is known; taken out when the document is read.
    pub metadata: Metadata,
    /// When it was last changed, in ns since 1970.
    pub modified: Option<i64>,
    /// From when on it counts as removed, in ns since 1970; that of the options where there is
    /// none.
    pub expires: Option<i64>,
}

/// Why not all documents were put.
#[derive(Debug)]
pub enum PutError<E> {
    /// What kept the next documents from coming.
    Feed(E),
    /// What the index says of a document, or of itself.
    Index(IndexError),
}

/// Interrupted writing of documents.
#[derive(Debug)]
pub struct InterruptedPut<E> {
    /// What was done before, for good: all documents before the one that failed.
    pub before: AddCounts,
    /// Which document failed, counted from 0; `None` where it is not a document that failed.
    pub row: Option<u64>,
    /// Why.
    pub cause: PutError<E>,
}

/// Puts documents into an index, in order, batch by batch; what is done stays done, whatever
/// happens later. A batch is shingled while the one before it is written.
///
/// `feed` puts documents into the list, which is empty, and says whether there are more; those that
/// are there when it fails are put into the index. It is called by this thread. Of the options,
/// only `existing`, `added`, `expires` and `threads` mean something here.
///
/// # Errors
/// The first document that cannot be stored, what keeps the index from being written, what `feed`
/// gives. All documents before it are stored.
pub fn put_all<S: AsRef<str> + Send, E>(
    index: &Index,
    options: &AddOptions,
    mut feed: impl FnMut(&mut Vec<NewDocument<S>>) -> Result<bool, E>,
) -> Result<AddCounts, Box<InterruptedPut<E>>> {
    let mut makers = PreparerPool { index, threads: options.threads.get(), idle: Vec::new() };
    let (mut documents, mut row) = (Vec::new(), 0);
    let mut next = || {
        documents.clear();
        let more = feed(&mut documents);
        let made = makers.make(&mut documents, row);
        row += documents.len() as u64;
        FeedBatch::of(more, made)
    };
    let first = next();
    let mut writer = BlockWriter::new(index, options);
    let (end, failed) = if first.end.is_none() {
        write_beside(&mut writer, first, next)
    } else {
        let failed = writer.write(first.parts).err();
        (first.end, failed)
    };
    let (before, place) = (writer.added, writer.failed);
    let (row, cause) = match (failed, end) {
        (Some(Error::NotAdded { error, .. } | Error::Index(error)), _) => {
            (place, PutError::Index(error))
        }
        (Some(error), _) => (place, PutError::Index(unexpected(index, &error))),
        (None, Some(FeedEnd::Refused(row, error))) => (row, PutError::Index(error)),
        (None, Some(FeedEnd::Failed(error))) => (None, PutError::Feed(error)),
        (None, Some(FeedEnd::Complete) | None) => return Ok(before),
    };
    Err(Box::new(InterruptedPut { before, row, cause }))
}

/// A writer only fails by the index.
fn unexpected(index: &Index, error: &Error) -> IndexError {
    let (index, why) = (index.name().to_owned(), error.to_string());
    IndexError::Database { index, why, transient: false }
}

/// Writes batches in a thread of its own while this one makes the next; in this one, where the
/// system gives no other.
fn write_beside<E>(
    writer: &mut BlockWriter<'_>,
    first: FeedBatch<E>,
    next: impl FnMut() -> FeedBatch<E>,
) -> (Option<FeedEnd<E>>, Option<Error>) {
    let writer = Mutex::new(writer);
    let write = |parts: Vec<PreparedBlock>| {
        writer.lock().unwrap_or_else(PoisonError::into_inner).write(parts).err()
    };
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel::<Vec<PreparedBlock>>(1);
        let work = move || receiver.iter().find_map(write);
        let Ok(writing) = Builder::new().spawn_scoped(scope, work) else {
            let mut failed = None;
            let end = hand_over(first, next, |parts| {
                failed = write(parts);
                failed.is_none()
            });
            return (end, failed);
        };
        // Nobody takes them where writing failed.
        let end = hand_over(first, next, |parts| sender.send(parts).is_ok());
        drop(sender);
        let failed = writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (end, failed)
    })
}

/// Hands over one batch after the other, until one is the last, or is not taken any more.
fn hand_over<E>(
    first: FeedBatch<E>,
    mut next: impl FnMut() -> FeedBatch<E>,
    mut take: impl FnMut(Vec<PreparedBlock>) -> bool,
) -> Option<FeedEnd<E>> {
    let mut batch = first;
    loop {
        if !take(batch.parts) || batch.end.is_some() {
            return batch.end;
        }
        batch = next();
    }
}

/// Why there are no more documents.
enum FeedEnd<E> {
    Complete,
    Refused(Option<u64>, IndexError),
    Failed(E),
}

/// Documents that are written together, and whether there are more.
struct FeedBatch<E> {
    parts: Vec<PreparedBlock>,
    end: Option<FeedEnd<E>>,
}

impl<E> FeedBatch<E> {
    fn of(more: Result<bool, E>, made: Result<Vec<PreparedPart>, IndexError>) -> Self {
        let mut parts = Vec::new();
        for PreparedPart { part, refused, .. } in match made {
            Ok(made) => made,
            Err(error) => return Self { parts, end: Some(FeedEnd::Refused(None, error)) },
        } {
            parts.push(part);
            if let Some((row, error)) = refused {
                return Self { parts, end: Some(FeedEnd::Refused(Some(row), error)) };
            }
        }
        let end = match more {
            Ok(true) => None,
            Ok(false) => Some(FeedEnd::Complete),
            Err(error) => Some(FeedEnd::Failed(error)),
        };
        Self { parts, end }
    }
}

/// Some documents, shingled and signed, and the first of them that no index takes.
struct PreparedPart {
    number: usize,
    part: PreparedBlock,
    refused: Option<(u64, IndexError)>,
}

/// Tools of all threads.
struct PreparerPool<'a> {
    index: &'a Index,
    threads: usize,
    idle: Vec<TextPreparer>,
}

impl PreparerPool<'_> {
    /// Shingles and signs documents of which the first has this row.
    fn make<S: AsRef<str> + Send>(
        &mut self,
        documents: &mut [NewDocument<S>],
        first: u64,
    ) -> Result<Vec<PreparedPart>, IndexError> {
        let threads = self.threads.min(documents.len().div_ceil(CHUNK)).max(1);
        while self.idle.len() < threads {
            self.idle.push(TextPreparer::new(self.index.settings())?);
        }
        let chunks = Mutex::new(documents.chunks_mut(CHUNK).enumerate());
        let chunks = &chunks;
        let Some((own, others)) = self.idle[..threads].split_first_mut() else {
            return Ok(Vec::new());
        };
        let mut made = std::thread::scope(|scope| {
            // Where the system gives no more threads, the work is done by those there are.
            let work = |preparer| {
                let work = move || make_all(preparer, chunks, first);
                Builder::new().spawn_scoped(scope, work).ok()
            };
            let working: Vec<_> = others.iter_mut().map_while(work).collect();
            let mut made = make_all(own, chunks, first);
            for thread in working {
                let theirs = thread.join();
                made.extend(theirs.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            made
        });
        made.sort_unstable_by_key(|made| made.number);
        Ok(made)
    }
}

type ChunkQueue<'a, S> = Mutex<std::iter::Enumerate<ChunksMut<'a, NewDocument<S>>>>;

/// What one thread does.
fn make_all<S: AsRef<str>>(
    preparer: &mut TextPreparer,
    chunks: &ChunkQueue<'_, S>,
    first: u64,
) -> Vec<PreparedPart> {
    let mut all = Vec::new();
    let take = || chunks.lock().unwrap_or_else(PoisonError::into_inner).next();
    while let Some((number, chunk)) = take() {
        all.push(make(preparer, chunk, number, first + (number * CHUNK) as u64));
    }
    all
}

fn make<S: AsRef<str>>(
    preparer: &mut TextPreparer,
    chunk: &mut [NewDocument<S>],
    number: usize,
    first: u64,
) -> PreparedPart {
    let source: Arc<str> = "documents".into();
    let mut part = PreparedBlock::default();
    for (row, document) in (first..).zip(chunk) {
        let (id, text) = (document.id.as_ref(), document.text.as_ref());
        let metadata = std::mem::take(&mut document.metadata);
        let described = match check(id, text, &metadata) {
            Ok(described) => described,
            Err(error) => return PreparedPart { number, part, refused: Some((row, error)) },
        };
        let (modified, expires) = (document.modified, document.expires);
        let extra = ExportedDocument { metadata, added: None, modified, expires };
        part.push(
            preparer,
            UnpreparedDocument { id, text, extra, source: &source, line: Some(row) },
            described,
        );
    }
    PreparedPart { number, part, refused: None }
}

#[cfg(test)]
mod tests {
    use super::super::Existing;
    use super::*;
    use crate::read::Normalization;
    use lookalike_core::params::{Params, ParamsBuilder};
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
        NewDocument { id, text, metadata: Metadata::new(), modified: None, expires: None }
    }

    /// Ids of batches, one list each.
    fn put(
        index: &Index,
        batches: &[Vec<String>],
    ) -> Result<AddCounts, Box<InterruptedPut<&'static str>>> {
        let mut batches = batches.iter();
        let options = AddOptions { existing: Existing::Refuse, ..AddOptions::new(1) };
        put_all(index, &options, |list| {
            let Some(ids) = batches.next() else { return Err("no more") };
            list.extend(ids.iter().cloned().map(document));
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
        let mut seen = Vec::new();
        let mut snapshot = index.snapshot().unwrap();
        let wanted = lookalike_index::entry::RecordFields::default();
        let mut take = |record: &lookalike_index::entry::IndexRecord| {
            seen.push(record.id.clone());
            Ok(())
        };
        snapshot.scan(0, 9999, wanted, &mut take).unwrap();
        assert_eq!(seen, ids(0..3000));
    }

    #[test]
    fn all_before_the_one_that_fails_are_put() {
        for twice in [700, 1500] {
            let index = index();
            let mut batches = [ids(0..1000), ids(1000..2000), ids(2000..3000)];
            batches[twice / 1000][twice % 1000] = "5".to_owned();
            let broken = put(&index, &batches).unwrap_err();
            assert_eq!((broken.before.added, broken.row), (twice as u64, Some(twice as u64)));
            assert!(matches!(broken.cause, PutError::Index(IndexError::IdTaken { .. })));
            assert_eq!(index.snapshot().unwrap().len(), twice as u64);
        }
    }

    #[test]
    fn what_no_index_takes_is_reported_by_its_row() {
        let index = index();
        let mut batches = [ids(0..1000), ids(1000..2000)];
        batches[1][77] = String::new();
        let broken = put(&index, &batches).unwrap_err();
        assert_eq!((broken.before.added, broken.row), (1077, Some(1077)));
        assert!(matches!(broken.cause, PutError::Index(IndexError::Document { .. })));
    }

    #[test]
    fn nothing_is_put_twice_where_a_feed_fails() {
        let (index, mut calls) = (index(), 0);
        let done = put_all(&index, &AddOptions::new(1), |list: &mut Vec<NewDocument<String>>| {
            calls += 1;
            if calls == 3 {
                return Err("interrupted");
            }
            list.extend(ids(calls * 100..calls * 100 + 100).into_iter().map(document));
            Ok(true)
        });
        let broken = done.unwrap_err();
        assert_eq!((broken.before.added, broken.row), (200, None));
        assert!(matches!(broken.cause, PutError::Feed("interrupted")));
    }

    #[test]
    fn what_came_before_a_feed_failed_is_put() {
        let index = index();
        let options = AddOptions::new(1);
        let done = put_all(&index, &options, |list: &mut Vec<NewDocument<String>>| {
            list.extend(ids(0..100).into_iter().map(document));
            Err("broken")
        });
        let broken = done.unwrap_err();
        assert_eq!((broken.before.added, broken.row), (100, None));
        assert!(matches!(broken.cause, PutError::Feed("broken")));
    }
}
