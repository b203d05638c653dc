//! How far a run is, and whether it is still wanted: a callback, never a print.

use lookalike_core::curve::Choice;
use std::fmt;
use std::time::Duration;

/// The stages of a run, in order, then those of an index, of an audit and of `tune`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Read, shingle, sign and band; counted in bytes of input.
    Prepare,
    /// Number the documents, collapse equal ones, find buckets; counted in bands.
    Bucket,
    /// Verify candidate pairs and form groups; counted in documents that are candidates.
    Decide,
    /// Read documents and put them into an index; counted in bytes of input.
    Add,
    /// Draw a sample for an audit or for `tune`; counted in bytes of input.
    Draw,
    /// Find the sample's true neighbours; counted in bytes of input.
    Search,
    /// Hold the sample of an audit against what a run found; not counted.
    Judge,
    /// Measure a sample; counted in its documents, once for each shingle rule and once more.
    Measure,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Prepare => "read and sign",
            Self::Bucket => "find candidates",
            Self::Decide => "verify and group",
            Self::Add => "read and add",
            Self::Draw => "draw documents",
            Self::Search => "find neighbours",
            Self::Judge => "judge the sample",
            Self::Measure => "measure the sample",
        })
    }
}

/// The work is not wanted any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted;

/// A component of documents that share buckets and are not similar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ManyCandidates {
    /// Documents in the component.
    pub documents: u64,
    /// Pairs that were compared until then and are not similar.
    pub compared: u64,
    /// Bands and rows of the same recall with less expected time for such documents; `None` where
    /// there are none.
    pub advised: Option<Choice>,
}

/// Told what happens, from any thread.
pub trait Progress: Sync {
    /// A stage begins, with that much to do where it is known.
    fn begin(&self, stage: Stage, total: Option<u64>);
    /// So much more is done. Asked after every block, band and component of documents.
    ///
    /// # Errors
    /// [`Interrupted`] ends the work with [`Error::Interrupted`](crate::error::Error::Interrupted).
    fn advance(&self, done: u64) -> Result<(), Interrupted>;
    /// Unlike documents share so many buckets that comparing them decides the time of the run; told
    /// when it is found, once for each component of documents. Does nothing by default.
    fn many_candidates(&self, candidates: &ManyCandidates) {
        let _ = candidates;
    }
    /// The stage has ended.
    fn end(&self, stage: Stage, elapsed: Duration);
}

/// Looks away.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _: Stage, _: Option<u64>) {}
    fn advance(&self, _: u64) -> Result<(), Interrupted> {
        Ok(())
    }
    fn end(&self, _: Stage, _: Duration) {}
}
