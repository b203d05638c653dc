//! The error type of an audit.

use crate::digest::InputsDigest;
use crate::engine::FindError;
use crate::error_macros::wraps_find_error;
use lookalike_core::parameter::{NamesParameters, Parameter, ParameterSpelling};
use std::fmt;
use std::path::PathBuf;

/// An error of comparing a report with its documents. The message names both sides and the remedy.
#[derive(Debug)]
#[non_exhaustive]
pub enum AuditError {
    /// The documents could not be read.
    Find(FindError),
    /// A confidence out of range.
    Confidence {
        /// The requested confidence.
        got: f64,
    },
    /// The report is written in another version of the format.
    OtherVersion {
        /// The report.
        path: PathBuf,
        /// The version that can be read.
        expected: u32,
        /// The version of the report.
        got: String,
    },
    /// The file is not the report of a whole run.
    NotARun {
        /// The file.
        path: PathBuf,
        /// The kind of the file.
        got: String,
    },
    /// A parameter of the report is invalid.
    Parameter {
        /// The report.
        path: PathBuf,
        /// The member of `parameters`.
        name: &'static str,
        /// The expected value.
        expected: String,
        /// The value in the report.
        got: String,
    },
    /// The report was made from other documents.
    OtherInputs {
        /// The documents of the run.
        expected: InputsDigest,
        /// The documents of the audit.
        got: InputsDigest,
    },
    /// The documents changed after the run.
    ChangedSinceRun {
        /// The documents of the run.
        expected: InputsDigest,
        /// The documents of the audit.
        got: InputsDigest,
    },
    /// The documents differ between the two passes.
    Changed {
        /// Documents of the first pass.
        first: u64,
        /// Documents of the second.
        second: u64,
        /// The number of drawn documents that were changed or missing in the second pass.
        missing: usize,
    },
    /// The result of a task of a divided audit is invalid.
    Share {
        /// The expected and the found content.
        problem: String,
    },
    /// A file of pairs is invalid.
    Pairs {
        /// The expected and the found content.
        problem: String,
    },
    /// The list of pairs lacks the pairs without a reference document.
    ReferencePairs {
        /// The report.
        path: PathBuf,
    },
}

wraps_find_error!(AuditError);

impl NamesParameters for AuditError {
    fn fmt_with(&self, f: &mut fmt::Formatter<'_>, name: ParameterSpelling) -> fmt::Result {
        match self {
            Self::Find(error) => error.fmt_with(f, name),
            Self::Confidence { got } => write!(
                f,
                "{} {got} is not above 0 and below 1; 0.95 is usual",
                name(Parameter::Confidence)
            ),
            Self::OtherVersion { path, expected, got } => write!(
                f,
                "{}: the report has format {got}, expected {expected}; audit it with the program \
                 that wrote it, or run find again",
                path.display()
            ),
            Self::NotARun { path, got } => write!(
                f,
                "{}: expected the report of a whole run, got {got}; write one as JSON",
                path.display()
            ),
            Self::Parameter { path, name, expected, got } => write!(
                f,
                "{}: the parameter {name} should be {expected}, got {got}; run find again",
                path.display()
            ),
            Self::OtherInputs { expected, got } => write!(
                f,
                "the report is of other inputs: it is of {expected}; read were {got}. Name the \
                 same inputs with the same options ({}, {}, {}, …), or run find again",
                name(Parameter::Reference),
                name(Parameter::Format),
                name(Parameter::IdField)
            ),
            Self::ChangedSinceRun { expected, got } => write!(
                f,
                "the input changed between the run and its audit: the run read {expected}; the \
                 audit {got}. Run again when nothing writes to the input, or on a copy"
            ),
            Self::Changed { first, second, missing } => write!(
                f,
                "the input changed between two readings: {first} documents, then {second}, and \
                 {missing} of those drawn from the first were not the same in the second; audit \
                 when nothing writes to the input, or a copy"
            ),
            Self::Share { problem } => write!(
                f,
                "a task of the audit returned invalid rows: {problem}; pass on all rows of one \
                 audit unchanged, and run the same version everywhere"
            ),
            Self::Pairs { problem } => write!(
                f,
                "{problem}; use the list of pairs that the run of the report wrote ({})",
                name(Parameter::Pairs)
            ),
            Self::ReferencePairs { path } => write!(
                f,
                "{}: its run listed only pairs with a reference document; leave out {}, so that \
                 its groups are judged",
                path.display(),
                name(Parameter::Pairs)
            ),
        }
    }
}
