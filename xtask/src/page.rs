//! Checks the JavaScript of the web page, and serves the page for quick edits.
//!
//! The tools come from npm, in the versions of `package-lock.json`. They are always installed into
//! `target/page`, because `tsconfig.json` and `biome.jsonc` contain this path. The target folder of
//! cargo may be another.

use crate::commands::{self, call};
use crate::stages::TestCounts;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the tests of the page, which also contains the list of the tools.
const TESTS: &str = "crates/lookalike-server/tests/page";

/// The OpenAPI description of the server.
const DESCRIPTION: &str = "crates/lookalike-server/src/openapi.json";

/// Error codes of npm without a network. npm reports the first one with the option `--offline`.
const NO_NETWORK: [&str; 5] = ["ENOTCACHED", "ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT"];

/// Checks format, lints and types of the page, of its tests and of the script of reports. Reports a
/// skipped check without Node, or if npm cannot fetch the tools.
///
/// # Errors
/// If a check fails.
pub(crate) fn lint(root: &Path, counts: &mut TestCounts) -> Result<(), String> {
    if !commands::succeeds("npm", &["--version"]) {
        counts.say_skipped("the page is not checked: npm, a part of Node, is not installed");
        return Ok(());
    }
    let tools = root.join("target/page");
    if !install(root, &tools)? {
        counts.say_skipped("the page is not checked: its tools cannot be fetched from npm");
        return Ok(());
    }
    let biome = ["ci", "--error-on-warnings", "--diagnostic-level=warn"];
    call(tool(root, &tools, "@biomejs/biome/bin/biome").args(biome))?;
    let types = tools.join("api.d.ts");
    let mut generate = tool(root, &tools, "openapi-typescript/bin/cli.js");
    generate.args([DESCRIPTION, "--empty-objects-unknown", "--default-non-nullable=false"]);
    call(generate.arg("--output").arg(types))?;
    let project = ["--project", "crates/lookalike-server/tsconfig.json"];
    call(tool(root, &tools, "typescript/bin/tsc").args(project))
}

/// Serves the page from its folder with mock data, until the user stops the server.
///
/// # Errors
/// If Node is missing, or the port is in use.
pub(crate) fn serve(root: &Path, arguments: &[&str]) -> Result<(), String> {
    let mut node = commands::program("node");
    call(node.arg(format!("{TESTS}/serve.mjs")).args(arguments).current_dir(root))
}

/// Installs the tools of the lock file if they are not installed yet. Returns
/// false without a network.
///
/// # Errors
/// If a file cannot be read or written, or the lock file is invalid.
fn install(root: &Path, folder: &Path) -> Result<bool, String> {
    let lock = root.join(TESTS).join("package-lock.json");
    let expected = read(&lock)?;
    // This file is written last, so that an interrupted installation starts again.
    let installed = folder.join("installed.json");
    if fs::read(&installed).is_ok_and(|installed| installed == expected) {
        return Ok(true);
    }
    let failed = |error| format!("cannot write to {}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(failed)?;
    for name in ["package.json", "package-lock.json", ".npmrc"] {
        fs::write(folder.join(name), read(&root.join(TESTS).join(name))?).map_err(failed)?;
    }
    // The tools work without their installation scripts.
    let mut npm = commands::program("npm");
    npm.args(["ci", "--ignore-scripts", "--loglevel=error"]).current_dir(folder);
    let line = commands::command_line(&npm);
    let output = npm.output().map_err(|error| format!("`{line}` did not start: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    if NO_NETWORK.iter().any(|code| text.contains(code)) {
        return Ok(false);
    }
    commands::succeeded(&line, Ok(output.status)).map_err(|error| format!("{error}\n{text}"))?;
    fs::write(installed, expected).map_err(failed)?;
    Ok(true)
}

fn read(path: &PathBuf) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// Creates a command that runs a program of an npm package.
fn tool(root: &Path, tools: &Path, program: &str) -> Command {
    let mut command = commands::program("node");
    command.arg(tools.join("node_modules").join(program)).current_dir(root);
    command
}
