//! Handlers of documents: single ones, many at once, files, originals, removal and export.

pub(crate) mod bulk;
pub(crate) mod bulk_batches;
pub(crate) mod bulk_lines;
pub(crate) mod bulk_options;
pub(crate) mod bulk_records;
pub(crate) mod document_file;
pub(crate) mod document_to_write;
pub(crate) mod document_view;
pub(crate) mod export;
pub(crate) mod extraction;
pub(crate) mod originals;
pub(crate) mod removal;
pub(crate) mod single;
