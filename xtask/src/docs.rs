//! Builds the site of the documentation with MkDocs.

use crate::commands;
use crate::stages::TestCounts;
use std::path::Path;

/// Builds the site in `target/site`. Warnings are errors. Reports a skipped step if
/// MkDocs is not installed.
///
/// # Errors
/// If MkDocs warns or fails.
pub(crate) fn run(root: &Path, counts: &mut TestCounts) -> Result<(), String> {
    if !commands::succeeds("mkdocs", &["--version"]) {
        counts.say_skipped("the site is not built: `pip install -r docs/requirements.txt`");
        return Ok(());
    }
    let mut mkdocs = commands::program("mkdocs");
    mkdocs.args(["build", "--strict"]);
    commands::call(mkdocs.env("NO_MKDOCS_2_WARNING", "1").current_dir(root))
}
