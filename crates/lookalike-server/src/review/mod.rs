//! Handlers of a review: groups, decisions, categories and the lists that result.

pub(crate) mod categories;
pub(crate) mod decisions;
pub(crate) mod group_filter;
pub(crate) mod groups;
pub(crate) mod review_lists;
