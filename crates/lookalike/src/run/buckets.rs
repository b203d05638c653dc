//! Lists of documents that are candidates of each other, in memory or in a temporary file.
//!
//! A list is its length and its documents, ascending: 4 bytes each. Nothing depends on the order
//! of the lists.

use super::memory::Budget;
use crate::error::Error;
use crate::spill::{SpillFile, TempSpace};
use lookalike_core::candidate::BandBuckets;
use std::sync::Arc;

/// Bytes of lists that are written and read at a time; a longer list is one piece.
const PIECE_BYTES: usize = 1 << 20;

/// Lists of documents, one after the other.
#[derive(Debug, Default)]
pub(super) struct Lists {
    values: Vec<u32>,
}

impl Lists {
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

    fn held(&self) -> usize {
        4 * self.values.len()
    }
}

/// The lists of a whole run.
pub(super) struct BucketLists<'a> {
    temp: &'a Arc<TempSpace>,
    share: usize,
    held: Vec<Lists>,
    held_bytes: usize,
    file: Option<SpillFile>,
    /// Pieces of whole lists in the file.
    pieces: Vec<(u64, u64)>,
    /// Documents in all lists, counted once for each.
    memberships: u64,
}

impl<'a> BucketLists<'a> {
    pub(super) fn new(temp: &'a Arc<TempSpace>, budget: &Budget) -> Self {
        Self {
            temp,
            share: budget.buckets(),
            held: Vec::new(),
            held_bytes: 0,
            file: None,
            pieces: Vec::new(),
            memberships: 0,
        }
    }

    /// Takes lists; writes what it holds when that is more than its share.
    pub(super) fn add(&mut self, lists: Lists) -> Result<(), Error> {
        if lists.values.is_empty() {
            return Ok(());
        }
        self.memberships += (lists.values.len() - lists.iter().count()) as u64;
        self.held_bytes += lists.held();
        self.held.push(lists);
        if self.held_bytes > self.share { self.write() } else { Ok(()) }
    }

    /// Documents in all lists, counted once for each.
    pub(super) fn memberships(&self) -> u64 {
        self.memberships
    }

    fn write(&mut self) -> Result<(), Error> {
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(self.temp.workspace()?.create("buckets")?),
        };
        let mut piece = Vec::with_capacity(PIECE_BYTES);
        for lists in std::mem::take(&mut self.held) {
            for list in lists.iter() {
                piece.extend_from_slice(&(list.len() as u32).to_le_bytes());
                piece.extend(list.iter().flat_map(|document| document.to_le_bytes()));
                if piece.len() >= PIECE_BYTES {
                    self.pieces.push((file.append(&piece)?, piece.len() as u64));
                    piece.clear();
                }
            }
        }
        if !piece.is_empty() {
            self.pieces.push((file.append(&piece)?, piece.len() as u64));
        }
        self.held_bytes = 0;
        Ok(())
    }

    /// Gives every list to `f`.
    pub(super) fn for_each(&self, mut f: impl FnMut(&[u32])) -> Result<(), Error> {
        self.held.iter().flat_map(Lists::iter).for_each(&mut f);
        let Some(file) = &self.file else { return Ok(()) };
        let mut bytes = Vec::new();
        let mut lists = Lists::default();
        for &(at, length) in &self.pieces {
            bytes.resize(length as usize, 0);
            file.read_at(&mut bytes, at)?;
            lists.values.clear();
            let values = bytes.chunks_exact(4);
            lists.values.extend(values.map(|v| v.try_into().map_or(0, u32::from_le_bytes)));
            lists.iter().for_each(&mut f);
        }
        Ok(())
    }
}
