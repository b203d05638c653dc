//! An index of documents over HTTP, with a web page.
//!
//! ```text
//! listen → gate (who may ask, time limits, log) → a route → worker threads → answer
//!                                                    └─ documents → writer thread → disk
//! ```
//!
//! | module | is |
//! |---|---|
//! | [`listen`] | sockets: accepts connections, stops in good order |
//! | [`config`] | the configuration of a server |
//! | [`token`] | who may read, and who may write |
//! | `app` | what requests share; which address does what |
//! | `middleware` | what every request passes |
//! | `address`, `body`, `json` | what a request says, strictly read, within limits |
//! | `metadata` | metadata in a request, counted while it is parsed |
//! | `documents`, `bulk`, `query`, `compare`, `groups`, `about`, `page` | the routes |
//! | `connections`, `connection_stream` | idle connections; bytes with time limits |
//! | `response_memory` | memory of answers until clients have taken them |
//! | `document_groups` | groups among all documents |
//! | `group_cache` | their computations, one after the other, and the lists that are kept |
//! | `pool`, `writer` | threads that do what blocks; what is written together |
//! | `problem` | what is answered when a request cannot be met |
//! | `log`, `metrics` | the log, the metrics |
//!
//! The API is described in `docs/reference/http.md` and in `openapi.json`. This is the only
//! asynchronous code of the project: one thread waits for sockets, and everything that takes time
//! is done elsewhere. Nothing here prints, exits, or looks at the environment.

mod about;
mod address;
mod app;
mod body;
mod bulk;
mod compare;
pub mod config;
mod config_error;
mod connection_stream;
mod connections;
mod document_groups;
mod documents;
mod group_cache;
mod groups;
mod json;
pub mod listen;
mod log;
mod metadata;
mod metrics;
mod middleware;
mod page;
mod pool;
mod problem;
mod query;
mod response_memory;
mod routes;
pub mod token;
mod writer;

pub use config::{Config, Log, LogFormat, ServerLimits};
pub use listen::{Server, StopHandle, StopOutcome};
pub use token::Tokens;
