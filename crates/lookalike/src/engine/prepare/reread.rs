//! Reads documents of a run again, block by block.

use crate::engine::error::FindError;
use crate::engine::ids::DocumentNumber;
use crate::engine::options::FindOptions;
use crate::engine::prepare::documents::RunDocuments;
use crate::engine::prepare::shingle_log::ShingleLog;
use crate::engine::prepare::shingles::ShingleCutter;
use crate::read::{
    BlockNumber, Document, DocumentSink, Raw, ReadBuffers, ReadError, SkippedItem, StoredShingles,
};
use lookalike_core::shingle::Shingler;
use std::ops::Range;

impl RunDocuments {
    /// Reads the documents of the i-th block again and calls `take` with each. The first part of a
    /// block reads the documents of all its parts, a later part reads none. Documents of a
    /// selection are read one by one, and have shingles and no text.
    ///
    /// # Errors
    /// [`FindError::Changed`] if the block now contains more or fewer documents; errors of reading.
    pub(crate) fn read_again(
        &self,
        i: usize,
        options: &FindOptions,
        scratch: &mut ReadBuffers,
        mut take: impl FnMut(DocumentNumber, &Document<'_>),
    ) -> Result<(), FindError> {
        if self.is_selection {
            return self.read_selection(i, options, scratch, take);
        }
        let Some(Range { start: mut next, end }) = self.whole_range(i) else { return Ok(()) };
        let mut callback = RereadCallback(|document: &Document<'_>| {
            take(next, document);
            next.0 += 1;
        });
        self.store.blocks[i].retained.replay(scratch, &mut callback)?;
        if next == end { Ok(()) } else { Err(self.changed(i)?) }
    }

    fn read_selection(
        &self,
        i: usize,
        options: &FindOptions,
        scratch: &mut ReadBuffers,
        mut take: impl FnMut(DocumentNumber, &Document<'_>),
    ) -> Result<(), FindError> {
        let mut shingler = Shingler::with_kernel(options.params.shingle(), options.kernel);
        let retained = &self.store.blocks[i].retained;
        let mut set = Vec::new();
        for (number, row) in self.in_block(i).zip(self.store.rows(i)?.iter()) {
            let row = row?;
            let fingerprint =
                retained.fetch_set(row.place, row.id, scratch, &mut shingler, &mut set)?;
            let document = Document {
                id: row.id,
                text: "",
                place: row.place,
                fields: &[],
                modified: None,
                shingled: Some(StoredShingles { set: &set, fingerprint, bytes: row.bytes }),
                about: None,
                raw: Raw::Record(&[]),
                contents: None,
                parent: None,
            };
            take(number, &document);
        }
        Ok(())
    }

    /// Adds the shingles of all documents to a log.
    pub(crate) fn log_again(
        &self,
        options: &FindOptions,
        log: &ShingleLog,
    ) -> Result<(), FindError> {
        let mut writer = log.writer();
        let mut cutter = ShingleCutter::new(options);
        let mut scratch = ReadBuffers::default();
        for i in 0..self.store.blocks.len() {
            let mut added = Ok(());
            self.read_again(i, options, &mut scratch, |_, document| {
                if added.is_ok() {
                    added = writer.add(cutter.shingles(document).hashes);
                }
            })?;
            added?;
            writer.end_block(BlockNumber { source: 0, index: i as u32 });
        }
        Ok(writer.finish()?)
    }
}

/// Passes each document of a block that is read again to a function.
struct RereadCallback<F>(F);

impl<F: FnMut(&Document<'_>)> DocumentSink for RereadCallback<F> {
    type Error = ReadError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), ReadError> {
        (self.0)(document);
        Ok(())
    }

    fn skipped(&mut self, _: SkippedItem) -> Result<(), ReadError> {
        Ok(())
    }
}
