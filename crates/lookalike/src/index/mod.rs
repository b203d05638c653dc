//! Adds texts to an index, finds similar documents and forms groups.
//!
//! The crate [`store`](crate::store) stores the index and does not process texts. This module
//! reads, shingles and signs texts with the settings of the index.
//!
//! Every source of documents uses the same path:
//!
//! ```text
//! documents ─ TextPreparer ─► prepared blocks ─ reorder buffer ─► batches ─ write ─► backend
//! ```
//!
//! | caller | documents | function |
//! |---|---|---|
//! | command line, `add_paths` of Python | a collection | [`add()`] |
//! | Python | an iterator, tables | [`add_documents`] |
//! | server | requests, which are acknowledged one by one | [`TextPreparer`], [`ExistingIds`] |

mod add;
mod add_documents;
mod add_options;
mod batch_writer;
mod block_reader;
mod buffered_documents;
mod categories;
mod error;
mod existing_ids;
mod export;
mod group_members;
mod groups;
mod known_runs;
mod last_number;
mod original;
mod pipeline;
mod prepare;
mod prepared_block;
mod read_documents;
mod remove;
pub mod time;
mod unchanged;

pub use add::add;
pub use add_documents::{DocumentBatch, FeedError, NewDocument, add_documents};
pub use add_options::{AddOptions, Existing};
pub use batch_writer::{AddCounts, InterruptedAdd};
pub use categories::categorise::{CategoriseOptions, categorise};
pub use categories::category_rows::category_rows;
pub use categories::index_categories::{IndexCategories, catch_up};
pub use error::AddError;
pub use existing_ids::ExistingIds;
pub use export::{export, export_with_originals, export_with_originals_in};
pub(crate) use group_members::DuplicateRecorder;
pub use group_members::record_duplicates;
pub use groups::{GroupingOptions, groups, params_for};
pub use known_runs::{KnownRun, KnownRuns};
pub use last_number::last_number;
pub use original::OwnedOriginal;
pub use prepare::{DocumentFields, FormerVersion, PreparedDocument, PreparedText, TextPreparer};
pub use read_documents::{IncomingDocument, ReadSummary, read_documents};
pub use remove::{RemovedCounts, remove, remove_inputs};
