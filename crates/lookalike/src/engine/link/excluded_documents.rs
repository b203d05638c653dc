//! Documents that a run excludes: documents that a list names, and documents with the id of an
//! earlier one.

use crate::engine::error::FindError;
use crate::engine::ids::Id;
use crate::engine::link::drop_list::{DropCounts, DropList};
use crate::engine::link::identity;
use crate::engine::memory::Budget;
use crate::engine::options::FindOptions;
use crate::engine::prepare::documents::{DocumentState, RunDocuments};
use crate::read::Collection;

/// Counts of the excluded documents.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ExcludedDocuments {
    /// Documents that a list names, and documents with repeated ids.
    pub(crate) documents: usize,
    /// The effect of the list of documents to leave out, if there is one.
    pub(crate) dropped: Option<DropCounts>,
}

/// Excludes the documents that a list names. If other documents have repeated ids, returns an error
/// or excludes the later ones. Returns `None`, and excludes no repeated id, if two files of a
/// folder have the same id and `can_reread` is true. The caller then reads again with ids that
/// begin with the file.
pub(crate) fn exclude(
    collection: &Collection,
    options: &FindOptions,
    documents: &mut RunDocuments,
    budget: &Budget,
    can_reread: bool,
) -> Result<Option<ExcludedDocuments>, FindError> {
    let drop = options.drop.as_deref();
    let dropped = drop.map(|list| drop_listed(list, collection, documents)).transpose()?;
    let retries = can_reread && collection.stream().is_none() && !collection.has_ids_by_file();
    let is_clash_across_files = |a, b| {
        let is_found = |source| collection.is_found_record_file(source);
        retries && a != b && is_found(a) && is_found(b)
    };
    let skip = options.skip_repeated_ids;
    let repeated = identity::unique_ids(documents, budget, skip, is_clash_across_files)?;
    let by_list = dropped.map_or(0, |counts| counts.documents as usize);
    Ok(repeated.map(|repeated| ExcludedDocuments { documents: repeated + by_list, dropped }))
}

/// Excludes the documents that the list names, except documents of reference collections.
fn drop_listed(
    list: &DropList,
    collection: &Collection,
    documents: &mut RunDocuments,
) -> Result<DropCounts, FindError> {
    let mut dropped = Vec::new();
    let mut is_known = vec![false; list.lines() as usize];
    for (i, block) in documents.store.blocks.iter().enumerate() {
        if block.notes.reference {
            continue;
        }
        let source = block.retained.number().source;
        for (document, row) in documents.in_block(i).zip(documents.store.rows(i)?.iter()) {
            let row = row?;
            let Some(lines) = list.naming(collection.own_id(source, row.id)) else {
                continue;
            };
            let file = collection.file_of(source, row.id);
            let is_meant = |of: &Option<String>| of.as_deref().is_none_or(|of| of == file);
            let mut is_dropped = false;
            for (line, _) in lines.iter().filter(|(_, source)| is_meant(source)) {
                is_dropped = true;
                is_known[*line as usize] = true;
            }
            if is_dropped {
                dropped.push((document, documents.source(row.source), row.bytes));
            }
        }
    }
    for (document, source, bytes) in &dropped {
        documents.set_state(*document, DocumentState::DROPPED);
        if let Some(source) = documents.sources.get_mut(source.index()) {
            source.documents -= 1;
            source.bytes -= bytes;
        }
    }
    let unknown = is_known.iter().filter(|is_known| !**is_known).count() as u64;
    Ok(DropCounts { documents: dropped.len() as u64, lines: list.lines(), unknown })
}
