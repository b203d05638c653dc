//! Passes the documents of a collection to one visitor per thread, in one streaming pass.

use crate::engine::FindError;
use crate::engine::workers::{Earliest, on_threads};
use crate::progress::Progress;
use crate::read::{Block, BlockNumber, Collection, DocumentSink, ReadBuffers};
use crate::read_progress::ReadProgress;
use std::num::NonZeroUsize;

/// The work of a thread on documents.
pub(crate) trait DocumentVisitor: DocumentSink<Error = FindError> + Send {
    /// Announces the documents of another block, and whether they belong to a reference collection.
    fn block(&mut self, block: &Block, reference: bool);
}

/// Passes every document to one of the visitors, and returns the visitors. If a source has several
/// bad records, returns the error of the first one, regardless of which thread reads it.
pub(crate) fn each_document<V: DocumentVisitor>(
    collection: &Collection,
    threads: NonZeroUsize,
    progress: &dyn Progress,
    make: impl Fn() -> V + Sync,
) -> Result<Vec<V>, FindError> {
    let read_progress = ReadProgress::new(collection, progress);
    let failed = Earliest::<BlockNumber, FindError>::default();
    let visitors = on_threads(threads, |stop| {
        let mut visitor = make();
        let mut scratch = ReadBuffers::default();
        while !stop.is_requested() {
            // Work counts as done when the next block is requested.
            let before = collection.bytes_read();
            let Some(block) = collection.next_block()? else { break };
            let reference = collection.is_reference(block.number().source);
            visitor.block(&block, reference);
            if let Err(error) = block.read(&mut scratch, &mut visitor) {
                failed.keep(block.number(), error);
                stop.request();
            }
            read_progress.report_up_to(before)?;
        }
        Ok(visitor)
    });
    let visitors = failed.or::<_, FindError>(visitors)?;
    read_progress.report()?;
    Ok(visitors)
}
