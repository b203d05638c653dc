//! Stores the originals of a batch: each once, as a difference where a similar one is known.

use super::bucket_neighbours::SimilarInBuckets;
use super::document_row::DocumentRowValues;
use super::originals::{self, EncodedOriginal};
use super::pool::PooledConnection;
use super::row::column;
use super::version_plan::PlannedVersion;
use crate::backend::bucket_keys;
use crate::error::IndexError;
use crate::original::{OriginalEntry, OriginalHash};
use crate::original_code::MAX_CHAIN;
use crate::settings::IndexSettings;
use std::borrow::Cow;
use std::collections::HashMap;

/// The bytes of frames that are sent at a time.
const MOST_SENT: usize = 32 << 20;

/// Stores the originals of a batch.
pub(super) struct OriginalWriter<'c, 'a> {
    connection: &'c mut PooledConnection,
    settings: &'c IndexSettings,
    /// The documents of the batch, by change.
    ready: &'a [Option<DocumentRowValues<'a>>],
    /// The numbers of originals that are stored or about to be.
    known: HashMap<OriginalHash, i64>,
    /// The originals of documents of the batch.
    of_document: HashMap<i64, i64>,
    /// Originals of the batch.
    of_batch: HashMap<i64, BatchOriginal<'a>>,
    next: i64,
    unsent: Vec<EncodedOriginal>,
}

/// An original of the batch.
#[derive(Clone, Copy)]
struct BatchOriginal<'a> {
    bytes: &'a [u8],
    base: Option<i64>,
    differences: usize,
}

/// What an original may be a difference from.
struct BaseOriginal<'a> {
    number: i64,
    bytes: Cow<'a, [u8]>,
    /// How many differences lead to it.
    differences: usize,
}

impl<'c, 'a> OriginalWriter<'c, 'a> {
    pub(super) fn new(
        connection: &'c mut PooledConnection,
        settings: &'c IndexSettings,
        ready: &'a [Option<DocumentRowValues<'a>>],
    ) -> Self {
        Self {
            connection,
            settings,
            ready,
            known: HashMap::new(),
            of_document: HashMap::new(),
            of_batch: HashMap::new(),
            next: 1,
            unsent: Vec::new(),
        }
    }

    /// Stores what is not there, and gives each of these versions the number of its original.
    ///
    /// # Errors
    /// Errors of the server and of the compression.
    pub(super) fn store(&mut self, planned: &mut [PlannedVersion<'_>]) -> Result<(), IndexError> {
        self.look_up(planned)?;
        let is_first = |one: &&PlannedVersion<'_>| {
            let is_new = one.new_original().is_some_and(|hash| !self.known.contains_key(&hash));
            one.version.number == 1 && is_new
        };
        let first = planned.iter().filter(is_first);
        let wanted = first.filter_map(|one| one.change).flat_map(|at| self.keys(at)).collect();
        let mut similar = SimilarInBuckets::read(self.connection, wanted)?;
        // The original of the former version of each id.
        let mut before: HashMap<&str, i64> = HashMap::new();
        for one in planned {
            let document = one.version.document.cast_signed();
            let change = one.change;
            let like = change.and_then(|at| similar.find_and_add(self.keys(at), document));
            if let (Some(hash), Some(at)) = (one.new_original(), change) {
                let number = match (self.known.get(&hash), before.get(one.id)) {
                    (Some(number), _) => *number,
                    (None, Some(former)) => self.add(at, Some(*former))?,
                    (None, None) => {
                        let like = self.original_of(like)?;
                        self.add(at, like)?
                    }
                };
                one.version.original = number.cast_unsigned();
            }
            let original = one.version.original.cast_signed();
            self.of_document.insert(document, original);
            before.insert(one.id, original);
        }
        self.send()
    }

    /// Reads which originals of these versions are stored, and the next number.
    fn look_up(&mut self, planned: &[PlannedVersion<'_>]) -> Result<(), IndexError> {
        let hashes = planned.iter().filter_map(PlannedVersion::new_original);
        let hashes: Vec<Vec<u8>> = hashes.map(Vec::from).collect();
        let sql = "SELECT sha256, original FROM originals WHERE sha256 = ANY($1)";
        for row in self.connection.query(sql, &[&hashes])? {
            let hash = OriginalHash::try_from(column::<&[u8]>(&row, "originals", 0)?);
            if let Ok(hash) = hash {
                self.known.insert(hash, column(&row, "originals", 1)?);
            }
        }
        let sql = "SELECT coalesce(max(original), 0) + 1 FROM originals";
        let row = self.connection.query_one(sql, &[], "its originals")?;
        self.next = column(&row, "originals", 0)?;
        Ok(())
    }

    /// The bucket keys of the document of a change.
    fn keys(&self, at: usize) -> Vec<i64> {
        let mut keys = Vec::new();
        if let Some(Some(ready)) = self.ready.get(at) {
            bucket_keys(self.settings, ready.entry.signature, &mut keys);
        }
        keys.into_iter().map(u64::cast_signed).collect()
    }

    /// The original of a document of the batch or a stored one.
    fn original_of(&mut self, document: Option<i64>) -> Result<Option<i64>, IndexError> {
        let Some(document) = document else { return Ok(None) };
        if let Some(original) = self.of_document.get(&document) {
            return Ok(Some(*original));
        }
        let sql = "SELECT original FROM versions WHERE doc = $1";
        let rows = self.connection.query(sql, &[&document])?;
        rows.first().map(|row| column(row, "versions", 0)).transpose()
    }

    /// Adds the original of a change, as its difference from `similar` or from the base of that
    /// where it is smaller; returns its number.
    fn add(&mut self, at: usize, similar: Option<i64>) -> Result<i64, IndexError> {
        let number = self.next;
        let original = self.ready.get(at).and_then(|ready| ready.as_ref()?.original);
        let missing = || originals::damaged(number, "its change has none".to_owned());
        let OriginalEntry { bytes, sha256, .. } = original.ok_or_else(missing)?;
        let base = similar.map(|similar| self.base(similar)).transpose()?.flatten();
        let from = base.as_ref().map(|base| (base.number, &base.bytes[..]));
        let row = EncodedOriginal::new(number, bytes, sha256, from)?;
        let differences =
            base.filter(|_| row.base.is_some()).map_or(0, |base| base.differences + 1);
        self.of_batch.insert(number, BatchOriginal { bytes, base: row.base, differences });
        self.known.insert(sha256, number);
        self.next += 1;
        self.unsent.push(row);
        if self.unsent.iter().map(|row| row.code.len()).sum::<usize>() >= MOST_SENT {
            self.send()?;
        }
        Ok(number)
    }

    /// The original from which a difference is stored, so that it leads over at most [`MAX_CHAIN`]
    /// differences: `similar`, or its base. A damaged one is no base: what is added is stored all
    /// the same.
    fn base(&mut self, similar: i64) -> Result<Option<BaseOriginal<'a>>, IndexError> {
        let mut number = similar;
        loop {
            let (next, base) = match self.of_batch.get(&number).copied() {
                Some(BatchOriginal { bytes, base, differences }) => {
                    (base, BaseOriginal { number, bytes: bytes.into(), differences })
                }
                None => match originals::read(self.connection, number) {
                    Ok(read) => {
                        let (bytes, differences) = (read.bytes.into(), read.differences);
                        (read.base, BaseOriginal { number, bytes, differences })
                    }
                    Err(IndexError::Damaged { .. }) => return Ok(None),
                    Err(error) => return Err(error),
                },
            };
            match next {
                Some(next) if base.differences >= MAX_CHAIN => number = next,
                _ => return Ok(Some(base)),
            }
        }
    }

    fn send(&mut self) -> Result<(), IndexError> {
        originals::insert(self.connection, &self.unsent)?;
        self.unsent.clear();
        Ok(())
    }
}
