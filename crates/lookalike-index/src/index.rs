//! An opened index in any kind of storage.

pub use crate::access::Access;
use crate::backend::Backend;
use crate::error::IndexError;
use crate::query::compact::CompactSignatures;
use crate::query::{QueryBuffers, QueryDocument, QueryRequest, QueryResult, query};
use crate::settings::IndexSettings;
use lookalike_core::params::{Params, ParamsBuilder, ShingleRule};
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// Replaces an unreadable address in messages, because it may contain a password.
const HIDDEN: &str = "postgres://…";

/// The location of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexLocation {
    /// A folder.
    Folder(PathBuf),
    /// A PostgreSQL database: `postgres://user:password@host/database?index=name`.
    Postgres(String),
}

impl IndexLocation {
    /// Parses a location: `postgres://…` and `postgresql://…` are databases, all other texts are
    /// folders.
    pub fn of(text: &str) -> Self {
        let is_database = ["postgres://", "postgresql://"].iter().any(|s| text.starts_with(s));
        if is_database { Self::Postgres(text.to_owned()) } else { Self::Folder(text.into()) }
    }

    /// The location for messages: an address without its secrets.
    pub fn shown(&self) -> String {
        match self {
            Self::Folder(folder) => folder.display().to_string(),
            #[cfg(feature = "postgres")]
            Self::Postgres(url) => crate::postgres::shown(url).unwrap_or_else(|| HIDDEN.to_owned()),
            #[cfg(not(feature = "postgres"))]
            Self::Postgres(_) => HIDDEN.to_owned(),
        }
    }

    /// The location of an input that is an index: a database, or a folder with the catalogue of an
    /// index. `None` for all other files and folders.
    pub fn among_inputs(input: &Path) -> Option<Self> {
        match input.to_str().map(Self::of) {
            Some(database @ Self::Postgres(_)) => Some(database),
            #[cfg(feature = "sqlite")]
            _ => crate::folder::is_index(input).then(|| Self::Folder(input.to_owned())),
            #[cfg(not(feature = "sqlite"))]
            _ => None,
        }
    }

    #[cfg(not(all(feature = "sqlite", feature = "postgres")))]
    fn not_built(&self) -> IndexError {
        let feature = match self {
            Self::Folder(_) => "sqlite",
            Self::Postgres(_) => "postgres",
        };
        IndexError::NotBuilt { index: self.shown(), feature }
    }
}

/// Creates an index and opens it for writing.
///
/// # Errors
/// [`IndexError::Exists`] if the index exists, and write errors.
pub fn create(place: &IndexLocation, settings: &IndexSettings) -> Result<Index, IndexError> {
    settings.params()?;
    match place {
        #[cfg(feature = "sqlite")]
        IndexLocation::Folder(folder) => {
            crate::folder::create(folder, settings).and_then(Index::new)
        }
        #[cfg(feature = "postgres")]
        IndexLocation::Postgres(url) => crate::postgres::create(url, settings).and_then(Index::new),
        #[cfg(not(all(feature = "sqlite", feature = "postgres")))]
        other => Err(other.not_built()),
    }
}

/// Opens an index.
///
/// # Errors
/// [`IndexError::Missing`], [`IndexError::NotAnIndex`], [`IndexError::Version`] for an index that
/// does not exist or is not readable, [`IndexError::OfSketches`] for an index of sketches,
/// [`IndexError::InUse`] if another process writes to it.
pub fn open(place: &IndexLocation, access: Access) -> Result<Index, IndexError> {
    match place {
        #[cfg(feature = "sqlite")]
        IndexLocation::Folder(folder) => {
            // Checked before waiting for another writer.
            let settings = crate::folder::settings_for(folder, access)?;
            settings.expect_documents(&folder.display().to_string())?;
            crate::folder::open(folder, access).and_then(Index::new)
        }
        #[cfg(feature = "postgres")]
        IndexLocation::Postgres(url) => crate::postgres::open(url, access).and_then(Index::new),
        #[cfg(not(all(feature = "sqlite", feature = "postgres")))]
        other => {
            let _ = access;
            Err(other.not_built())
        }
    }
}

/// Creates an index from a [`Backend::backup`] of an index of the same kind, and opens it for
/// writing.
///
/// # Errors
/// [`IndexError::Exists`] if the index exists, [`IndexError::NotAnIndex`] for anything other than a
/// backup of this kind of index, and write errors.
pub fn restore(place: &IndexLocation, from: &Path) -> Result<Index, IndexError> {
    match place {
        #[cfg(feature = "sqlite")]
        IndexLocation::Folder(folder) => {
            crate::folder::restore(folder, from)?;
            open(place, Access::Write { wait: std::time::Duration::from_secs(1) })
        }
        #[cfg(feature = "postgres")]
        IndexLocation::Postgres(url) => crate::postgres::restore(url, from).and_then(Index::new),
        #[cfg(not(all(feature = "sqlite", feature = "postgres")))]
        other => {
            let _ = from;
            Err(other.not_built())
        }
    }
}

/// An opened index, usable from any thread. It has the methods of its [`Backend`].
pub struct Index {
    backend: Box<dyn Backend>,
    params: Params,
    compact_signatures: CompactSignatures,
}

impl Index {
    /// Wraps a backend.
    ///
    /// # Errors
    /// [`IndexError::Params`] if its settings are out of range, [`IndexError::OfSketches`] if it
    /// stores no documents.
    pub fn new(backend: Box<dyn Backend>) -> Result<Self, IndexError> {
        backend.settings().expect_documents(backend.name())?;
        let params = backend.settings().params()?;
        Ok(Self { backend, params, compact_signatures: CompactSignatures::default() })
    }

    /// The parameters of its settings: how documents are shingled, signed and banded.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Checks that a run with this rule for shingles and this normalization (as text) would produce
    /// the shingle sets of the index.
    ///
    /// # Errors
    /// [`IndexError::OtherSettings`] with the first difference.
    pub fn check_shingles(
        &self,
        rule: &ShingleRule,
        normalization: &str,
    ) -> Result<(), IndexError> {
        let settings = self.settings();
        let params = &self.params;
        let has_bands = settings.containment.is_none();
        let requested = Params::new(&ParamsBuilder {
            shingle: rule.clone(),
            measure: params.measure(),
            threshold: params.threshold(),
            exact: params.exact(),
            recall: params.recall(),
            num_hashes: has_bands.then(|| params.num_hashes()),
            bands: has_bands.then(|| params.bands()),
            rows: has_bands.then(|| params.rows()),
            scheme: params.scheme(),
            seed: params.seed(),
        })?;
        let requested = IndexSettings::new(&requested, normalization, settings.store)?;
        settings.check_compatible(&requested, self.name())
    }

    /// Finds the documents similar to a document, in a snapshot. See [`query`].
    ///
    /// # Errors
    /// As for [`query`].
    pub fn query(
        &self,
        document: &QueryDocument<'_>,
        request: &QueryRequest<'_>,
        buffers: &mut QueryBuffers,
    ) -> Result<QueryResult, IndexError> {
        let mut snapshot = self.snapshot()?;
        query(&mut *snapshot, self.settings(), document, request, buffers)
    }

    /// The compact signatures for searches for the nearest documents. They are read at the first
    /// use.
    pub fn compact_signatures(&self) -> &CompactSignatures {
        &self.compact_signatures
    }
}

impl Deref for Index {
    type Target = dyn Backend;

    fn deref(&self) -> &(dyn Backend + 'static) {
        &*self.backend
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_addresses_omit_the_password() {
        assert_eq!(IndexLocation::of("folder/news").shown(), "folder/news");
        for url in ["postgres://me:secret@db/news?index=a", "postgres://me:se@cret@db/news"] {
            let shown = IndexLocation::of(url).shown();
            assert!(shown.starts_with("postgres://") && !shown.contains("cret"), "{shown}");
        }
    }
}
