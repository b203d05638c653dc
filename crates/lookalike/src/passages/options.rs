//! Options of a search for passages.

use crate::engine::{DropList, FindOptions, Memory};
use crate::read::ReadOptions;
use lookalike_core::error::ParamsError;
use lookalike_core::keep::KeepPolicy;
use lookalike_core::kernel::Kernel;
use lookalike_core::parameter::Parameter;
use lookalike_core::params::{Case, Params, ParamsBuilder, ShingleRule, TokenRule, Unit};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// The minimum of `min_words`.
pub const LEAST_WORDS: usize = 2;
/// The maximum of `min_words`.
pub const MOST_WORDS: usize = 1_000_000;
/// The default of `min_words`.
pub const DEFAULT_WORDS: usize = 50;

/// Options that select passages, and options of the run.
#[derive(Debug, Clone)]
pub struct PassageOptions {
    min_words: usize,
    run: FindOptions,
}

impl PassageOptions {
    /// Selects passages of at least `min_words` words, as defined by `tokens` and `case`.
    ///
    /// # Errors
    /// [`ParamsError::Parse`] for fewer than [`LEAST_WORDS`] or more than [`MOST_WORDS`].
    pub fn new(min_words: usize, tokens: TokenRule, case: Case) -> Result<Self, ParamsError> {
        if !(LEAST_WORDS..=MOST_WORDS).contains(&min_words) {
            return Err(ParamsError::Parse {
                parameter: Parameter::MinWords,
                got: min_words.to_string(),
                expected: "a number of words from 2 to 1000000; 50 is usual",
            });
        }
        let shingle = ShingleRule::new(Unit::Words, 1)?.with_tokens(tokens).with_case(case);
        // Exact runs compute no signatures.
        let builder = ParamsBuilder { shingle, exact: true, ..ParamsBuilder::default() };
        let run = FindOptions { advice: false, ..FindOptions::new(Params::new(&builder)?) };
        Ok(Self { min_words, run })
    }

    /// Words of the shortest passage.
    pub fn min_words(&self) -> usize {
        self.min_words
    }

    /// The rule by which texts are split into words and words are compared.
    pub fn rule(&self) -> &ShingleRule {
        self.run.params.shingle()
    }

    /// Sets the order of documents. Among equal runs, the one in the first document is the first.
    #[must_use]
    pub fn with_keep(mut self, keep: KeepPolicy) -> Self {
        self.run.keep = keep;
        self
    }

    /// Sets the field whose value is the source of a document in counts.
    #[must_use]
    pub fn with_source_field(mut self, field: Option<String>) -> Self {
        self.run.source_field = field;
        self
    }

    /// Sets whether to leave out the later of two documents with the same id. Otherwise a repeated
    /// id is an error.
    #[must_use]
    pub fn with_skip_repeated_ids(mut self, skip: bool) -> Self {
        self.run.skip_repeated_ids = skip;
        self
    }

    /// Sets the available memory, the place of temporary files, and whether the run can be resumed.
    #[must_use]
    pub fn with_memory(mut self, memory: Memory) -> Self {
        self.run.memory = memory;
        self
    }

    /// Sets the number of threads.
    #[must_use]
    pub fn with_threads(mut self, threads: NonZeroUsize) -> Self {
        self.run.threads = threads;
        self
    }

    /// Sets the implementation of the inner loops. All implementations return the same result.
    #[must_use]
    pub fn with_kernel(mut self, kernel: Kernel) -> Self {
        self.run.kernel = kernel;
        self
    }

    /// Sets the documents that the run leaves out.
    #[must_use]
    pub fn with_drop(mut self, drop: Option<Arc<DropList>>) -> Self {
        self.run.drop = drop;
        self
    }

    /// Adds the fields that the search needs to the options of its reader.
    pub fn read_options(&self, reading: ReadOptions) -> ReadOptions {
        ReadOptions { fields: self.run.fields(), ..reading }
    }

    /// Returns the options for reading and for dedup's output.
    pub fn run(&self) -> &FindOptions {
        &self.run
    }
}
