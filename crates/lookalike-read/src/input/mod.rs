//! Inputs as the caller names them → sources.

pub(crate) mod comparison_side;
pub(crate) mod detect;
mod reached_files;
mod sniff;
pub(crate) mod streams;
pub(crate) mod walk;

pub use comparison_side::Side;
pub(crate) use detect::OpenedInputs;
pub use streams::refuse_streams;
