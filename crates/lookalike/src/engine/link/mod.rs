//! Lists documents with equal shingles or a common bucket.

pub(crate) mod bucket;
pub(crate) mod bucket_lists;
pub(crate) mod document_values;
pub(crate) mod drop_list;
pub(crate) mod exact_candidates;
pub(crate) mod excluded_documents;
pub(crate) mod identity;
pub(crate) mod judged_documents;
pub(crate) mod prefix_rests;
pub(crate) mod probed_keys;
pub(crate) mod ranges;
