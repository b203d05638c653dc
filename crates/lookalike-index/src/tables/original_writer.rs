//! Stores each original of a batch once, as a difference if a similar original is known.

use super::originals::{self, EncodedOriginal, ORIGINALS};
use super::similar_documents::BatchNeighbours;
use super::version_plan::{PlannedVersion, VersionPlan};
use super::versions::VERSIONS;
use super::{Keys, Tables, Value};
use crate::backend::{Change, posting_keys};
use crate::error::IndexError;
use crate::original::{OriginalEntry, OriginalHash};
use crate::original_code::MAX_CHAIN;
use crate::settings::IndexSettings;
use std::borrow::Cow;
use std::collections::HashMap;

/// Number of bytes of frames that are sent at a time.
const MOST_SENT: usize = 32 << 20;

/// Stores the originals of a batch.
pub(super) struct OriginalWriter<'c, 'a> {
    tables: Tables<'c>,
    settings: &'c IndexSettings,
    changes: &'c [Change<'a>],
    /// The originals of the batch, by change.
    originals: &'c [Option<OriginalEntry<'a>>],
    /// The numbers of originals that are stored or about to be.
    stored_numbers: HashMap<OriginalHash, i64>,
    /// The originals of documents of the batch; `None` for a removed document, whose original must
    /// not become a base.
    of_document: HashMap<i64, Option<i64>>,
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

/// An original that can be the base of a difference.
struct BaseOriginal<'a> {
    number: i64,
    bytes: Cow<'a, [u8]>,
    /// The number of differences in its own chain.
    differences: usize,
}

impl<'c, 'a> OriginalWriter<'c, 'a> {
    pub(super) fn new(
        tables: Tables<'c>,
        settings: &'c IndexSettings,
        changes: &'c [Change<'a>],
        originals: &'c [Option<OriginalEntry<'a>>],
    ) -> Self {
        Self {
            tables,
            settings,
            changes,
            originals,
            stored_numbers: HashMap::new(),
            of_document: HashMap::new(),
            of_batch: HashMap::new(),
            next: 1,
            unsent: Vec::new(),
        }
    }

    /// Stores the missing originals, and assigns the number of its original to each version.
    ///
    /// # Errors
    /// Errors of the server and of the compression.
    pub(super) fn store(&mut self, plan: &mut VersionPlan<'_>) -> Result<(), IndexError> {
        let planned = &mut plan.versions;
        self.look_up(planned)?;
        self.of_document.extend(plan.removed_documents.iter().map(|removed| (*removed, None)));
        let is_first = |one: &&PlannedVersion<'_>| {
            let is_new =
                one.new_original().is_some_and(|hash| !self.stored_numbers.contains_key(&hash));
            one.version.number == 1 && is_new
        };
        let first = planned.iter().filter(is_first).filter_map(|one| one.change);
        let first = first.map(|at| Ok((at, self.keys(at)?)));
        let first = first.collect::<Result<Vec<_>, IndexError>>()?;
        let mut neighbours = BatchNeighbours::read(self.tables, first)?;
        // The original of the previous version of each id.
        let mut before: HashMap<&str, i64> = HashMap::new();
        for one in planned {
            let document = one.version.document.signed();
            let similar = match one.change {
                Some(at) => neighbours.find_and_add(at, &self.keys(at)?, document),
                None => None,
            };
            if let (Some(hash), Some(at)) = (one.new_original(), one.change) {
                let number = match (self.stored_numbers.get(&hash), before.get(one.id)) {
                    (Some(number), _) => *number,
                    (None, Some(former)) => self.add(at, Some(*former))?,
                    (None, None) => {
                        let similar = self.original_of(similar)?;
                        self.add(at, similar)?
                    }
                };
                one.version.original = number.cast_unsigned();
            }
            let original = one.version.original.cast_signed();
            self.of_document.insert(document, Some(original));
            before.insert(one.id, original);
        }
        self.send()
    }

    /// Looks up the stored originals of these versions, and the next number.
    fn look_up(&mut self, planned: &[PlannedVersion<'_>]) -> Result<(), IndexError> {
        let hashes: Vec<OriginalHash> =
            planned.iter().filter_map(PlannedVersion::new_original).collect();
        let hashes: Vec<&[u8]> = hashes.iter().map(|hash| &hash[..]).collect();
        let sql = "SELECT sha256, original FROM originals WHERE {keys}";
        let keys = Keys::Hashes("sha256", &hashes);
        self.tables.each_of(ORIGINALS.name, sql, keys, &mut |row| {
            let hash = row.bytes(0)?.and_then(|hash| OriginalHash::try_from(hash).ok());
            if let Some(hash) = hash {
                self.stored_numbers.insert(hash, row.integer(1)?);
            }
            Ok(())
        })?;
        let sql = "SELECT coalesce(max(original), 0) + 1 FROM originals";
        self.next = self.tables.integer(ORIGINALS.name, sql)?;
        Ok(())
    }

    /// The distinct bucket keys of the document of a change.
    fn keys(&self, at: usize) -> Result<Vec<u64>, IndexError> {
        let mut keys = Vec::new();
        if let Some(entry) = self.changes.get(at).and_then(Change::entry) {
            posting_keys(self.settings, entry.signature, entry.set, &mut keys)?;
            keys.sort_unstable();
            keys.dedup();
        }
        Ok(keys)
    }

    /// The original of a document, which is in the batch or stored.
    fn original_of(&mut self, document: Option<i64>) -> Result<Option<i64>, IndexError> {
        let Some(document) = document else { return Ok(None) };
        if let Some(original) = self.of_document.get(&document) {
            return Ok(*original);
        }
        let sql = "SELECT original FROM versions WHERE doc = $1";
        self.tables.first(VERSIONS.name, sql, &[Value::Integer(document)], |row| row.integer(0))
    }

    /// Adds the original of a change and returns its number. Stores it as a difference from
    /// `similar` or a base of `similar`, if the difference is smaller than the whole original.
    fn add(&mut self, at: usize, similar: Option<i64>) -> Result<i64, IndexError> {
        let number = self.next;
        let Some(OriginalEntry { bytes, sha256, .. }) = self.originals.get(at).copied().flatten()
        else {
            return Err(IndexError::damaged(format!("original {number}"), "its change has none"));
        };
        let base = similar.map(|similar| self.base(similar)).transpose()?.flatten();
        let from = base.as_ref().map(|base| (base.number, &base.bytes[..]));
        let row = EncodedOriginal::new(number, bytes, sha256, from)?;
        let differences =
            base.filter(|_| row.base.is_some()).map_or(0, |base| base.differences + 1);
        self.of_batch.insert(number, BatchOriginal { bytes, base: row.base, differences });
        self.stored_numbers.insert(sha256, number);
        self.next += 1;
        self.unsent.push(row);
        if self.unsent.iter().map(|row| row.code.len()).sum::<usize>() >= MOST_SENT {
            self.send()?;
        }
        Ok(number)
    }

    /// The base for a difference: `similar` or a base in its chain, so that the new chain has at
    /// most [`MAX_CHAIN`] differences. `None` if the original is damaged; the new original is then
    /// stored as a whole.
    fn base(&mut self, similar: i64) -> Result<Option<BaseOriginal<'a>>, IndexError> {
        let mut number = similar;
        loop {
            let (next, base) = match self.of_batch.get(&number).copied() {
                Some(BatchOriginal { bytes, base, differences }) => {
                    (base, BaseOriginal { number, bytes: bytes.into(), differences })
                }
                None => match originals::read(self.tables, number) {
                    Ok(read) => {
                        let bytes = read.bytes.into();
                        let differences = read.differences;
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
        originals::insert(self.tables, &self.unsent)?;
        self.unsent.clear();
        Ok(())
    }
}
