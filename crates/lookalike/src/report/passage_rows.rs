//! The rows of a table of places, and its columns.

use crate::engine::FindError;
use crate::passages::{FoundPassage, PassageFindings, PassagePlace, PassageRow};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;

/// The columns of a table of places.
pub(super) const COLUMNS: [&str; 11] = [
    "passage",
    "words",
    "places",
    "documents",
    "id",
    "byte_start",
    "byte_end",
    "char_start",
    "char_end",
    "first",
    "maximal",
];

/// Calls a function with every place and the id of its document, passage by passage.
pub(super) fn each_place(
    findings: &PassageFindings,
    mut take: impl FnMut(u64, &FoundPassage, &PassagePlace, &str) -> io::Result<()>,
) -> io::Result<()> {
    let mut last = u32::MAX;
    let mut ids = HashMap::new();
    for row in findings.rows.iter() {
        let PassageRow { passage, place } = row?;
        if last != passage.number {
            last = passage.number;
            ids = HashMap::new();
        }
        let id = match ids.entry(place.document) {
            Entry::Occupied(id) => id.into_mut(),
            Entry::Vacant(room) => {
                room.insert(findings.id(place.document).map_err(FindError::into_io)?)
            }
        };
        take(u64::from(passage.number) + 1, &passage, &place, id)?;
    }
    Ok(())
}
