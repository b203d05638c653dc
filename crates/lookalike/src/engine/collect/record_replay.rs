//! Reads the records of a run again, on threads that read ahead of the receiver.

use super::findings::Findings;
use crate::engine::error::FindError;
use crate::engine::ids::DocumentNumber;
use crate::engine::options::FindOptions;
use crate::engine::reorder_buffer::ReorderBuffer;
use crate::engine::workers::Counter;
use crate::read::{Document, DocumentPosition, Raw, ReadBuffers, SinkError, TextUnit};
use std::ops::Range;
use std::path::PathBuf;
use std::thread::Builder;

impl Findings {
    /// Like [`replay`](Self::replay), for receivers that need only a document's number, id, place
    /// and raw record, and the parent of a unit. The current thread calls `take`. All threads read,
    /// the current one only if no record is ready. If memory is limited or the documents are units,
    /// the current thread reads alone.
    ///
    /// Each reading thread takes memory for a block with its texts, and for two copies of the
    /// block.
    ///
    /// # Errors
    /// As [`replay`](Self::replay).
    pub(crate) fn replay_records<E: From<FindError> + SinkError>(
        &self,
        options: &FindOptions,
        take: &mut dyn FnMut(DocumentNumber, &Document<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let threads = options.threads.get() - 1;
        // A parent of units is long, and many units share it. A limit on memory may leave no room
        // for copies of long records.
        let is_ahead = self.unit == TextUnit::Document && options.memory.limit.is_none();
        if threads == 0 || !is_ahead {
            return self.replay(take);
        }
        let blocks = &Counter::default();
        let buffer = &ReorderBuffer::new(threads as u64);
        std::thread::scope(|scope| {
            let _receiver = buffer.receiver();
            for sender in (0..threads).map(|_| buffer.sender()) {
                let read = move || {
                    let _sender = sender;
                    let mut scratch = ReadBuffers::default();
                    while let Some(i) = blocks.next(self.blocks()) {
                        if !buffer.put(i as u64, self.records(i, &mut scratch)) {
                            break;
                        }
                    }
                };
                // If the system refuses a thread, the others read its blocks.
                let _ = Builder::new().spawn_scoped(scope, read);
            }
            let mut scratch = ReadBuffers::default();
            let mut own = std::iter::from_fn(|| {
                let i = blocks.next(self.blocks())?;
                Some((i as u64, self.records(i, &mut scratch)))
            });
            while let Some(records) = buffer.take_or_make(&mut own) {
                records.pass(take)?;
            }
            Ok(())
        })
    }

    /// Reads a block.
    fn records(&self, i: usize, scratch: &mut ReadBuffers) -> ReplayedBlock {
        let mut records = ReplayedBlock::default();
        let read = self.replay_block(i, scratch, &mut |number, document| {
            records.push(number, document);
            Ok::<_, FindError>(())
        });
        records.failure = read.err();
        records
    }
}

/// The records of a block, up to the first that cannot be read. One buffer has the bytes of all
/// records, because one thread allocates it and another one frees it.
#[derive(Default)]
struct ReplayedBlock {
    records: Vec<ReplayedRecord>,
    ids: String,
    bytes: Vec<u8>,
    failure: Option<FindError>,
}

/// A record, with its positions in the buffers.
struct ReplayedRecord {
    number: DocumentNumber,
    id: Range<usize>,
    place: DocumentPosition,
    raw: ReplayedRaw,
}

enum ReplayedRaw {
    Record(Range<usize>),
    File(PathBuf),
    Part(PathBuf),
    Row(u64),
}

impl ReplayedBlock {
    fn push(&mut self, number: DocumentNumber, document: &Document<'_>) {
        let id = self.ids.len()..self.ids.len() + document.id.len();
        self.ids.push_str(document.id);
        let raw = match document.raw {
            Raw::Record(bytes) => {
                self.bytes.extend_from_slice(bytes);
                ReplayedRaw::Record(self.bytes.len() - bytes.len()..self.bytes.len())
            }
            Raw::File(path) => ReplayedRaw::File(path.to_owned()),
            Raw::Part(path) => ReplayedRaw::Part(path.to_owned()),
            Raw::Row(row) => ReplayedRaw::Row(row),
        };
        self.records.push(ReplayedRecord { number, id, place: document.place, raw });
    }

    /// Passes all records to `take`.
    fn pass<E: From<FindError>>(
        self,
        take: &mut dyn FnMut(DocumentNumber, &Document<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        for ReplayedRecord { number, id, place, raw } in &self.records {
            let raw = match raw {
                ReplayedRaw::Record(range) => Raw::Record(&self.bytes[range.clone()]),
                ReplayedRaw::File(path) => Raw::File(path),
                ReplayedRaw::Part(path) => Raw::Part(path),
                ReplayedRaw::Row(row) => Raw::Row(*row),
            };
            let document = Document {
                id: &self.ids[id.clone()],
                text: "",
                place: *place,
                fields: &[],
                modified: None,
                shingled: None,
                about: None,
                raw,
                contents: None,
                parent: None,
            };
            take(*number, &document)?;
        }
        self.failure.map_or(Ok(()), |failure| Err(failure.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine;
    use crate::progress::NoProgress;
    use crate::read::{Collection, ReadOptions};
    use lookalike_core::params::{Params, ParamsBuilder};
    use std::num::NonZeroUsize;

    #[test]
    fn replay_is_independent_of_threads() {
        let folder = tempfile::tempdir().unwrap();
        let path = |file| folder.path().join(format!("{file}.jsonl"));
        let line = |file, row| format!("{{\"id\":\"{file}-{row}\",\"text\":\"{row} words\"}}\n");
        for file in 0..9 {
            let lines: String = (0..20).map(|row| line(file, row)).collect();
            std::fs::write(path(file), lines).unwrap();
            std::fs::write(folder.path().join(format!("{file}.txt")), "a text file").unwrap();
        }
        let inputs = [folder.path().to_owned()];
        let collection = Collection::open(&inputs, &ReadOptions::default()).unwrap();
        let options = FindOptions::new(Params::new(&ParamsBuilder::default()).unwrap());
        let findings = engine::run(&collection, &options, &NoProgress).unwrap();
        let replayed = |threads| {
            let mut records = Vec::new();
            let threads = NonZeroUsize::new(threads).unwrap();
            let result = findings.replay_records(
                &FindOptions { threads, ..options.clone() },
                &mut |number, document| -> Result<(), FindError> {
                    let raw = format!("{:?}", document.raw);
                    records.push((number, document.id.to_owned(), document.place, raw));
                    Ok(())
                },
            );
            (records, result.err().map(|error| error.to_string()))
        };
        let whole = replayed(1);
        assert_eq!((whole.0.len(), &whole.1), (9 * 21, &None));
        assert_eq!([replayed(2), replayed(5)], [whole.clone(), whole]);
        std::fs::write(path(4), line(4, 0) + "no record\n").unwrap();
        let cut = replayed(1);
        assert!(cut.0.len() < 9 * 21 && cut.1.is_some(), "{cut:?}");
        assert_eq!([replayed(2), replayed(5)], [cut.clone(), cut]);
    }
}
