//! Extracts the text of web pages, mail, PDF, office files and archives of these.
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
//!
//! # Example
//!
//! ```
//! use lookalike_extract::{ExtractOptions, ExtractedPart, Extractor, FailedPart, PartSink};
//! use std::convert::Infallible;
//!
//! /// Paths within the file, and texts.
//! #[derive(Default)]
//! struct Texts(Vec<(String, String)>);
//!
//! impl PartSink for Texts {
//!     type Error = Infallible;
//!
//!     fn part(&mut self, part: &ExtractedPart<'_>) -> Result<(), Infallible> {
//!         self.0.push((part.within.to_owned(), part.text.to_owned()));
//!         Ok(())
//!     }
//!
//!     fn failed(&mut self, failed: &FailedPart<'_>) -> Result<(), Infallible> {
//!         eprintln!("{}: {}", failed.within, failed.failure);
//!         Ok(())
//!     }
//! }
//!
//! let mut texts = Texts::default();
//! let mut extractor = Extractor::new(&ExtractOptions::default());
//! extractor.extract("note.rtf", br"{\rtf1 Two \b words\b0 .}", &mut texts)?;
//! assert_eq!(texts.0, [(String::new(), "Two words.".to_owned())]);
//! # Ok::<(), Infallible>(())
//! ```

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
