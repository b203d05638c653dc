//! The reason why a run has no estimates of signatures.

use lookalike_core::parameter::{NamesParameters, Parameter, ParameterSpelling};
use std::fmt;

/// The reason why a run has no estimates of signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoEstimates {
    /// Estimates are columns of the list of pairs, which was not requested.
    WithoutPairs,
    /// Signatures estimate the Jaccard similarity only.
    Containment,
    /// An exact run has no signatures.
    Exact,
}

impl NamesParameters for NoEstimates {
    fn fmt_with(&self, f: &mut fmt::Formatter<'_>, name: ParameterSpelling) -> fmt::Result {
        f.write_str("no estimates of signatures: ")?;
        match self {
            Self::WithoutPairs => write!(
                f,
                "estimates are columns of the verified pairs, got none; add {}",
                name(Parameter::Pairs)
            ),
            Self::Containment => write!(
                f,
                "signatures estimate the Jaccard similarity, got {0} containment; use {0} jaccard",
                name(Parameter::Measure)
            ),
            Self::Exact => {
                write!(f, "a run with {0} has no signatures; leave out {0}", name(Parameter::Exact))
            }
        }
    }
}
