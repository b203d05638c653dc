//! Errors of parameters. The stages themselves cannot fail once [`Params`] exists.
//!
//! [`Params`]: crate::params::Params

use crate::parameter::{Measure, NamesParameters, Parameter, ParameterSpelling};
use std::fmt;

/// A parameter that cannot be used. Every variant contains the given value and the allowed values
/// or a remedy. The stages return no errors of their own.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ParamsError {
    /// The threshold is not a number above 0 and at most 1.
    Threshold {
        /// The value given.
        got: f64,
    },
    /// The recall is not a number above 0 and below 1.
    Recall {
        /// The value given.
        got: f64,
    },
    /// The shingle length is 0 or above [`MAX_SHINGLE_SIZE`](crate::params::MAX_SHINGLE_SIZE).
    ShingleSize {
        /// The value given.
        got: usize,
    },
    /// The signature length is 0 or above [`MAX_NUM_HASHES`](crate::params::MAX_NUM_HASHES).
    NumHashes {
        /// The value given.
        got: usize,
    },
    /// `bands × rows` is 0 or more than the signature has values.
    Banding {
        /// Bands given.
        bands: usize,
        /// Rows per band given.
        rows: usize,
        /// Values in a signature.
        num_hashes: usize,
    },
    /// No banding of signatures of the permitted length reaches the recall at the threshold.
    Unreachable {
        /// The requested threshold.
        threshold: f64,
        /// The requested recall.
        recall: f64,
        /// Maximum length of a signature.
        num_hashes: usize,
        /// The best recall of that length at the threshold.
        best: f64,
    },
    /// A parameter of signatures is given, but candidates are found without signatures.
    NotUsed {
        /// [`NumHashes`](Parameter::NumHashes), [`Bands`](Parameter::Bands) or
        /// [`Rows`](Parameter::Rows).
        parameter: Parameter,
        /// The value given.
        got: usize,
        /// The requested measure. Containment is always exact, Jaccard only on request.
        measure: Measure,
    },
    /// Bands are to be chosen for the documents, but a number of rows is given.
    AutoBandsWithRows,
    /// Bands are to be chosen for the documents, but candidates are found without bands.
    AutoBandsUnused,
    /// The value of a parameter cannot be parsed.
    Parse {
        /// Which parameter.
        parameter: Parameter,
        /// The text given.
        got: String,
        /// The texts that can be parsed.
        expected: &'static str,
    },
    /// An index is created with parameters of an exact run.
    ExactIndex,
    /// An index for containment is created without shingle sets.
    ContainmentNeedsSets,
    /// An index for containment needs more keys per document than the maximum.
    ContainmentTooLow {
        /// The threshold given.
        threshold: f64,
        /// The recall given.
        recall: f64,
        /// The largest number of keys of one document.
        most: usize,
    },
}

impl NamesParameters for ParamsError {
    fn fmt_with(&self, f: &mut fmt::Formatter<'_>, name: ParameterSpelling) -> fmt::Result {
        use crate::parameter::{MAX_NUM_HASHES, MAX_SHINGLE_SIZE};
        match self {
            Self::Threshold { got } => write!(
                f,
                "the threshold is {got}; it must be above 0 and at most 1, such as 0.8; 1 finds \
                 only documents with equal shingle sets"
            ),
            Self::Recall { got } => fmt_recall(f, name, *got),
            Self::ShingleSize { got } => write!(
                f,
                "a shingle of {got} tokens; its length must be 1 to {MAX_SHINGLE_SIZE} (5 words \
                 are the default)"
            ),
            Self::NumHashes { got } => write!(
                f,
                "a signature of {got} values; it must have 1 to {MAX_NUM_HASHES} (128 is usual)"
            ),
            Self::Banding { bands, rows, num_hashes } => write!(
                f,
                "{bands} bands × {rows} rows take {} values, a signature has at most {num_hashes}; \
                 choose at least one of each with bands × rows at most the signature's length, or \
                 leave them out to have them chosen",
                bands.saturating_mul(*rows)
            ),
            Self::Unreachable { threshold, recall, num_hashes, best } => write!(
                f,
                "recall {recall} at threshold {threshold} cannot be reached with {num_hashes} \
                 hashes (at most {best:.4}); ask for more hashes, a higher threshold or a lower \
                 recall"
            ),
            Self::NotUsed { parameter, got, measure } => {
                fmt_not_used(f, name, *parameter, *got, *measure)
            }
            Self::AutoBandsWithRows => write!(
                f,
                "{} auto also chooses the rows; leave out {}",
                name(Parameter::Bands),
                name(Parameter::Rows)
            ),
            Self::AutoBandsUnused => fmt_auto_bands_unused(f, name),
            Self::Parse { parameter, got, expected } => {
                write!(f, "{} cannot be {got:?}; expected {expected}", name(*parameter))
            }
            Self::ExactIndex => write!(
                f,
                "an index finds candidates by bands, not by {0}; leave out {0}",
                name(Parameter::Exact)
            ),
            Self::ContainmentNeedsSets => write!(
                f,
                "{0} cannot be \"signatures\" with {1} containment, which signatures do not \
                 estimate; expected {0} sets or {0} texts",
                name(Parameter::Store),
                name(Parameter::Measure)
            ),
            Self::ContainmentTooLow { threshold, recall, most } => write!(
                f,
                "containment {threshold} with recall {recall} needs more than {most} keys for one \
                 document; choose a higher {} or a lower {}",
                name(Parameter::Threshold),
                name(Parameter::Recall)
            ),
        }
    }
}

fn fmt_recall(f: &mut fmt::Formatter<'_>, name: ParameterSpelling, got: f64) -> fmt::Result {
    write!(
        f,
        "the recall is {got}; it must be above 0 and below 1: 0.99 misses at most one in a hundred \
         of the pairs at the threshold"
    )?;
    if got >= 1.0 {
        write!(f, ", a run with {} misses none", name(Parameter::Exact))?;
    }
    Ok(())
}

fn fmt_auto_bands_unused(f: &mut fmt::Formatter<'_>, name: ParameterSpelling) -> fmt::Result {
    write!(
        f,
        "{} auto has nothing to choose: {} and {} containment find all pairs without bands; leave \
         it out",
        name(Parameter::Bands),
        name(Parameter::Exact),
        name(Parameter::Measure)
    )
}

fn fmt_not_used(
    f: &mut fmt::Formatter<'_>,
    name: ParameterSpelling,
    parameter: Parameter,
    got: usize,
    measure: Measure,
) -> fmt::Result {
    let parameter = name(parameter);
    match measure {
        Measure::Jaccard => write!(
            f,
            "{parameter} is {got} together with {0}, which finds candidates without signatures; \
             leave out {parameter}, or leave out {0} to find candidates by bands",
            name(Parameter::Exact)
        ),
        Measure::Containment => write!(
            f,
            "{parameter} is {got} together with {0} containment, which finds candidates without \
             signatures; leave out {parameter}, or take {0} jaccard to find candidates by bands",
            name(Parameter::Measure)
        ),
    }
}

impl fmt::Display for ParamsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_with(f, Parameter::plain)
    }
}

impl std::error::Error for ParamsError {}

/// Returns the value of `all` whose name is `text`. `expected` lists the names for the error.
///
/// # Errors
/// [`ParamsError::Parse`] if no value has this name.
pub fn parse_name<T: Copy>(
    text: &str,
    all: &[T],
    name: fn(T) -> &'static str,
    parameter: Parameter,
    expected: &'static str,
) -> Result<T, ParamsError> {
    let found = all.iter().copied().find(|value| name(*value) == text);
    found.ok_or_else(|| ParamsError::Parse { parameter, got: text.to_owned(), expected })
}
