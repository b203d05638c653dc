//! Measures the CPU seconds and peak memory of a child process and the CPU seconds of a closure,
//! and computes medians.
//!
//! CPU seconds are the sum of user and system time. Comparisons use them, because on a shared
//! machine the wall time depends on other processes.

use crate::options::BenchError;
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeVal;
use nix::time::{ClockId, clock_gettime};
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;
use tempfile::TempDir;

/// The cost of one run of a process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessCost {
    /// User and system time of the process and of the children that it waited for.
    pub(crate) cpu_seconds: f64,
    /// Time from the start to the end of the process.
    pub(crate) wall_seconds: f64,
    /// Peak memory (resident set) in bytes. It is at least about 3 MB, the size of the process that
    /// starts the program.
    pub(crate) peak_bytes: u64,
}

/// The hidden subcommand that [`child_to`] runs.
pub(crate) const MEASURE_ONE: &str = "measure-one";

/// Like [`child_to`], but discards the output.
///
/// # Errors
///
/// As [`child_to`].
pub(crate) fn child(program: &Path, arguments: &[OsString]) -> Result<ProcessCost, BenchError> {
    child_to(program, arguments, None)
}

/// Runs `program` with `arguments` and measures it. Writes its output to the file `out`, or
/// discards the output. Shows its error output.
///
/// The system records one peak for all children of a process. So this program starts itself again
/// as [`MEASURE_ONE`], whose only child is the measured program.
///
/// # Errors
///
/// If the program cannot be started or ends with another code than 0.
pub(crate) fn child_to(
    program: &Path,
    arguments: &[OsString],
    out: Option<&Path>,
) -> Result<ProcessCost, BenchError> {
    let failed = |error: std::io::Error| BenchError::new(program.display(), error);
    let output = Command::new(std::env::current_exe().map_err(failed)?)
        .arg(MEASURE_ONE)
        .arg(out.unwrap_or(Path::new("")))
        .arg(program)
        .args(arguments)
        .stderr(Stdio::inherit())
        .output()
        .map_err(failed)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    match (output.status.success(), &numbers[..]) {
        (true, &[cpu_seconds, wall_seconds, peak_bytes]) => {
            Ok(ProcessCost { cpu_seconds, wall_seconds, peak_bytes: peak_bytes as u64 })
        }
        _ => Err(BenchError(format!("{} failed: {}", program.display(), output.status))),
    }
}

/// Runs a program for [`child_to`]. Returns its CPU seconds, wall seconds and peak bytes as
/// text. The first argument names the file for the program's output. If it is empty, the
/// output is discarded.
///
/// # Errors
///
/// As [`child_to`].
pub(crate) fn measure_one(
    mut command: impl Iterator<Item = OsString>,
) -> Result<String, BenchError> {
    let (Some(out), Some(program)) = (command.next(), command.next()) else {
        return Err(BenchError("the program to measure is missing".to_owned()));
    };
    let name = program.to_string_lossy().into_owned();
    let stdout = if out.is_empty() {
        Stdio::null()
    } else {
        std::fs::File::create(&out).map_err(|error| BenchError::new(out.display(), error))?.into()
    };
    let begun = Instant::now();
    let status = Command::new(program)
        .args(command)
        .stdin(Stdio::null())
        .stdout(stdout)
        .status()
        .map_err(|error| BenchError::new(&name, error))?;
    let wall = begun.elapsed().as_secs_f64();
    if !status.success() {
        return Err(BenchError::new(name, status));
    }
    let usage = usage(UsageWho::RUSAGE_CHILDREN)?;
    Ok(format!("{} {wall} {}", cpu_seconds(&usage), peak_bytes(&usage)))
}

/// Creates a temporary folder for the results of the measured programs. Dropping the
/// value removes the folder.
///
/// # Errors
///
/// If the folder cannot be created.
pub(crate) fn results_folder() -> Result<TempDir, BenchError> {
    tempfile::Builder::new()
        .prefix("lookalike-bench-")
        .tempdir()
        .map_err(|error| BenchError::new("the temporary folder of results", error))
}

/// Runs `work`. Returns the CPU seconds that this thread spent in it, and its result.
///
/// # Errors
///
/// If the clock cannot be read.
pub(crate) fn thread_cpu<T>(work: impl FnOnce() -> T) -> Result<(f64, T), BenchError> {
    let before = thread_seconds()?;
    let result = work();
    Ok((thread_seconds()? - before, result))
}

/// Like [`thread_cpu`], but counts all threads of this process.
///
/// # Errors
///
/// If the clock cannot be read.
pub(crate) fn process_cpu<T>(work: impl FnOnce() -> T) -> Result<(f64, T), BenchError> {
    let before = seconds_of(ClockId::CLOCK_PROCESS_CPUTIME_ID)?;
    let result = work();
    Ok((seconds_of(ClockId::CLOCK_PROCESS_CPUTIME_ID)? - before, result))
}

fn thread_seconds() -> Result<f64, BenchError> {
    seconds_of(ClockId::CLOCK_THREAD_CPUTIME_ID)
}

fn seconds_of(clock: ClockId) -> Result<f64, BenchError> {
    let now = clock_gettime(clock).map_err(|error| BenchError::new("the clock", error))?;
    Ok(now.tv_sec() as f64 + now.tv_nsec() as f64 / 1e9)
}

/// Returns the median of `numbers`. For an even count, returns the lower of the two middle numbers.
/// Returns 0 for an empty list.
pub(crate) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len().saturating_sub(1) / 2).copied().unwrap_or(0.0)
}

/// Runs `work` `runs` times, at least once. Returns the run with the median CPU time.
///
/// # Errors
///
/// The first error of `work`.
pub(crate) fn median_run(
    runs: usize,
    mut work: impl FnMut() -> Result<ProcessCost, BenchError>,
) -> Result<ProcessCost, BenchError> {
    let mut spent = vec![work()?];
    for _ in 1..runs {
        spent.push(work()?);
    }
    spent.sort_by(|a, b| a.cpu_seconds.total_cmp(&b.cpu_seconds));
    Ok(spent[(spent.len() - 1) / 2])
}

fn usage(who: UsageWho) -> Result<Usage, BenchError> {
    getrusage(who).map_err(|error| BenchError::new("cannot read the resource usage", error))
}

fn cpu_seconds(usage: &Usage) -> f64 {
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    seconds(usage.user_time()) + seconds(usage.system_time())
}

fn peak_bytes(usage: &Usage) -> u64 {
    // Linux counts in KiB, macOS in bytes.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    usage.max_rss() as u64 * unit
}
