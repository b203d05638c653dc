//! Compact signatures of all documents of an index, held in memory to find the nearest documents.
//!
//! ```text
//! chunk   numbers [3, 4, 9, …]   rows [one row of bytes for each number]   range 1 to 65,536
//! chunk   …                                                                range 65,537 to 66,011
//! ```
//!
//! They are computed from the signatures at the first use; later uses add new documents. A chunk
//! may contain removed documents, which have no records. It only lacks documents that were removed
//! before the snapshot from which it was read. Therefore an earlier snapshot reads the range of the
//! chunk again.

use crate::backend::Snapshot;
use crate::entry::{DocumentNumber, RecordFields};
use crate::error::IndexError;
use lookalike_core::compact;
use parking_lot::Mutex;
use std::sync::Arc;

/// Maximum number of documents of a chunk.
const CHUNK: usize = 1 << 16;
/// All chunks are read again if they contain more than twice the existing documents plus this
/// number.
const SPARE: u64 = 1 << 16;

/// Compact signatures of the documents of an index, usable from any thread. Takes
/// [`compact::row_bytes`] + 8 bytes for each document with shingles, or up to twice as many if many
/// documents were removed. Takes no memory before the first use.
#[derive(Debug, Default)]
pub struct CompactSignatures {
    chunks: Mutex<Arc<Vec<Arc<SignatureChunk>>>>,
    /// Locked while documents are read.
    reading: Mutex<()>,
}

/// Documents of a range of numbers, ascending.
#[derive(Debug, Default, Clone)]
pub(crate) struct SignatureChunk {
    /// The documents.
    pub(crate) numbers: Vec<DocumentNumber>,
    /// A row for each document.
    pub(crate) rows: Vec<u8>,
    /// The range.
    first: DocumentNumber,
    last: DocumentNumber,
    /// The version of the latest snapshot from which it was read.
    version: u64,
}

impl CompactSignatures {
    /// Chunks with all documents of a snapshot, and possibly others.
    pub(crate) fn of(
        &self,
        snapshot: &mut dyn Snapshot,
        num_hashes: usize,
    ) -> Result<Vec<Arc<SignatureChunk>>, IndexError> {
        let chunks = self.refreshed(snapshot, num_hashes)?;
        let of_snapshot = |chunk: &Arc<SignatureChunk>| {
            if chunk.version <= snapshot.version() {
                return Ok(Arc::clone(chunk));
            }
            SignatureChunk::read_range(snapshot, num_hashes, chunk.first, chunk.last).map(Arc::new)
        };
        chunks.iter().map(of_snapshot).collect()
    }

    /// Memory use in bytes.
    pub fn bytes(&self) -> u64 {
        self.current_chunks()
            .iter()
            .map(|chunk| (chunk.rows.len() + 8 * chunk.numbers.len()) as u64)
            .sum()
    }

    fn current_chunks(&self) -> Arc<Vec<Arc<SignatureChunk>>> {
        Arc::clone(&self.chunks.lock())
    }

    /// Adds the documents after the last one.
    fn refreshed(
        &self,
        snapshot: &mut dyn Snapshot,
        num_hashes: usize,
    ) -> Result<Arc<Vec<Arc<SignatureChunk>>>, IndexError> {
        let _lock = self.reading.lock();
        let current_chunks = self.current_chunks();
        let newest = current_chunks.iter().map(|chunk| chunk.version).max();
        if newest.is_some_and(|newest| newest >= snapshot.version()) {
            return Ok(current_chunks);
        }
        let rows: u64 = current_chunks.iter().map(|chunk| chunk.numbers.len() as u64).sum();
        let is_sparse = rows > 2 * snapshot.len() + SPARE;
        let mut chunks = if is_sparse { Vec::new() } else { Vec::clone(&current_chunks) };
        drop(current_chunks);
        loop {
            let first = chunks.last().map_or(DocumentNumber(0), |chunk| chunk.last.next());
            let (chunk, count) = SignatureChunk::read_at_most(snapshot, num_hashes, first, CHUNK)?;
            if count > 0 {
                push(&mut chunks, chunk);
            }
            if count < CHUNK {
                break;
            }
        }
        let chunks = Arc::new(chunks);
        *self.chunks.lock() = Arc::clone(&chunks);
        Ok(chunks)
    }
}

/// Appends a chunk. Chunks of similar size are joined to keep their number small. Full chunks are
/// not joined, so that an earlier snapshot reads few documents again.
fn push(chunks: &mut Vec<Arc<SignatureChunk>>, mut chunk: SignatureChunk) {
    let joins = |before: &SignatureChunk, chunk: &SignatureChunk| {
        before.numbers.len() < 2 * chunk.numbers.len().max(1)
            && before.numbers.len() + chunk.numbers.len() <= CHUNK
    };
    while let Some(before) = chunks.pop_if(|before| joins(before, &chunk)) {
        let mut joined = Arc::unwrap_or_clone(before);
        joined.numbers.append(&mut chunk.numbers);
        joined.rows.append(&mut chunk.rows);
        chunk = SignatureChunk { last: chunk.last, version: chunk.version, ..joined };
    }
    chunks.push(Arc::new(chunk));
}

impl SignatureChunk {
    /// Reads at most `most` documents from number `first` on. Also returns their count, including
    /// documents without shingles.
    fn read_at_most(
        snapshot: &mut dyn Snapshot,
        num_hashes: usize,
        first: DocumentNumber,
        most: usize,
    ) -> Result<(Self, usize), IndexError> {
        let mut chunk = Self { first, last: first, version: snapshot.version(), ..Self::default() };
        let wanted = RecordFields { signature: true, ..RecordFields::default() };
        let count = snapshot.scan(first, most, wanted, &mut |record| {
            chunk.last = record.number;
            if record.signature.is_empty() {
                return Ok(());
            }
            record.check_signature(num_hashes)?;
            chunk.numbers.push(record.number);
            compact::push_row(&record.signature, &mut chunk.rows);
            Ok(())
        })?;
        Ok((chunk, count))
    }

    /// The documents of a range.
    fn read_range(
        snapshot: &mut dyn Snapshot,
        num_hashes: usize,
        first: DocumentNumber,
        last: DocumentNumber,
    ) -> Result<Self, IndexError> {
        let mut chunk = Self { first, last, version: snapshot.version(), ..Self::default() };
        let mut from = first;
        while from <= last {
            // Read as many documents as the range can still contain. Some of them may be after the
            // range.
            let most = CHUNK.min(usize::try_from(last.0 - from.0 + 1).unwrap_or(CHUNK));
            let (mut part, count) = Self::read_at_most(snapshot, num_hashes, from, most)?;
            let included = part.numbers.partition_point(|number| *number <= last);
            part.rows.truncate(included * compact::row_bytes(num_hashes));
            chunk.numbers.extend_from_slice(&part.numbers[..included]);
            chunk.rows.append(&mut part.rows);
            if count < most {
                break;
            }
            from = part.last.next();
        }
        Ok(chunk)
    }
}
