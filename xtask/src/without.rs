//! Hides optional parts of this machine, so that a command runs as on a machine that lacks them.

use crate::commands;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A part of a machine that tests use if it is present, and that a new machine may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OptionalPart {
    /// The name on the command line.
    pub(crate) name: &'static str,
    hiding: Hiding,
}

/// The method for hiding a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hiding {
    /// Removes programs whose names begin with one of these prefixes from the folders of `PATH`.
    Programs(&'static [&'static str]),
    /// Prevents Python from importing this module.
    Module(&'static str),
    /// Sets environment variables to values that hide the part.
    Variables(&'static [(&'static str, &'static str)]),
    /// Runs processes without capabilities, even as root.
    Capabilities,
}

/// A path that does not exist.
const NOWHERE: &str = "/nonexistent";

/// The environment variable with the folder of the virtual environment of Python. The default is
/// `python-venv` in the target folder.
pub(crate) const PYTHON_ENVIRONMENT: &str = "XTASK_PYTHON_VENV";

/// All optional parts.
pub(crate) const PARTS: [OptionalPart; 12] = [
    OptionalPart { name: "python", hiding: Hiding::Programs(&["python", "pypy"]) },
    OptionalPart { name: "node", hiding: Hiding::Programs(&["node", "npm", "npx"]) },
    OptionalPart { name: "ray", hiding: Hiding::Module("ray") },
    OptionalPart { name: "pyspark", hiding: Hiding::Module("pyspark") },
    OptionalPart { name: "java", hiding: Hiding::Programs(&["java"]) },
    OptionalPart { name: "redis", hiding: Hiding::Programs(&["redis-server"]) },
    OptionalPart { name: "postgresql", hiding: Hiding::Variables(&[("TEST_POSTGRESQL", NOWHERE)]) },
    OptionalPart {
        name: "browser",
        hiding: Hiding::Programs(&["chrom", "google-chrome", "msedge", "firefox", "geckodriver"]),
    },
    OptionalPart {
        name: "schemathesis",
        hiding: Hiding::Programs(&["schemathesis", "openapi-python-client"]),
    },
    OptionalPart { name: "data", hiding: Hiding::Variables(&[("TEST_DATA", NOWHERE)]) },
    OptionalPart {
        name: "network",
        hiding: Hiding::Variables(&[
            ("CARGO_NET_OFFLINE", "true"),
            ("PIP_NO_INDEX", "1"),
            ("npm_config_offline", "true"),
        ]),
    },
    OptionalPart { name: "root", hiding: Hiding::Capabilities },
];

/// Returns the parts with these names.
///
/// # Errors
/// If a name is unknown, or `names` is empty.
pub(crate) fn parts(names: &[&str]) -> Result<Vec<OptionalPart>, String> {
    let known = || PARTS.map(|part| part.name).join(", ");
    if names.is_empty() {
        return Err(format!("--without needs at least one of {}", known()));
    }
    let part = |name: &&str| {
        let found = PARTS.into_iter().find(|part| part.name == *name);
        found.ok_or_else(|| format!("unknown part `{name}`; --without hides {}", known()))
    };
    names.iter().map(part).collect()
}

/// Runs `cargo x` with these arguments and without the `hidden` parts.
///
/// # Errors
/// If a part cannot be hidden, or the command fails.
pub(crate) fn run(hidden: &[OptionalPart], arguments: &[&str]) -> Result<(), String> {
    let program = env::current_exe().map_err(|e| format!("cannot locate this program: {e}"))?;
    let folder = commands::target()?.join("without");
    let mut command = command(hidden, &folder, program.as_os_str())?;
    commands::call(command.args(arguments))
}

/// Creates a command in whose environment the `hidden` parts are absent. Writes the files that hide
/// them to `folder`.
fn command(hidden: &[OptionalPart], folder: &Path, program: &OsStr) -> Result<Command, String> {
    let failed = |error| format!("cannot hide parts in {}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(failed)?;
    }
    let mut programs = Vec::new();
    let mut modules = Vec::new();
    let mut variables = Vec::new();
    let mut drops_rights = false;
    for part in hidden {
        match part.hiding {
            Hiding::Programs(names) => programs.extend(names),
            Hiding::Module(name) => modules.push(name),
            Hiding::Variables(all) => variables.extend(all),
            Hiding::Capabilities => drops_rights = true,
        }
    }
    let mut command = if drops_rights && is_administrator() {
        let mut command = commands::program("setpriv");
        command.args(["--bounding-set=-all", "--inh-caps=-all", "--"]).arg(program);
        command
    } else {
        commands::program(program)
    };
    command.envs(variables.iter().copied()).env("PATH", path_without(&programs, folder)?);
    command.env_remove("DATABASE_URL").env_remove("JAVA_HOME");
    if hidden.iter().any(|part| part.name == "network") {
        // An existing environment may contain packages from the network.
        command.env(PYTHON_ENVIRONMENT, folder.join("python-venv"));
    }
    if !modules.is_empty() {
        let folder = folder.join("modules");
        fs::create_dir_all(&folder).map_err(failed)?;
        let names: Vec<String> = modules.iter().map(|name| format!("{name:?}")).collect();
        // Python cannot import a module that is `None` in `sys.modules`, or any module in it.
        let text =
            format!("import sys\nsys.modules.update(dict.fromkeys([{}]))\n", names.join(", "));
        fs::write(folder.join("sitecustomize.py"), text).map_err(failed)?;
        command.env(HIDDEN_MODULES, folder);
    }
    Ok(command)
}

/// The environment variable with a folder that Python searches first for modules.
pub(crate) const HIDDEN_MODULES: &str = "XTASK_HIDDEN_MODULES";

/// Returns `PATH` without the hidden programs. Replaces each folder that contains such a program
/// with a folder of links to its other programs.
fn path_without(prefixes: &[&str], folder: &Path) -> Result<OsString, String> {
    let is_hidden = |name: &OsString| {
        let name = name.to_string_lossy();
        prefixes.iter().any(|prefix| name.starts_with(prefix))
    };
    let path = commands::variable("PATH").unwrap_or_default();
    let mut folders = Vec::new();
    for (number, original) in env::split_paths(&path).enumerate() {
        let entries = fs::read_dir(&original).into_iter().flatten().flatten();
        let names: Vec<OsString> = entries.map(|entry| entry.file_name()).collect();
        if !names.iter().any(is_hidden) {
            folders.push(original);
            continue;
        }
        let links = folder.join(format!("path-{number}"));
        link_programs(&original, names.iter().filter(|name| !is_hidden(name)), &links)
            .map_err(|error| format!("cannot link to {}: {error}", original.display()))?;
        folders.push(links);
    }
    env::join_paths(folders).map_err(|error| error.to_string())
}

/// Creates a folder of links to programs of another folder.
#[cfg(unix)]
fn link_programs<'a>(
    original: &Path,
    names: impl Iterator<Item = &'a OsString>,
    links: &PathBuf,
) -> std::io::Result<()> {
    fs::create_dir_all(links)?;
    for name in names {
        std::os::unix::fs::symlink(original.join(name), links.join(name))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn link_programs<'a>(
    _: &Path,
    _: impl Iterator<Item = &'a OsString>,
    _: &PathBuf,
) -> std::io::Result<()> {
    Err(std::io::Error::other("--without needs symbolic links of Unix"))
}

/// Returns true if this process runs as root.
fn is_administrator() -> bool {
    let output = commands::program("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    /// Returns the output of a shell script that runs without the named parts.
    fn shell(names: &[&str], script: &str) -> String {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tmp");
        let folder = folder.join(format!("without-{}", names.join("-")));
        let hidden = parts(names).expect("known names");
        let mut command = command(&hidden, &folder, OsStr::new("sh")).expect("hidden parts");
        let output = command.args(["-c", script]).output().expect("a shell");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    #[test]
    fn hidden_programs_are_not_found() {
        for (part, program) in [
            ("python", "python3"),
            ("node", "node"),
            ("java", "java"),
            ("redis", "redis-server"),
            ("browser", "chromium"),
            ("schemathesis", "schemathesis"),
        ] {
            let script = format!("command -v {program}; command -v cargo >/dev/null && echo cargo");
            assert_eq!(shell(&[part], &script), "cargo", "{part}");
        }
    }

    #[test]
    fn importing_hidden_modules_fails() {
        for part in ["ray", "pyspark"] {
            let script = format!(
                "PYTHONPATH=$XTASK_HIDDEN_MODULES python3 -c 'try: import {part}\n\
                 except ModuleNotFoundError as e: print(e)'"
            );
            let halted = format!("import of {part} halted; None in sys.modules");
            let printed = shell(&[part], &script);
            assert!(printed.is_empty() || printed.contains(&halted), "{printed}");
        }
    }

    #[test]
    fn hidden_folders_are_absent() {
        let script = "ls \"$TEST_DATA\" \"$TEST_POSTGRESQL\" 2>/dev/null; echo $?";
        assert_eq!(shell(&["data", "postgresql"], script), "2");
    }

    #[test]
    fn fetching_fails_without_network() {
        let script = "python3 -m pip download --quiet --dest target/tmp six 2>&1 && echo fetched; \
                      echo \"$CARGO_NET_OFFLINE\"; echo \"$XTASK_PYTHON_VENV\"";
        let printed = shell(&["network"], script);
        assert!(!printed.contains("fetched"), "{printed}");
        assert!(printed.contains("true\n"), "{printed}");
        assert!(printed.ends_with("without-network/python-venv"), "{printed}");
    }

    #[test]
    fn rights_are_dropped_without_root() {
        let printed = shell(&["root"], "grep CapEff /proc/self/status || echo CapEff: 0");
        let rights = printed.trim_start_matches("CapEff:").trim();
        assert!(rights.chars().all(|digit| digit == '0'), "{printed}");
    }

    #[test]
    fn unknown_parts_are_named() {
        let error = parts(&["perl"]).expect_err("no part");
        assert!(error.contains("`perl`") && error.contains("postgresql"), "{error}");
        assert!(parts(&[]).is_err());
    }
}
