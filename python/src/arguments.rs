//! The engine names options as the command line does; in errors of Python they are arguments.

use lookalike::audit::AuditError;
use lookalike::error::Error;
use lookalike::read::{ReadError, SkipReason, Skipped};
use lookalike::store::IndexError;
use std::path::Path;

/// What the command line names `--num-hashes` and so on, and Python `num_hashes`.
const ARGUMENTS: &[&str] = &[
    "annotate",
    "attachments",
    "bands",
    "case",
    "confidence",
    "encoding",
    "estimates",
    "exact",
    "follow",
    "format",
    "frequencies",
    "group",
    "hidden",
    "html",
    "id-field",
    "keep",
    "language",
    "line-ids",
    "max-depth",
    "max-expanded",
    "max-file-size",
    "max-members",
    "max-pages",
    "max-seconds",
    "measure",
    "memory",
    "metadata",
    "nearest",
    "no-ignore",
    "normalize",
    "num-hashes",
    "output",
    "pairs",
    "quotes",
    "read-only",
    "recall",
    "reference",
    "removed",
    "rows",
    "sample",
    "scheme",
    "seed",
    "segment",
    "shingle",
    "signatures",
    "skip-bad",
    "source-field",
    "stop-words",
    "store",
    "temp-dir",
    "text-field",
    "threads",
    "threshold",
    "tokens",
];

/// `--num-hashes` → `num_hashes`, where an option of that name is meant. What the user named stands
/// in `given`, and stays as it is.
pub(crate) fn as_arguments(text: &str, given: &[String]) -> String {
    let given: Vec<&str> =
        given.iter().map(String::as_str).filter(|given| given.contains("--")).collect();
    let (mut named, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((at, length)) = first_of(rest, &given) {
        named.push_str(&renamed(&rest[..at]));
        named.push_str(&rest[at..at + length]);
        rest = &rest[at + length..];
    }
    named.push_str(&renamed(rest));
    named
}

/// Where the first of the names is, and its length: the longest of those that begin there.
fn first_of(text: &str, names: &[&str]) -> Option<(usize, usize)> {
    let found = names.iter().filter_map(|name| Some((text.find(name)?, name.len())));
    found.min_by_key(|(at, length)| (*at, usize::MAX - length))
}

fn renamed(text: &str) -> String {
    let mut named = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("--") {
        let (before, option) = (&rest[..at], &rest[at + 2..]);
        named.push_str(before);
        let is_name = |c: char| c.is_ascii_lowercase() || c == '-';
        let end = option.find(|c| !is_name(c)).unwrap_or(option.len());
        let before = named.chars().next_back();
        let alone =
            before.is_none_or(|c| c.is_whitespace() || c == '(') && !goes_on(&option[end..]);
        if alone && ARGUMENTS.contains(&&option[..end]) {
            named.push_str(&option[..end].replace('-', "_"));
        } else {
            named.push_str("--");
            named.push_str(&option[..end]);
        }
        rest = &option[end..];
    }
    named.push_str(rest);
    named
}

/// Whether a name goes on, as that of a file does behind a dot.
fn goes_on(rest: &str) -> bool {
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    rest.starts_with(|c: char| c.is_alphanumeric() || "_/\\*".contains(c))
}

/// The text of an error of a run.
pub(crate) fn of_run(error: &Error) -> String {
    let given = match error {
        Error::DuplicateId { id, first, second } => {
            vec![shown(id), first.clone(), second.clone()]
        }
        Error::TooManySources { field, .. } => vec![shown(field)],
        Error::Survivors { path, .. }
        | Error::Spill { path, .. }
        | Error::SpillDamaged { path, .. }
        | Error::TempDir { path, .. }
        | Error::RunDiffers { path, .. }
        | Error::RunInUse { path } => vec![named(path)],
        Error::MemoryTooSmall { .. }
        | Error::Estimates { .. }
        | Error::TooManyPairs { .. }
        | Error::PairsDoNotFit { .. } => Vec::new(),
        Error::Audit(error) => return of_audit(error),
        Error::Read(error) => return of_reading(error),
        Error::Index(error) => return of_index(error),
        Error::NotAdded { place, error } => return format!("{place}: {}", of_index(error)),
        other => return other.to_string(),
    };
    as_arguments(&error.to_string(), &given)
}

/// The text of an error of an audit.
pub(crate) fn of_audit(error: &AuditError) -> String {
    match error {
        AuditError::Confidence { .. } | AuditError::OtherInputs { .. } => {
            as_arguments(&error.to_string(), &[])
        }
        other => other.to_string(),
    }
}

/// The text of what kept documents from being read.
pub(crate) fn of_reading(error: &ReadError) -> String {
    let given = match error {
        ReadError::NoFiles { path, .. } => vec![path.clone()],
        ReadError::FormatNeeded { source_name } | ReadError::NotAgain { source_name } => {
            vec![source_name.clone()]
        }
        ReadError::UnknownFormat { got } | ReadError::UnknownEncoding { got } => vec![shown(got)],
        ReadError::Column { source_name, name, present, .. } => {
            [source_name.clone(), shown(name)].into_iter().chain(present.clone()).collect()
        }
        ReadError::ColumnType { source_name, name, present, got, .. } => {
            let names = [source_name.clone(), shown(name), got.clone()];
            names.into_iter().chain(present.clone()).collect()
        }
        ReadError::Spool { path, .. } => vec![named(path)],
        ReadError::BadRecord(skipped) => of_record(skipped),
        ReadError::BadRow(skipped) => of_record(skipped),
        ReadError::Index(error) => return of_index(error),
        other => return other.to_string(),
    };
    as_arguments(&error.to_string(), &given)
}

/// What is the user's in a bad record.
fn of_record(skipped: &Skipped) -> Vec<String> {
    let mut given = vec![skipped.source.clone()];
    match &skipped.reason {
        SkipReason::MissingField { name, present, .. } => {
            given.push(shown(name));
            given.extend(present.iter().cloned());
        }
        SkipReason::WrongType { name, .. }
        | SkipReason::LoneSurrogate { name, .. }
        | SkipReason::Null { name, .. } => given.push(shown(name)),
        SkipReason::BrokenJson { got, .. } => given.push(got.to_string()),
        SkipReason::Unreadable { message } => given.push(message.clone()),
        SkipReason::NotStored { why } => given.push(why.clone()),
        SkipReason::RepeatedId { first } => given.push(first.clone()),
        _ => {}
    }
    given
}

/// The text of what an index came to.
pub(crate) fn of_index(error: &IndexError) -> String {
    let given = match error {
        IndexError::ReadOnly { index, .. } => vec![index.clone()],
        IndexError::NoSets { .. } | IndexError::Params(_) => Vec::new(),
        other => return other.to_string(),
    };
    as_arguments(&error.to_string(), &given)
}

/// A name as messages show it.
fn shown(name: &str) -> String {
    format!("{name:?}")
}

fn named(path: &Path) -> String {
    path.display().to_string()
}
