//! Why nothing can be cut out of texts.

use lookalike_core::parameter::{Parameter, ParameterSpelling};
use std::fmt;

/// What is cut out of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutPart {
    /// Units that are near-duplicates.
    Unit,
    /// Words of repeated passages.
    Passage,
}

/// Why nothing can be cut out of texts, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CutProblem {
    /// An annotation is about a document, not about a part of it.
    Annotated,
    /// A list names whole files, which it cannot hold a part of.
    Listed,
    /// Records of this format are not written in part.
    Format {
        /// The file.
        source_name: String,
        /// Its format.
        format: String,
    },
    /// The text of a document is not in its record or file as it was read.
    Text {
        /// The document's id.
        id: String,
    },
}

impl CutPart {
    /// Its name in messages.
    fn name(self) -> &'static str {
        match self {
            Self::Unit => "unit",
            Self::Passage => "passage",
        }
    }

    /// The common part of the messages, in full: the source is searched for it.
    fn cannot_be_cut(self) -> &'static str {
        match self {
            Self::Unit => "no unit can be taken out",
            Self::Passage => "no passage can be taken out",
        }
    }
}

impl CutProblem {
    /// Writes the message about parts of this kind.
    pub(super) fn fmt_with(
        &self,
        part: CutPart,
        f: &mut fmt::Formatter<'_>,
        name: ParameterSpelling,
    ) -> fmt::Result {
        let refusal = part.cannot_be_cut();
        // Nothing else does the work of the command `cut`.
        let leave_out = match part {
            CutPart::Unit => format!(", or leave out {}", name(Parameter::Unit)),
            CutPart::Passage => String::new(),
        };
        match self {
            Self::Annotated => write!(
                f,
                "an annotation is about a document, not about a {} of it; leave out {}{}",
                part.name(),
                name(Parameter::Annotate),
                leave_out.replace(", or leave out", " or")
            )?,
            Self::Listed => write!(
                f,
                "the inputs are text files, and a list names whole files, of which {refusal}; end \
                 the name in {} for a folder of files without them{leave_out}",
                std::path::MAIN_SEPARATOR
            )?,
            Self::Format { source_name, format } => write!(
                f,
                "{source_name} is {format}, of which {refusal}; convert the input to JSONL, CSV, \
                 TSV, Parquet, lines or plain text{leave_out}"
            )?,
            Self::Text { id } => write!(
                f,
                "{refusal} of {id:?}: its text is not in the file as it was read, but in another \
                 encoding or extracted; leave it out with {}, or give the input as JSONL, CSV, \
                 TSV, Parquet, lines or plain text in UTF-8",
                name(Parameter::Exclude)
            )?,
        }
        let removed = name(Parameter::Removed);
        match (self, part) {
            (Self::Annotated | Self::Format { .. }, CutPart::Unit) => {
                write!(f, " ({removed} FILE.csv lists the units that go)")
            }
            // A list of files has a place for passages, whatever the files are.
            (_, CutPart::Passage) => write!(
                f,
                " ({removed} FILE.csv lists the passages that go, and so does a list of files that \
                 ends in .csv or .jsonl with {})",
                name(Parameter::Annotate)
            ),
            (Self::Listed | Self::Text { .. }, CutPart::Unit) => Ok(()),
        }
    }
}
