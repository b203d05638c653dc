//! Sorts the results of batches into the findings of a run, in report order.

pub(crate) mod assembled;
pub(crate) mod empty_copies;
pub(crate) mod findings;
pub(crate) mod group_categories;
pub(crate) mod group_concentration;
pub(crate) mod groups;
pub(crate) mod pairs;
pub(crate) mod record_replay;
pub(crate) mod related;
pub(crate) mod results;
pub(crate) mod textless_copies;
