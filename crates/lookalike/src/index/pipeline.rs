//! The flow of documents into an index from any source:
//!
//! ```text
//! documents ─ streams (threads) → prepared blocks → reorder buffer → batches → backend
//! ```

use super::batch_writer::{BatchWriter, NotWritten};
use super::prepared_block::PreparedBlock;
use crate::engine::reorder_buffer::ReorderBuffer;
use parking_lot::Mutex;
use std::sync::mpsc::sync_channel;
use std::thread::Builder;

/// Writes the blocks of several streams by ascending number. Each stream in `other_streams` has its
/// own thread. The current thread writes. While the next block is missing and fewer than `window`
/// other blocks wait, this thread makes blocks of `own`. Blocks of other threads are less than
/// `window` ahead of the next one. If the system refuses a thread, the others do its work.
///
/// # Errors
/// The failure of the first block that has one, or an error of writing to the index. All documents
/// before it are stored.
pub(super) fn write_in_order<E, P>(
    writer: &mut BatchWriter<'_>,
    window: u64,
    mut own: impl Iterator<Item = (u64, PreparedBlock<E>)>,
    other_streams: Vec<P>,
) -> Result<(), E>
where
    E: From<NotWritten> + Send,
    P: Iterator<Item = (u64, PreparedBlock<E>)> + Send,
{
    let buffer = &ReorderBuffer::new(window);
    std::thread::scope(|scope| {
        let _receiver = buffer.receiver();
        for mut stream in other_streams {
            let sender = buffer.sender();
            let send = move || {
                let _sender = sender;
                stream.all(|(number, block)| buffer.put(number, block))
            };
            if Builder::new().spawn_scoped(scope, send).is_err() {
                break;
            }
        }
        writer.write_all(&mut std::iter::from_fn(|| buffer.take_or_make(&mut own)))
    })
}

/// Writes blocks in their order. The current thread makes the next block while another thread
/// writes. If the system refuses the thread, the current one does both.
///
/// # Errors
/// As [`write_in_order`].
pub(super) fn write_beside<E: From<NotWritten> + Send>(
    writer: &mut BatchWriter<'_>,
    mut blocks: impl Iterator<Item = PreparedBlock<E>>,
) -> Result<(), E> {
    let writer = &Mutex::new(writer);
    let write =
        |blocks: &mut dyn Iterator<Item = PreparedBlock<E>>| writer.lock().write_all(blocks);
    let (sender, receiver) = sync_channel(1);
    std::thread::scope(|scope| {
        let receive = move || write(&mut receiver.into_iter());
        let Ok(writing) = Builder::new().spawn_scoped(scope, receive) else {
            return write(&mut blocks);
        };
        blocks.all(|block| sender.send(block).is_ok());
        drop(sender);
        writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
