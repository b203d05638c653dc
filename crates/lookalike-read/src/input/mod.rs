//! Converts the inputs that the caller names to sources.

pub(crate) mod detect;
mod reached_files;
mod sniff;
pub(crate) mod streams;
pub(crate) mod walk;

pub(crate) use detect::OpenedInputs;
pub use detect::Side;
pub use streams::refuse_streams;
