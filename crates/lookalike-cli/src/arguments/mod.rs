//! Groups of options that several commands share, and how values of options are read.

pub(crate) mod decision_args;
pub(crate) mod deferred_args;
pub(crate) mod duration;
pub(crate) mod named_values;
pub(crate) mod normalization_args;
pub(crate) mod options;
pub(crate) mod parameter_args;
pub(crate) mod read_args;
