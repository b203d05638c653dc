//! The rows of a table of places, and its columns.

use crate::error::Error;
use crate::passages::{FoundPassage, PassageFindings, PassagePlace};
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

/// Gives every place with its id, passage by passage.
pub(super) fn each_place(
    findings: &PassageFindings,
    mut take: impl FnMut(u64, &FoundPassage, &PassagePlace, &str) -> io::Result<()>,
) -> io::Result<()> {
    for (number, passage) in (1..).zip(&findings.passages) {
        let mut ids = HashMap::new();
        for place in &findings.places[passage.rows.clone()] {
            let id = match ids.entry(place.document) {
                Entry::Occupied(id) => id.into_mut(),
                Entry::Vacant(room) => {
                    room.insert(findings.id(place.document).map_err(Error::into_io)?)
                }
            };
            take(number, passage, place, id)?;
        }
    }
    Ok(())
}
