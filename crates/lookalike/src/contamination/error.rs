//! The error type of `contamination`.

use crate::engine::FindError;
use crate::error_macros::wraps_find_error;
use lookalike_core::parameter::{NamesParameters, Parameter, ParameterSpelling};
use std::fmt;

/// An error of comparing a benchmark with a corpus.
#[derive(Debug)]
pub enum ContaminationError {
    /// The documents could not be read or compared.
    Find(FindError),
    /// A record or a table of the benchmark could not be read. In the message, front ends name
    /// `against_field` instead of `text_field`.
    Benchmark(FindError),
    /// The requested number of words of an n-gram is too small.
    Ngram {
        /// The requested number of words.
        got: usize,
    },
    /// No item of the benchmark has a word.
    NoWords {
        /// The number of items.
        items: usize,
    },
    /// A file is part of the corpus and of the benchmark.
    InBoth {
        /// The file.
        name: String,
    },
}

wraps_find_error!(ContaminationError, Self::Benchmark(error) => error.source());

impl NamesParameters for ContaminationError {
    fn fmt_with(&self, f: &mut fmt::Formatter<'_>, name: ParameterSpelling) -> fmt::Result {
        match self {
            Self::Find(error) | Self::Benchmark(error) => error.fmt_with(f, name),
            Self::Ngram { got } => write!(
                f,
                "{}: expected 2 words or more, got {got}; 13 is usual",
                name(Parameter::Ngram)
            ),
            Self::NoWords { items: 0 } => {
                write!(f, "the benchmark has no items; check {}", name(Parameter::Against))
            }
            Self::NoWords { items } => write!(
                f,
                "none of the {items} items of the benchmark has a word; check {}",
                name(Parameter::AgainstField)
            ),
            Self::InBoth { name: file } => write!(
                f,
                "{file} belongs to both the corpus and {}, so all its items would match \
                 themselves; name it on one side only, or exclude it from a folder with {}",
                name(Parameter::Against),
                name(Parameter::Exclude)
            ),
        }
    }
}
