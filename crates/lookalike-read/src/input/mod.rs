//! Inputs as the caller names them → sources.

pub(crate) mod detect;
mod reached_files;
mod sniff;
pub(crate) mod streams;
pub(crate) mod walk;

pub(crate) use detect::OpenedInputs;
pub use detect::Side;
pub use streams::refuse_streams;
