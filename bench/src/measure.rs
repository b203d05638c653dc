//! Clocks: CPU seconds and peak memory of a child process, CPU seconds of a closure, medians.
//!
//! CPU seconds are user and system time together. Comparisons use them, because on a shared machine
//! wall time says more about the neighbours.

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
    /// User and system time of the process and the children it waited for.
    pub(crate) cpu_seconds: f64,
    /// From start to end.
    pub(crate) wall_seconds: f64,
    /// Peak memory (resident set) in bytes. At least about 3 MB, the size of the process that
    /// starts it.
    pub(crate) peak_bytes: u64,
}

/// The hidden subcommand that [`child_to`] runs.
pub(crate) const MEASURE_ONE: &str = "measure-one";

/// [`child_to`] with the output discarded.
///
/// # Errors
///
/// As [`child_to`].
pub(crate) fn child(program: &Path, arguments: &[OsString]) -> Result<ProcessCost, BenchError> {
    child_to(program, arguments, None)
}

/// Runs `program` with `arguments` (its output discarded or written to a file, its errors shown)
/// and measures it.
///
/// The system keeps one peak for all children of a process together. So this program starts itself
/// again as [`MEASURE_ONE`], whose only child is the measured program.
///
/// # Errors
///
/// When the program cannot be started or ends with another code than 0.
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

/// The other side of [`child_to`]: runs the program and returns "CPU seconds, wall seconds, peak
/// bytes". The first argument names the file for the program's output; if it is empty, the output
/// is discarded.
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

/// Creates a temporary folder for the results of the measured programs. Dropping the folder removes
/// them.
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

/// The CPU seconds that this thread spent in `work`, to the microsecond, and the result of `work`.
/// If the system does not tell threads apart, all threads of the process count.
///
/// # Errors
///
/// When the system does not answer.
pub(crate) fn thread_cpu<T>(work: impl FnOnce() -> T) -> Result<(f64, T), BenchError> {
    let before = thread_seconds()?;
    let result = work();
    Ok((thread_seconds()? - before, result))
}

/// Like [`thread_cpu`], for all threads of this process.
///
/// # Errors
///
/// When the system does not answer.
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

/// The median of `numbers`: the lower middle one of an even number, and 0 if there are none.
pub(crate) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len().saturating_sub(1) / 2).copied().unwrap_or(0.0)
}

/// The run with the median CPU time among `runs` (at least one) of `work`.
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
