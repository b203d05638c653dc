//! The inputs of a call: documents, paths, ids, and user decisions.

pub(crate) mod compared_input;
pub(crate) mod document_spool;
pub(crate) mod documents;
pub(crate) mod dropped;
pub(crate) mod folder_reader;
pub(crate) mod ids;
pub(crate) mod inputs;
pub(crate) mod json_lines;
pub(crate) mod reviewed;
pub(crate) mod text;
pub(crate) mod token_lists;
