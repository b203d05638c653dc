//! Ids → numbers of documents.

use super::id_filter::IdFilter;
use super::index_folder::IndexFolder;
use super::posting::{PostingList, id_key};
use super::posting_view::PostingView;
use super::record_reader::RecordReader;
use crate::error::IndexError;
use rusqlite::Connection;
use std::collections::HashMap;

/// The number of the document of each of these ids, if it exists.
pub(super) fn numbers<'a>(
    place: &IndexFolder,
    connection: &Connection,
    id_filter: &mut IdFilter,
    view: &PostingView,
    ids: impl Iterator<Item = &'a str>,
) -> Result<HashMap<&'a str, Option<u32>>, IndexError> {
    let mut ids: Vec<(u64, &'a str)> = ids.map(|id| (id_key(id.as_bytes()), id)).collect();
    // Sorted keys access each block once.
    ids.sort_unstable();
    ids.dedup();
    id_filter.prepare(view, ids.len());
    ids.retain(|(key, _)| id_filter.may_have(*key));
    let keys: Vec<u64> = ids.iter().map(|(key, _)| *key).collect();
    let mut numbers = HashMap::with_capacity(keys.len());
    let mut found: Vec<(u64, &str)> = Vec::new();
    view.find(PostingList::Ids, &keys, |at, number| found.push((u64::from(number), ids[at].1)))?;
    found.sort_unstable();
    let reader = RecordReader { place, connection };
    for (number, id) in found {
        if reader.has(number, id)? {
            numbers.insert(id, Some(number as u32));
        }
    }
    Ok(numbers)
}
