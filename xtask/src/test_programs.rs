//! Builds the test programs of the workspace with cargo, and runs several at once, because many
//! tests wait for a browser, a server or the end of a process.

use crate::commands::{TestVariables, output};
use crate::skipped_tests::SkippedTests;
use crate::stages::{TestCounts, count};
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

/// A program that runs tests.
pub(crate) struct TestProgram {
    executable: PathBuf,
    /// The folder of its package, in which the program runs, as with `cargo test`.
    folder: PathBuf,
    /// Whether it is a program of integration tests, from a folder `tests`.
    is_integration_test: bool,
    /// The tests to run. Empty for all tests.
    tests: BTreeSet<String>,
}

/// Builds the test programs. Programs of integration tests are first in the result, because they
/// take the most time.
///
/// # Errors
/// If they do not compile.
pub(crate) fn build(root: &Path, features: &[&str]) -> Result<Vec<TestProgram>, String> {
    let format = ["test", "--no-run", "--message-format", "json-render-diagnostics"];
    let messages = output(root, "cargo", &[&format[..], features].concat())?;
    let mut programs = Vec::new();
    for line in messages.lines() {
        let message = serde_json::from_str(line)
            .map_err(|error| format!("cannot parse a message of cargo: {error}"))?;
        programs.extend(test_program(&message));
    }
    programs.sort_by_key(|program| !program.is_integration_test);
    Ok(programs)
}

/// Returns the test program that a message of cargo reports, if any.
fn test_program(message: &Value) -> Option<TestProgram> {
    message["profile"]["test"].as_bool().filter(|is_test| *is_test)?;
    let manifest = Path::new(message["manifest_path"].as_str()?);
    Some(TestProgram {
        executable: message["executable"].as_str()?.into(),
        folder: manifest.parent()?.to_owned(),
        is_integration_test: message["target"]["kind"][0] == "test",
        tests: BTreeSet::new(),
    })
}

/// Keeps only the programs with skipped tests, and only the skipped tests of each program.
pub(crate) fn retain_skipped(programs: &mut Vec<TestProgram>, skipped: &SkippedTests) {
    programs.retain_mut(|program| match skipped.programs.get(&program.executable) {
        Some(tests) => {
            program.tests.clone_from(tests);
            true
        }
        None => false,
    });
}

/// Runs the programs, as many at once as there are processors. Writes the output of a program to
/// `out` when the program has ended. Returns the skipped tests.
///
/// # Errors
/// If programs fail. The error names them, and the other programs run to their end.
pub(crate) fn run(
    programs: Vec<TestProgram>,
    variables: TestVariables,
    counts: &mut TestCounts,
    out: &mut (impl Write + Send),
) -> Result<SkippedTests, String> {
    let skipped = Mutex::new(SkippedTests::default());
    let out = Mutex::new(out);
    let programs = Mutex::new(programs.into_iter());
    let failed = Mutex::new(Vec::new());
    let counts = Mutex::new(counts);
    let next = || programs.lock().next();
    let work = || {
        while let Some(program) = next() {
            let mut command = Command::new(&program.executable);
            command.envs(variables.iter().copied()).current_dir(&program.folder);
            if !program.tests.is_empty() {
                command.arg("--exact").args(&program.tests);
            }
            let mut text = Vec::new();
            let mut counted = TestCounts::default();
            let result = count(&mut command, &mut text, &mut counted);
            skipped.lock().add_program(&program.executable, counted.take_skipped_names());
            let mut counts = counts.lock();
            counts.add(counted);
            // If the output cannot be written, the tests still run to their end.
            let _ = out.lock().write_all(&text);
            failed.lock().extend(result.err());
        }
    };
    let processors = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    thread::scope(|scope| (0..processors).for_each(|_| drop(scope.spawn(work))));
    let failed = failed.into_inner();
    if failed.is_empty() { Ok(skipped.into_inner()) } else { Err(failed.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_programs_are_recognized() {
        let message = |test: bool, executable: Value| {
            serde_json::json!({
                "manifest_path": "/repository/crates/a/Cargo.toml",
                "profile": { "test": test }, "executable": executable,
                "target": { "kind": ["test"] },
            })
        };
        let program = test_program(&message(true, "/target/a".into())).expect("a program");
        assert_eq!(program.folder, Path::new("/repository/crates/a"));
        assert!(program.is_integration_test);
        assert!(test_program(&message(false, "/target/a".into())).is_none());
        assert!(test_program(&message(true, Value::Null)).is_none());
        assert!(test_program(&serde_json::json!({ "reason": "build-finished" })).is_none());
    }

    #[test]
    fn all_programs_run_despite_failures() {
        let program = |name: &str| TestProgram {
            executable: name.into(),
            folder: ".".into(),
            is_integration_test: false,
            tests: BTreeSet::new(),
        };
        let mut counts = TestCounts::default();
        let programs = vec![program("false"), program("true"), program("/no/such/program")];
        let error = run(programs, &[], &mut counts, &mut Vec::new()).expect_err("two fail");
        assert!(error.contains("`false` failed") && error.contains("/no/such/program"), "{error}");
        assert!(run(vec![program("true")], &[], &mut counts, &mut Vec::new()).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn skipped_tests_run_again() {
        use std::os::unix::fs::PermissionsExt;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tmp/skipping.sh");
        std::fs::create_dir_all(script.parent().expect("a folder")).expect("a folder");
        std::fs::write(&script, "#!/bin/sh\necho \"SKIPPED (a::b): no Redis, $*.\"\n").expect("w");
        std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).expect("executable");
        let programs = || {
            ["true".into(), script.clone()]
                .map(|executable| TestProgram {
                    executable,
                    folder: ".".into(),
                    is_integration_test: false,
                    tests: BTreeSet::new(),
                })
                .into()
        };
        let skipped =
            run(programs(), &[], &mut TestCounts::default(), &mut Vec::new()).expect("no failure");
        let mut skipped_again: Vec<TestProgram> = programs();
        retain_skipped(&mut skipped_again, &skipped);
        let mut counts = TestCounts::default();
        run(skipped_again, &[], &mut counts, &mut Vec::new()).expect("no failure");
        let mut expected = TestCounts::default();
        expected.skip("no Redis, --exact a::b.", 1);
        counts.take_skipped_names();
        assert_eq!(counts, expected);
    }
}
