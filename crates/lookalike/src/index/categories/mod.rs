//! Categories: groups of documents in an index that are loosely similar.

pub(super) mod categorise;
pub(super) mod category_rows;
pub(super) mod index_categories;
