//! The results of a call: rows of documents with their ids, outcomes, and findings as files.

pub(crate) mod files;
pub(crate) mod outcomes;
pub(crate) mod remaining_texts;
pub(crate) mod run_findings;
pub(crate) mod skipped;
pub(crate) mod unit_columns;
