//! Sizes of groups: the number of documents that a document of an index represents.

use super::open_index::Handle;
use lookalike::index::time;
use lookalike::store::IndexError;
use lookalike::store::entry::RecordFields;
use lookalike::store::query_by_id::record;

/// Returns the sizes of the groups of the documents with these ids, in order. Reads one snapshot.
/// An unknown id has the size 0.
pub(super) fn group_sizes(
    handle: &Handle,
    ids: &[impl AsRef<str>],
) -> Result<Vec<u64>, IndexError> {
    let mut snapshot = handle.index.snapshot()?;
    let now = time::now();
    let mut sizes = vec![0; ids.len()];
    let mut places = Vec::new();
    let mut numbers = Vec::new();
    for (place, id) in ids.iter().enumerate() {
        if let Some(found) = record(&mut *snapshot, id.as_ref(), now, RecordFields::default())? {
            places.push(place);
            numbers.push(found.number);
        }
    }
    for (place, size) in places.into_iter().zip(snapshot.group_sizes(&numbers)?) {
        sizes[place] = size;
    }
    Ok(sizes)
}
