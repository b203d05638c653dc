//! An index and texts: documents into it, what resembles a text out of it.
//!
//! The index itself is the crate [`store`](crate::store), which knows no texts. Here texts are
//! read, shingled and signed with the settings that an index was created with.

mod add;
mod add_options;
mod export;
mod exported;
mod groups;
mod prepare;
mod prepared_block;
mod put;
mod remove;
mod reorder_buffer;
pub mod time;

pub use add::{AddCounts, InterruptedAdd, add};
pub use add_options::{AddOptions, Existing};
pub use export::export;
pub use groups::{GroupingOptions, groups, params_for};
pub use prepare::{PreparedText, TextPreparer};
pub use put::{BATCH_BYTES, BATCH_DOCUMENTS, InterruptedPut, NewDocument, PutError, put_all};
pub use remove::{RemovedCounts, remove, remove_inputs};
