#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! A request enters at the top. Each arrow points from a module to a module that it uses. No arrow
//! points upwards:
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
//! The API is described in `docs/reference/http.md` and in `openapi.json`. This crate has the only
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
