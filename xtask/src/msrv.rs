//! Checks the minimum Rust version: it must compile the workspace, and no dependency may state a
//! later version.

use crate::commands::{self, cargo, output, say};
use crate::stages::TestCounts;
use serde_json::Value;
use std::path::Path;

/// A version of Rust: major, minor, patch. A missing patch is 0.
type RustVersion = [u64; 3];

/// Compiles the workspace with the version that `Cargo.toml` states. Uses the current compiler if
/// it has this version, otherwise a toolchain of rustup. Reports a skipped check if rustup neither
/// has this version nor can install it.
///
/// # Errors
/// If a dependency states a later version, or the workspace does not compile.
pub(crate) fn run(root: &Path, counts: &mut TestCounts) -> Result<(), String> {
    let version = compare(root)?;
    let check = ["check", "--workspace", "--all-features", "--locked"];
    if is_running(root, &version)? {
        return cargo(root, &check, &[]);
    }
    if !has_toolchain(&version) {
        counts.say_skipped(&format!(
            "Rust {version} is not tested: the compiler here is another, and rustup has none"
        ));
        return Ok(());
    }
    let mut command = commands::program("rustup");
    // Cargo has set these variables for the current toolchain.
    command.env_remove("CARGO").env_remove("RUSTC").env_remove("RUSTDOC");
    let command = command.args(["run", &version, "cargo"]).args(check).current_dir(root);
    commands::call(command)
}

/// Like [`run`], but compiles nothing if the current compiler has the version, because clippy has
/// already compiled the workspace with it.
///
/// # Errors
/// Errors of [`run`].
pub(crate) fn run_after_clippy(root: &Path, counts: &mut TestCounts) -> Result<(), String> {
    let version = compare(root)?;
    if is_running(root, &version)? {
        say(&format!("clippy has used the minimum version, Rust {version}"));
        return Ok(());
    }
    run(root, counts)
}

/// Returns the minimum version. Fails if a dependency states a later version.
fn compare(root: &Path) -> Result<String, String> {
    let metadata = ["metadata", "--format-version", "1", "--all-features", "--locked"];
    let metadata = output(root, "cargo", &metadata)?;
    let metadata: Value = serde_json::from_str(&metadata)
        .map_err(|error| format!("cannot parse the metadata of cargo: {error}"))?;
    let version = workspace_version(&metadata)?;
    let later = later_dependencies(&metadata, &version)?;
    if later.is_empty() {
        return Ok(version);
    }
    let later = later.join("\n");
    Err(format!(
        "these dependencies state a Rust version later than {version}, the rust-version in \
         Cargo.toml; take an earlier version of them, or raise it:\n{later}"
    ))
}

/// Returns the latest version that a crate of the workspace states. `lookalike-core` states an
/// earlier version, which clippy checks (`incompatible_msrv`).
fn workspace_version(metadata: &Value) -> Result<String, String> {
    let mut latest: Option<(RustVersion, &str)> = None;
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let Some(stated) = package["rust_version"].as_str() else { continue };
        let version = parse(stated)?;
        if package["source"].is_null() && latest.is_none_or(|(found, _)| version > found) {
            latest = Some((version, stated));
        }
    }
    let latest = latest.map(|(_, stated)| stated.to_owned());
    latest.ok_or_else(|| "Cargo.toml has no rust-version".to_owned())
}

/// Returns a line `name version needs Rust …` for each dependency that states a later version.
fn later_dependencies(metadata: &Value, version: &str) -> Result<Vec<String>, String> {
    let minimum = parse(version)?;
    let mut later = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let Some(stated) = package["rust_version"].as_str() else { continue };
        if parse(stated)? > minimum {
            let text = |name: &str| package[name].as_str().unwrap_or_default();
            later.push(format!("{} {} needs Rust {stated}", text("name"), text("version")));
        }
    }
    Ok(later)
}

fn parse(version: &str) -> Result<RustVersion, String> {
    let mut parsed = [0; 3];
    let numbers = version.split('.').map(str::parse);
    for (place, number) in numbers.enumerate() {
        let place = parsed.get_mut(place);
        let (Some(place), Ok(number)) = (place, number) else {
            return Err(format!("unknown version of Rust {version:?}; expected 1.95 or 1.95.0"));
        };
        *place = number;
    }
    Ok(parsed)
}

/// Returns true if the current compiler has this version. The patch may differ.
fn is_running(root: &Path, version: &str) -> Result<bool, String> {
    let running = output(root, "rustc", &["--version"])?;
    let running = running.split(' ').nth(1).unwrap_or_default();
    let running = running.split('-').next().unwrap_or_default();
    Ok(parse(running)?[..2] == parse(version)?[..2])
}

/// Returns true if rustup has this toolchain, or can install it.
fn has_toolchain(version: &str) -> bool {
    commands::succeeds("rustup", &["run", version, "cargo", "--version"])
        || commands::succeeds("rustup", &["toolchain", "install", version, "--profile", "minimal"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_versions_are_found() {
        let package = |name: &str, stated: Option<&str>| {
            let version = "2.0.0";
            serde_json::json!({ "name": name, "version": version, "rust_version": stated })
        };
        let packages = [
            package("a", None),
            package("b", Some("1.95")),
            package("c", Some("1.95.1")),
            package("d", Some("1.100.0")),
            package("e", Some("1.9")),
        ];
        let metadata = serde_json::json!({ "packages": packages });
        let expected = ["c 2.0.0 needs Rust 1.95.1", "d 2.0.0 needs Rust 1.100.0"];
        assert_eq!(later_dependencies(&metadata, "1.95"), Ok(expected.map(str::to_owned).into()));
        assert!(later_dependencies(&metadata, "stable").is_err());
        assert!(later_dependencies(&metadata, "1.95.0.1").is_err());
    }
}
