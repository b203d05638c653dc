//! A persistent index, the engine of `lookalike.Index`.

mod add;
mod arrow_json;
mod categories;
mod convert;
mod group_sizes;
mod groups;
mod index_class;
pub(crate) mod interruptible;
mod json;
mod open_index;
mod originals;
mod query;
mod read;
mod settings;
mod survivors;
mod table;

pub(crate) use index_class::StoredIndex;
pub(crate) use table::check_columns;
