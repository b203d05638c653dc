//! Results of batches in; the findings of a run, in the order of a report, out.

pub(crate) mod assembled;
pub(crate) mod empty_copies;
pub(crate) mod findings;
pub(crate) mod group_categories;
pub(crate) mod group_concentration;
pub(crate) mod groups;
pub(crate) mod pairs;
pub(crate) mod related;
pub(crate) mod results;
pub(crate) mod textless_copies;
