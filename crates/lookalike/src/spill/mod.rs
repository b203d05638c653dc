//! Temporary files: what does not fit in memory goes to them, and a run that was stopped goes on
//! from them.
//!
//! ```text
//! records  Sorter → Sorted, in the order of the keys, in memory or merged from a temporary file
//! steps    Workspace → SpillFile (what a step made), Journal (which steps are done)
//! ```
//!
//! | file | is |
//! |---|---|
//! | `workspace`, `folder` | the folder of the temporary files, and when it is made and removed |
//! | `private` | that folder where it stays: whose it is, and its files |
//! | `description` | what a resumable run is, stored with it and compared |
//! | `file` | a temporary file: appended to from many threads, read anywhere |
//! | `journal` | the steps that are done, one line each |
//! | `batch`, `merge`, `sorter` | records in memory, records in files, both as one |
//! | [`codec`] | records as bytes, keys as bytes that sort right |
//! | `memory` | amounts of memory as people write them |

mod batch;
pub mod codec;
mod description;
mod file;
mod folder;
mod journal;
mod memory;
mod merge;
mod private;
mod sorter;
mod workspace;

pub use crate::error::Difference;
pub(crate) use description::differences;
pub use file::{BufferedAppend, SpillFile};
pub use journal::Journal;
pub use memory::parse_memory;
pub use sorter::{KeyedRecord, MIN_MEMORY, RecordCursor, SortedRecords, Sorter};
pub use workspace::{TempSpace, Workspace};

#[cfg(test)]
mod tests;
