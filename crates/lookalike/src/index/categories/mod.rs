//! Documents of an index that resemble each other loosely: their categories.

pub(super) mod categorise;
pub(super) mod category_rows;
pub(super) mod index_categories;
