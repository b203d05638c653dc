//! The options of a comparison.

use super::error::ContaminationError;
use crate::engine::Memory;
use crate::engine::workers::default_threads;
use lookalike_core::error::ParamsError;
use lookalike_core::kernel::Kernel;
use lookalike_core::params::{ShingleRule, Unit};
use std::num::NonZeroUsize;

/// The default number of words of a run, as in the GPT-3 report (Brown et al. 2020, appendix C).
pub const NGRAM: usize = 13;
/// The default share of words in matched runs from which an item counts as contaminated, as in the
/// Llama 2 report (Touvron et al. 2023, appendix A.6).
pub const THRESHOLD: f64 = 0.8;

/// Whether to list the runs of items in documents. There is at least one for each pair of an item
/// and a document that share a run: a million for a thousand equal items and a thousand documents
/// with their text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MatchList {
    /// Only count runs.
    Omitted,
    /// List runs by [`Contamination::with_matches`](super::Contamination::with_matches).
    #[default]
    Listed,
    /// List runs with the text around them, for a page. Takes a few hundred bytes each.
    WithExcerpts,
}

/// The options of a comparison.
#[derive(Debug, Clone)]
pub struct ContaminationOptions {
    /// The rule that determines the words and whether they are equal. Its size and stop words have
    /// no effect.
    pub rule: ShingleRule,
    /// The number of words of a run, at least 2.
    pub ngram: usize,
    /// The share of words from which an item counts as contaminated: above 0, at most 1.
    pub threshold: f64,
    /// The number of threads, including the caller's.
    pub threads: NonZeroUsize,
    /// The memory limit, and the place of temporary files. The run cannot be resumed.
    pub memory: Memory,
    /// The inner loops. All return the same result.
    pub kernel: Kernel,
    /// Whether and how runs are listed.
    pub matches: MatchList,
}

impl ContaminationOptions {
    /// The defaults: words of [`ShingleRule`]'s default, [`NGRAM`], [`THRESHOLD`], a thread for
    /// each processor, no limit, runs listed.
    ///
    /// # Errors
    /// None in practice: the rule is valid.
    pub fn new() -> Result<Self, ParamsError> {
        Ok(Self {
            rule: ShingleRule::new(Unit::Words, 1)?,
            ngram: NGRAM,
            threshold: THRESHOLD,
            threads: default_threads(),
            memory: Memory::default(),
            kernel: Kernel::best(),
            matches: MatchList::default(),
        })
    }

    /// Refuses values that are out of range.
    pub(super) fn check(&self) -> Result<(), ContaminationError> {
        if self.ngram < 2 {
            return Err(ContaminationError::Ngram { got: self.ngram });
        }
        if !(self.threshold > 0.0 && self.threshold <= 1.0) {
            return Err(ParamsError::Threshold { got: self.threshold }.into());
        }
        Ok(())
    }
}
