//! Compares the features of the wheel's dependencies with their features in the workspace's
//! tests. If the features of a dependency differ, Cargo compiles it twice, and all crates
//! that use it as well.

use crate::commands::output;
use std::collections::BTreeSet;
use std::path::Path;

/// Checks that each dependency of the wheel has the same features in the tests.
///
/// # Errors
/// If a dependency of the wheel has other features. The message names it and the remedy.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let tests =
        dependencies(root, &["--workspace", "--all-features", "--edges", "normal,build,dev"])?;
    let wheel = ["--package", "lookalike-python", "--features", "test-dependencies"];
    let wheel = dependencies(root, &[&wheel[..], &["--edges", "normal,build"]].concat())?;
    let different: Vec<&str> = wheel.difference(&tests).map(String::as_str).collect();
    if different.is_empty() {
        return Ok(());
    }
    Err(format!(
        "these dependencies of the wheel have other features in the tests of the workspace, and \
         would be compiled twice; complete `test-dependencies` in python/Cargo.toml:\n{}",
        different.join("\n")
    ))
}

/// Returns a line for each dependency: its name, version and features.
fn dependencies(root: &Path, arguments: &[&str]) -> Result<BTreeSet<String>, String> {
    let tree = ["tree", "--prefix", "none", "--format", "{p} {f}"];
    let lines = output(root, "cargo", &[&tree[..], arguments].concat())?;
    let lines = lines.lines().map(|line| line.trim_end_matches(" (*)"));
    // Skip the packages of the workspace, whose lines contain their folder in brackets. The wheel
    // always compiles them.
    Ok(lines.filter(|line| !line.contains(" (/")).map(str::to_owned).collect())
}
