//! Looks up documents of the catalogue by id.

use crate::error::IndexError;
use crate::folder::catalogue::connection::Catalogue;
use crate::folder::segments::id_filter::IdFilter;
use crate::folder::segments::posting::{PostingList, id_key};
use crate::folder::segments::posting_view::PostingView;
use crate::tables::write_plan::StoredDocument;
use std::collections::HashMap;

/// The stored documents of these ids.
pub(crate) fn stored_documents<'a>(
    catalogue: Catalogue<'_>,
    view: &PostingView,
    ids: impl Iterator<Item = &'a str>,
    id_filter: Option<&mut IdFilter>,
) -> Result<HashMap<String, StoredDocument>, IndexError> {
    let mut ids: Vec<(u64, &'a str)> = ids.map(|id| (id_key(id.as_bytes()), id)).collect();
    // Sorted keys access each block once.
    ids.sort_unstable();
    ids.dedup();
    if let Some(id_filter) = id_filter {
        id_filter.prepare(view, ids.len());
        ids.retain(|(key, _)| id_filter.may_have(*key));
    }
    let keys: Vec<u64> = ids.iter().map(|(key, _)| *key).collect();
    let mut found: Vec<(u32, &str)> = Vec::new();
    view.find(PostingList::Ids, &keys, |at, number| found.push((number, ids[at].1)))?;
    found.sort_unstable();
    let mut documents = HashMap::with_capacity(found.len());
    for (number, id) in found {
        if let Some(document) = catalogue.stored(number, id)? {
            documents.insert(id.to_owned(), document);
        }
    }
    Ok(documents)
}
