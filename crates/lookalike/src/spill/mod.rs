//! Temporary files: what does not fit in memory goes to them, and a run that was stopped goes on
//! from them.
//!
//! ```text
//! values   SpillLog: appended, read by position or one after the other
//! records  Sorter → SortedRecords, in the order of the keys
//! steps    Journal: which are done, in a run that may be resumed
//! ```
//!
//! Each is in memory, or in files of a `TempSpace`. The stages are the same for both.
//!
//! | file | is |
//! |---|---|
//! | `log` | values in memory, then in a file, or behind those of an earlier run |
//! | `sorter` | records in any order → in the order of their keys |
//! | `value_sorter` | numbers of 128 bits, likewise |
//! | `part_sorter` | the same for numbers whose upper bits are uniform |
//! | `batch`, `merge` | records in memory, and records in files, for the sorter |
//! | `journal` | the steps that are done, one line each |
//! | `temp_space`, `folder` | the folder of the temporary files, and when it is made and removed |
//! | `private` | that folder where it stays: whose it is, and its files |
//! | `description` | what a resumable run is, stored with it and compared |
//! | `file` | a temporary file |
//! | `codec` | records as bytes, keys as bytes that sort right |
//!
//! In place of a crate for external sorting, such as `extsort`, which limits memory by a number of
//! items: records here have any length, and a stopped run goes on from its files. None has been
//! compared; `cargo x bench bar memory` measures runs within a limit (November 2026).

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
pub(crate) use part_sorter::{PartSorter, PartedValues};
pub(crate) use sorter::{RecordCursor, SortedRecords, Sorter, TakeRecord, until_error};
pub(crate) use temp_space::TempSpace;
pub(crate) use value_sorter::{SortedValues, ValueSorter, sort_values};

#[cfg(test)]
mod tests;
