//! `watch`: the files of a folder that changed → an index, and the documents that each resembles.
//!
//! ```text
//! changes ─ PendingFiles (settled files) ─ FolderIntake (list, read, add, query) ─► Resemblance
//! ```
//!
//! The caller gets changes from the system, waits, and reports.

mod intake;
mod pending_files;

pub use intake::{FolderIntake, IntakeOutcome, ListedFile, Resemblance, WatchOptions, is_recent};
pub use pending_files::{FileChange, PendingFiles};
