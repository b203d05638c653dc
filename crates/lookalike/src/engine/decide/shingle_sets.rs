//! Shingle sets of the members of one component, read on first use.
//!
//! Documents are read again, or their sets are read from an index. The most recently used sets are
//! held, up to a share of memory. A document that has changed since its first reading is an error.

use crate::engine::decide::batch::ComponentBatch;
use crate::engine::error::FindError;
use crate::engine::ids::{BatchIndex, ComponentIndex, IdVec};
use crate::engine::options::FindOptions;
use crate::engine::options::PairList;
use crate::engine::prepare::documents::RunDocuments;
use crate::engine::workers::{Counter, on_threads};
use crate::read::ReadBuffers;
use lookalike_core::shingle::Shingler;
use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most bytes of a set that is copied; longer sets are moved.
const LONG_SET_BYTES: usize = 1 << 20;

/// The number of members whose sets one thread reads before it takes further members.
const READ_AT_ONCE: usize = 64;

/// The sets of one thread, or of a large component that all threads read.
pub(crate) struct ShingleSets<'a> {
    documents: &'a RunDocuments,
    options: &'a FindOptions,
    reader: SetReader<'a>,
    /// The most bytes of sets to hold.
    pub(crate) share: usize,
    /// The most bytes of signatures to hold next to the sets.
    pub(crate) signature_share: usize,
    /// The sets in memory.
    sets: IdVec<ComponentIndex, Option<Box<[u64]>>>,
    /// Classes whose sets are in memory, the oldest first.
    queue: VecDeque<ComponentIndex>,
    held_bytes: usize,
}

/// The sets of all members of a component.
#[derive(Clone, Copy)]
pub(crate) struct LoadedSets<'a>(&'a IdVec<ComponentIndex, Option<Box<[u64]>>>);

impl<'a> LoadedSets<'a> {
    /// The set of a class.
    pub(crate) fn of(self, class: ComponentIndex) -> &'a [u64] {
        self.0[class].as_deref().unwrap_or_default()
    }
}

impl<'a> ShingleSets<'a> {
    pub(crate) fn new(documents: &'a RunDocuments, options: &'a FindOptions, share: usize) -> Self {
        let signature_share = if options.pairs == PairList::WithEstimates { share / 4 } else { 0 };
        Self {
            documents,
            options,
            reader: SetReader::new(documents, options),
            share: share - signature_share,
            signature_share,
            sets: IdVec::default(),
            queue: VecDeque::new(),
            held_bytes: 0,
        }
    }

    /// Clears the sets, and prepares for a component of `members` members.
    pub(crate) fn begin(&mut self, members: usize) {
        self.sets.reset(members, || None);
        self.queue.clear();
        self.held_bytes = 0;
    }

    /// Reads the sets of a component's members on all threads, until they fill the share. A member
    /// is given by its class and one of its documents.
    pub(crate) fn read_ahead(
        &mut self,
        batch: &ComponentBatch,
        members: &[(ComponentIndex, BatchIndex)],
        threads: NonZeroUsize,
    ) -> Result<(), FindError> {
        let pieces: Vec<_> = members.chunks(READ_AT_ONCE).collect();
        let counter = Counter::default();
        let bytes = AtomicUsize::new(0);
        let read = on_threads::<_, FindError>(threads, |stop| {
            let mut reader = SetReader::new(self.documents, self.options);
            let mut sets = Vec::new();
            while let Some(piece) = counter.next(pieces.len()).filter(|_| !stop.is_requested()) {
                for &(class, document) in pieces[piece] {
                    if bytes.load(Ordering::Relaxed) > self.share {
                        return Ok(sets);
                    }
                    let more = 8 * reader.read(batch, document)?.len();
                    bytes.fetch_add(more, Ordering::Relaxed);
                    sets.push((class, reader.take()));
                }
            }
            Ok(sets)
        })?;
        for (class, set) in read.into_iter().flatten() {
            self.hold(class, set);
        }
        Ok(())
    }

    /// Returns the sets of all members, if all are in memory.
    pub(crate) fn loaded(&self) -> Option<LoadedSets<'_>> {
        let are_loaded = self.sets.entries().all(|(_, set)| set.is_some());
        are_loaded.then_some(LoadedSets(&self.sets))
    }

    /// Returns the sets of two members, which are given by their classes and their first documents.
    ///
    /// # Errors
    /// A document cannot be read, or has changed.
    pub(crate) fn set_pair(
        &mut self,
        batch: &ComponentBatch,
        (a, document_a): (ComponentIndex, BatchIndex),
        (b, document_b): (ComponentIndex, BatchIndex),
    ) -> Result<(&[u64], &[u64]), FindError> {
        self.load(batch, a, document_a, b)?;
        self.load(batch, b, document_b, a)?;
        let set = |class: ComponentIndex| self.sets[class].as_deref().unwrap_or_default();
        Ok((set(a), set(b)))
    }

    /// Returns the set of one member.
    ///
    /// # Errors
    /// Errors of [`set_pair`](Self::set_pair).
    pub(crate) fn set(
        &mut self,
        batch: &ComponentBatch,
        class: ComponentIndex,
        document: BatchIndex,
    ) -> Result<&[u64], FindError> {
        self.load(batch, class, document, class)?;
        Ok(self.sets[class].as_deref().unwrap_or_default())
    }

    /// Reads the set of a class. Drops others to make room, but never the set of `kept`.
    fn load(
        &mut self,
        batch: &ComponentBatch,
        class: ComponentIndex,
        document: BatchIndex,
        kept: ComponentIndex,
    ) -> Result<(), FindError> {
        if self.sets[class].is_some() {
            return Ok(());
        }
        let bytes = 8 * self.reader.read(batch, document)?.len();
        while self.held_bytes + bytes > self.share {
            let Some(oldest) = self.queue.pop_front() else { break };
            if oldest == kept {
                self.queue.push_back(oldest);
                if self.queue.len() == 1 {
                    break;
                }
                continue;
            }
            let dropped = self.sets[oldest].take();
            self.held_bytes -= dropped.map_or(0, |set| 8 * set.len());
        }
        let set = self.reader.take();
        self.hold(class, set);
        Ok(())
    }

    fn hold(&mut self, class: ComponentIndex, set: Box<[u64]>) {
        self.held_bytes += 8 * set.len();
        self.sets[class] = Some(set);
        self.queue.push_back(class);
    }
}

/// Reads the sets of documents.
struct SetReader<'a> {
    documents: &'a RunDocuments,
    shingler: Shingler,
    scratch: ReadBuffers,
    set: Vec<u64>,
}

impl<'a> SetReader<'a> {
    fn new(documents: &'a RunDocuments, options: &FindOptions) -> Self {
        Self {
            documents,
            shingler: Shingler::with_kernel(options.params.shingle(), options.kernel),
            scratch: ReadBuffers::default(),
            set: Vec::new(),
        }
    }

    /// Reads the set of a document.
    fn read(&mut self, batch: &ComponentBatch, document: BatchIndex) -> Result<&[u64], FindError> {
        let row = batch.rows.row(document);
        let block = &self.documents.store.blocks[batch.rows.block(document)];
        let fingerprint = block.retained.fetch_set(
            row.place,
            row.id,
            &mut self.scratch,
            &mut self.shingler,
            &mut self.set,
        )?;
        if fingerprint == row.fingerprint {
            return Ok(&self.set);
        }
        let place = self.documents.location(batch.documents[document])?;
        Err(FindError::Changed { id: row.id.to_owned(), place })
    }

    /// Returns the last set.
    fn take(&mut self) -> Box<[u64]> {
        // Copying a long set would take a large part of the memory of a run.
        if 8 * self.set.len() > LONG_SET_BYTES {
            std::mem::take(&mut self.set).into_boxed_slice()
        } else {
            self.set.as_slice().into()
        }
    }
}
