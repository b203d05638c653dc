//! What all sources of a collection share: options, limits and counters.

use super::compress::{Compression, LimitedStream, Stream};
use super::file;
use super::options::ReadOptions;
use super::record::Fields;
use super::recover::{MEMORY, OverLimit};
use super::stream::Pool;
use super::wording::Wording;
use encoding_rs::Encoding;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// What all sources of a collection share.
pub(super) struct Settings {
    pub(super) fields: Fields,
    pub(super) skip_bad: bool,
    pub(super) encoding: Option<&'static Encoding>,
    /// Files are taken as text, whatever they hold.
    pub(super) as_text: bool,
    /// What is wanted of files that are not plain text.
    pub(super) extract: lookalike_extract::ExtractOptions,
    /// What is done to every text.
    pub(super) wording: Wording,
    pub(super) block_bytes: usize,
    pub(super) pool: Arc<Pool>,
    /// Bytes read from disk so far, for progress.
    pub(super) consumed: AtomicU64,
    /// Files of records kept open.
    pub(super) open: AtomicUsize,
    /// The most bytes that a compressed file of records may become.
    max_expanded: Option<u64>,
    /// The longest record that the memory of the run has room for.
    pub(super) memory_record: AtomicU64,
    /// Ids of records found in folders begin with the names of their files.
    pub(super) ids_by_file: AtomicBool,
}

impl Settings {
    /// As the options say, with the encoding that they name.
    pub(super) fn new(
        options: &ReadOptions,
        encoding: Option<&'static Encoding>,
        block_bytes: usize,
    ) -> Self {
        Self {
            fields: Fields {
                id: options.id_field.clone(),
                text: options.text_field.clone(),
                line_ids: options.line_ids,
                further: options.fields.clone(),
            },
            skip_bad: options.skip_bad,
            encoding,
            as_text: file::as_text(options.format),
            extract: options.extract.clone(),
            wording: options.wording,
            block_bytes,
            pool: Arc::new(Pool::default()),
            consumed: AtomicU64::new(0),
            open: AtomicUsize::new(0),
            max_expanded: options.max_expanded,
            memory_record: AtomicU64::new(u64::MAX),
            ids_by_file: AtomicBool::new(false),
        }
    }

    /// The limit on one record, or on one text.
    pub(super) fn longest_record(&self, compressed: bool) -> Option<OverLimit> {
        let expanded = OverLimit { limit: self.extract.limits.expanded, option: "--max-expanded" };
        let memory = self.memory_record.load(Ordering::Relaxed);
        let memory = (memory < u64::MAX).then_some(OverLimit { limit: memory, option: MEMORY });
        let limits = memory.into_iter().chain(compressed.then_some(expanded));
        limits.min_by_key(|limit| limit.limit)
    }

    /// A compressed file's content, within the limits.
    pub(super) fn decode(
        &self,
        compression: Compression,
        reader: impl Read + Send + 'static,
    ) -> io::Result<Stream> {
        let memory = self.memory_record.load(Ordering::Relaxed);
        let window = self.max_expanded.unwrap_or(u64::MAX).min(memory);
        let stream = compression.decode(reader, window)?;
        Ok(match self.max_expanded.filter(|_| compression != Compression::None) {
            Some(limit) => {
                let over = OverLimit { limit, option: "--max-expanded" };
                Box::new(LimitedStream::new(stream, over))
            }
            None => stream,
        })
    }
}
