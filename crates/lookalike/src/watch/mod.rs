//! Implements `watch`: adds changed files of a folder to an index, and finds the similar documents.
//!
//! ```text
//! changes ─ PendingFiles (settled files) ─ FolderIntake (list, read, add, query) ─► Resemblance
//! ```
//!
//! The caller receives changes from the system, waits, and reports.

mod intake;
mod pending_files;

pub use intake::{FolderIntake, IntakeOutcome, ListedFile, Resemblance, WatchOptions, is_recent};
pub use pending_files::{FileChange, PendingFiles};
