//! Passages: word sequences that are repeated within or between documents.
//! [`lookalike_core::passage`] has the definitions. Hashes select candidates, whose words are
//! always compared.
//!
//! ```text
//! read     blocks ─ anchors → log of anchors ─ documents, keep order
//! select   anchors that repeat → candidate runs ─ their hashes → sorted → classes → unitigs
//! compare  passages ─ words of every unitig against its first place → places in the texts
//! ```
//!
//! | file | content |
//! |---|---|
//! | `engine::prepare::anchor_log` | first reading: anchors |
//! | `candidates` | runs whose anchors repeat |
//! | `records` | second reading: these runs, sorted and joined to unitigs |
//! | `first_runs` | the first of equal runs |
//! | `places` | third reading: words compared, places found in texts |
//! | `rows` | the places of passages in the order of a report |
//! | `checkpoint` | the stored steps, from which an interrupted run resumes |
//! | `pipeline` | calls the stages one after the other |
//! | `rounds` | removes copies or boilerplate, until nothing changes |
//! | `cuts` | words that are cut out of a document |

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
