//! Converts errors to the classes of `lookalike.errors`.

use lookalike::audit::AuditError;
use lookalike::contamination::ContaminationError;
use lookalike::core::error::ParamsError;
use lookalike::core::parameter::{NamesParameters, Parameter};
use lookalike::decisions::DecisionError;
use lookalike::dedup::DedupError;
use lookalike::error::Error;
use lookalike::find::{FindError, SpillError};
use lookalike::index::AddError;
use lookalike::read::{Location, ReadError};
use lookalike::report::OutputError;
use lookalike::store::IndexError;
use lookalike::store::error::Unwritable;
use pyo3::prelude::*;

pyo3::import_exception!(lookalike.errors, ChangedError);
pyo3::import_exception!(lookalike.errors, DamagedError);
pyo3::import_exception!(lookalike.errors, DocumentError);
pyo3::import_exception!(lookalike.errors, DocumentTypeError);
pyo3::import_exception!(lookalike.errors, FileError);
pyo3::import_exception!(lookalike.errors, LookalikeError);
pyo3::import_exception!(lookalike.errors, MismatchError);
pyo3::import_exception!(lookalike.errors, OptionError);
pyo3::import_exception!(lookalike.errors, StoreError);

/// The arguments that may be documents in memory. Their sources have these names.
pub(crate) const HELD: [&str; 3] = ["documents", "reference", "against"];

/// The prefix of a row number in messages, for each of [`HELD`].
const SIDES: [&str; 3] = ["", "reference, ", "against, "];

/// The exception of a failed run.
pub(crate) fn run_error(error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let text = error.spelled(argument);
    match error {
        Error::Find(error) => find_error(error, text),
        Error::Shard(_) => ChangedError::new_err(text),
        Error::Audit(error) => audit_error(&error, text),
        Error::Add(AddError::NotAdded { .. })
        | Error::Contamination(ContaminationError::NoWords { .. }) => DocumentError::new_err(text),
        Error::Contamination(ContaminationError::InBoth { name }) => OptionError::new_err(format!(
            "{name} belongs to both the corpus and against, so all its items would match \
             themselves; name it on one side only"
        )),
        Error::Contamination(_) => OptionError::new_err(text),
        Error::Output(OutputError::Write { .. }) => FileError::new_err(text),
        Error::Dedup(dedup) if matches!(*dedup, DedupError::Survivors { .. }) => {
            FileError::new_err(text)
        }
        _ => LookalikeError::new_err(text),
    }
}

fn find_error(error: FindError, text: String) -> PyErr {
    match error {
        FindError::Params(error) => params_error(&error),
        FindError::Read(error) => read_error(error),
        FindError::Index(error) => index_error(error),
        FindError::Changed { .. } => ChangedError::new_err(text),
        FindError::RepeatedId { id, first, second } => match (row(&first), row(&second)) {
            (Some((of_first, first)), Some(second)) => in_row(
                second,
                &format!(
                    "the id {id:?} is already used in {of_first}row {first}; make the ids unique, \
                     use id=False for rows, or skip_bad=True to skip the later document"
                ),
            ),
            _ => DocumentError::new_err(text),
        },
        FindError::NotAligned { .. } => DocumentError::new_err(text),
        FindError::MemoryTooSmall { .. } | FindError::Estimates(_) => OptionError::new_err(text),
        FindError::Decisions(DecisionError::Read { source, .. }) => match source.raw_os_error() {
            Some(number) => numbered(text, number),
            None => FileError::new_err(text),
        },
        FindError::Decisions(_) | FindError::Spill(SpillError::Io { .. }) => {
            FileError::new_err(text)
        }
        _ => LookalikeError::new_err(text),
    }
}

fn audit_error(error: &AuditError, text: String) -> PyErr {
    match error {
        AuditError::Changed { .. }
        | AuditError::ChangedSinceRun { .. }
        | AuditError::OtherInputs { .. } => ChangedError::new_err(text),
        AuditError::NotARun { path, got } => LookalikeError::new_err(format!(
            "{}: expected the report of a whole run, got {got}; found.write_report(\"….json\") \
             writes one",
            path.display()
        )),
        _ => LookalikeError::new_err(text),
    }
}

/// Returns the prefix and the row number of a document in memory. Returns `None` for
/// a document in a file.
fn row(location: &Location) -> Option<(&'static str, u64)> {
    match location {
        Location::Row { source, row } => Some((side(source)?, *row)),
        Location::Whole { .. } | Location::Line { .. } => None,
    }
}

/// Returns the prefix of row numbers in messages for a source in memory.
pub(crate) fn side(name: &str) -> Option<&'static str> {
    HELD.iter().position(|held| *held == name).map(|at| SIDES[at])
}

/// Creates the error of a document in memory, with its attribute `row`.
fn in_row((side, row): (&str, u64), label: &str) -> PyErr {
    let error = DocumentError::new_err(format!("{side}row {row}: {label}"));
    Python::attach(|py| match error.value(py).setattr("row", row) {
        Ok(()) => error,
        Err(other) => other,
    })
}

/// Spells a parameter as an argument of Python.
pub(crate) fn argument(parameter: Parameter) -> String {
    match parameter {
        Parameter::TextField => "text=".to_owned(),
        Parameter::IdField => "id=".to_owned(),
        Parameter::LineIds => "id=':line'".to_owned(),
        Parameter::Hidden | Parameter::NoIgnore => "all_files=True".to_owned(),
        Parameter::MaxDepth
        | Parameter::MaxExpanded
        | Parameter::MaxFileSize
        | Parameter::MaxMembers
        | Parameter::MaxPages
        | Parameter::MaxSeconds => format!("max={{'{}': …}}", &parameter.name()["max_".len()..]),
        _ => parameter.to_string(),
    }
}

/// The exception for an invalid option.
pub(crate) fn params_error(error: &ParamsError) -> PyErr {
    OptionError::new_err(error.spelled(argument))
}

/// The exception for documents that cannot be read.
pub(crate) fn read_error(error: ReadError) -> PyErr {
    let text = error.spelled(argument);
    match error {
        ReadError::Changed { .. } | ReadError::InputChanged { .. } => ChangedError::new_err(text),
        ReadError::BadRow(skipped) => match skipped.line {
            Some(row) => {
                let side = side(&skipped.source).unwrap_or_default();
                in_row((side, row), &skipped.reason.spelled(argument))
            }
            None => DocumentError::new_err(text),
        },
        ReadError::BadRecord(_) => DocumentError::new_err(text),
        ReadError::Index(error) => index_error(*error),
        ReadError::Params(_) | ReadError::ReadTwice { .. } => OptionError::new_err(text),
        ReadError::Missing { .. } => numbered(text, NOT_FOUND),
        ReadError::Io { error, .. } => match error.raw_os_error() {
            Some(number) => numbered(text, number),
            None => FileError::new_err(text),
        },
        _ => FileError::new_err(text),
    }
}

/// `ENOENT`, which has this number on all platforms of Python.
const NOT_FOUND: i32 = 2;

/// Creates a `FileError` with its attribute `errno`.
fn numbered(text: String, number: i32) -> PyErr {
    let error = FileError::new_err(text);
    Python::attach(|py| match error.value(py).setattr("errno", number) {
        Ok(()) => error,
        Err(other) => other,
    })
}

/// The exception for an error of an index. Its message contains the remedy in Python.
pub(crate) fn index_error(error: IndexError) -> PyErr {
    let text = index_message(&error);
    match error {
        IndexError::Params(_) | IndexError::Filter { .. } | IndexError::NearestMeasure { .. } => {
            OptionError::new_err(text)
        }
        IndexError::OtherSettings { .. } => MismatchError::new_err(text),
        IndexError::Damaged { .. }
        | IndexError::DamagedCatalogue { .. }
        | IndexError::Column { .. } => DamagedError::new_err(text),
        IndexError::Document { .. } | IndexError::IdTaken { .. } => DocumentError::new_err(text),
        _ => StoreError::new_err(text),
    }
}

fn index_message(error: &IndexError) -> String {
    match error {
        IndexError::Missing { .. } => format!("{error} (lookalike.Index.create)"),
        IndexError::Exists { .. } => format!("{error} (lookalike.Index.open)"),
        IndexError::NotBuilt { index, feature } => format!(
            "{index}: this package was built without the feature {feature}; use the path of a \
             folder, or build the package from source with that feature"
        ),
        IndexError::ReadOnly { index, cause: Unwritable::Opened } => format!(
            "{index} was opened with read_only=True and cannot be changed; open it with \
             lookalike.Index.open(…, read_only=False)"
        ),
        IndexError::ReadOnly { cause: Unwritable::FileSystem | Unwritable::Server, .. } => {
            format!("{error} (read_only=True)")
        }
        IndexError::ReadOnly { cause: Unwritable::Rights, .. }
        | IndexError::InUse { service: Some(_), .. } => {
            format!("{error}, or open it with read_only=True")
        }
        IndexError::InUse { index, waited, service: None } => format!(
            "another process writes to {index}, or another Index of this one does (waited {} s): \
             close that one, use it, or open this one with read_only=True",
            waited.as_secs()
        ),
        IndexError::IdTaken { .. } => {
            format!("{error} (Index.update), on_existing=\"keep\" keeps it")
        }
        IndexError::Damaged { .. } => format!("{error} (Index.check)"),
        IndexError::DamagedCatalogue { .. } => format!("{error} (Index.export)"),
        error => error.to_string(),
    }
}

/// Creates an exception of the same type with another message.
pub(crate) fn with_message(py: Python<'_>, error: PyErr, text: String) -> PyErr {
    let same_type = error.get_type(py).call1((text,)).map(PyErr::from_value);
    same_type.unwrap_or(error)
}
