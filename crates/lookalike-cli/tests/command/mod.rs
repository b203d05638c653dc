//! Runs the program in a temporary folder.

#![allow(dead_code, reason = "every test file uses another part")]
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "this is a part of tests")]

use lookalike_test_support::document_set_path;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The exit code and the output of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    /// Returns the standard output of a run that must succeed.
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.out
    }

    /// Returns the error message of a run, which must end with this exit code and an empty standard
    /// output.
    pub(crate) fn fails(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert_eq!(self.out, "");
        assert!(self.err.starts_with("error: "), "{}", self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self.err
    }
}

/// A temporary folder, which is removed at the end of the test.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file and creates the folders above it.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        self.run_with_input(args, b"")
    }

    pub(crate) fn run_with_input(&self, args: &[&str], input: &[u8]) -> Run {
        self.run_in(&[], args, input)
    }

    /// Runs the program with these environment variables.
    pub(crate) fn run_with(&self, args: &[&str], environment: &[(&str, &str)]) -> Run {
        self.run_in(environment, args, b"")
    }

    fn run_in(&self, environment: &[(&str, &str)], args: &[&str], input: &[u8]) -> Run {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lookalike"))
            .args(args)
            .env_remove("COLUMNS")
            .envs(environment.iter().copied())
            .current_dir(self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // A run that does not read its input closes the pipe, which is not an error.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Run {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Runs the program on a terminal of 80 columns. Returns its exit code and the output of standard
/// output and standard error.
#[cfg(unix)]
impl Place {
    pub(crate) fn on_terminal(&self, args: &[&std::ffi::OsStr]) -> (Option<i32>, String) {
        self.on_terminal_with(args, &[("TERM", "xterm")])
    }

    pub(crate) fn on_terminal_with(
        &self,
        args: &[&std::ffi::OsStr],
        environment: &[(&str, &str)],
    ) -> (Option<i32>, String) {
        use std::io::Read;
        let size = nix::pty::Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        let terminal = nix::pty::openpty(Some(&size), None).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_lookalike"));
        command.args(args).current_dir(self.folder.path()).stdin(Stdio::null());
        for name in ["COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
            command.env_remove(name);
        }
        command.envs(environment.iter().copied());
        command.stdout(terminal.slave.try_clone().unwrap()).stderr(terminal.slave);
        let mut child = command.spawn().unwrap();
        // Reading ends when no process has the terminal open for writing.
        drop(command);
        let mut master = std::fs::File::from(terminal.master);
        let mut bytes = Vec::new();
        // Linux reports the end of a terminal as an error.
        let _ = master.read_to_end(&mut bytes);
        let code = child.wait().unwrap().code();
        (code, String::from_utf8(bytes).unwrap())
    }
}

/// Returns the root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Returns the path of a file of the document sets. If it is missing, prints that the test is
/// skipped.
pub(crate) fn shared(name: &str) -> Option<String> {
    Some(document_set_path(name)?.to_str().unwrap().to_owned())
}

/// Returns `words` words that depend on `seed`.
pub(crate) fn words(seed: u64, words: usize) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut text = String::new();
    for _ in 0..words {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text.push('w');
        text.push_str(&(state % 50_000).to_string());
        text.push(' ');
    }
    text
}

/// Returns ids and texts: originals `g<n>`, copies `g<n>-copy` and edits `g<n>-edit`.
pub(crate) fn collection(groups: u64) -> Vec<(String, String)> {
    let mut documents = Vec::new();
    for n in 0..groups {
        let text = words(n + 1, 120);
        documents.push((format!("g{n}"), format!("{text}and the end")));
        if n % 2 == 0 {
            documents.push((format!("g{n}-copy"), format!("{text}AND the end!")));
        }
        if n % 3 == 0 {
            documents.push((format!("g{n}-edit"), format!("{text}and another end")));
        }
    }
    documents
}

pub(crate) fn jsonl(documents: &[(String, String)]) -> String {
    let line = |(id, text): &(String, String)| {
        serde_json::json!({ "id": id, "text": text }).to_string() + "\n"
    };
    documents.iter().map(line).collect()
}
