//! An index of documents over HTTP, with a web page.
//!
//! ```text
//! listen → middleware (rights, time limits, log) → a route → worker threads → response
//!                                                     └─ documents → writer thread → disk
//! ```
//!
//! | module | is |
//! |---|---|
//! | [`listen`] | sockets: accepts connections, graceful shutdown |
//! | [`config`] | the configuration of a server |
//! | [`token`], [`token_file`] | tokens and their rights, and files of them |
//! | [`tls`], `transport` | the certificate; bytes of a connection, plain or within TLS |
//! | [`reload`] | tokens and certificate, which are read again while it runs |
//! | `service` | what all indexes share |
//! | `index_dispatch`, `index_name` | resolves a request to an index, by its name |
//! | `served_index`, `served_indexes` | the indexes, and what is about all of them |
//! | `app` | an index, with what its requests use |
//! | `middleware` | rights, time limits, headers, log |
//! | `address`, `body`, `json` | strict parsing of requests, within limits |
//! | `metadata` | metadata in a request, whose size is limited during parsing |
//! | `routes`, `route_rights`, `description` | the address of each handler, and their description |
//! | `documents`, `bulk`, `query`, `compare`, `groups`, `status`, `page` | the handlers |
//! | `connections`, `connection_stream` | idle connections; bytes with time limits |
//! | `response_memory` | memory of responses until they are sent |
//! | `document_groups` | groups among all documents |
//! | `group_cache` | queue of their computations, and cached lists |
//! | `review_lists` | decisions, what goes and what stays, as lines |
//! | `removal`, `export` | documents that meet a condition are removed, all are exported |
//! | `upkeep`, `upkeep_jobs` | upkeep while serving |
//! | `gzip`, `response_compression` | compressed bodies and answers |
//! | `idempotency`, `kept_answer` | requests that may be sent twice |
//! | [`webhook`] | webhooks, and how messages are signed |
//! | `near_duplicate_watch`, `webhook_sender`, `news_signal` | messages about new near-duplicates |
//! | `service_state` | what is kept from one run to the next |
//! | `pool`, `writer` | threads for blocking work; batched writes |
//! | `problem` | error responses |
//! | `similarity` | similarities in responses |
//! | `log`, `metrics` | the log, the metrics |
//!
//! # Example
//!
//! ```
//! use lookalike::core::params::{Params, ParamsBuilder};
//! use lookalike::store::Index;
//! use lookalike::store::memory::MemoryBackend;
//! use lookalike::store::settings::{IndexSettings, StoredContent};
//! use lookalike_server::{Config, Server, StopHandle, StopOutcome};
//! use std::io::{Read, Write};
//! use std::net::TcpStream;
//!
//! let params = Params::new(&ParamsBuilder::default())?;
//! let settings = IndexSettings::new(&params, "as written", StoredContent::Texts)?;
//! let index = Index::new(Box::new(MemoryBackend::new(settings)))?;
//! let config = Config { listen: "127.0.0.1:0".parse()?, ..Config::default() };
//! let server = Server::bind(index, config)?;
//! let (address, stop) = (server.address(), StopHandle::new());
//! let running = std::thread::spawn({
//!     let stop = stop.clone();
//!     move || server.run(&stop, false)
//! });
//!
//! let mut client = TcpStream::connect(address)?;
//! write!(client, "GET /v1/health HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n")?;
//! let mut answer = String::new();
//! client.read_to_string(&mut answer)?;
//! assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
//!
//! stop.stop();
//! assert!(matches!(running.join().expect("the server does not panic")?, StopOutcome::InOrder));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The API is described in `docs/reference/http.md` and in `openapi.json`. This is the only
//! asynchronous code of the project: one thread waits for sockets, and worker threads do all
//! blocking work. Nothing here prints, exits, or reads the environment.

mod address;
mod agreement_cache;
mod app;
mod background_thread;
mod beginning;
mod body;
mod bulk;
mod bulk_batches;
mod bulk_lines;
mod bulk_options;
mod bulk_records;
mod categories;
mod category_cache;
mod client_requests;
mod compare;
pub mod config;
mod config_error;
mod connection_stream;
mod connections;
mod decision_cache;
mod decisions;
mod description;
mod document_file;
mod document_groups;
mod document_to_write;
mod documents;
mod export;
mod extraction;
mod group;
mod group_cache;
mod group_filter;
mod groups;
mod gzip;
mod idempotency;
mod index_dispatch;
mod index_name;
mod json;
mod kept_answer;
pub mod listen;
mod log;
mod metadata;
mod metrics;
mod middleware;
mod near_duplicate_watch;
mod news_signal;
mod originals;
mod page;
mod passages;
mod pool;
mod problem;
mod query;
pub mod reload;
mod removal;
mod response_compression;
mod response_memory;
mod review_lists;
mod review_progress;
mod route_rights;
mod routes;
mod served_index;
mod served_indexes;
mod service;
mod service_state;
mod similarity;
mod status;
pub mod tls;
pub mod token;
pub mod token_file;
mod transport;
mod upkeep;
mod upkeep_jobs;
pub mod webhook;
mod webhook_sender;
mod writer;

pub use config::{Config, Log, LogFormat, ServerLimits};
pub use index_name::IndexName;
pub use listen::{Server, StopHandle, StopOutcome};
pub use served_index::ServedIndex;
pub use service_state::check_state;
pub use tls::TlsIdentity;
pub use token::{ClientToken, Right, Tokens};
pub use webhook::{WebhookSecret, Webhooks};
