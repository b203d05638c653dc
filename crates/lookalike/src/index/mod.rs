//! An index and texts: documents into it, what resembles a text out of it.
//!
//! The index itself is the crate [`store`](crate::store), which knows no texts. Here texts are read,
//! shingled and signed with the settings that an index was created with.

mod prepare;

pub use prepare::{Prepared, Preparer};
