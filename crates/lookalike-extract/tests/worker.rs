//! Tests of the worker with well-behaved and misbehaving children. This program is the test and,
//! with an argument, the child.

use lookalike_extract::{
    ExtractError, ExtractOptions, ExtractedPart, Extractor, FailedPart, PartSink, WorkerCommand,
};
use std::convert::Infallible;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The text or failure of a file.
#[derive(Default)]
struct Got(Vec<Result<String, ExtractError>>);

impl PartSink for Got {
    type Error = Infallible;

    fn part(&mut self, part: &ExtractedPart<'_>) -> Result<(), Infallible> {
        self.0.push(Ok(part.text.to_owned()));
        Ok(())
    }

    fn failed(&mut self, failed: &FailedPart<'_>) -> Result<(), Infallible> {
        self.0.push(Err(failed.failure.clone()));
        Ok(())
    }
}

fn options(argument: &str) -> ExtractOptions {
    let program = std::env::current_exe().expect("the path of this program");
    let arguments = vec!["child".into(), argument.into()];
    ExtractOptions {
        worker: Some(WorkerCommand { program, arguments }),
        ..ExtractOptions::default()
    }
}

fn read(extractor: &mut Extractor, bytes: &[u8]) -> Result<String, ExtractError> {
    let mut got = Got::default();
    let Ok(()) = extractor.extract("a.pdf", bytes, &mut got);
    assert_eq!(got.0.len(), 1);
    got.0.remove(0)
}

fn fixture(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/extract/pdf");
    std::fs::read(PathBuf::from(folder).join(name)).expect("a file of the repository")
}

/// Returns the header of a PDF file with a comment.
fn order(word: &str) -> Vec<u8> {
    [b"%PDF-1.4\n%", word.as_bytes(), b"\n"].concat()
}

/// Reads the message of a task and returns it.
fn task() -> Vec<u8> {
    let mut length = [0; 8];
    std::io::stdin().read_exact(&mut length).expect("a length");
    let mut task = vec![0; usize::try_from(u64::from_le_bytes(length)).expect("a length")];
    std::io::stdin().read_exact(&mut task).expect("a task");
    task
}

fn say(bytes: &[u8]) {
    std::io::stdout().write_all(bytes).expect("an output");
    std::io::stdout().flush().expect("an output");
}

/// Calls itself until the stack overflows.
fn recurse(depth: u64) -> u64 {
    // The frame is used after the call, so that the compiler cannot turn the recursion into a loop.
    let frame = std::hint::black_box([depth; 64]);
    if frame[0] == u64::MAX {
        return 0;
    }
    recurse(frame[1] + 1) + std::hint::black_box(&frame)[0]
}

/// Runs a child. It misbehaves as its argument says, or serves tasks.
fn child(argument: &str) -> ExitCode {
    match argument {
        "overflow" => {
            task();
            std::hint::black_box(recurse(0));
        }
        "exit" => {
            task();
            return ExitCode::from(3);
        }
        "sleep" => std::thread::sleep(Duration::from_secs(600)),
        // Creates the file that its argument names, to report that it has the task.
        argument if argument.starts_with("hang ") => {
            task();
            std::fs::write(&argument["hang ".len()..], "").expect("a folder");
            std::thread::sleep(Duration::from_secs(600));
        }
        "half" => {
            task();
            say(&100u64.to_le_bytes());
            std::thread::sleep(Duration::from_secs(600));
        }
        "nonsense" => {
            task();
            say(&[&3u64.to_le_bytes()[..], b"abc"].concat());
            std::thread::sleep(Duration::from_secs(600));
        }
        #[cfg(unix)]
        "limited" => {
            use nix::sys::resource::{Resource, getrlimit};
            lookalike_extract::serve().expect("to serve");
            let (soft, hard) = getrlimit(Resource::RLIMIT_AS).expect("a limit");
            return ExitCode::from(if soft <= 4 << 30 && hard <= 4 << 30 { 7 } else { 8 });
        }
        #[cfg(unix)]
        "small" => {
            use nix::sys::resource::{Resource, setrlimit};
            setrlimit(Resource::RLIMIT_AS, 512 << 20, 512 << 20).expect("a limit");
            lookalike_extract::serve().expect("to serve");
        }
        _ => lookalike_extract::serve().expect("to serve"),
    }
    ExitCode::SUCCESS
}

#[track_caller]
fn crashed(result: &Result<String, ExtractError>) -> &str {
    match result {
        Err(ExtractError::Crashed { what }) => what,
        other => panic!("{other:?}"),
    }
}

fn files_are_read_as_without_a_worker() {
    let mut read_in_sandbox = Extractor::new(&options("serve"));
    let mut in_process = Extractor::new(&ExtractOptions::default());
    for name in ["simple.pdf", "unicode.pdf", "scanned.pdf", "encrypted.pdf", "forms.pdf"] {
        let bytes = fixture(name);
        for cut in [bytes.len(), bytes.len() / 2] {
            assert_eq!(
                read(&mut read_in_sandbox, &bytes[..cut]),
                read(&mut in_process, &bytes[..cut]),
                "{name}"
            );
        }
    }
}

fn deaths_are_failures_of_one_file() {
    let mut extractor = Extractor::new(&options("overflow"));
    for _ in 0..2 {
        let result = read(&mut extractor, &fixture("simple.pdf"));
        if cfg!(unix) {
            assert!(crashed(&result).starts_with("signal "), "{result:?}");
        }
    }
    let result = read(&mut Extractor::new(&options("exit")), &fixture("simple.pdf"));
    assert!(crashed(&result).contains('3'), "{result:?}");
    let result = read(&mut Extractor::new(&options("nonsense")), &fixture("simple.pdf"));
    assert_eq!(crashed(&result), "invalid reply");
    let mut missing = options("serve");
    missing.worker.as_mut().expect("a worker").program = "/nowhere/at all".into();
    let result = read(&mut Extractor::new(&missing), &fixture("simple.pdf"));
    assert!(crashed(&result).contains("could not be started"), "{result:?}");
}

fn what_takes_too_long_is_killed() {
    for argument in ["sleep", "half"] {
        let mut options = options(argument);
        options.limits.time = Duration::from_secs(1);
        let mut extractor = Extractor::new(&options);
        // The file is larger than a pipe buffer, so the parent can send it only if the child reads.
        let big = [order("big"), vec![b' '; 1 << 20]].concat();
        let started = Instant::now();
        assert_eq!(read(&mut extractor, &big), Err(ExtractError::TooSlow { seconds: 1 }));
        let elapsed = started.elapsed();
        assert!(
            elapsed > Duration::from_secs(1) && elapsed < Duration::from_secs(300),
            "{elapsed:?}"
        );
    }
}

/// Waits until a condition is true. Panics after 60 seconds.
#[cfg(target_os = "linux")]
#[track_caller]
fn wait_until(condition: impl Fn() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < Duration::from_secs(60), "the state does not come");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Kills the only child of this process from outside, between two files and during one.
#[cfg(target_os = "linux")]
fn a_killed_child_is_replaced() {
    let children = || {
        let path = format!("/proc/self/task/{}/children", std::process::id());
        let list = std::fs::read_to_string(path).unwrap_or_default();
        list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let kill = |child: &str| {
        let status = std::process::Command::new("kill").args(["-9", child]).status();
        assert!(status.expect("the program kill").success());
    };
    let simple = fixture("simple.pdf");
    let mut extractor = Extractor::new(&options("serve"));
    let good = read(&mut extractor, &simple);
    assert!(good.is_ok());
    let first = children();
    assert_eq!(first.len(), 1, "one child that stays");
    assert_eq!(read(&mut extractor, &simple), good);
    assert_eq!(children(), first, "the same child");
    // Kills the child between two files.
    kill(&first[0]);
    // A child has ended when its first thread is a zombie and no other thread is left.
    let process = PathBuf::from(format!("/proc/{}", first[0]));
    wait_until(|| {
        let stat = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
        let threads = std::fs::read_dir(process.join("task")).map_or(0, Iterator::count);
        threads <= 1 && stat.rsplit_once(") ").is_none_or(|(_, state)| state.starts_with('Z'))
    });
    assert_eq!(read(&mut extractor, &simple), good);
    let second = children();
    assert_ne!(second, first);
    drop(extractor);
    assert_eq!(children(), Vec::<String>::new(), "no child outlives its extractor");
    // Kills the child while it reads a file.
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let sign = folder.join(format!("worker {} has the task", std::process::id()));
    let argument = format!("hang {}", sign.display());
    let killer = std::thread::spawn(move || {
        wait_until(|| sign.exists());
        std::fs::remove_file(&sign).expect("the file that the child made");
        children().first().map(|child| kill(child))
    });
    let result = read(&mut Extractor::new(&options(&argument)), &simple);
    assert_eq!(crashed(&result), "signal 9: killed");
    assert!(killer.join().expect("no panic").is_some());
}

/// A page of spaces that expands to more memory than the child may use.
#[cfg(unix)]
fn memory_is_limited() {
    let result = read(&mut Extractor::new(&options("limited")), b"%PDF-");
    assert!(matches!(result, Err(ExtractError::Damaged { .. })), "{result:?}");
    let mut child = std::process::Command::new(std::env::current_exe().expect("this program"))
        .args(["child", "limited"])
        .stdin(std::process::Stdio::null())
        .spawn()
        .expect("a child");
    assert_eq!(child.wait().expect("its end").code(), Some(7));

    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    for _ in 0..640 {
        encoder.write_all(&vec![b' '; 1 << 20]).expect("memory");
    }
    let bomb = encoder.finish().expect("memory");
    let head = format!(
        "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n\
         2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
         3 0 obj<</Type/Page/Parent 2 0 R/Contents 4 0 R>>endobj\n\
         4 0 obj<</Filter/FlateDecode/Length {}>>stream\n",
        bomb.len()
    );
    let tail = b"\nendstream endobj\ntrailer<</Root 1 0 R/Size 5>>\nstartxref\n0\n%%EOF\n";
    let file = [head.as_bytes(), &bomb, tail].concat();
    let mut extractor = Extractor::new(&options("small"));
    let result = read(&mut extractor, &file);
    assert!(crashed(&result).starts_with("signal 6"), "{result:?}");
    assert!(read(&mut extractor, &fixture("simple.pdf")).is_ok());
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, word, argument] = arguments.as_slice()
        && word == "child"
    {
        return child(argument);
    }
    let tests: &[(&str, fn())] = &[
        ("files_are_read_as_without_a_worker", files_are_read_as_without_a_worker),
        ("deaths_are_failures_of_one_file", deaths_are_failures_of_one_file),
        ("what_takes_too_long_is_killed", what_takes_too_long_is_killed),
        #[cfg(target_os = "linux")]
        ("a_killed_child_is_replaced", a_killed_child_is_replaced),
        #[cfg(unix)]
        ("memory_is_limited", memory_is_limited),
    ];
    for (name, test) in tests {
        let started = Instant::now();
        test();
        let elapsed = started.elapsed().as_secs_f64();
        writeln!(std::io::stdout(), "test worker::{name} ... ok ({elapsed:.1} s)")
            .expect("an output");
    }
    ExitCode::SUCCESS
}
