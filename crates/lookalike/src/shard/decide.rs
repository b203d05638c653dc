//! Decides whole components. Returns groups, pairs and counts as rows that any engine can sort.

use super::error::ShardError;
use super::rank::SimilarityRank;
use crate::engine::{self, FindError, FindOptions, Findings, Group, PairCursor};
use crate::progress::Progress;
use crate::read::Collection;
use lookalike_core::params::Measure;
use lookalike_core::verify::Overlap;

/// Documents of whole components, with the checks of the stage `keys`.
pub struct CheckedDocuments<'a> {
    /// The documents.
    pub collection: &'a Collection,
    /// The [`check`](super::NodeIdentity::check) of each document, in reading order; `None` if
    /// several documents have the same node, because their checks cannot be distinguished.
    pub checks: &'a [Option<u64>],
}

impl CheckedDocuments<'_> {
    /// Runs [`find`](crate::find()) on the documents. The counts of all, empty and skipped
    /// documents come from the stage `keys`. Every other count, summed over all parts, equals the
    /// count of one run.
    ///
    /// # Errors
    /// [`ShardError`] if a document has changed since the stage `keys`, and errors of
    /// [`in_collection`](crate::find::in_collection).
    pub fn decide(
        &self,
        options: &FindOptions,
        progress: &dyn Progress,
    ) -> Result<Findings, ShardError> {
        let findings = engine::run(self.collection, options, progress)?;
        let mut read = 0;
        findings.each_fingerprint(&mut |id, fingerprint| {
            let check = self.checks.get(read).copied();
            read += 1;
            if check.is_some_and(|check| check.is_none_or(|check| check == fingerprint as u64)) {
                return Ok(());
            }
            Err(ShardError::Changed { id: id.to_owned() })
        })?;
        let missing = self.checks.len().saturating_sub(read) as u64;
        if missing > 0 {
            return Err(ShardError::Missing { documents: missing });
        }
        Ok(findings)
    }
}

/// The role of a document in its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemberRole {
    /// The document is kept.
    Keeper,
    /// The document is similar to the keeper.
    Duplicate,
}

/// A document of a group. If the rows of a collection are sorted by size (descending), keeper,
/// reference, role, rank (descending) and id, they are in the order of its report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberRow<'a> {
    /// The number of documents in the group.
    pub size: u64,
    /// The id of its keeper.
    pub keeper: &'a str,
    /// Whether the keeper belongs to a reference collection.
    pub reference: bool,
    /// The role of the document.
    pub role: MemberRole,
    /// Its similarity to the keeper, or the greatest rank for the keeper.
    pub rank: SimilarityRank,
    /// Its id.
    pub id: &'a str,
    /// Its overlap with the keeper, which is on the left; `None` for the keeper.
    pub overlap: Option<Overlap>,
}

/// Returns the rows of a group, the keeper first.
pub fn member_rows(group: &Group, measure: Measure) -> impl Iterator<Item = MemberRow<'_>> {
    let keeper = MemberRow {
        size: group.duplicates.len() as u64 + 1,
        keeper: &group.keeper.id,
        reference: group.keeper.reference,
        role: MemberRole::Keeper,
        rank: SimilarityRank::GREATEST,
        id: &group.keeper.id,
        overlap: None,
    };
    let duplicates = group.duplicates.iter().map(move |duplicate| MemberRow {
        role: MemberRole::Duplicate,
        rank: SimilarityRank::new(&duplicate.overlap, measure),
        id: &duplicate.id,
        overlap: Some(duplicate.overlap),
        ..keeper
    });
    std::iter::once(keeper).chain(duplicates)
}

/// A verified pair: `a` < `b` byte by byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairRow<'a> {
    /// The lesser id.
    pub a: &'a str,
    /// The greater id.
    pub b: &'a str,
    /// Their overlap.
    pub overlap: Overlap,
}

/// Passes the verified pairs of a run, if it lists them, to `take`.
///
/// # Errors
/// Errors of `take`, and of temporary files with pairs.
pub fn pair_rows<E: From<FindError>>(
    findings: &Findings,
    take: &mut dyn FnMut(PairRow<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let Some(pairs) = &findings.pairs else { return Ok(()) };
    let mut cursor: PairCursor<'_> = pairs.cursor();
    while let Some(pair) = cursor.next_pair().map_err(FindError::of_io)? {
        take(PairRow { a: pair.a, b: pair.b, overlap: pair.overlap })?;
    }
    Ok(())
}
