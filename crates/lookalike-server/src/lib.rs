//! An index of documents over HTTP, with a web page.
//!
//! A request enters at the top and uses what is below; an arrow points from user to used, and
//! none points upwards:
//!
//! ```text
//! server       a connection, its limits, the rules of all requests, the route of an address
//!   │
//!   ├─► page       the web page
//!   ├─► admin ──────────────┐
//!   ├─► review ──┐          │    handlers, one for each route
//!   ├─► search ──┤          │
//!   │            ▼          ▼
//!   │        documents ─► state      the indexes that are served, and what their requests share
//!   │                       ├─► caches         groups, decisions and categories in memory
//!   │                       ├─► threads        workers, the writer, webhooks, upkeep, the log
//!   │                       └─► service_state  answers and messages that survive a restart
//!   └─► http       parts of requests and responses, within limits: bodies, parameters, problems
//!         └─► config     settings, tokens, the certificate
//! ```
//!
//! Handlers parse a request, submit a job to the worker threads (`threads::pool`), and render its
//! result. The writer thread writes changes of documents, and acknowledges them when they are on
//! the disk.
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

mod admin;
mod caches;
pub mod config;
mod documents;
mod http;
mod page;
mod review;
mod search;
mod server;
mod service_state;
mod state;
mod threads;

pub use config::index_name::IndexName;
pub use config::tls::TlsIdentity;
pub use config::token::{ClientToken, Right, Tokens};
pub use config::webhook::{WebhookSecret, Webhooks};
pub use config::{Config, Log, LogFormat, ServerLimits};
pub use server::listen::{Server, StartError, StopHandle, StopOutcome};
pub use service_state::check_state;
pub use state::served_index::ServedIndex;
