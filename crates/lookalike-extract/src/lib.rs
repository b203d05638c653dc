//! The text of real files: web pages, mail, PDF, office files, archives of these.
//!
//! ```text
//! name, bytes ─ Kind::of ─┬─ html, rtf, office, pdf, plain text ──────────► Sink::part
//!                         ├─ mail: its body is a part, its attachments are files again
//!                         └─ archive, mailbox, crawl: files again           Sink::failed
//! ```
//!
//! What is read is not trusted. A file that is encrypted, cut off, mislabelled or hostile gives a
//! [`Failure`], never an empty text; size, depth, number and time are limited by [`Limits`]; a
//! panic of a parser is caught, and PDF can be read in a process of its own ([`WorkerCommand`]).
//!
//! Nothing is opened here: files come as bytes.

pub mod date;
pub mod encoding;
mod extractor;
mod failure;
mod fields;
mod guard;
mod job;
mod kind;
mod options;

#[cfg(any(feature = "archive", feature = "office"))]
pub mod archive;
#[cfg(feature = "html")]
mod html;
#[cfg(feature = "mail")]
pub mod mail;
#[cfg(feature = "office")]
mod office;
#[cfg(feature = "pdf")]
mod pdf;
mod rtf;
mod unique_names;
pub mod warc;
mod wire;
mod worker;

pub use extractor::{Extractor, Failed, Part, Sink};
pub use failure::{Failure, LimitKind};
pub use fields::{CutText, Fields};
pub use kind::Kind;
pub use options::{HtmlText, Limits, Options, Used, WorkerCommand};
pub use unique_names::UniqueNames;
pub use worker::serve;
