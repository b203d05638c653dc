//! Runs other programs, and prints results.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// Environment variables that set the size of tests, and their values.
pub(crate) type TestVariables = &'static [(&'static str, &'static str)];

/// Makes long tests run at their full size. The second variable is for tests that take 10 GB of
/// memory.
pub(crate) const FULL_SIZE: TestVariables = &[("LOOKALIKE_SOAK", "1"), ("LOOKALIKE_LARGE", "1")];

/// Creates a command without the variables that `cargo run` sets for this program. Some build
/// scripts read these variables. They would run and compile again after a `cargo` from a shell,
/// which does not set them.
pub(crate) fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    let is_set_by_cargo = |name: &str| {
        ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|prefix| name.starts_with(prefix))
    };
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_set_by_cargo) {
            command.env_remove(name);
        }
    }
    command
}

/// Runs cargo in `root`.
pub(crate) fn cargo(root: &Path, args: &[&str], env: &[(&str, &str)]) -> Result<(), String> {
    let mut command = program("cargo");
    call(command.args(args).envs(env.iter().copied()).current_dir(root))
}

/// Prints and runs a command. Its output is visible.
pub(crate) fn call(command: &mut Command) -> Result<(), String> {
    let line = command_line(command);
    eprintln!("$ {line}");
    succeeded(&line, command.status())
}

/// Returns the standard output of a command.
///
/// # Errors
/// If the command does not start, fails, or prints bytes that are not UTF-8.
pub(crate) fn output(root: &Path, name: &str, args: &[&str]) -> Result<String, String> {
    let mut command = program(name);
    command.args(args).current_dir(root).stderr(Stdio::inherit());
    let line = command_line(&command);
    let (status, bytes) = match command.output() {
        Ok(output) => (Ok(output.status), output.stdout),
        Err(error) => (Err(error), Vec::new()),
    };
    succeeded(&line, status)?;
    String::from_utf8(bytes).map_err(|_| format!("the output of `{line}` is not UTF-8"))
}

/// Returns the command line of a command.
pub(crate) fn command_line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

/// Returns an error if a command failed or did not start.
pub(crate) fn succeeded(line: &str, status: std::io::Result<ExitStatus>) -> Result<(), String> {
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{line}` failed: {status}")),
        Err(error) => Err(format!("`{line}` did not start: {error}")),
    }
}

/// Returns true if a program starts and succeeds. Hides its output.
pub(crate) fn succeeds(name: &str, args: &[&str]) -> bool {
    let mut command = program(name);
    let command = command.args(args).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Returns the target folder of cargo, which contains this program.
pub(crate) fn target() -> Result<PathBuf, String> {
    let program =
        std::env::current_exe().map_err(|e| format!("cannot locate this program: {e}"))?;
    let folder = program.ancestors().nth(2);
    folder.map(Path::to_owned).ok_or_else(|| format!("{} is in no folder", program.display()))
}

/// Returns the value of an environment variable, or `None` if it is unset or empty.
#[expect(clippy::disallowed_methods, reason = "this is a command line tool")]
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Prints a line of a command's result.
pub(crate) fn say(line: &str) {
    println!("{line}");
}
