//! An index that a server is started with.

use crate::config::index_name::IndexName;
use lookalike::store::Index;
use std::path::PathBuf;

/// An index to serve.
pub struct ServedIndex {
    pub(crate) name: IndexName,
    pub(crate) is_named: bool,
    pub(crate) index: Index,
    pub(crate) state: Option<PathBuf>,
}

impl ServedIndex {
    /// An index with a name.
    pub fn named(name: IndexName, index: Index) -> Self {
        Self { name, is_named: true, index, state: None }
    }

    /// The only index of a server, named after its place.
    pub fn only(index: Index) -> Self {
        let name = IndexName::of_place(index.name());
        Self { name, is_named: false, index, state: None }
    }

    /// The name of the index in addresses.
    pub fn name(&self) -> &IndexName {
        &self.name
    }

    /// Keeps waiting messages, and answers for idempotency keys, in a file, which is created if it
    /// is missing. Without a file, they are in memory. Only one server at a time may use the file.
    #[must_use]
    pub fn with_state(mut self, path: PathBuf) -> Self {
        self.state = Some(path);
        self
    }
}
