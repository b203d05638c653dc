//! Temporary files, for data that does not fit in memory and for resuming a stopped run.
//!
//! ```text
//! values   SpillLog: appended, read by position or one after the other
//!          PartLog: appended to one of several parts, read part by part
//! records  Sorter → SortedRecords, in the order of the keys
//! steps    Journal: the finished steps of a resumable run
//! ```
//!
//! Each is in memory or in files of a `TempSpace`. The stages of a run do not depend on the place.
//!
//! | file | content |
//! |---|---|
//! | `log` | values in memory, then in a file, which may continue the file of an earlier run |
//! | `part_log` | values in parts |
//! | `sorter` | records in any order → in the order of their keys |
//! | `value_sorter` | sorts numbers of 128 bits |
//! | `part_sorter` | sorts numbers of 128 bits whose upper bits are uniform |
//! | `batch`, `merge` | records in memory, and records in files, for the sorter |
//! | `journal` | the finished steps, one line each |
//! | `temp_space`, `folder` | the folder of the temporary files, its creation and removal |
//! | `private` | a resumable folder: its owner and permissions, and its files |
//! | `description` | the stored description of a resumable run, and its comparison |
//! | `file` | a temporary file |
//! | `codec` | encodings of records, and of keys that sort bytewise |
//!
//! Crates for external sorting, such as `extsort`, are not used. They limit memory by a number of
//! items, but records here have any length, and a stopped run must resume from its files. No crate
//! has been compared; `cargo x bench bar memory` measures runs within a limit (November 2026).

mod batch;
pub(crate) mod codec;
mod description;
mod difference;
mod error;
mod file;
mod folder;
mod journal;
mod log;
mod merge;
mod part_log;
mod part_sorter;
mod private;
mod sorter;
mod temp_space;
mod value_sorter;

pub(crate) use description::differences;
pub use difference::Difference;
pub(crate) use difference::fmt_list;
pub use error::{SpillError, SpillPosition};
pub(crate) use journal::Journal;
pub(crate) use log::SpillLog;
pub(crate) use part_log::{CompleteParts, PartLog, PartLogWriter};
pub(crate) use part_sorter::{PartSorter, PartedValues};
pub(crate) use sorter::{RecordCursor, SortedRecords, Sorter, TakeRecord, until_error};
pub(crate) use temp_space::TempSpace;
pub(crate) use value_sorter::{SortedValues, ValueSorter, sort_values};

#[cfg(test)]
mod tests;
