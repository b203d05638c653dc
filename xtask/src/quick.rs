//! `cargo x quick`: checks and tests the changed crates between two edits.

use crate::commands::{cargo, output, say};
use crate::members::{self, WorkspaceCrate};
use crate::stages::{self, Stages};
use crate::tidy;
use std::path::Path;

/// Runs tidy. Checks the format of changed crates, runs clippy and their tests, and compiles the
/// crates that depend on them directly.
///
/// A crate is changed if it differs from `base`. Without `base`, a crate is changed if it has
/// uncommitted changes. If no crate has any, crates that differ from the branch `main` are changed.
///
/// # Errors
/// If a check or test fails, or git does not know `base`.
pub(crate) fn run(root: &Path, base: Option<&str>, stages: &mut Stages) -> Result<(), String> {
    stages.run("tidy", |counts| tidy::run(root, false, counts))?;
    let root = root.canonicalize().map_err(|error| format!("{}: {error}", root.display()))?;
    let members = members::of(&root)?;
    let mut files = uncommitted_files(&root, base.unwrap_or("HEAD"))?;
    if base.is_none() && !members.iter().any(|member| is_changed(member, &root, &files)) {
        files.extend(differing_files(&root, "main...HEAD")?);
    }
    let (changed, unchanged): (Vec<_>, Vec<_>) =
        members.into_iter().partition(|member| is_changed(member, &root, &files));
    let is_shared = |file: &&String| {
        ["Cargo.toml", "Cargo.lock"].contains(&file.as_str()) || file.starts_with("fixtures/")
    };
    for file in files.iter().filter(is_shared) {
        say(&format!("{file} changed, which several crates use: `cargo x test` tests all"));
    }
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
    let dependents = unchanged.iter().filter(|member| member.depends_on(&names));
    let dependents: Vec<&str> = dependents.flat_map(|member| ["--package", &member.name]).collect();
    if !dependents.is_empty() {
        let check = [&["check", "--all-features"][..], &dependents].concat();
        stages.run("dependent crates", |_| cargo(&root, &check, &[]))?;
    }
    let test = [&["test", "--all-features"][..], &packages].concat();
    stages.run("tests", |counts| stages::count_cargo(&root, &test, counts))
}

fn is_changed(member: &WorkspaceCrate, root: &Path, files: &[String]) -> bool {
    files.iter().any(|file| root.join(file).starts_with(member.folder()))
}

/// Lists the files that differ from `base`, and the files that git does not track.
fn uncommitted_files(root: &Path, base: &str) -> Result<Vec<String>, String> {
    let untracked = output(root, "git", &["ls-files", "--others", "--exclude-standard"])?;
    let mut files = differing_files(root, base)?;
    files.extend(untracked.lines().map(str::to_owned));
    Ok(files)
}

fn differing_files(root: &Path, base: &str) -> Result<Vec<String>, String> {
    Ok(output(root, "git", &["diff", "--name-only", base])?.lines().map(str::to_owned).collect())
}
