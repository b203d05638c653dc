//! Groups of near-duplicates, in report order, held in memory or on the disk.

use crate::engine::collect::group_categories::GroupCategories;
use crate::engine::decide::batch::ComponentBatch;
use crate::engine::decide::batch_result::{BatchResult, DecidedDuplicate};
use crate::engine::error::FindError;
use crate::engine::ids::DocumentNumber;
use crate::engine::options::FindOptions;
use crate::read::UnitRange;
use crate::spill::codec::{
    FieldReader, key_part, key_u64_descending, put_bytes, put_overlap, put_u32, put_u64,
};
use crate::spill::{SortedRecords, Sorter};
use crate::spill::{SpillError, TakeRecord};
use lookalike_core::verify::Overlap;
use std::io;

/// The keeper of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keeper {
    /// Its id.
    pub id: String,
    /// Its number in reading order.
    pub document: DocumentNumber,
    /// The length of its text in bytes.
    pub bytes: u64,
    /// Whether it belongs to a reference collection.
    pub reference: bool,
    /// Whether it is kept because of a user decision.
    pub by_decision: bool,
    /// Its range in its document, if it is a unit.
    pub unit: Option<UnitRange>,
}

/// A document of a group that is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    /// Its id.
    pub id: String,
    /// Its number in reading order.
    pub document: DocumentNumber,
    /// The length of its text in bytes.
    pub bytes: u64,
    /// Exact overlap with the keeper: `left` is the keeper's set. If both documents have equal
    /// shingles, the sizes are not counted, and all three are 1.
    pub overlap: Overlap,
    /// The index in [`KeepPolicy::rules`](lookalike_core::keep::KeepPolicy::rules) of the rule that
    /// put the keeper first; `None` if the id, a reference collection or a decision did.
    pub decided_by: Option<u32>,
    /// Its range in its document, if it is a unit.
    pub unit: Option<UnitRange>,
}

/// Near-duplicates and the document that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The document that is kept.
    pub keeper: Keeper,
    /// The other documents: most similar first, then by id.
    pub duplicates: Vec<Duplicate>,
}

/// The groups of a run: largest first, then by the keeper's id. If two keepers have the same id,
/// the keeper of a reference collection comes second.
#[derive(Debug, Default)]
pub struct Groups {
    sorted: SortedRecords,
    units: bool,
    categories: Option<GroupCategories>,
}

impl Groups {
    /// The number of groups.
    pub fn len(&self) -> usize {
        self.sorted.len() as usize
    }

    /// Returns true if the run found no group.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the members are units.
    pub fn has_units(&self) -> bool {
        self.units
    }

    /// Sets whether the members are units.
    pub(crate) fn set_units(&mut self, units: bool) {
        self.units = units;
    }

    /// The categories of the groups, if the documents are in an index with categories.
    pub fn categories(&self) -> Option<&GroupCategories> {
        self.categories.as_ref()
    }

    /// Sets the categories of the groups.
    pub(crate) fn set_categories(&mut self, categories: GroupCategories) {
        self.categories = Some(categories);
    }

    /// Iterates over the groups in order, and reads them one by one.
    ///
    /// # Errors
    /// If a temporary file cannot be read, the item is an error ([`FindError::of_io`]) and the last
    /// one.
    pub fn iter(&self) -> impl Iterator<Item = io::Result<Group>> + '_ {
        self.sorted.decoded("a group", |_, payload| decode(payload))
    }

    /// Passes the groups as records, in order, to `take`.
    pub(crate) fn each_record<E: From<SpillError>>(
        &self,
        take: &mut TakeRecord<'_, E>,
    ) -> Result<(), E> {
        self.sorted.iter().try_for_each(|record| {
            let (key, group) = record?;
            take(&key, &group)
        })
    }

    /// Creates groups from a list in any order.
    ///
    /// # Errors
    /// None: the groups are in memory.
    pub fn of(groups: &[Group]) -> Result<Self, FindError> {
        let mut sorter = Sorter::new(None, usize::MAX);
        for group in groups {
            sorter.push(&key(group), &encode(group))?;
        }
        Ok(Self { sorted: sorter.finish()?, units: false, categories: None })
    }

    /// Creates the groups from the records of [`records`].
    pub(crate) fn new(sorted: SortedRecords) -> Self {
        Self { sorted, units: false, categories: None }
    }
}

/// Passes the groups of a batch as records. `decided` must be sorted by keeper.
pub(crate) fn records(
    batch: &ComponentBatch,
    decided: &BatchResult,
    options: &FindOptions,
    take: &mut TakeRecord<'_>,
) -> Result<(), FindError> {
    for of_keeper in decided.duplicates.chunk_by(|a, b| a.keeper == b.keeper) {
        let keeper = of_keeper[0].keeper;
        let row = batch.rows.row(keeper);
        let member = Keeper {
            id: row.id.to_owned(),
            document: batch.documents[keeper],
            bytes: row.bytes,
            reference: batch.rows.is_reference(keeper),
            by_decision: batch.judged.is_kept(keeper),
            unit: row.place.unit(),
        };
        let duplicate = |decided: &DecidedDuplicate| {
            let of = batch.rows.row(decided.document);
            Duplicate {
                id: of.id.to_owned(),
                document: batch.documents[decided.document],
                bytes: of.bytes,
                overlap: decided.overlap,
                decided_by: options.keep.decided_by(row.key, of.key).map(|rule| rule as u32),
                unit: of.place.unit(),
            }
        };
        let mut duplicates: Vec<Duplicate> = of_keeper.iter().map(duplicate).collect();
        let measure = options.params.measure();
        duplicates
            .sort_by(|a, b| b.overlap.compare(&a.overlap, measure).then_with(|| a.id.cmp(&b.id)));
        let group = Group { keeper: member, duplicates };
        take(&key(&group), &encode(&group))?;
    }
    Ok(())
}

/// Returns the sort key of a group: largest groups first, then by keeper id. If two ids are equal,
/// the keeper of a reference collection comes last.
fn key(group: &Group) -> Vec<u8> {
    let mut key = Vec::new();
    key_u64_descending(&mut key, group.duplicates.len() as u64);
    key_part(&mut key, group.keeper.id.as_bytes());
    key.push(u8::from(group.keeper.reference));
    key
}

/// Returns the number of duplicates from the key of a group.
pub(crate) fn duplicates_of_key(key: &[u8]) -> Option<u64> {
    FieldReader::new(key).key_u64_descending()
}

/// The flag of a number that is followed by the range of a unit.
pub(crate) const HAS_UNIT: u64 = 1 << 32;
/// The flag of a keeper that is kept because of a user decision.
const BY_DECISION: u64 = 1 << 1;

fn unit_flag(unit: Option<UnitRange>) -> u64 {
    if unit.is_some() { HAS_UNIT } else { 0 }
}

/// Appends the range of a unit, if there is one.
pub(crate) fn put_unit(out: &mut Vec<u8>, unit: Option<UnitRange>) {
    for number in unit.iter().flat_map(|unit| unit.to_numbers()) {
        put_u32(out, number);
    }
}

/// Reads the range of a unit, if `flags` state that it exists. `None` if bytes are missing.
#[expect(clippy::option_option, reason = "every reader of fields returns the outer one")]
pub(crate) fn unit(flags: u64, reader: &mut FieldReader<'_>) -> Option<Option<UnitRange>> {
    if flags & HAS_UNIT == 0 {
        return Some(None);
    }
    let numbers = [reader.u32()?, reader.u32()?, reader.u32()?, reader.u32()?];
    Some(Some(UnitRange::from_numbers(numbers)))
}

fn encode(group: &Group) -> Vec<u8> {
    let mut out = Vec::new();
    let Group { keeper, duplicates } = group;
    put_bytes(&mut out, keeper.id.as_bytes());
    put_u32(&mut out, keeper.document.0);
    put_u64(&mut out, keeper.bytes);
    let by_decision = if keeper.by_decision { BY_DECISION } else { 0 };
    put_u64(&mut out, u64::from(keeper.reference) | by_decision | unit_flag(keeper.unit));
    put_unit(&mut out, keeper.unit);
    put_u64(&mut out, duplicates.len() as u64);
    for Duplicate { id, document, bytes, overlap, decided_by, unit } in duplicates {
        put_bytes(&mut out, id.as_bytes());
        put_u32(&mut out, document.0);
        put_u64(&mut out, *bytes);
        put_overlap(&mut out, *overlap);
        let decided_by = decided_by.map_or(0, |rule| u64::from(rule) + 1);
        put_u64(&mut out, decided_by | unit_flag(*unit));
        put_unit(&mut out, *unit);
    }
    out
}

fn decode(payload: &[u8]) -> Option<Group> {
    let mut reader = FieldReader::new(payload);
    let id = reader.str()?.to_owned();
    let document = DocumentNumber(reader.u32()?);
    let bytes = reader.u64()?;
    let flags = reader.u64()?;
    let keeper = Keeper {
        id,
        document,
        bytes,
        reference: flags & 1 != 0,
        by_decision: flags & BY_DECISION != 0,
        unit: self::unit(flags, &mut reader)?,
    };
    let count = reader.u64()?;
    let duplicates = (0..count).map(|_| {
        let id = reader.str()?.to_owned();
        let document = DocumentNumber(reader.u32()?);
        let bytes = reader.u64()?;
        let overlap = reader.overlap()?;
        let flags = reader.u64()?;
        let decided_by = (flags & !HAS_UNIT).checked_sub(1).map(|rule| rule as u32);
        let unit = self::unit(flags, &mut reader)?;
        Some(Duplicate { id, document, bytes, overlap, decided_by, unit })
    });
    Some(Group { keeper, duplicates: duplicates.collect::<Option<_>>()? })
}
