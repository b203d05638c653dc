//! Why parts of texts cannot be removed.

use lookalike_core::parameter::{Parameter, ParameterSpelling};
use std::fmt;

/// The kind of parts to remove from texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutPart {
    /// Units that are near-duplicates.
    Unit,
    /// Words of repeated passages.
    Passage,
}

/// Why parts of texts cannot be removed, with the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CutProblem {
    /// An annotation describes a document, not a part of it.
    Annotated,
    /// A list names whole files. It cannot contain parts of them.
    Listed,
    /// Records of this format cannot be written in part.
    Format {
        /// The file.
        source_name: String,
        /// Its format.
        format: String,
    },
    /// The record or file of a document does not contain the unchanged text.
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

    /// The common part of the messages. Each text is spelled out, so that a search of the source
    /// finds it.
    fn cannot_be_cut(self) -> &'static str {
        match self {
            Self::Unit => "no unit can be taken out",
            Self::Passage => "no passage can be taken out",
        }
    }
}

impl CutProblem {
    /// Writes the message for parts of this kind.
    pub(super) fn fmt_with(
        &self,
        part: CutPart,
        f: &mut fmt::Formatter<'_>,
        name: ParameterSpelling,
    ) -> fmt::Result {
        let refusal = part.cannot_be_cut();
        // The command `cut` always works on passages, so its message does not suggest leaving them
        // out.
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
                "the inputs are text files, and a list names whole files, so {refusal}; to write a \
                 folder of files without the {}s, end its name in {}{leave_out}",
                part.name(),
                std::path::MAIN_SEPARATOR
            )?,
            Self::Format { source_name, format } => write!(
                f,
                "{source_name} is {format}, and {refusal} of this format; convert the input to \
                 JSONL, CSV, TSV, Parquet, lines or plain text{leave_out}"
            )?,
            Self::Text { id } => write!(
                f,
                "{refusal} of {id:?}: the file holds its text in another encoding, or the text was \
                 extracted; exclude it with {}, or convert the input to JSONL, CSV, TSV, Parquet, \
                 lines or plain text in UTF-8",
                name(Parameter::Exclude)
            )?,
        }
        let removed = name(Parameter::Removed);
        match (self, part) {
            (Self::Annotated | Self::Format { .. }, CutPart::Unit) => {
                write!(f, " ({removed} FILE.csv lists the removed units)")
            }
            // Every list of files can contain passages, whatever the format of the files.
            (_, CutPart::Passage) => write!(
                f,
                " (to list the removed passages, use {removed} FILE.csv, or {} with a list of \
                 files that ends in .csv or .jsonl)",
                name(Parameter::Annotate)
            ),
            (Self::Listed | Self::Text { .. }, CutPart::Unit) => Ok(()),
        }
    }
}
