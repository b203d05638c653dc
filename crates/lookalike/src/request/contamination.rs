//! `contamination`: a corpus, a benchmark and options → how much of each item is in the corpus.

use super::RunInputs;
use crate::contamination::{BenchmarkField, Contamination, ContaminationOptions, contamination};
use crate::error::Error;
use crate::progress::Progress;
use crate::read::Collection;

/// A search for the items of a benchmark in a corpus.
pub struct ContaminationRequest {
    /// The documents to search.
    pub corpus: RunInputs,
    /// The items, once for each field that is searched for.
    pub benchmark: Vec<BenchmarkSide>,
    /// The options.
    pub options: ContaminationOptions,
}

/// The items of a benchmark by one of their fields.
pub struct BenchmarkSide {
    /// The field with the texts, where it is named; otherwise that of the reader.
    pub field: Option<String>,
    /// The items.
    pub items: RunInputs,
}

/// A search whose inputs are open.
pub struct OpenedContamination {
    corpus: Collection,
    benchmark: Vec<(Option<String>, Collection)>,
    options: ContaminationOptions,
}

/// The error of a search, and the side whose records it is about.
#[derive(Debug)]
pub enum ContaminationFailure {
    /// A record or table of the benchmark: its field of texts is the one of its side.
    Benchmark(Error),
    /// Any other error.
    Other(Error),
}

impl ContaminationRequest {
    /// Opens the benchmark, then the corpus.
    ///
    /// # Errors
    /// [`Error::Read`] if an input cannot be opened.
    pub fn open(self) -> Result<OpenedContamination, Error> {
        let Self { corpus, benchmark, options } = self;
        let mut opened = Vec::with_capacity(benchmark.len());
        for BenchmarkSide { field, mut items } in benchmark {
            if let Some(field) = &field {
                items.reading.text_field.clone_from(field);
            }
            opened.push((field, items.open()?));
        }
        Ok(OpenedContamination { corpus: corpus.open()?, benchmark: opened, options })
    }
}

impl OpenedContamination {
    /// Searches. Returns the findings, and the options for the report.
    ///
    /// # Errors
    /// Errors of [`contamination`].
    pub fn run(
        self,
        progress: &dyn Progress,
    ) -> Result<(Contamination, ContaminationOptions), ContaminationFailure> {
        let Self { corpus, benchmark, options } = self;
        let fields: Vec<BenchmarkField<'_>> = benchmark
            .iter()
            .map(|(name, collection)| BenchmarkField { name: name.as_deref(), collection })
            .collect();
        match contamination(&corpus, &fields, &options, progress) {
            Ok(found) => Ok((found, options)),
            Err(error) if fields.iter().any(|field| field.is_source_of(&error)) => {
                Err(ContaminationFailure::Benchmark(error))
            }
            Err(error) => Err(ContaminationFailure::Other(error)),
        }
    }
}
