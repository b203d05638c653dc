//! State of a running server: shared by all indexes, and of each index.

pub(crate) mod app;
pub(crate) mod served_index;
pub(crate) mod served_indexes;
pub(crate) mod service;
