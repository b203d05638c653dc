//! Finds documents with the same id, and documents with the same shingles. A repeated id is an
//! error, or its later documents are excluded. One of several documents with the same shingles
//! represents all.
//!
//! Both searches sort a column of hashes. If memory is short, they sort one range of values at a
//! time.

use crate::engine::error::FindError;
use crate::engine::ids::{self, DocumentNumber, Id};
use crate::engine::link::bucket_lists::{BucketLists, DocumentLists};
use crate::engine::link::judged_documents::JudgedDocuments;
use crate::engine::link::ranges::KeyRanges;
use crate::engine::memory::Budget;
use crate::engine::prepare::columns::{FINGERPRINT_COLUMNS, ID_COLUMN};
use crate::engine::prepare::documents::{DocumentState, RunDocuments};
use crate::read::unit::parent_id;
use crate::read::{SkipReason, SkippedItem};
use lookalike_core::candidate::{self, BandScratch};

/// Bytes of memory for one entry while documents are sorted by id.
const ID_BYTES: usize = 32;
/// Bytes of memory for one entry while documents are sorted by fingerprint.
const FINGERPRINT_BYTES: usize = 56;

/// Refuses repeated ids, or excludes the later documents if `skip_repeated` is set. A document of
/// an input may have the same id as a document of a reference collection. Returns the number of
/// excluded documents. Returns `None` without a change if `clashes(source_a, source_b)` is true for
/// a repeated id. The caller then reads again with ids that begin with the file.
pub(crate) fn unique_ids(
    documents: &mut RunDocuments,
    budget: &Budget,
    skip_repeated: bool,
    clashes: impl Fn(u32, u32) -> bool,
) -> Result<Option<usize>, FindError> {
    let mut repeated = Vec::new();
    let mut hashes = Vec::new();
    let mut numbers = Vec::new();
    let mut scratch = BandScratch::default();
    for range in KeyRanges::new(documents.len(), ID_BYTES, budget) {
        hashes.clear();
        numbers.clear();
        documents.scan([ID_COLUMN], |first, [values]| {
            let in_range = ids::from(first).zip(values).filter(|(_, hash)| range.has(**hash));
            for (document, hash) in in_range {
                if documents.state(document) == DocumentState::DROPPED {
                    continue;
                }
                hashes.push(*hash);
                numbers.push(document);
            }
        })?;
        let equal = candidate::group_equal_keys(&hashes, |_| true, &mut scratch);
        for bucket in equal.sorted() {
            let bucket: Vec<DocumentNumber> = bucket.iter().map(|i| numbers[*i as usize]).collect();
            repeated_in(documents, bucket, &mut repeated)?;
        }
    }
    repeated.sort_unstable();
    let source =
        |document| documents.store.blocks[documents.block_of(document)].retained.number().source;
    if repeated.iter().any(|&(second, first)| clashes(source(first), source(second))) {
        return Ok(None);
    }
    for &(second, first) in &repeated {
        exclude_or_refuse(documents, first, second, skip_repeated)?;
    }
    let further = exclude_units(documents, &repeated)?;
    Ok(Some(repeated.len() + further))
}

/// Excludes the remaining units of a document whose id repeats the id of an earlier document. The
/// earlier one may have fewer units. Returns the number of excluded units.
fn exclude_units(
    documents: &mut RunDocuments,
    repeated: &[(DocumentNumber, DocumentNumber)],
) -> Result<usize, FindError> {
    let mut further = 0;
    for &(second, first) in repeated {
        let parent = |documents: &RunDocuments, document| {
            documents.with_row(document, |block, row| {
                let id = row.place.unit().map(|_| parent_id(row.id).to_owned());
                id.map(|id| (id, block.retained.number(), row.place.with_unit(None)))
            })
        };
        let Some(excluded) = parent(documents, second)? else { return Ok(0) };
        let later = DocumentNumber(second.0 + 1)..DocumentNumber::new(documents.len());
        for document in ids::each(later) {
            if documents.state(document) == DocumentState::REPEATED_ID {
                break;
            }
            if parent(documents, document)?.as_ref() != Some(&excluded) {
                break;
            }
            exclude_or_refuse(documents, first, document, true)?;
            further += 1;
        }
    }
    Ok(further)
}

/// Adds (later document, first document) for each repeated id. The documents of `bucket` have equal
/// hashes of their ids.
fn repeated_in(
    documents: &RunDocuments,
    bucket: Vec<DocumentNumber>,
    repeated: &mut Vec<(DocumentNumber, DocumentNumber)>,
) -> Result<(), FindError> {
    let named = bucket.into_iter().map(|document| {
        documents
            .with_row(document, |block, row| (block.notes.reference, row.id.to_owned(), document))
    });
    let mut named = named.collect::<Result<Vec<_>, FindError>>()?;
    named.sort_unstable();
    for same in named.chunk_by(|a, b| (a.0, &a.1) == (b.0, &b.1)) {
        repeated.extend(same[1..].iter().map(|later| (later.2, same[0].2)));
    }
    Ok(())
}

fn exclude_or_refuse(
    documents: &mut RunDocuments,
    first: DocumentNumber,
    second: DocumentNumber,
    skip_repeated: bool,
) -> Result<(), FindError> {
    let first = documents.location(first)?;
    let (id, location) = documents
        .with_row(second, |block, row| (row.id.to_owned(), block.retained.location(row.place)))?;
    if !skip_repeated {
        return Err(FindError::RepeatedId { id, first, second: location });
    }
    documents.set_state(second, DocumentState::REPEATED_ID);
    let reason = SkipReason::RepeatedId { first: first.to_string() };
    let source = location.source().to_owned();
    documents.skip(&SkippedItem { source, line: location.number(), id: Some(id), reason })
}

/// Lists documents with equal shingles, and lets the first of each list represent the others.
/// Judged documents represent themselves.
pub(crate) fn equal_documents(
    documents: &mut RunDocuments,
    judged: &JudgedDocuments<DocumentNumber>,
    budget: &Budget,
    lists: &mut BucketLists,
) -> Result<(), FindError> {
    let mut fingerprints = Vec::new();
    let mut numbers = Vec::new();
    for range in KeyRanges::new(documents.len(), FINGERPRINT_BYTES, budget) {
        fingerprints.clear();
        numbers.clear();
        documents.scan(FINGERPRINT_COLUMNS, |first, [upper, lower]| {
            for (document, (upper, lower)) in ids::from(first).zip(upper.iter().zip(lower)) {
                let is_open = documents.state(document).is_active() && !judged.has(document);
                if range.has(*upper) && is_open {
                    fingerprints.push(u128::from(*upper) << 64 | u128::from(*lower));
                    numbers.push(document);
                }
            }
        })?;
        let first_of = candidate::first_of_equal(&fingerprints, |_| true, |a, b| a < b);
        let mut copies: Vec<(DocumentNumber, DocumentNumber)> = (0u32..)
            .zip(&first_of)
            .filter(|(at, first)| at != *first)
            .map(|(at, first)| (numbers[*first as usize], numbers[at as usize]))
            .collect();
        copies.sort_unstable();
        let mut found = DocumentLists::default();
        for equal in copies.chunk_by(|a, b| a.0 == b.0) {
            found.push(std::iter::once(equal[0].0).chain(equal.iter().map(|(_, copy)| *copy)));
            for (_, copy) in equal {
                documents.set_state(*copy, DocumentState::COPY);
            }
        }
        lists.add(found)?;
    }
    Ok(())
}
