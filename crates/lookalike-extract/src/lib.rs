#![doc = include_str!("../README.md")]
//!
//! # Design
//!
//! ```text
//! name, bytes ─ FileKind::of ─┬─ html, rtf, office, pdf, plain text ──► PartSink::part
//!                             ├─ mail: the body is a part, attachments are nested files
//!                             └─ archive, mailbox, crawl: nested files  PartSink::failed
//! ```
//!
//! Files are not trusted. A file that is encrypted, truncated, mislabelled or hostile results in
//! an [`ExtractError`], never in an empty text. [`Limits`] bound size, depth, number and time;
//! panics of parsers are caught, and PDF can be read in a worker process ([`WorkerCommand`]).
//!
//! The crate opens no files: it takes their bytes.

pub mod archive;
pub mod date;
pub mod encoding;
mod extractor;
#[cfg(feature = "html")]
mod html;
mod kind;
#[cfg(feature = "mail")]
pub mod mail;
#[cfg(feature = "office")]
mod office;
#[cfg(feature = "pdf")]
mod pdf;
mod read_text;
mod reading;
mod rtf;
pub mod warc;
mod worker;

pub use extractor::{ExtractedPart, Extractor, FailedPart, PartSink};
pub use kind::{FileKind, OLD_OFFICE, OLD_OFFICE_CONVERSION};
pub use reading::{
    CutText, ExtractError, ExtractOptions, Fields, HtmlText, LimitKind, LimitUsage, Limits,
    UniqueNames, WorkerCommand,
};
pub use worker::serve;
