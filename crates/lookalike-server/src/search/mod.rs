//! Handlers that compare texts: queries, comparisons and passages.

pub(crate) mod compare;
pub(crate) mod passages;
pub(crate) mod query;
