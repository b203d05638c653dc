//! Computes the effect of a batch of changes on versions, without access to the database.

use super::versions::VersionRow;
use super::write_plan::WritePlan;
use crate::backend::Change;
use crate::entry::{DocumentNumber, IndexEntry};
use crate::error::IndexError;
use crate::original::{DocumentVersion, OriginalEntry, OriginalHash};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The effect of a batch on versions.
#[derive(Debug, Default)]
pub(super) struct VersionPlan<'a> {
    /// Versions that are added, ended or renumbered, by ascending number of their document.
    pub(super) versions: Vec<PlannedVersion<'a>>,
    /// The ids without any remaining stored version.
    pub(super) removed: Vec<&'a str>,
    /// The numbers of stored documents whose version is removed.
    pub(super) removed_documents: Vec<i64>,
}

/// The state of a version after the batch.
#[derive(Debug)]
pub(super) struct PlannedVersion<'a> {
    pub(super) id: &'a str,
    /// Its original is [`NEW_ORIGINAL`] until the number of the original is known.
    pub(super) version: DocumentVersion,
    /// The number under which it is stored.
    pub(super) stored: Option<i64>,
    /// The change that contains its text; `None` if its text is the text of the stored document.
    pub(super) change: Option<usize>,
}

/// The original of a version that the batch adds.
pub(super) const NEW_ORIGINAL: u64 = 0;

/// The versions of an id in the middle of a batch.
#[derive(Default)]
struct IdVersions<'a> {
    ended: Vec<PlannedVersion<'a>>,
    current: Option<PlannedVersion<'a>>,
}

/// Plans a batch. `stored` contains the current versions of the replaced documents, `originals` the
/// originals of the changes. `index` is the name of the index.
///
/// # Errors
/// [`IndexError::Damaged`] for a replaced version.
pub(super) fn plan<'a>(
    changes: &[Change<'a>],
    plan: &WritePlan,
    stored: &[VersionRow],
    originals: &[Option<OriginalEntry<'a>>],
    index: &str,
) -> Result<VersionPlan<'a>, IndexError> {
    // By number, because the id of a version may be damaged.
    let stored: HashMap<i64, &VersionRow> =
        stored.iter().map(|one| (one.version.document.signed(), one)).collect();
    let mut ids = BTreeMap::<&'a str, IdVersions<'a>>::new();
    let mut removed = Vec::new();
    for (at, change) in changes.iter().enumerate() {
        let id = change.id();
        let versions = ids.entry(id).or_insert_with(|| {
            let replaced = plan.replaced.get(at).copied().flatten();
            let current = replaced.and_then(|number| stored.get(&number));
            IdVersions {
                current: current.map(|stored| PlannedVersion::of_stored(id, stored)),
                ended: Vec::new(),
            }
        });
        let original = originals.get(at).copied().flatten();
        let number = plan.numbers.get(at).copied().flatten();
        if let (Some(entry), Some(number), Some(original)) = (change.entry(), number, original) {
            let replaced = versions.current.as_ref().and_then(|one| one.stored);
            if let Some(stored) = replaced.and_then(|number| stored.get(&number)) {
                stored.verify(index)?;
            }
            versions.set_current(at, DocumentNumber::of_signed(number), entry, &original);
            continue;
        }
        *versions = IdVersions::default();
        removed.push(id);
    }
    let all = ids.into_values().flat_map(|one| one.ended.into_iter().chain(one.current));
    let mut versions: Vec<PlannedVersion<'a>> = all.filter(PlannedVersion::is_changed).collect();
    versions.sort_unstable_by_key(|one| one.version.document);
    let kept: HashSet<i64> = versions.iter().filter_map(|one| one.stored).collect();
    let removed_documents = plan.removed.iter().copied().filter(|number| !kept.contains(number));
    let removed_documents = removed_documents.collect();
    Ok(VersionPlan { versions, removed, removed_documents })
}

impl<'a> IdVersions<'a> {
    /// Adds a document, or replaces the current one.
    fn set_current(
        &mut self,
        at: usize,
        document: DocumentNumber,
        entry: &IndexEntry<'a>,
        original: &OriginalEntry<'a>,
    ) {
        let former = self.current.take();
        let version = match former {
            Some(mut same) if same.version.sha256 == original.sha256 => {
                same.version.document = document;
                same.version.describe(original);
                same.change = Some(at);
                self.current = Some(same);
                return;
            }
            Some(mut other) => {
                other.version.ended = Some(entry.added);
                let number = other.version.number + 1;
                self.ended.push(other);
                number
            }
            None => 1,
        };
        let version = entry.version(version, document, NEW_ORIGINAL, original);
        let change = Some(at);
        self.current = Some(PlannedVersion { id: entry.id, version, stored: None, change });
    }
}

impl<'a> PlannedVersion<'a> {
    fn of_stored(id: &'a str, stored: &VersionRow) -> Self {
        let version = stored.version.clone();
        let document = version.document.signed();
        Self { id, version, stored: Some(document), change: None }
    }

    fn is_changed(&self) -> bool {
        self.change.is_some() || self.ends_as_stored()
    }

    /// Returns true for a stored version that ends, with its number and its text unchanged.
    pub(super) fn ends_as_stored(&self) -> bool {
        self.change.is_none() && self.version.ended.is_some()
    }

    /// The hash of the original that it needs, unless this original is known to be stored.
    pub(super) fn new_original(&self) -> Option<OriginalHash> {
        (self.version.original == NEW_ORIGINAL).then_some(self.version.sha256)
    }
}
