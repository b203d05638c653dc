//! Ids in messages.

/// An id for messages, shortened if it is long.
pub fn shortened_id(id: &str) -> String {
    const MOST: usize = 80;
    match id.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &id[..end]),
        None => id.to_owned(),
    }
}
