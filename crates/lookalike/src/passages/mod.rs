//! Passages: what is repeated inside of documents and between them. The definitions are those of
//! [`lookalike_core::passage`]; words are compared, hashes only select.
//!
//! ```text
//! read     blocks ─ anchors → filter of repeats, log of anchors ─ documents, keep order
//! select   documents with an anchor that may repeat ─ hashes of runs → sorted → classes → unitigs
//! compare  passages ─ words of every unitig against its first place → places in the texts
//! ```
//!
//! | file | does |
//! |---|---|
//! | `anchor_log` | first reading: anchors |
//! | `records` | second reading: runs that may repeat, sorted and joined to unitigs |
//! | `places` | third reading: words compared, places found in texts |
//! | `pipeline` | calls the stages one after the other |
//! | `rounds` | what goes of documents: copies, or boilerplate; applied until nothing changes |
//! | `cuts` | words of a document that are left out |

pub(crate) mod anchor_log;
mod cuts;
mod findings;
mod options;
mod pipeline;
mod places;
mod records;
mod rounds;

pub use crate::words::TextSpan;
pub use findings::{FoundPassage, PassageCounts, PassageFindings, PassagePlace, SourceRepeats};
pub use options::{DEFAULT_WORDS, LEAST_WORDS, MOST_WORDS, PassageOptions};
pub use pipeline::{passages, passages_in};
pub use rounds::{CutOptions, CutRule, PassageCuts, SourceCuts};
