//! A persistent index: `lookalike.Index` is a thin layer of Python over what is here.

mod add;
mod arrow_json;
mod chosen;
mod convert;
mod groups;
mod json;
mod open_index;
pub(crate) mod patience;
mod query;
mod read;
mod stored;
mod table;

pub(crate) use stored::StoredIndex;
pub(crate) use table::check_columns;
