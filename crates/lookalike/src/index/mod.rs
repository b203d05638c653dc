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

pub use add::{Added, Broken, add};
pub use add_options::{AddOptions, Existing};
pub use export::export;
pub use groups::{Aim, groups, params_for};
pub use prepare::{Prepared, Preparer};
pub use put::{BATCH_BYTES, BATCH_DOCUMENTS, Cause, NewDocument, Unfinished, put_all};
pub use remove::{Removed, remove, remove_inputs};
