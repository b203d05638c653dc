//! The inputs of a run, with the options of the reader that follow from the options of the run.

use crate::engine::FindOptions;
use crate::passages::PassageOptions;
use crate::read::{Collection, InMemoryDocuments, ReadError, ReadOptions, Side, refuse_streams};
use lookalike_core::params::Params;
use lookalike_index::index::IndexLocation;
use std::path::PathBuf;

/// One side of a comparison.
#[derive(Clone)]
pub enum InputSide {
    /// Files, folders, indexes and `-`.
    Paths(Vec<PathBuf>),
    /// Documents in memory, each a source.
    InMemory(Vec<InMemoryDocuments>),
    /// The documents of an index. In a reference, an index is one of the [`Paths`](Self::Paths).
    Index(IndexLocation),
}

impl InputSide {
    /// The paths. Documents in memory have none.
    pub fn paths(&self) -> &[PathBuf] {
        match self {
            Self::Paths(paths) => paths,
            Self::InMemory(_) | Self::Index(_) => &[],
        }
    }

    fn side(&self) -> Side<'_> {
        match self {
            Self::Paths(paths) => Side::Paths(paths),
            Self::InMemory(documents) => Side::InMemory(documents),
            Self::Index(location) => Side::Index(location),
        }
    }
}

/// Documents, the reference that they are compared with, and how both are read.
#[derive(Clone)]
pub struct RunInputs {
    /// The documents.
    pub documents: InputSide,
    /// The reference.
    pub reference: InputSide,
    /// How both are read. A request adds the fields that its options need.
    pub reading: ReadOptions,
}

impl RunInputs {
    /// Creates inputs of files, folders and indexes on both sides.
    pub fn of_paths(documents: &[PathBuf], reference: &[PathBuf], reading: ReadOptions) -> Self {
        let [documents, reference] =
            [documents, reference].map(|paths| InputSide::Paths(paths.to_vec()));
        Self { documents, reference, reading }
    }

    /// Leaves out these files and folders, so that a second run does not read the outputs of the
    /// first one as documents.
    pub fn leave_out(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        self.reading.leave_out.extend(paths);
    }

    /// Opens both sides. Every call reads the inputs from their beginning.
    ///
    /// # Errors
    /// An input cannot be opened.
    pub fn open(&self) -> Result<Collection, ReadError> {
        Collection::of_sides(self.documents.side(), self.reference.side(), &self.reading)
    }

    /// Opens both sides for a run with these options.
    ///
    /// # Errors
    /// An input cannot be opened.
    pub fn open_for(self, options: &FindOptions) -> Result<Collection, ReadError> {
        self.for_find(options).open()
    }

    /// Refuses inputs that can be read only once, for a `reader` that reads them again.
    ///
    /// # Errors
    /// [`ReadError::ReadTwice`] for the first such input.
    pub fn refuse_streams(&self, reader: &str) -> Result<(), ReadError> {
        let [documents, reference] = self.paths();
        refuse_streams(documents.iter().chain(reference), reader)
    }

    /// The paths of documents and of the reference.
    pub fn paths(&self) -> [&[PathBuf]; 2] {
        [self.documents.paths(), self.reference.paths()]
    }

    pub(super) fn for_find(self, options: &FindOptions) -> Self {
        Self { reading: options.read_options(self.reading), ..self }
    }

    pub(super) fn for_passages(self, options: PassageOptions) -> (Self, PassageOptions) {
        let options = options.with_skip_repeated_ids(self.reading.skip_bad);
        (Self { reading: options.read_options(self.reading), ..self }, options)
    }

    /// Sets the shingles of a run, so that an index with the same shingles is read as shingle sets.
    pub(super) fn shingle_by(&mut self, params: &Params) {
        self.reading.shingle = Some(params.shingle().clone());
    }
}
