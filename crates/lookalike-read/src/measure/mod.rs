//! Properties of a file or record other than its text: size, time of change, hash.

pub(crate) mod content_hash;
pub(crate) mod record_size;
pub(crate) mod stamp;

pub use content_hash::Content;
pub use record_size::{MAX_DOCUMENT_BYTES, RecordSize};
pub use stamp::{InputStamp, Stamp};
