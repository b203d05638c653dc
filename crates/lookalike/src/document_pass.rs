//! A collection in, what each thread saw of it out: one streaming pass.

use crate::engine::FindError;
use crate::engine::workers::{Earliest, on_threads};
use crate::progress::Progress;
use crate::read::{Block, BlockNumber, Collection, DocumentSink, ReadBuffers};
use crate::read_progress::ReadProgress;
use std::num::NonZeroUsize;

/// What a thread does with the documents it is given.
pub(crate) trait DocumentVisitor: DocumentSink<Error = FindError> + Send {
    /// The documents of another block follow, of a reference collection or not.
    fn block(&mut self, block: &Block, reference: bool);
}

/// Shows every document to one of the visitors and gives them back. Of several bad records in one
/// source the first is the error, whichever thread meets it.
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
        while !stop.asked() {
            // What is taken counts when it is done, and that is when the next one is taken.
            let before = collection.bytes_read();
            let Some(block) = collection.next_block()? else { break };
            let reference = collection.is_reference(block.number().source);
            visitor.block(&block, reference);
            if let Err(error) = block.read(&mut scratch, &mut visitor) {
                failed.keep(block.number(), error);
                stop.ask();
            }
            read_progress.report_up_to(before)?;
        }
        Ok(visitor)
    });
    let visitors = failed.or::<_, FindError>(visitors)?;
    read_progress.report()?;
    Ok(visitors)
}
