//! Inputs that can be read only once.

use crate::cmd::CommandError;
use std::path::Path;

/// Refuses standard input, pipes and devices, which `reader` would read twice.
///
/// # Errors
/// [`CommandError::Usage`] with the remedy.
pub(crate) fn refuse_streams(input: &Path, reader: &str) -> Result<(), CommandError> {
    let stream = std::fs::metadata(input).is_ok_and(|data| !data.is_file() && !data.is_dir());
    if stream || input.as_os_str() == "-" {
        return Err(CommandError::Usage(format!(
            "{} can be read only once, and {reader} reads its inputs twice; name files or folders",
            input.display()
        )));
    }
    Ok(())
}
