//! A persistent index, the engine of `lookalike.Index`.

mod add;
mod arrow_json;
mod categories;
mod convert;
mod group_sizes;
mod groups;
pub(crate) mod interruptible;
mod json;
mod open_index;
mod originals;
mod query;
mod read;
mod settings;
mod stored;
mod survivors;
mod table;

pub(crate) use stored::StoredIndex;
pub(crate) use table::check_columns;
