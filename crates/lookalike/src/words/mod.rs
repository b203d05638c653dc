//! The words of a text: their form for comparisons, and their ranges in the original text.

mod compared_words;
mod spans;

pub(crate) use compared_words::{ComparedWords, WordRule};
pub(crate) use spans::Spans;
pub use spans::TextSpan;
