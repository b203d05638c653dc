//! Passages: what is repeated inside of documents and between them. The definitions are those of
//! [`lookalike_core::passage`]; words are compared, hashes only select.
//!
//! ```text
//! read     blocks ─ anchors → log of anchors ─ documents, keep order
//! select   anchors that repeat → candidate runs ─ their hashes → sorted → classes → unitigs
//! compare  passages ─ words of every unitig against its first place → places in the texts
//! ```
//!
//! | file | does |
//! |---|---|
//! | `anchor_log` | first reading: anchors |
//! | `candidates` | runs whose anchors repeat |
//! | `records` | second reading: these runs, sorted and joined to unitigs |
//! | `first_runs` | the first one of the runs that are equal |
//! | `places` | third reading: words compared, places found in texts |
//! | `rows` | the places of passages in the order of a report |
//! | `checkpoint` | what an interrupted run goes on from |
//! | `pipeline` | calls the stages one after the other |
//! | `rounds` | what goes of documents: copies, or boilerplate; applied until nothing changes |
//! | `cuts` | words of a document that are left out |

mod candidates;
mod checkpoint;
mod cuts;
mod findings;
mod first_runs;
mod options;
mod pipeline;
mod places;
mod records;
mod rounds;
mod rows;

pub use crate::words::TextSpan;
pub use findings::{PassageCounts, PassageFindings, SourceRepeats};
pub use options::{DEFAULT_WORDS, LEAST_WORDS, MOST_WORDS, PassageOptions};
pub use pipeline::{passages, passages_in};
pub use rounds::{CutOptions, CutRule, PassageCuts, SourceCuts};
pub(crate) use rows::repeated_bytes;
pub use rows::{FoundPassage, PassagePlace, PassageRow, PassageRows};
