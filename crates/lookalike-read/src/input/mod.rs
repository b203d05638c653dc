//! Inputs as the caller names them → sources.

pub(crate) mod comparison_side;
pub(crate) mod detect;
mod reached_files;
mod sniff;
pub(crate) mod streams;
pub(crate) mod walk;
