//! Decides the duplicates, pairs and related documents of each component.

pub(crate) mod batch;
pub(crate) mod batch_result;
pub(crate) mod class_parts;
pub(crate) mod component;
pub(crate) mod component_judgments;
pub(crate) mod copies;
pub(crate) mod decide_batch;
pub(crate) mod decided_part;
pub(crate) mod estimates;
pub(crate) mod excess_candidates;
pub(crate) mod loaded_rows;
pub(crate) mod ordered_component;
pub(crate) mod prefix_filter;
pub(crate) mod references;
pub(crate) mod shingle_sets;
