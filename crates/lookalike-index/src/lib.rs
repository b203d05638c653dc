//! A persistent index. Documents are added, replaced and removed by id. Queries find the
//! near-duplicates of any text, and verify them.
//!
//! ```text
//! IndexEntry ─ write → Backend (documents, signatures, shingle sets; band postings)
//! QueryDocument ─ query → keys → candidates → records → exact comparison → Match
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`settings`] | how documents are compared; stored, and verified at opening |
//! | [`sketches`] | sketches of other programs instead of documents |
//! | [`entry`] | a document to add, and a stored document |
//! | [`duplicate_table`] | documents removed as duplicates, which count in the size of a group |
//! | [`original`] | the bytes that a document was read from, and its versions |
//! | [`set`] | compressed shingle sets |
//! | [`backend`] | the traits of a storage backend |
//! | [`memory`] | an index in memory; the reference implementation of the tests |
//! | `folder` | an index in a folder: a catalogue in SQLite, postings in segments |
//! | `postgres` | an index in a PostgreSQL database, for several writers |
//! | [`filter`] | conditions on metadata |
//! | [`query`] | queries: candidates and their verification |
//! | [`containment`] | candidates for an excerpt in longer texts, or the reverse |
//! | [`compact`] | signatures of all documents in memory, for scanning |
//! | [`nearest`] | the documents nearest to a document, whatever their similarity |
//! | [`query_by_id`] | queries for documents similar to a document of the index |
//! | [`index`] | an opened index in any kind of storage |
//!
//! # Example
//!
//! ```
//! use lookalike_core::params::{Params, ParamsBuilder};
//! use lookalike_core::shingle::Shingler;
//! use lookalike_core::signature::Signer;
//! use lookalike_index::Index;
//! use lookalike_index::backend::Change;
//! use lookalike_index::entry::{IndexEntry, Metadata, RecordFields};
//! use lookalike_index::memory::MemoryBackend;
//! use lookalike_index::query::{QueryBuffers, QueryDocument, QueryRequest};
//! use lookalike_index::set;
//! use lookalike_index::settings::{IndexSettings, StoredContent};
//!
//! let params = Params::new(&ParamsBuilder::default())?;
//! let settings = IndexSettings::new(&params, "as written", StoredContent::Sets)?;
//! let index = Index::new(Box::new(MemoryBackend::new(settings)))?;
//!
//! let mut shingler = Shingler::new(params.shingle());
//! let mut signer = Signer::new(params.scheme(), params.num_hashes(), params.seed());
//! let (mut shingles, mut encoded) = (Vec::new(), Vec::new());
//! let text = "One, two, three, four, five, six, seven.";
//! let fingerprint = shingler.set(text, &mut shingles);
//! let signature = signer.sign(shingler.shingle(text).hashes).to_vec();
//! set::encode(&shingles, &mut encoded);
//! index.write(&[Change::Add(IndexEntry {
//!     id: "a",
//!     fingerprint,
//!     bytes: text.len() as u64,
//!     signature: &signature,
//!     set: &encoded,
//!     text: None,
//!     original: None,
//!     metadata: &Metadata::default(),
//!     added: 0,
//!     modified: None,
//!     expires: None,
//! })])?;
//!
//! let document = QueryDocument { set: &shingles, fingerprint, signature: &signature };
//! let request = QueryRequest {
//!     threshold: params.threshold(),
//!     top: Some(10),
//!     nearest: None,
//!     filters: &[],
//!     now: 0,
//!     except: None,
//!     wanted: RecordFields::default(),
//! };
//! let result = index.query(&document, &request, &mut QueryBuffers::default())?;
//! assert_eq!(result.matches[0].record.id, "a");
//! assert_eq!(result.matches[0].similarity.value(), 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing here reads documents from files, shingles texts, prints, or reads the clock.

mod access;
pub mod backend;
pub mod category_table;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod checksum;
pub mod decision_log;
mod document_number;
pub mod duplicate_table;
pub mod entry;
pub mod error;
#[cfg(feature = "sqlite")]
pub mod folder;
pub mod index;
pub mod memory;
pub mod original;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod original_code;
mod original_limits;
pub mod percent;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod query;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod record_check;
pub mod set;
pub mod settings;
mod shortened_id;
pub mod sketches;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod tables;
pub mod text_code;
pub mod time;

pub use error::IndexError;
pub use index::Index;
pub use query::{compact, containment, filter, nearest, query_by_id};
