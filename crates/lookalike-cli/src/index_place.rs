//! The location of an index.

use crate::cmd::CommandError;
use lookalike::store::index::IndexLocation;
use std::path::{Path, PathBuf};

/// Parses the place of an index. The environment completes an address in PostgreSQL.
///
/// # Errors
/// An address or a file of passwords cannot be read.
pub(crate) fn place(text: &str) -> Result<IndexLocation, CommandError> {
    if ["http://", "https://"].iter().any(|scheme| text.starts_with(scheme)) {
        return Err(CommandError::Usage(format!(
            "{} is a service, and this command opens an index itself: name its folder or its \
             address in PostgreSQL. index add, update, remove, export, compact, check and backup \
             accept a service",
            lookalike::report::phrases::one_line(text)
        )));
    }
    match IndexLocation::of(text) {
        #[cfg(feature = "postgres")]
        IndexLocation::Postgres(url) => {
            let defaults = crate::postgres_environment::defaults();
            Ok(IndexLocation::Postgres(lookalike::store::postgres::with_defaults(&url, &defaults)?))
        }
        place => Ok(place),
    }
}

/// Refuses inputs in the folder of an index, because its files are not documents.
///
/// # Errors
/// A message with the first of these inputs.
pub(crate) fn refuse_inputs_within(index: &str, inputs: &[PathBuf]) -> Result<(), CommandError> {
    let IndexLocation::Folder(folder) = IndexLocation::of(index) else { return Ok(()) };
    let Ok(folder) = folder.canonicalize() else { return Ok(()) };
    let is_inside =
        |input: &&PathBuf| input.canonicalize().is_ok_and(|input| input.starts_with(&folder));
    match inputs.iter().find(is_inside) {
        Some(input) => Err(CommandError::Usage(format!(
            "{}: this is in the folder of the index {index}, whose files are not read as \
             documents; name another folder for the index or the documents",
            input.display()
        ))),
        None => Ok(()),
    }
}

/// Returns the index that an input names, like [`place`], or `None` for files and folders of
/// documents.
///
/// # Errors
/// As for [`place`].
pub(crate) fn among_inputs(input: &Path) -> Result<Option<IndexLocation>, CommandError> {
    match IndexLocation::among_inputs(input) {
        Some(IndexLocation::Postgres(url)) => place(&url).map(Some),
        other => Ok(other),
    }
}

/// Returns the inputs, with addresses in PostgreSQL completed as in [`place`]. Do not show these
/// addresses, because they may contain passwords that the user did not write.
///
/// # Errors
/// As for [`place`].
pub(crate) fn with_environment(inputs: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    let opened = inputs.iter().map(|input| match among_inputs(input)? {
        Some(IndexLocation::Postgres(url)) => Ok(PathBuf::from(url)),
        _ => Ok(input.clone()),
    });
    opened.collect()
}
