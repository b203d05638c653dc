//! Measures the time of each stage of a command, and counts the tests that the stages run.
//!
//! `.ci/run` sets `XTASK_STAGES` to a file. Each of several commands adds its stages to this file,
//! and the last command prints all stages.

use crate::cpu_time;
use crate::skipped_tests::SkippedTests;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// The environment variable with the file of earlier stages.
const FILE: &str = "XTASK_STAGES";

/// The first cell of a row with a reason for skipped tests, instead of a stage.
const SKIPPED: &str = "SKIPPED";

/// The first cell of a row with the number of passed tests, instead of a stage.
const PASSED: &str = "PASSED";

/// The interval for checking whether a silent command has ended.
const POLL: Duration = Duration::from_millis(200);

/// The sums of the results of test runners.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TestCounts {
    passed: u64,
    failed: u64,
    ignored: u64,
    /// The reasons for skipped tests, with the number of skips.
    skipped: BTreeMap<String, u64>,
    /// The names of skipped tests: a name in a test program, or a node id of pytest. `None` if the
    /// runner did not report the name.
    skipped_names: Vec<Option<String>>,
}

impl TestCounts {
    /// Counts skipped tests with their reason.
    pub(crate) fn skip(&mut self, reason: &str, times: u64) {
        let sets = ["shared/data", "shared data", "document sets", "TEST_DATA"];
        let reason = if sets.iter().any(|part| reason.contains(part)) {
            "the document sets are not at ../shared/data"
        } else {
            reason.trim()
        };
        *self.skipped.entry(reason.to_owned()).or_default() += times;
    }

    /// Counts one skip with its reason, and prints it.
    pub(crate) fn say_skipped(&mut self, reason: &str) {
        eprintln!("SKIPPED: {reason}");
        self.skip(reason, 1);
    }

    /// Removes and returns the names of the skipped tests.
    pub(crate) fn take_skipped_names(&mut self) -> Vec<Option<String>> {
        std::mem::take(&mut self.skipped_names)
    }

    /// The reasons for which tests were skipped.
    pub(crate) fn skip_reasons(&self) -> impl Iterator<Item = &str> {
        self.skipped.keys().map(String::as_str)
    }

    /// Returns true if a skip was counted.
    pub(crate) fn has_skipped(&self) -> bool {
        !self.skipped.is_empty()
    }

    /// Adds the counts of another runner.
    pub(crate) fn add(&mut self, other: Self) {
        self.skipped_names.extend(other.skipped_names);
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
        for (reason, times) in other.skipped {
            *self.skipped.entry(reason).or_default() += times;
        }
    }

    /// Counts the results in a line that `cargo test` or pytest prints.
    fn line(&mut self, line: &str) {
        if let Some((_, reason)) = line.split_once("SKIPPED: ") {
            self.skip(reason, 1);
            self.skipped_names.push(None);
        } else if let Some((_, skipped)) = line.split_once("SKIPPED (")
            && let Some((name, reason)) = skipped.split_once("): ")
        {
            self.skip(reason, 1);
            self.skipped_names.push(Some(name.to_owned()));
        } else if let Some(skipped) = line.strip_prefix("SKIPPED ") {
            // SKIPPED python/tests/test_x.py::test_y[z] - Skipped: reason
            let (name, reason) = skipped.split_once(" - Skipped: ").unwrap_or((skipped, skipped));
            self.skip(reason, 1);
            self.skipped_names.push(Some(name.to_owned()));
        } else if let Some(result) = line.strip_prefix("test result: ") {
            self.results(result.split_once(". ").map_or(result, |(_, counts)| counts), ';');
        } else {
            // 3 failed, 251 passed, 2 skipped in 12.34s
            let result = line.trim_matches(['=', ' ']);
            if let Some((counts, time)) = result.rsplit_once(" in ")
                && time.starts_with(|first: char| first.is_ascii_digit())
                && counts.starts_with(|first: char| first.is_ascii_digit())
            {
                self.results(counts, ',');
            }
        }
    }

    fn results(&mut self, counts: &str, separator: char) {
        for part in counts.split(separator) {
            let Some((number, outcome)) = part.trim().split_once(' ') else { continue };
            let Ok(number) = number.parse::<u64>() else { continue };
            match outcome {
                "passed" => self.passed += number,
                "failed" | "error" | "errors" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }

    /// Returns a summary in the form of the test runner's last line.
    fn summary(&self, is_ok: bool) -> String {
        let verdict = if is_ok { "ok" } else { "FAILED" };
        let Self { passed, failed, ignored, skipped, .. } = self;
        let all: u64 = skipped.values().sum();
        let mut line = format!(
            "test result: {verdict}. {passed} passed; {failed} failed; {ignored} ignored; {all} \
             skipped"
        );
        if all > 0 {
            let reasons: Vec<String> =
                skipped.iter().map(|(reason, times)| format!("{times} × {reason}")).collect();
            let _ = write!(line, " ({})", reasons.join("; "));
            if is_ok {
                line.push_str(
                    "; nothing is wrong: the skipped tests need something that is absent here \
                     (CONTRIBUTING.md, Commands)",
                );
            }
        }
        line
    }
}

/// The time of a stage.
#[derive(Debug, Clone, Default)]
struct StageTime {
    name: String,
    seconds: f64,
    /// CPU seconds of all child processes that ended during the stage, including
    /// processes of parallel stages. They depend little on other programs on the machine.
    /// `None` if they are unknown.
    cpu: Option<f64>,
}

impl StageTime {
    /// Formats a row of the file of earlier stages.
    fn row(&self) -> String {
        let cpu = self.cpu.map(|cpu| format!("\t{cpu}")).unwrap_or_default();
        format!("{}\t{}{cpu}\n", self.name, self.seconds)
    }

    fn parse(name: &str, value: &str) -> Option<Self> {
        let (seconds, cpu) = value.split_once('\t').unwrap_or((value, ""));
        Some(Self { name: name.to_owned(), seconds: seconds.parse().ok()?, cpu: cpu.parse().ok() })
    }
}

/// The role of a command among the commands that continuous integration runs in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandRole {
    /// A later command prints its stages.
    Checks,
    /// Runs all tests. A later command runs the skipped tests again, and counts its own skips.
    Tests,
    /// The last command.
    Last,
}

/// The stages of a command and of the commands before it.
#[derive(Debug, Default)]
pub(crate) struct Stages {
    finished: Vec<StageTime>,
    /// Stages that ran in parallel with others.
    parallel: Vec<StageTime>,
    pub(crate) counts: TestCounts,
    file: Option<PathBuf>,
    /// The skipped tests of all stages, for `cargo x test --skipped`.
    pub(crate) skipped_tests: SkippedTests,
}

impl Stages {
    /// Reads the stages of earlier commands, if the environment names their file.
    pub(crate) fn new() -> Self {
        let file = crate::commands::variable(FILE).map(PathBuf::from);
        let text = file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        let mut stages = Self { file, ..Self::default() };
        let rows = text.iter().flat_map(|text| text.lines());
        for (name, value) in rows.filter_map(|row| row.split_once('\t')) {
            if name == SKIPPED {
                stages.counts.skip(value, 1);
            } else if name == PASSED {
                stages.counts.passed += value.parse::<u64>().unwrap_or(0);
            } else {
                stages.finished.extend(StageTime::parse(name, value));
            }
        }
        stages
    }

    /// Runs and measures one stage.
    ///
    /// # Errors
    /// The stage fails.
    pub(crate) fn run<T>(
        &mut self,
        name: &str,
        work: impl FnOnce(&mut TestCounts) -> Result<T, String>,
    ) -> Result<T, String> {
        let start = Instant::now();
        let cpu = cpu_time::of_children();
        let result = work(&mut self.counts);
        self.finish_stage(name, start, cpu);
        result
    }

    /// Runs the stages of `parallel` in a thread while `other_stages` runs, and returns the result
    /// of `other_stages`. The wait for the thread is a stage named `wait`.
    ///
    /// # Errors
    /// If a stage fails. The other stages run to their end.
    pub(crate) fn run_next_to<T>(
        &mut self,
        wait: &str,
        parallel: impl FnOnce(&mut Self) -> Result<(), String> + Send,
        other_stages: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let mut stages = Self::default();
                let result = parallel(&mut stages);
                (stages, result)
            });
            let result = other_stages(self);
            let start = Instant::now();
            let cpu = cpu_time::of_children();
            let joined = self.join(thread);
            self.finish_stage(wait, start, cpu);
            joined.and(result)
        })
    }

    /// Adds a stage that ends now.
    fn finish_stage(&mut self, name: &str, start: Instant, cpu: Option<f64>) {
        let cpu = cpu_time::of_children().zip(cpu).map(|(after, before)| after - before);
        let seconds = start.elapsed().as_secs_f64();
        self.finished.push(StageTime { name: name.to_owned(), seconds, cpu });
    }

    /// Waits for the stages of another thread, and adds them. The total excludes their seconds.
    ///
    /// # Errors
    /// A stage fails.
    fn join(
        &mut self,
        thread: ScopedJoinHandle<'_, (Self, Result<(), String>)>,
    ) -> Result<(), String> {
        let (other, result) = thread.join().map_err(|_| "a stage ended by a panic".to_owned())?;
        let parallel = other.finished.into_iter();
        self.parallel.extend(parallel.map(|time| StageTime { cpu: None, ..time }));
        self.counts.add(other.counts);
        let SkippedTests { programs, python } = other.skipped_tests;
        self.skipped_tests.programs.extend(programs);
        self.skipped_tests.python.extend(python);
        result
    }

    /// Prints the stages and the counts of tests, and writes both for later commands.
    pub(crate) fn finish(&self, role: CommandRole, result: &Result<(), String>) {
        if let Some(file) = self.file.as_ref().filter(|_| result.is_ok()) {
            let finished = self.finished.iter().map(StageTime::row);
            let passed = format!("{PASSED}\t{}\n", self.counts.passed);
            let skipped = self.counts.skipped.keys().filter(|_| role != CommandRole::Tests);
            let skipped = skipped.map(|reason| format!("{SKIPPED}\t{reason}\n"));
            // An error only means that a later table has fewer rows.
            let rows = finished.chain([passed]).chain(skipped).collect::<String>();
            let _ = std::fs::write(file, rows);
            if role == CommandRole::Checks {
                return;
            }
        }
        crate::commands::say(&self.table());
        if self.counts != TestCounts::default() {
            crate::commands::say(&self.counts.summary(result.is_ok()));
        }
    }

    fn table(&self) -> String {
        let total = StageTime {
            name: "total".to_owned(),
            seconds: self.finished.iter().map(|time| time.seconds).sum(),
            cpu: self.finished.iter().filter_map(|time| time.cpu).reduce(|sum, cpu| sum + cpu),
        };
        let parallel = self.parallel.iter().map(|time| {
            let name = format!("in parallel: {}", time.name);
            StageTime { name, ..time.clone() }
        });
        let rows: Vec<_> = self.finished.iter().cloned().chain([total]).chain(parallel).collect();
        let width = rows.iter().map(|time| time.name.chars().count()).max().unwrap_or(0);
        let mut text = format!("\n{:<width$}  seconds  CPU seconds\n", "stage");
        for StageTime { name, seconds, cpu } in rows {
            let cpu = cpu.map(|cpu| format!("  {cpu:>11.1}")).unwrap_or_default();
            let _ = writeln!(text, "{name:<width$}  {seconds:>7.1}{cpu}");
        }
        text
    }
}

/// Runs a command, copies its output to `out` while it runs, and counts the tests that it reports.
///
/// # Errors
/// If the command does not start or fails.
pub(crate) fn count(
    command: &mut Command,
    out: &mut impl Write,
    counts: &mut TestCounts,
) -> Result<(), String> {
    let line = crate::commands::command_line(command);
    crate::commands::succeeded(&line, run_counted(command, out, counts))
}

/// Runs cargo in `root` and counts the tests that it reports.
///
/// # Errors
/// If cargo fails.
pub(crate) fn count_cargo(
    root: &Path,
    args: &[&str],
    counts: &mut TestCounts,
) -> Result<(), String> {
    let mut command = crate::commands::program("cargo");
    count(command.args(args).current_dir(root), &mut io::stdout(), counts)
}

/// Like [`count`], for pytest. pytest fails with code 5 if it runs no test. This function succeeds
/// in this case if all tests were skipped.
///
/// # Errors
/// If the command does not start or fails.
pub(crate) fn count_pytest(
    command: &mut Command,
    out: &mut impl Write,
    counts: &mut TestCounts,
) -> Result<(), String> {
    const NO_TESTS: i32 = 5;
    let line = crate::commands::command_line(command);
    let mut counted = TestCounts::default();
    let status = run_counted(command, out, &mut counted);
    let skipped_all = counted.has_skipped() && counted.failed == 0;
    counts.add(counted);
    if skipped_all && status.as_ref().is_ok_and(|status| status.code() == Some(NO_TESTS)) {
        return Ok(());
    }
    crate::commands::succeeded(&line, status)
}

fn run_counted(
    command: &mut Command,
    out: &mut impl Write,
    counts: &mut TestCounts,
) -> io::Result<ExitStatus> {
    let line = crate::commands::command_line(command);
    let (mut reader, writer) = io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    eprintln!("$ {line}");
    let mut child = command.spawn()?;
    // Release the write ends of the pipe, which `command` still holds. Otherwise the reader would
    // never reach the end.
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let (sender, receiver) = mpsc::sync_channel(16);
    std::thread::spawn(move || {
        let mut buffer = vec![0; 8192];
        while let Ok(bytes @ 1..) = reader.read(&mut buffer) {
            if sender.send(buffer[..bytes].to_vec()).is_err() {
                break;
            }
        }
    });
    let mut lines = OutputLines { counts, line: Vec::new() };
    loop {
        match receiver.recv_timeout(POLL) {
            Ok(bytes) => {
                // If the output cannot be written, the tests still run to their end.
                let _ = out.write_all(&bytes).and_then(|()| out.flush());
                lines.take(&bytes);
            }
            // A process that outlives the command may hold the pipe open, so check whether the
            // command has ended.
            Err(RecvTimeoutError::Timeout) if matches!(child.try_wait(), Ok(None)) => {}
            Err(_) => break,
        }
    }
    lines.end();
    child.wait()
}

/// Splits output into lines and counts the results in them.
struct OutputLines<'a> {
    counts: &'a mut TestCounts,
    line: Vec<u8>,
}

impl OutputLines<'_> {
    fn take(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.end();
            }
        }
    }

    fn end(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.counts.line(String::from_utf8_lossy(&line).trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(output: &str) -> TestCounts {
        let mut counts = TestCounts::default();
        let mut lines = OutputLines { counts: &mut counts, line: Vec::new() };
        for piece in output.as_bytes().chunks(7) {
            lines.take(piece);
        }
        lines.end();
        counts
    }

    #[test]
    fn results_of_both_runners_are_summed() {
        let counts = counted(
            "test a ... ok\nSKIPPED (a::x): the document sets are not at ../shared/data\n\
             test b ... SKIPPED: no shared data for x.jsonl\n\
             test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; \
             finished in 0.01s\n\
             test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n\
             SKIPPED python/tests/test_x.py::test_y[a - b] - Skipped: no polars: install it\n\
             SKIPPED python/tests/test_z.py - Skipped: no polars: install it\n\
             ==== 1 failed, 250 passed, 2 skipped in 12.34s ====\n5 passed in 0.20s",
        );
        assert_eq!((counts.passed, counts.failed, counts.ignored), (270, 3, 1));
        let reasons: Vec<_> = counts.skipped.iter().map(|(why, n)| (why.as_str(), *n)).collect();
        let sets = "the document sets are not at ../shared/data";
        assert_eq!(reasons, [("no polars: install it", 2), (sets, 2)]);
        let names: Vec<_> = counts.skipped_names.iter().map(Option::as_deref).collect();
        let python = ["python/tests/test_x.py::test_y[a - b]", "python/tests/test_z.py"];
        assert_eq!(names, [Some("a::x"), None, Some(python[0]), Some(python[1])]);
    }

    #[test]
    fn summary_explains_skipped_tests() {
        let mut counts = counted("test result: ok. 7 passed; 0 failed; 0 ignored; 0 measured\n");
        assert_eq!(
            counts.summary(true),
            "test result: ok. 7 passed; 0 failed; 0 ignored; 0 skipped"
        );
        counts.skip("no shared data", 8);
        let line = counts.summary(true);
        assert!(line.contains("; 8 skipped (8 × the document sets are not at ../shared/data)"));
        assert!(line.contains("nothing is wrong") && !line.contains('\n'), "{line}");
        assert!(!counts.summary(false).contains("nothing is wrong"));
    }

    #[test]
    fn every_stage_has_its_seconds() {
        let rows = [("lint", "61\t90.5"), ("Rust tests", "8")];
        let finished = rows.iter().filter_map(|(name, value)| StageTime::parse(name, value));
        let mut stages = Stages { finished: finished.collect(), ..Stages::default() };
        let rows: Vec<_> = stages.finished.iter().map(StageTime::row).collect();
        assert_eq!(rows, ["lint\t61\t90.5\n", "Rust tests\t8\n"]);
        let table = stages.table();
        let expected = "\nstage       seconds  CPU seconds\n\
                        lint           61.0         90.5\n\
                        Rust tests      8.0\n\
                        total          69.0         90.5\n";
        assert_eq!(table, expected);
        let stage = stages.run("last", |_| Err::<(), _>("broken".to_owned()));
        assert_eq!(stage, Err("broken".to_owned()));
        assert!(stages.table().contains("\nlast            0.0"), "{}", stages.table());
        let work = |stages: &mut Stages| stages.run("check", |_| Err("wrong".to_owned()));
        let joined = stages.run_next_to("wait", work, |_| Ok(()));
        assert_eq!(joined, Err("wrong".to_owned()));
        assert!(stages.table().contains("\nwait                    0.0"), "{}", stages.table());
        assert!(stages.table().ends_with("\nin parallel: check      0.0\n"));
    }

    #[test]
    fn files_of_skipped_tests_pass() {
        let pytest = |lines: &str, code: i32| {
            let script = format!("printf '{lines}'; exit {code}");
            let mut counts = TestCounts::default();
            count_pytest(Command::new("sh").args(["-c", &script]), &mut Vec::new(), &mut counts)
        };
        let skipped = "SKIPPED test_ray.py - Skipped: Ray is not installed\\n1 skipped in 0.01s\\n";
        assert_eq!(pytest(skipped, 5), Ok(()));
        assert!(pytest("no tests ran in 0.01s\\n", 5).is_err());
        assert!(pytest(skipped, 1).is_err());
    }

    #[test]
    fn counted_output_passes_through() {
        let mut counts = TestCounts::default();
        let mut command = Command::new("sh");
        command.args(["-c", "echo 'SKIPPED: why' >&2; echo '4 passed in 0.1s'; exit 3"]);
        let mut out = Vec::new();
        let error = count(&mut command, &mut out, &mut counts).unwrap_err();
        assert!(error.contains("failed"), "{error}");
        assert_eq!((counts.passed, counts.skipped.get("why")), (4, Some(&1)));
        assert_eq!(out, b"SKIPPED: why\n4 passed in 0.1s\n");
    }
}
