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

/// The fewest words of a passage.
pub const LEAST_WORDS: usize = 2;
/// The most words that the shortest passage may have.
pub const MOST_WORDS: usize = 1_000_000;
/// Words of the shortest passage where no other number is asked for.
pub const DEFAULT_WORDS: usize = 50;

/// Which passages are found, and how.
#[derive(Debug, Clone)]
pub struct PassageOptions {
    min_words: usize,
    run: FindOptions,
}

impl PassageOptions {
    /// Passages of at least `min_words` words: words as `tokens` and `case` say.
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
        // Nothing is signed.
        let builder = ParamsBuilder { shingle, exact: true, ..ParamsBuilder::default() };
        let run = FindOptions { advice: false, ..FindOptions::new(Params::new(&builder)?) };
        Ok(Self { min_words, run })
    }

    /// Words of the shortest passage.
    pub fn min_words(&self) -> usize {
        self.min_words
    }

    /// How words are cut and compared.
    pub fn rule(&self) -> &ShingleRule {
        self.run.params.shingle()
    }

    /// The order of documents: of equal runs that of the first document is the first.
    #[must_use]
    pub fn with_keep(mut self, keep: KeepPolicy) -> Self {
        self.run.keep = keep;
        self
    }

    /// The field whose value is the source that a document is counted under.
    #[must_use]
    pub fn with_source_field(mut self, field: Option<String>) -> Self {
        self.run.source_field = field;
        self
    }

    /// Whether the later of two documents with one id is left out; otherwise it is an error.
    #[must_use]
    pub fn with_skip_repeated_ids(mut self, skip: bool) -> Self {
        self.run.skip_repeated_ids = skip;
        self
    }

    /// How much memory there is, where temporary files go, and whether the run may be resumed.
    #[must_use]
    pub fn with_memory(mut self, memory: Memory) -> Self {
        self.run.memory = memory;
        self
    }

    /// Threads to use.
    #[must_use]
    pub fn with_threads(mut self, threads: NonZeroUsize) -> Self {
        self.run.threads = threads;
        self
    }

    /// The inner loops to use; all give the same result.
    #[must_use]
    pub fn with_kernel(mut self, kernel: Kernel) -> Self {
        self.run.kernel = kernel;
        self
    }

    /// Documents of the inputs that the run leaves out.
    #[must_use]
    pub fn with_drop(mut self, drop: Option<Arc<DropList>>) -> Self {
        self.run.drop = drop;
        self
    }

    /// Adds the fields that the search needs to the options of its reader.
    pub fn read_options(&self, reading: ReadOptions) -> ReadOptions {
        ReadOptions { fields: self.run.fields(), ..reading }
    }

    /// The options of reading and of dedup's output.
    pub fn run(&self) -> &FindOptions {
        &self.run
    }
}
