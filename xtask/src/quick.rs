//! `cargo x quick`: checks and tests of the changed crates, for the time between two edits.

use crate::commands::{cargo, output, say};
use crate::members::{self, WorkspaceCrate};
use crate::stages::{self, Stages};
use crate::tidy;
use std::path::Path;

/// Checks the format, clippy and the tests of changed crates, compiles the crates that depend on
/// them directly, and runs tidy.
///
/// Without `base`, crates with uncommitted changes count; if there are none, crates that differ
/// from the branch `main`.
///
/// # Errors
/// A check or test fails, or git does not know `base`.
pub(crate) fn run(root: &Path, base: Option<&str>, stages: &mut Stages) -> Result<(), String> {
    stages.run("tidy", |_| tidy::run(root, false))?;
    let files = changed_files(root, base)?;
    let root = root.canonicalize().map_err(|error| format!("{}: {error}", root.display()))?;
    let is_changed = |member: &WorkspaceCrate| {
        files.iter().any(|file| root.join(file).starts_with(member.folder()))
    };
    let (changed, others): (Vec<_>, Vec<_>) = members::of(&root)?.into_iter().partition(is_changed);
    if files.iter().any(|file| file.starts_with("python/") && file.contains(".py")) {
        say("Python files changed: `cargo x python` tests them");
    }
    if changed.is_empty() {
        say("no crate has changed");
        return Ok(());
    }
    let names: Vec<&str> = changed.iter().map(|member| member.name.as_str()).collect();
    let packages: Vec<&str> = names.iter().flat_map(|name| ["--package", name]).collect();
    let format = [&["fmt", "--check"][..], &packages].concat();
    stages.run("format", |_| cargo(&root, &format, &[]))?;
    let clippy = ["clippy", "--all-targets", "--all-features"];
    let clippy = [&clippy[..], &packages, &["--", "--deny", "warnings"]].concat();
    stages.run("clippy", |_| cargo(&root, &clippy, &[]))?;
    let dependents = others.iter().filter(|member| member.depends_on(&names));
    let dependents: Vec<&str> = dependents.flat_map(|member| ["--package", &member.name]).collect();
    if !dependents.is_empty() {
        let check = [&["check", "--all-features"][..], &dependents].concat();
        stages.run("dependent crates", |_| cargo(&root, &check, &[]))?;
    }
    let test = [&["test", "--all-features"][..], &packages].concat();
    stages.run("tests", |counts| stages::count_cargo(&root, &test, counts))
}

/// The files that differ from `base`, or from the base that [`run`] chooses.
fn changed_files(root: &Path, base: Option<&str>) -> Result<Vec<String>, String> {
    let lines = |arguments: &[&str]| -> Result<Vec<String>, String> {
        Ok(output(root, "git", arguments)?.lines().map(str::to_owned).collect())
    };
    let mut files = lines(&["ls-files", "--others", "--exclude-standard"])?;
    files.extend(lines(&["diff", "--name-only", base.unwrap_or("HEAD")])?);
    if files.is_empty() && base.is_none() {
        files = lines(&["diff", "--name-only", "main...HEAD"])?;
    }
    Ok(files)
}
