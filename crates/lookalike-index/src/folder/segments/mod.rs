//! Postings of documents: in files, the segments, and in memory.

pub(crate) mod id_filter;
mod layout;
pub(crate) mod posting;
pub(crate) mod posting_cursor;
pub(crate) mod posting_view;
pub(crate) mod segment;
pub(crate) mod segment_file;
