//! The words of a text: as they are compared, and where they are in the text as it is written.

mod compared_words;
mod spans;

pub(crate) use compared_words::{ComparedWords, WordRule};
pub(crate) use spans::Spans;
pub use spans::TextSpan;
