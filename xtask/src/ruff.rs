//! Checks the format and lints of all Python files with Ruff and `ruff.toml`.

use crate::commands;
use crate::stages::TestCounts;
use std::path::Path;

/// Checks format and lints. Reports a skipped check if Ruff is not installed.
///
/// # Errors
/// If a check fails.
pub(crate) fn run(root: &Path, counts: &mut TestCounts) -> Result<(), String> {
    // The requirements of the tests include Ruff.
    let installed = commands::target()?.join("python-venv/bin/ruff");
    let ruff = if installed.exists() { installed } else { "ruff".into() };
    if !commands::succeeds(&ruff.to_string_lossy(), &["--version"]) {
        counts.say_skipped("Python files are not checked: `cargo x python` installs Ruff");
        return Ok(());
    }
    for check in [&["format", "--check"][..], &["check"]] {
        commands::call(
            commands::program(&ruff).args(check).args(["--quiet", "."]).current_dir(root),
        )?;
    }
    Ok(())
}
