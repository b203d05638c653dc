//! Inputs that can be read only once.

use crate::error::ReadError;
use std::path::{Path, PathBuf};

/// Rejects standard input, pipes and devices, because the caller reads its inputs twice. `reader`
/// names the caller in the message, such as `an audit`.
///
/// # Errors
/// [`ReadError::ReadTwice`] for the first such input.
pub fn refuse_streams<'a>(
    mut inputs: impl Iterator<Item = &'a PathBuf>,
    reader: &str,
) -> Result<(), ReadError> {
    let is_stream = |input: &&PathBuf| {
        let is_other = input.metadata().is_ok_and(|data| !data.is_file() && !data.is_dir());
        is_other || input.as_path() == Path::new("-")
    };
    inputs.find(is_stream).map_or(Ok(()), |input| {
        let source_name = input.display().to_string();
        Err(ReadError::ReadTwice { source_name, reader: reader.to_owned() })
    })
}
