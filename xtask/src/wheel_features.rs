//! Compares the features of the wheel's dependencies with their features in the workspace's tests.
//! Cargo compiles a dependency with other features a second time, with all crates that use it.

use crate::commands::output;
use std::collections::BTreeSet;
use std::path::Path;

/// Compares the two sets of dependencies.
///
/// # Errors
/// A dependency of the wheel has other features; the message names it and the remedy.
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

/// Lines `name version features`.
fn dependencies(root: &Path, arguments: &[&str]) -> Result<BTreeSet<String>, String> {
    let tree = ["tree", "--prefix", "none", "--format", "{p} {f}"];
    let lines = output(root, "cargo", &[&tree[..], arguments].concat())?;
    let lines = lines.lines().map(|line| line.trim_end_matches(" (*)"));
    // Packages of the workspace have their folder in brackets; the wheel compiles them anyway.
    Ok(lines.filter(|line| !line.contains(" (/")).map(str::to_owned).collect())
}
