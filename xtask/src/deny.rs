//! Runs cargo-deny with `deny.toml`: checks the licences, sources and versions of the dependencies,
//! and the database of advisories.

use crate::commands;
use crate::stages::TestCounts;
use std::path::Path;
use std::process::Command;

/// Part of the message of cargo-deny without a network.
const NO_DATABASE: &str = "failed to fetch advisory database";

/// Runs cargo-deny. Reports a skipped check if the program or the database is missing.
///
/// # Errors
/// If a check fails.
pub(crate) fn run(root: &Path, counts: &mut TestCounts) -> Result<(), String> {
    if !commands::succeeds("cargo-deny", &["--version"]) {
        counts.say_skipped(
            "the dependencies are not checked: cargo-deny is not installed; `cargo install \
             cargo-deny --locked` installs it",
        );
        return Ok(());
    }
    commands::call(command(root).args(["bans", "licenses", "sources"]))?;
    let mut advisories = command(root);
    let line = commands::command_line(advisories.arg("advisories"));
    let output = advisories.output().map_err(|error| format!("`{line}` did not start: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    if text.contains(NO_DATABASE) {
        counts.say_skipped("the database of advisories cannot be fetched");
        return Ok(());
    }
    commands::succeeded(&line, Ok(output.status)).map_err(|error| format!("{error}\n{text}"))
}

fn command(root: &Path) -> Command {
    let mut command = commands::program("cargo-deny");
    command.args(["--all-features", "--locked", "check"]).current_dir(root);
    // Fail for entries of deny.toml that are no longer needed.
    for stale in ["unmatched-skip", "unnecessary-skip", "license-not-encountered"] {
        command.args(["--deny", stale]);
    }
    command
}
