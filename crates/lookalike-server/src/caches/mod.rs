//! Results that are computed from an index and kept in memory: groups, decisions, categories.

pub(crate) mod agreement_cache;
pub(crate) mod category_cache;
pub(crate) mod decision_cache;
pub(crate) mod document_groups;
pub(crate) mod group;
pub(crate) mod group_cache;
pub(crate) mod review_progress;
