//! The use case `contamination`: finds the items of a benchmark in a corpus.

use super::RunInputs;
use crate::contamination::{
    BenchmarkField, Contamination, ContaminationError, ContaminationOptions, contamination,
};
use crate::progress::Progress;
use crate::read::{Collection, ReadError};

/// A search for the items of a benchmark in a corpus.
pub struct ContaminationRequest {
    /// The documents to search.
    pub corpus: RunInputs,
    /// The items, once for each field that is searched for.
    pub benchmark: Vec<BenchmarkSide>,
    /// The options.
    pub options: ContaminationOptions,
}

/// The items of a benchmark with one of their fields as the text.
pub struct BenchmarkSide {
    /// The field with the texts; `None` for the text field of the reader.
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

impl ContaminationRequest {
    /// Opens the benchmark, then the corpus.
    ///
    /// # Errors
    /// [`ReadError`] if an input cannot be opened.
    pub fn open(self) -> Result<OpenedContamination, ReadError> {
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
    /// Errors of [`contamination`], and [`ContaminationError::Benchmark`] if the error is about a
    /// record of the benchmark.
    pub fn run(
        self,
        progress: &dyn Progress,
    ) -> Result<(Contamination, ContaminationOptions), ContaminationError> {
        let Self { corpus, benchmark, options } = self;
        let fields: Vec<BenchmarkField<'_>> = benchmark
            .iter()
            .map(|(name, collection)| BenchmarkField { name: name.as_deref(), collection })
            .collect();
        match contamination(&corpus, &fields, &options, progress) {
            Ok(found) => Ok((found, options)),
            Err(ContaminationError::Find(error))
                if fields.iter().any(|field| field.is_source_of(&error)) =>
            {
                Err(ContaminationError::Benchmark(error))
            }
            Err(error) => Err(error),
        }
    }
}
