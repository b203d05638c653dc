//! One request and one outcome for each use case. A front end fills a request, runs it, and shows
//! the outcome. This module defines the order of the steps and the rules between them.
//!
//! ```text
//! RunInputs ─┬─► FindRequest ──── open, run ─────────► FindOutcome
//!            ├─► DedupRequest ─── open, find, write ─► DedupOutcome
//!            ├─► CutRequest ───── open, find, write ─► CutOutcome
//!            ├─► ContaminationRequest ─ open, run ───► Contamination, ContaminationOptions
//!            ├─► PassageRequest ─ open, run ─────────► PassageFindings, PassageOptions
//!            ├─► TuneRequest ──── open, run ─────────► TuneOutcome
//!            ├─► PrepareRequest ─ run ───────────────► PrepareOutcome
//!            └─► AuditRequest ─── run ───────────────► Audit, Params
//! ```
//!
//! Opening fails before any document is read, so that a mistake in the command is reported at once.

mod audit;
mod contamination;
mod cut;
mod dedup;
mod dedup_outputs;
mod find;
mod inputs;
mod passages;
mod prepare;
mod tune;

pub use audit::AuditRequest;
pub use contamination::{BenchmarkSide, ContaminationRequest, OpenedContamination};
pub use cut::{CutOutcome, CutRequest, FoundCuts, OpenCutRun};
pub use dedup::{
    DedupOutcome, DedupRequest, FileAction, FileOutcome, FoundDedup, OpenedDedup, add_kept,
};
pub use dedup_outputs::DedupOutputs;
pub use find::{FindOutcome, FindRequest, OpenedFind};
pub use inputs::{InputSide, RunInputs};
pub use passages::{OpenedPassages, PassageRequest};
pub use prepare::{IdOrigin, PrepareOutcome, PrepareRequest, SignatureBlock};
pub use tune::{OpenedTune, TuneOutcome, TuneRequest};
