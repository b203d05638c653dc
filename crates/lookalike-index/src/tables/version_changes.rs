//! Adds, ends and removes versions of documents, with their originals.

use super::original_writer::OriginalWriter;
use super::version_plan::{PlannedVersion, VersionPlan, plan};
use super::versions::{VERSIONS, of_documents, values};
use super::write_plan::WritePlan;
use super::{EndedVersion, Keys, Tables, originals};
use crate::backend::Change;
use crate::checksum;
use crate::error::IndexError;
use crate::original::OriginalEntry;
use crate::original_limits::original_of;
use crate::settings::IndexSettings;

/// The originals of a batch, by change; `None` for a removal.
pub(crate) type BatchOriginals<'a> = Vec<Option<OriginalEntry<'a>>>;

/// The originals of a batch of changes.
///
/// # Errors
/// [`IndexError::Document`] for a document with neither an original nor a text.
pub(crate) fn batch_originals<'a>(
    changes: &[Change<'a>],
) -> Result<BatchOriginals<'a>, IndexError> {
    changes.iter().map(|change| change.entry().map(original_of).transpose()).collect()
}

/// The changes of versions by a batch. Their originals are already stored.
pub(crate) struct VersionChanges<'a> {
    plan: VersionPlan<'a>,
}

/// The texts that must change after a batch of changes of versions.
pub(crate) struct FinishedVersions {
    /// Versions that were both added and ended: the number of the document, and the change that
    /// contains its text.
    pub(crate) ended: Vec<(i64, usize)>,
    /// The numbers of documents whose versions were removed.
    #[cfg_attr(
        not(feature = "sqlite"),
        expect(dead_code, reason = "rows of PostgreSQL have texts")
    )]
    pub(crate) removed: Vec<i64>,
}

impl<'a> VersionChanges<'a> {
    /// Plans the versions of a batch, stores their originals, and ends the stored versions that are
    /// replaced. Does not change the documents of the batch.
    ///
    /// # Errors
    /// Errors of the database and of the compression, [`IndexError::Damaged`] for a replaced
    /// version.
    pub(crate) fn begin(
        tables: Tables<'_>,
        settings: &IndexSettings,
        changes: &[Change<'a>],
        originals: &[Option<OriginalEntry<'a>>],
        write: &WritePlan,
    ) -> Result<Self, IndexError> {
        // The version of a removed document is not read, because it may be damaged.
        let replaced = changes.iter().zip(&write.replaced);
        let replaced = replaced.filter_map(|(change, number)| change.entry().and(*number));
        let stored = of_documents(tables, &replaced.collect::<Vec<_>>())?;
        let mut plan = plan(changes, write, &stored, originals, tables.name())?;
        OriginalWriter::new(tables, settings, changes, originals).store(&mut plan)?;
        let changes = Self { plan };
        let ended: Vec<EndedVersion<'_>> = changes.ended().collect();
        tables.end_versions(&ended)?;
        Ok(changes)
    }

    /// The stored versions that end.
    pub(crate) fn ended(&self) -> impl Iterator<Item = EndedVersion<'_>> {
        let ended = self.plan.versions.iter().filter(|one| one.ends_as_stored());
        ended.filter_map(|one| {
            let checksum = checksum::version(one.id, &one.version);
            Some(EndedVersion {
                id: one.id,
                document: one.stored?,
                ended: one.version.ended,
                checksum,
            })
        })
    }

    /// Writes the versions. Removes the versions of removed documents, and originals that are no
    /// longer needed.
    ///
    /// # Errors
    /// Errors of the database.
    pub(crate) fn finish(self, tables: Tables<'_>) -> Result<FinishedVersions, IndexError> {
        let (removed, unused) = delete(tables, &self.plan.removed, &self.plan.removed_documents)?;
        let added = || self.plan.versions.iter().filter(|one| !one.ends_as_stored());
        let moved: Vec<i64> = added().filter_map(|one| one.stored).collect();
        let sql = "DELETE FROM versions WHERE {keys}";
        tables.each_of(VERSIONS.name, sql, Keys::Numbers("doc", &moved), &mut |_| Ok(()))?;
        tables.insert(&VERSIONS, &mut added().map(|one| values(one.id, &one.version)))?;
        originals::release(tables, unused)?;
        let ended = added().filter(|one| one.version.ended.is_some());
        let text = |one: &PlannedVersion<'_>| Some((one.version.document.signed(), one.change?));
        Ok(FinishedVersions { ended: ended.filter_map(text).collect(), removed })
    }
}

/// Removes all versions of documents, and originals that are no longer needed. Returns the numbers
/// of the documents of these versions.
///
/// # Errors
/// Errors of the database. Damaged rows are removed as well.
pub(crate) fn remove_all(tables: Tables<'_>, documents: &[i64]) -> Result<Vec<i64>, IndexError> {
    // Either row may be damaged or missing. An unreadable id finds no version.
    let sql = "SELECT id FROM docs WHERE {keys} UNION SELECT id FROM versions WHERE {keys}";
    let keys = Keys::Numbers("doc", documents);
    let ids = tables.rows_of("docs", sql, keys, |row| Ok(row.text(0).ok().map(str::to_owned)))?;
    let ids: Vec<&str> = ids.iter().flatten().map(String::as_str).collect();
    let (removed, unused) = delete(tables, &ids, documents)?;
    originals::release(tables, unused)?;
    Ok(removed)
}

/// Deletes the versions of these ids and of these documents. Returns the numbers of their documents
/// and originals. The id of a version may be damaged, so that only the number of its document finds
/// it.
fn delete(
    tables: Tables<'_>,
    ids: &[&str],
    documents: &[i64],
) -> Result<(Vec<i64>, Vec<i64>), IndexError> {
    let sql = "DELETE FROM versions WHERE {keys} RETURNING doc, original";
    let mut removed = Vec::new();
    for keys in [Keys::Ids(ids), Keys::Numbers("doc", documents)] {
        removed.extend(
            tables
                .rows_of(VERSIONS.name, sql, keys, |row| Ok((row.integer(0)?, row.integer(1)?)))?,
        );
    }
    Ok(removed.into_iter().unzip())
}
