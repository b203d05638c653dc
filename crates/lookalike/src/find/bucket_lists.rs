//! Lists of documents that are candidates of each other, in memory or in a temporary file.
//!
//! A list is its length and its documents, ascending: 4 bytes each. Nothing depends on the order
//! of the lists.

use super::checkpoint::{BandStep, Checkpoint};
use super::memory::Budget;
use super::record_file::FileRange;
use super::record_file::{RecordFile, end};
use crate::error::Error;
use crate::spill::TempSpace;
use lookalike_core::candidate::BandBuckets;
use std::sync::Arc;

/// Lists of documents, one after the other.
#[derive(Debug, Default)]
pub(super) struct DocumentLists {
    values: Vec<u32>,
}

impl DocumentLists {
    /// Appends a list.
    pub(super) fn push(&mut self, documents: impl Iterator<Item = u32>) {
        let head = self.values.len();
        self.values.push(0);
        self.values.extend(documents);
        self.values[head] = (self.values.len() - head - 1) as u32;
    }

    /// The buckets of one band, whose documents are places in `numbers`.
    pub(super) fn of_band(buckets: &BandBuckets, numbers: &[u32]) -> Self {
        let (memberships, count) = (buckets.memberships(), buckets.leaders().len());
        // Where each list begins, then where its next document goes.
        let mut next = vec![0u32; count];
        for (_, bucket) in memberships {
            next[*bucket as usize] += 1;
        }
        let mut values = vec![0; memberships.len() + count];
        let mut start = 0;
        for next in &mut next {
            let length = *next;
            values[start as usize] = length;
            *next = start + 1;
            start += length + 1;
        }
        for (document, bucket) in memberships {
            let next = &mut next[*bucket as usize];
            values[*next as usize] = numbers[*document as usize];
            *next += 1;
        }
        Self { values }
    }

    /// The lists.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let mut rest = self.values.as_slice();
        std::iter::from_fn(move || {
            let (length, after) = rest.split_first()?;
            let (list, after) = after.split_at_checked(*length as usize)?;
            rest = after;
            Some(list)
        })
    }

    /// Documents in all lists, counted once for each.
    fn memberships(&self) -> u64 {
        (self.values.len() - self.iter().count()) as u64
    }

    fn held(&self) -> usize {
        4 * self.values.len()
    }
}

/// The lists of a whole run.
pub(super) struct BucketLists<'a> {
    temp: &'a Arc<TempSpace>,
    name: &'static str,
    share: usize,
    held: Vec<DocumentLists>,
    held_bytes: usize,
    file: Option<RecordFile>,
    pieces: Vec<FileRange>,
    memberships: u64,
}

impl<'a> BucketLists<'a> {
    pub(super) fn new(temp: &'a Arc<TempSpace>, name: &'static str, budget: &Budget) -> Self {
        Self {
            temp,
            name,
            share: budget.buckets(),
            held: Vec::new(),
            held_bytes: 0,
            file: None,
            pieces: Vec::new(),
            memberships: 0,
        }
    }

    /// Takes over what an earlier run finished; everything goes to the file from now on.
    pub(super) fn resume(&mut self, checkpoint: &Checkpoint) -> Result<(), Error> {
        for band in checkpoint.done.bands.values() {
            self.pieces.extend_from_slice(&band.pieces);
            self.memberships += band.memberships;
        }
        self.file = Some(RecordFile::open(self.temp, self.name, end(&self.pieces))?);
        self.share = 0;
        Ok(())
    }

    /// Takes lists; writes what it holds when that is more than its share.
    pub(super) fn add(&mut self, lists: DocumentLists) -> Result<(), Error> {
        if lists.values.is_empty() {
            return Ok(());
        }
        self.memberships += lists.memberships();
        self.held_bytes += lists.held();
        self.held.push(lists);
        if self.held_bytes > self.share { self.write() } else { Ok(()) }
    }

    /// Takes the lists of one band, and takes down that it is done.
    pub(super) fn add_band(
        &mut self,
        band: u32,
        lists: Vec<DocumentLists>,
        checkpoint: &Checkpoint,
    ) -> Result<(), Error> {
        let memberships = lists.iter().map(DocumentLists::memberships).sum();
        let before = self.pieces.len();
        lists.into_iter().try_for_each(|lists| self.add(lists))?;
        if let Some(file) = &self.file {
            file.sync()?;
        }
        let pieces = self.pieces[before..].to_vec();
        checkpoint.band(BandStep { band, pieces, memberships })
    }

    /// Takes down that the lists are complete.
    pub(super) fn all_done(&mut self, checkpoint: &Checkpoint) -> Result<(), Error> {
        if let Some(file) = &self.file {
            file.sync()?;
        }
        let (pieces, memberships) = (self.pieces.clone(), self.memberships);
        checkpoint.band(BandStep { band: 0, pieces, memberships })
    }

    /// Documents in all lists, counted once for each.
    pub(super) fn memberships(&self) -> u64 {
        self.memberships
    }

    fn write(&mut self) -> Result<(), Error> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(RecordFile::open(self.temp, self.name, 0)?),
        };
        let mut bytes = Vec::new();
        for lists in std::mem::take(&mut self.held) {
            for list in lists.iter() {
                bytes.clear();
                bytes.extend_from_slice(&(list.len() as u32).to_le_bytes());
                bytes.extend(list.iter().flat_map(|document| document.to_le_bytes()));
                file.push(&bytes, &mut self.pieces)?;
            }
        }
        file.flush(&mut self.pieces)?;
        self.held_bytes = 0;
        Ok(())
    }

    /// Gives every list to `f`.
    pub(super) fn for_each(&self, mut f: impl FnMut(&[u32])) -> Result<(), Error> {
        self.held.iter().flat_map(DocumentLists::iter).for_each(&mut f);
        let Some(file) = &self.file else { return Ok(()) };
        let mut bytes = Vec::new();
        let mut lists = DocumentLists::default();
        for piece in &self.pieces {
            file.read(*piece, &mut bytes)?;
            lists.values.clear();
            let values = bytes.chunks_exact(4);
            lists.values.extend(values.map(|v| v.try_into().map_or(0, u32::from_le_bytes)));
            lists.iter().for_each(&mut f);
        }
        Ok(())
    }
}
