//! Sets `BUILD_COMMIT`, the commit that `lookalike --version --json` prints: from the variable
//! of that name, from the record of a published crate, or from the repository of a clone.
#![expect(clippy::disallowed_methods, reason = "cargo passes values in the environment")]

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=BUILD_COMMIT");
    let named = std::env::var("BUILD_COMMIT").ok().filter(|commit| !commit.is_empty());
    if let Some(commit) = named.or_else(published_commit).or_else(clone_commit) {
        println!("cargo:rustc-env=BUILD_COMMIT={commit}");
    }
}

/// The commit in the record that cargo adds to a published crate.
fn published_commit() -> Option<String> {
    let record = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = record.split_once("\"sha1\": \"")?;
    Some(rest.split_once('"')?.0.to_owned())
}

/// The commit of a clone of this repository. A repository of another project that contains this
/// crate has its own commits, so the folder must be where this repository has it. Builds without
/// optimisation have no commit: the crate would be compiled again after each.
fn clone_commit() -> Option<String> {
    if std::env::var("PROFILE").ok()? == "debug" {
        return None;
    }
    let folder = Path::new("../..").canonicalize().ok()?;
    let root = git(&["rev-parse", "--show-toplevel"])?;
    if Path::new(&root).canonicalize().ok()? != folder {
        return None;
    }
    // Git appends to this file with each commit and checkout.
    println!("cargo:rerun-if-changed={}", git(&["rev-parse", "--git-path", "logs/HEAD"])?);
    git(&["rev-parse", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
