//! Work on a whole index: merging segments, compaction, repair, checks and copies.

pub(crate) mod backup;
pub(crate) mod check;
pub(crate) mod maintenance;
pub(crate) mod merge;
pub(crate) mod merge_scheduler;
pub(crate) mod merge_signal;
pub(crate) mod reserve;
