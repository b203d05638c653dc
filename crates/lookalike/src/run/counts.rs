//! How often each shingle occurs, about, counted by all threads in one pass: never too low.
//!
//! The counters are spread over tables by the top bits of the hashes. A thread gathers hashes by
//! table and adds them some at a time under the table's lock, so that the accesses of one batch
//! stay in a stretch of memory that the cache can hold and do not wait for each other.

use lookalike_core::prefix::Counters;
use std::sync::{Mutex, PoisonError};

/// Tables, as a power of two.
const LOG2_TABLES: u32 = 10;
/// Hashes gathered for a table before they are added.
const GATHERED: usize = 128;

/// Counters of shingles.
pub(super) struct Counts {
    tables: Vec<Mutex<Counters>>,
}

impl Counts {
    /// `bytes` of counters in all, of one byte each.
    pub(super) fn new(bytes: u64) -> Self {
        let log2_slots = bytes.max(2).ilog2().saturating_sub(LOG2_TABLES).max(8);
        let table = || Mutex::new(Counters::new(log2_slots));
        Self { tables: (0..1 << LOG2_TABLES).map(|_| table()).collect() }
    }

    /// One thread's way to add to them.
    pub(super) fn counting(&self) -> Counting<'_> {
        let gathered = (0..self.tables.len()).map(|_| Vec::with_capacity(GATHERED));
        Counting { counts: self, gathered: gathered.collect() }
    }

    /// The counters, when all has been counted.
    pub(super) fn finish(self) -> Counted {
        let tables = self.tables.into_iter();
        Counted {
            tables: tables
                .map(|t| t.into_inner().unwrap_or_else(PoisonError::into_inner))
                .collect(),
        }
    }
}

/// Hashes of one thread on their way to the counters.
pub(super) struct Counting<'a> {
    counts: &'a Counts,
    gathered: Vec<Vec<u64>>,
}

impl Counting<'_> {
    /// Counts the shingles of a document by the upper halves of their hashes.
    pub(super) fn add(&mut self, hashes: &[u32]) {
        for hash in hashes {
            let table = (hash >> (32 - LOG2_TABLES)) as usize;
            let gathered = &mut self.gathered[table];
            gathered.push(u64::from(*hash) << 32);
            if gathered.len() == GATHERED {
                flush(&self.counts.tables[table], gathered);
            }
        }
    }

    /// Counts what is left.
    pub(super) fn finish(mut self) {
        for (table, gathered) in self.counts.tables.iter().zip(&mut self.gathered) {
            flush(table, gathered);
        }
    }
}

fn flush(table: &Mutex<Counters>, gathered: &mut Vec<u64>) {
    table.lock().unwrap_or_else(PoisonError::into_inner).add_all(gathered);
    gathered.clear();
}

/// Counts that are complete.
pub(super) struct Counted {
    tables: Vec<Counters>,
}

impl Counted {
    /// How often a shingle occurs: at least so often as it does, and at most 255.
    pub(super) fn get(&self, upper: u32) -> u8 {
        let table = (upper >> (32 - LOG2_TABLES)) as usize;
        self.tables[table].get(u64::from(upper) << 32)
    }
}
