//! Options, limits and counters that all sources of a collection share.

use crate::bytes::{BufferPool, ByteStream, Compression, LimitedStream, TimedStream};
use crate::error::{OverLimit, ReadError, SkippedItem};
use crate::options::ReadOptions;
use encoding_rs::Encoding;
use lookalike_core::parameter::Parameter;
use lookalike_extract::Extractor;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Options, limits and counters that all sources of a collection share.
pub(crate) struct SourceSettings {
    pub(crate) options: ReadOptions,
    /// The encoding in the options.
    pub(crate) encoding: Option<&'static Encoding>,
    pub(crate) block_bytes: usize,
    pub(crate) pool: Arc<BufferPool>,
    /// Bytes read from disk so far, for progress.
    pub(crate) consumed: Arc<AtomicU64>,
    /// Number of files of records that are kept open.
    pub(crate) open: AtomicUsize,
    /// Maximum size of a record for which the run has memory.
    pub(crate) memory_record: AtomicU64,
    /// Whether ids of records found in folders begin with the names of their files.
    pub(crate) ids_by_file: AtomicBool,
}

impl SourceSettings {
    pub(crate) fn new(
        options: ReadOptions,
        encoding: Option<&'static Encoding>,
        block_bytes: usize,
    ) -> Self {
        Self {
            options,
            encoding,
            block_bytes,
            pool: Arc::new(BufferPool::default()),
            consumed: Arc::default(),
            open: AtomicUsize::new(0),
            memory_record: AtomicU64::new(u64::MAX),
            ids_by_file: AtomicBool::new(false),
        }
    }

    /// The limit on one record, or on one text.
    pub(crate) fn longest_record(&self, compressed: bool) -> Option<OverLimit> {
        let expanded = OverLimit {
            limit: self.options.extract.limits.expanded,
            parameter: Parameter::MaxExpanded,
        };
        let memory = self.memory_record.load(Ordering::Relaxed);
        let memory = (memory < u64::MAX)
            .then_some(OverLimit { limit: memory, parameter: Parameter::Memory });
        let limits = memory.into_iter().chain(compressed.then_some(expanded));
        limits.min_by_key(|limit| limit.limit)
    }

    /// Decodes a compressed file, within the limits.
    pub(crate) fn decode(
        &self,
        compression: Compression,
        reader: impl Read + Send + 'static,
    ) -> io::Result<ByteStream> {
        self.decode_timed(compression, reader, true)
    }

    /// Like [`decode`](Self::decode); `is_timed` enables the limit on time.
    pub(crate) fn decode_timed(
        &self,
        compression: Compression,
        reader: impl Read + Send + 'static,
        is_timed: bool,
    ) -> io::Result<ByteStream> {
        if compression == Compression::None {
            return Ok(Box::new(reader));
        }
        let memory = self.memory_record.load(Ordering::Relaxed);
        let window = self.options.max_expanded.unwrap_or(u64::MAX).min(memory);
        let limits = self.options.extract.limits;
        let stream = if is_timed {
            TimedStream::decode(compression, reader, window, limits)?
        } else {
            compression.decode(reader, window)?
        };
        Ok(match self.options.max_expanded {
            Some(limit) => {
                let over = OverLimit { limit, parameter: Parameter::MaxExpanded };
                Box::new(LimitedStream::new(stream, over))
            }
            None => stream,
        })
    }

    /// Handles a file that cannot be read: returns an error if the user named it, otherwise an
    /// entry of the list of skipped files.
    pub(crate) fn reject_file(
        &self,
        named: bool,
        skipped: SkippedItem,
    ) -> Result<SkippedItem, ReadError> {
        if named && !self.options.skip_bad {
            Err(ReadError::BadRecord(skipped.into()))
        } else {
            Ok(skipped)
        }
    }

    /// The extractor of a thread, created at its first use.
    pub(crate) fn extractor<'a>(&self, extractor: &'a mut Option<Extractor>) -> &'a mut Extractor {
        extractor.get_or_insert_with(|| {
            let mut options = self.options.extract.clone();
            options.limits.held = self.memory_record.load(Ordering::Relaxed);
            Extractor::new(&options)
        })
    }
}
