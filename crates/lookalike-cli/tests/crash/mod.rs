//! Helpers for runs that are stopped or meet a fault: their inputs, and the files that they leave.

#![allow(dead_code, reason = "every test file uses another part")]
#![allow(clippy::unwrap_used, reason = "this is a part of tests")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The maximum time to wait for an expected event.
const PATIENCE: Duration = Duration::from_secs(120);

/// A generator of pseudorandom numbers from a seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Returns a number from 0 to below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}

/// Returns `count` short documents as JSONL, with ids from `first`. One in four is an edit of an
/// earlier one, and one in twenty a copy.
pub(crate) fn short_documents(first: u64, count: u64) -> String {
    let mut random = Random::new(first + 1);
    let mut texts: Vec<String> = Vec::new();
    let mut lines = String::new();
    for i in 0..count {
        let text = match random.below(20) {
            0 if i > 0 => texts[random.below(i) as usize].clone(),
            1..6 if i > 0 => {
                format!("{} and {}", texts[random.below(i) as usize], random.below(100))
            }
            _ => {
                let mut text = String::new();
                for _ in 0..24 {
                    write!(text, "w{} ", random.below(4_000)).unwrap();
                }
                text
            }
        };
        writeln!(lines, "{{\"id\":\"d{}\",\"text\":\"{text}\"}}", first + i).unwrap();
        texts.push(text);
    }
    lines
}

/// Starts the program and discards its standard output.
pub(crate) fn start(folder: &Path, args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_lookalike"))
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits for the end of a process. Returns its exit code and standard error.
pub(crate) fn end(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// Returns the folder of the run that is stored in `parent`, if any.
pub(crate) fn stored_run(parent: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(parent).ok()?;
    let mut paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.find(|path| path.extension().is_some_and(|end| end == "run"))
}

/// Returns the complete lines of the journal of the run in `parent`.
pub(crate) fn journal(parent: &Path) -> Vec<String> {
    journal_named(parent, "steps")
}

/// Returns the complete lines of the named journal of the run in `parent`.
pub(crate) fn journal_named(parent: &Path, name: &str) -> Vec<String> {
    let Some(run) = stored_run(parent) else { return Vec::new() };
    let steps = fs::read_to_string(run.join(name)).unwrap_or_default();
    let end = steps.rfind('\n').map_or(0, |at| at + 1);
    steps[..end].lines().map(str::to_owned).collect()
}

/// Sends a signal.
pub(crate) fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Starts a run and halts it while its journal in `parent` satisfies `is_reached`; the signal
/// `CONT` continues the run. If the run leaves this state before it is halted, starts it again.
pub(crate) fn halted(
    start: impl Fn() -> Child,
    parent: &Path,
    is_reached: impl Fn(&[String]) -> bool,
) -> Child {
    for _ in 0..50 {
        let mut child = start();
        if wait_for(&mut child, parent, &is_reached) && halt(&mut child) {
            if is_reached(&journal(parent)) {
                return child;
            }
            if cfg!(unix) {
                signal(&child, "-CONT");
            }
        }
        let (code, message) = end(child);
        assert_eq!(code, Some(0), "{message}");
    }
    panic!("every run was past that state before it could be halted");
}

/// Halts a process with all its threads. Returns false if it has ended. Systems other than Unix
/// have no such signal, so the process continues there.
fn halt(child: &mut Child) -> bool {
    if cfg!(not(unix)) {
        return child.try_wait().unwrap().is_none();
    }
    signal(child, "-STOP");
    let begun = Instant::now();
    loop {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        if threads_are_halted(child.id()) {
            return true;
        }
        assert!(begun.elapsed() < PATIENCE, "the run is not halted");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Returns true if Linux shows every thread of a process as halted. Returns true on other systems.
fn threads_are_halted(process: u32) -> bool {
    if cfg!(not(target_os = "linux")) {
        return true;
    }
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { return false };
    threads.flatten().all(|thread| {
        let state = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        // The state follows the program name, which is in parentheses.
        state.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with('T'))
    })
}

/// Waits until the journal of the run of `child` in `parent` satisfies `is_reached`. Returns false
/// if the run ends before.
fn wait_for(child: &mut Child, parent: &Path, is_reached: &impl Fn(&[String]) -> bool) -> bool {
    let begun = Instant::now();
    while !is_reached(&journal(parent)) {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        assert!(begun.elapsed() < PATIENCE, "the run neither ends nor goes on");
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

/// Returns true if the run has read all documents.
pub(crate) fn is_prepared(journal: &[String]) -> bool {
    journal.iter().any(|line| line.contains("\"Prepared\""))
}

/// Returns the names in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

/// Replaces the bytes of a file without a change of its length or time, so that only its content
/// shows the change.
pub(crate) fn change_unseen(path: &Path) {
    let metadata = fs::metadata(path).unwrap();
    fs::write(path, vec![b'x'; metadata.len() as usize]).unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(metadata.modified().unwrap()).unwrap();
}
