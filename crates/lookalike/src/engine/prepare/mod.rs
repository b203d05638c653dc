//! Reads blocks, and numbers their documents with bucket keys, rows and notes.

pub(crate) mod anchor_log;
pub(crate) mod block_notes;
pub(crate) mod block_preparation;
pub(crate) mod block_store;
pub(crate) mod columns;
pub(crate) mod documents;
pub(crate) mod input_measure;
pub(crate) mod keep_keys;
pub(crate) mod limited_reading;
pub(crate) mod long_records;
pub(crate) mod mail_removals;
pub(crate) mod reread;
pub(crate) mod share;
pub(crate) mod shingle_log;
pub(crate) mod shingles;
pub(crate) mod skipped;
pub(crate) mod sources;
pub(crate) mod text_run;
