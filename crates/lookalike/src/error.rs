//! One error for front ends that run several use cases.

use crate::audit::AuditError;
use crate::contamination::ContaminationError;
use crate::dedup::DedupError;
use crate::engine::FindError;
use crate::index::AddError;
use crate::report::OutputError;
use crate::shard::ShardError;
use crate::shard::job::JobError;
use lookalike_core::parameter::{NamesParameters, Parameter, ParameterSpelling};
use std::fmt;

/// Declares the sum of errors. After the colon are the variants of an error that the sum has, too:
/// their content moves there, so that a front end matches each cause once. Large errors are boxed.
macro_rules! sum_of_errors {
    ($($(#[$doc:meta])* $variant:ident($content:ty) of $error:ident: $($shared:ident),+;)*) => {
        /// An error of any use case.
        #[derive(Debug)]
        #[non_exhaustive]
        pub enum Error {
            /// Documents could not be read or compared.
            Find(FindError),
            $($(#[$doc])* $variant($content),)*
        }

        impl<E: Into<FindError>> From<E> for Error {
            fn from(error: E) -> Self {
                Self::Find(error.into())
            }
        }

        $(impl From<$error> for Error {
            fn from(error: $error) -> Self {
                match error {
                    $($error::$shared(error) => Self::$shared(error),)+
                    error => Self::$variant(error.into()),
                }
            }
        })*

        impl NamesParameters for Error {
            fn fmt_with(&self, f: &mut fmt::Formatter<'_>, name: ParameterSpelling) -> fmt::Result {
                match self {
                    Self::Find(error) => error.fmt_with(f, name),
                    $(Self::$variant(error) => error.fmt_with(f, name),)*
                }
            }
        }

        impl std::error::Error for Error {
            fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
                match self {
                    Self::Find(error) => error.source(),
                    $(Self::$variant(error) => error.source(),)*
                }
            }
        }
    };
}

sum_of_errors! {
    /// Results could not be written.
    Output(OutputError) of OutputError: Find;
    /// The result of `dedup` could not be written.
    Dedup(Box<DedupError>) of DedupError: Find, Output;
    /// A document was not added to an index.
    Add(AddError) of AddError: Find;
    /// A report does not fit its documents.
    Audit(Box<AuditError>) of AuditError: Find;
    /// A benchmark cannot be compared with a corpus.
    Contamination(ContaminationError) of ContaminationError: Find;
    /// The rows of a stage do not fit the documents.
    Shard(ShardError) of ShardError: Find;
    /// A task of a job in files failed.
    Job(Box<JobError>) of JobError: Find, Output;
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_with(f, Parameter::plain)
    }
}
