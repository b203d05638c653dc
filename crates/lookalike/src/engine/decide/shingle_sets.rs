//! Shingle sets of the members of one component, made when they are asked for.
//!
//! Documents are read again, or their sets from an index; the sets that were used last are kept,
//! up to a share of memory. A document that is not what it was when it was read first is an error.

use crate::engine::decide::batch::ComponentBatch;
use crate::engine::options::FindOptions;
use crate::engine::options::PairList;
use crate::engine::prepare::documents::RunDocuments;
use crate::error::Error;
use crate::read::ReadBuffers;
use lookalike_core::shingle::Shingler;
use std::collections::VecDeque;

/// Bytes of a set that is moved to where it is held, and not copied.
const LONG_SET_BYTES: usize = 1 << 20;

/// One thread's sets.
pub(crate) struct ShingleSets<'a> {
    documents: &'a RunDocuments,
    shingler: Shingler,
    scratch: ReadBuffers,
    /// Bytes of sets that may be held.
    pub(crate) share: usize,
    /// Bytes of signatures that may be held next to the sets.
    pub(crate) signature_share: usize,
    /// By place in the component.
    made: Vec<Option<Box<[u64]>>>,
    /// Places whose sets are held, the longest held first.
    held: VecDeque<u32>,
    held_bytes: usize,
    set: Vec<u64>,
}

impl<'a> ShingleSets<'a> {
    pub(crate) fn new(documents: &'a RunDocuments, options: &FindOptions, share: usize) -> Self {
        let signature_share = if options.pairs == PairList::WithEstimates { share / 4 } else { 0 };
        Self {
            documents,
            shingler: Shingler::with_kernel(options.params.shingle(), options.kernel),
            scratch: ReadBuffers::default(),
            share: share - signature_share,
            signature_share,
            made: Vec::new(),
            held: VecDeque::new(),
            held_bytes: 0,
            set: Vec::new(),
        }
    }

    /// Forgets the last component and is ready for one of `members` members.
    pub(crate) fn begin(&mut self, members: usize) {
        self.made.clear();
        self.made.resize_with(members, || None);
        self.held.clear();
        self.held_bytes = 0;
    }

    /// The sets of two members, `a` and `b` by place in the component, `document_a` and `_b` in
    /// the batch.
    ///
    /// # Errors
    /// A document cannot be read, or is not what it was.
    pub(crate) fn two(
        &mut self,
        batch: &ComponentBatch,
        (a, document_a): (u32, u32),
        (b, document_b): (u32, u32),
    ) -> Result<(&[u64], &[u64]), Error> {
        self.load(batch, a, document_a, b)?;
        self.load(batch, b, document_b, a)?;
        let set = |place: u32| self.made[place as usize].as_deref().unwrap_or_default();
        Ok((set(a), set(b)))
    }

    /// The set of one member.
    ///
    /// # Errors
    /// As for [`two`](Self::two).
    pub(crate) fn one(
        &mut self,
        batch: &ComponentBatch,
        place: u32,
        document: u32,
    ) -> Result<&[u64], Error> {
        self.load(batch, place, document, place)?;
        Ok(self.made[place as usize].as_deref().unwrap_or_default())
    }

    /// Makes the set at `place`, letting go of others but of that at `stays`.
    fn load(
        &mut self,
        batch: &ComponentBatch,
        place: u32,
        document: u32,
        stays: u32,
    ) -> Result<(), Error> {
        if self.made[place as usize].is_some() {
            return Ok(());
        }
        self.read(batch, document)?;
        let bytes = 8 * self.set.len();
        while self.held_bytes + bytes > self.share {
            let Some(oldest) = self.held.pop_front() else { break };
            if oldest == stays {
                self.held.push_back(oldest);
                if self.held.len() == 1 {
                    break;
                }
                continue;
            }
            let gone = self.made[oldest as usize].take();
            self.held_bytes -= gone.map_or(0, |set| 8 * set.len());
        }
        // A copy of a long set would be a large part of the memory of a run.
        let set = if bytes > LONG_SET_BYTES {
            std::mem::take(&mut self.set).into_boxed_slice()
        } else {
            self.set.as_slice().into()
        };
        self.made[place as usize] = Some(set);
        self.held.push_back(place);
        self.held_bytes += bytes;
        Ok(())
    }

    fn read(&mut self, batch: &ComponentBatch, document: u32) -> Result<(), Error> {
        let row = batch.rows.row(document);
        let block = &self.documents.store.blocks[batch.rows.block(document)];
        let (shingler, set) = (&mut self.shingler, &mut self.set);
        let fingerprint =
            block.retained.fetch_set(row.place, row.id, &mut self.scratch, shingler, set)?;
        if fingerprint == row.fingerprint {
            return Ok(());
        }
        let place = self.documents.location(batch.documents[document as usize])?;
        Err(Error::Changed { id: row.id.to_owned(), place })
    }
}
