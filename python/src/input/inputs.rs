//! The inputs of a call: documents in memory, or paths.

use crate::error::{self, DocumentError, FileError, HELD, OptionError, read_error};
use crate::input::compared_input::ComparedInput;
use crate::input::ids;
use lookalike::read::{Collection, ReadError, ReadOptions};
use lookalike::report::check_places;
use lookalike::request::{InputSide, RunInputs};
use pyo3::prelude::*;
use std::path::{Path, PathBuf, absolute};

/// Both sides of a comparison, which can be opened repeatedly.
pub(crate) struct ComparedInputs {
    pub(crate) run: RunInputs,
    /// The absolute paths of both sides, because the working directory may change.
    places: [Vec<PathBuf>; 2],
}

/// Converts a side of a comparison. `name` is the name of its argument.
fn side(input: Option<&ComparedInput>, name: &str, as_texts: bool) -> InputSide {
    match input {
        Some(ComparedInput::Documents(documents)) => {
            InputSide::InMemory(vec![documents.get().source(name, as_texts)])
        }
        Some(ComparedInput::Paths(paths)) => InputSide::Paths(paths.clone()),
        None => InputSide::Paths(Vec::new()),
    }
}

impl ComparedInputs {
    /// Checks documents in memory: each must have a text and an id, unless `reading` skips bad
    /// documents. Their fields must be the fields of `reading`.
    pub(crate) fn new(
        py: Python<'_>,
        documents: &ComparedInput,
        reference: Option<&ComparedInput>,
        reading: ReadOptions,
    ) -> PyResult<Self> {
        Self::named(py, (documents, HELD[0]), reference, reading)
    }

    /// Like [`new`](Self::new), for documents of the argument `name`.
    pub(crate) fn named(
        py: Python<'_>,
        (documents, name): (&ComparedInput, &str),
        reference: Option<&ComparedInput>,
        reading: ReadOptions,
    ) -> PyResult<Self> {
        for (input, name) in [(Some(documents), name), (reference, HELD[1])] {
            let Some(ComparedInput::Documents(held)) = input else { continue };
            let held = held.get();
            if !reading.skip_bad {
                held.complete(py, error::side(name).unwrap_or_default())?;
            }
            let fields: Vec<&str> = held.fields().collect();
            if fields != reading.fields {
                return Err(OptionError::new_err(format!(
                    "the options ask for the fields {:?}, the documents have {fields:?}",
                    reading.fields
                )));
            }
        }
        let as_texts = ids::as_texts(documents, reference);
        let documents = side(Some(documents), name, as_texts);
        let reference = side(reference, HELD[1], as_texts);
        let places = [places(documents.paths())?, places(reference.paths())?];
        Ok(Self { run: RunInputs { documents, reference, reading }, places })
    }

    /// Returns inputs with both sides empty, for a run over an index.
    pub(crate) fn empty() -> Self {
        let run = RunInputs::of_paths(&[], &[], ReadOptions::default());
        Self { run, places: Default::default() }
    }

    /// Selects rows of the documents in memory and rows of the reference collection.
    ///
    /// # Errors
    /// `DocumentError` for row numbers that are too great, `OptionError` for rows of a side that is
    /// not in memory.
    pub(crate) fn select(&mut self, documents: Vec<usize>, reference: Vec<usize>) -> PyResult<()> {
        let RunInputs { documents: compared, reference: fixed, .. } = &mut self.run;
        for (side, rows) in [(compared, documents), (fixed, reference)] {
            if let InputSide::InMemory(held) = side
                && let [held] = &mut held[..]
            {
                let len = held.rows.len();
                *held = held.select(rows).ok_or_else(|| {
                    let expected = format!("rows: expected numbers below {len}, the number of");
                    DocumentError::new_err(format!("{expected} documents, got a greater one"))
                })?;
            } else if !rows.is_empty() {
                let text = "rows can be selected only from documents in memory; pass documents, \
                            not paths";
                return Err(OptionError::new_err(text));
            }
        }
        Ok(())
    }

    /// Opens the inputs.
    pub(crate) fn open(&self) -> Result<Collection, ReadError> {
        self.run.open()
    }

    /// Rejects inputs that can be read only once. `reader` names the operation
    /// that reads them again.
    ///
    /// # Errors
    /// `OptionError` that names the input.
    pub(crate) fn refuse_streams(&self, reader: &str) -> PyResult<()> {
        self.run.refuse_streams(reader).map_err(read_error)
    }

    /// Fails if a change of the working directory gave a relative path another meaning.
    pub(crate) fn refuse_elsewhere(&self) -> PyResult<()> {
        let [documents, reference] = self.run.paths();
        let paths = documents.iter().chain(reference);
        let current = [places(documents)?, places(reference)?].concat();
        let places = self.places.iter().flatten().zip(&current);
        match paths.zip(places).find(|(_, (then, current))| then != current) {
            None => Ok(()),
            Some((path, (then, current))) => Err(FileError::new_err(format!(
                "{} was read as {}, and is {} from the working directory of this call: change \
                 back to read it again, or name it by its path from the root",
                path.display(),
                then.display(),
                current.display()
            ))),
        }
    }

    /// Fails if an output would overwrite an input.
    pub(crate) fn check_output(&self, path: &Path) -> PyResult<()> {
        let [documents, reference] = &self.places;
        check_places([path], None, documents, reference)
            .map_err(|error| FileError::new_err(error.to_string()))
    }
}

/// Makes paths absolute. Leaves `-`, the name of standard input, unchanged.
fn places(paths: &[PathBuf]) -> PyResult<Vec<PathBuf>> {
    let place = |path: &PathBuf| {
        if path == Path::new("-") {
            return Ok(path.clone());
        }
        absolute(path).map_err(|error| {
            FileError::new_err(format!(
                "cannot resolve {}: {error}; use an absolute path",
                path.display()
            ))
        })
    };
    paths.iter().map(place).collect()
}
