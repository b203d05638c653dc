//! User decisions about documents: reads them from a file, and applies them to a run.
//!
//! ```text
//! decisions.jsonl ─ file → ReviewDecision, one per line ─ in_force → Decisions ─ find → groups
//! ```
//!
//! A decision is about a pair (`duplicate`, `not_duplicate`) or about documents (`keep`,
//! `keep_all`). In a run, a pair that is judged different is never in one group. A pair that is
//! judged to be duplicates is a verified pair regardless of its similarity. A document that is kept
//! is not a duplicate of any other. `docs/reference/decisions.md` specifies the file and the rule
//! of groups.

mod add_to_log;
mod agreement;
mod compact_log;
mod conflict;
mod contradictions;
mod decision;
mod error;
mod fields;
mod file;
mod in_force;
mod log;
mod separated;

pub use add_to_log::{AddedDecisions, UnknownDocuments, add_to_index};
pub use agreement::{Agreement, Agreements, DisputedPair, JudgedPairs};
pub use compact_log::{CompactedLog, compact_log};
pub use conflict::{ConflictCause, DecisionConflict};
pub(crate) use contradictions::AppliedDecisions;
pub use contradictions::{Contradiction, ContradictionKind};
pub use decision::{Judgment, MAX_DOCUMENTS, ReviewDecision};
pub use error::{DecisionError, DecisionProblem};
pub use fields::{DecisionFields, MAX_IDS_BYTES, MAX_NOTE_BYTES};
pub use file::{read, read_file};
pub use in_force::{Decisions, JudgedPair, KeptDocument};
pub use log::{each_of_index, of_index};
pub use separated::SeparatedPairs;
