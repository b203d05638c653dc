//! What is compared, and how the work is done.

use super::error::ContaminationError;
use crate::engine::Memory;
use crate::engine::workers::default_threads;
use lookalike_core::error::ParamsError;
use lookalike_core::kernel::Kernel;
use lookalike_core::params::{ShingleRule, Unit};
use std::num::NonZeroUsize;

/// The words of a run where nothing else is chosen, as in the GPT-3 report (Brown et al. 2020,
/// appendix C).
pub const NGRAM: usize = 13;
/// The share of contaminated words from which an item counts as contaminated where nothing else is
/// chosen, as in the Llama 2 report (Touvron et al. 2023, appendix A.6).
pub const THRESHOLD: f64 = 0.8;

/// Whether the runs of items in documents are listed. There are as many as items and documents that
/// share a run: a million for a thousand equal items and a thousand documents with their text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MatchList {
    /// Runs are counted.
    Omitted,
    /// Runs are listed by [`Contamination::with_matches`](super::Contamination::with_matches).
    #[default]
    Listed,
    /// Runs are listed with the text around them, for a page: some hundred bytes each.
    WithExcerpts,
}

/// What is compared, and how the work is done.
#[derive(Debug, Clone)]
pub struct ContaminationOptions {
    /// Which words are equal: its rule for tokens and its case. Its size and stop words do not
    /// matter.
    pub rule: ShingleRule,
    /// How many words a run has, from 2.
    pub ngram: usize,
    /// The share of words from which an item is contaminated: above 0, at most 1.
    pub threshold: f64,
    /// How many threads work, the caller's among them.
    pub threads: NonZeroUsize,
    /// How much memory the run may use, and where temporary files go. It cannot be resumed.
    pub memory: Memory,
    /// The inner loops. All give the same.
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
