//! Options, limits, output and errors of all readers.

mod error;
mod fields;
mod limits;
mod options;
mod text_output;
mod unique_names;

pub use error::{ExtractError, LimitKind};
pub use fields::{CutText, Fields};
pub(crate) use limits::{CHECK_INTERVAL_BYTES, LimitTracker};
pub use options::{ExtractOptions, HtmlText, LimitUsage, Limits, WorkerCommand};
pub(crate) use text_output::TextOutput;
pub use unique_names::UniqueNames;
