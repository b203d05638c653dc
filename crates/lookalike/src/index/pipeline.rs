//! The flow of documents into an index from any source:
//!
//! ```text
//! documents ─ streams (threads) → prepared blocks → reorder buffer ─ a thread → batches → backend
//! ```

use super::batch_writer::{BatchWriter, NotWritten};
use super::prepared_block::PreparedBlock;
use crate::engine::reorder_buffer::ReorderBuffer;
use parking_lot::Mutex;
use std::thread::Builder;

/// Writes the blocks of several streams by ascending number. The current thread calls `own`, each
/// of the `others` has a thread of its own, and another thread writes. A block is at most `window`
/// blocks ahead of the next one to write. If the system refuses more threads, the existing ones do
/// the work, if necessary only the current one.
///
/// # Errors
/// The failure of the first block that has one, or an error of writing to the index. All documents
/// before it are stored.
pub(super) fn write_in_order<E, P>(
    writer: &mut BatchWriter<'_>,
    window: u64,
    mut own: impl Iterator<Item = (u64, PreparedBlock<E>)>,
    others: Vec<P>,
) -> Result<(), E>
where
    E: From<NotWritten> + Send,
    P: Iterator<Item = (u64, PreparedBlock<E>)> + Send,
{
    let writer = &Mutex::new(writer);
    let buffer = &ReorderBuffer::new(window);
    let write =
        |blocks: &mut dyn Iterator<Item = PreparedBlock<E>>| writer.lock().write_all(blocks);
    std::thread::scope(|scope| {
        // The writer ends when all senders are dropped.
        let receiver = buffer.receiver();
        let sender = buffer.sender();
        let receive = move || {
            let _receiver = receiver;
            write(&mut std::iter::from_fn(|| buffer.take()))
        };
        let Ok(writing) = Builder::new().spawn_scoped(scope, receive) else {
            return write(&mut own.map(|(_, block)| block));
        };
        for mut stream in others {
            let sender = buffer.sender();
            let send = move || {
                let _sender = sender;
                stream.all(|(number, block)| buffer.put(number, block))
            };
            if Builder::new().spawn_scoped(scope, send).is_err() {
                break;
            }
        }
        own.all(|(number, block)| buffer.put(number, block));
        drop(sender);
        writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
