//! The known answers of `docs/reference/signature.md`. Signatures that are stored today must stay
//! readable.
//!
//! Two implementations check the file: this library with every kernel, and one in Python that was
//! written from the document alone. A line is a question, a tab, and the answer.
//! `examples/known_answers.rs` prints the file.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr, reason = "a test")]

#[path = "../../examples/known_answers.rs"]
#[allow(dead_code, reason = "its main prints the file")]
mod known_answers;

use known_answers::answer;
use lookalike_core::kernel::Kernel;
use std::path::PathBuf;
use std::process::Command;

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn stored() -> String {
    std::fs::read_to_string(fixtures().join("signature_v1.txt")).unwrap()
}

#[test]
fn every_kernel_gives_the_known_answers() {
    let stored = stored();
    let lines: Vec<_> = stored
        .lines()
        .filter(|l| !l.starts_with('#'))
        .map(|l| l.split_once('\t').unwrap())
        .collect();
    assert!(lines.len() > 50);
    for kernel in Kernel::available() {
        for (question, expected) in &lines {
            assert_eq!(answer(question, kernel), *expected, "{kernel}: {question}");
        }
    }
}

#[test]
fn python_implementation_matches_the_vectors() {
    let folder = fixtures();
    let checked = Command::new("python3")
        .arg(folder.join("signature_v1.py"))
        .arg(folder.join("signature_v1.txt"))
        .output();
    match checked {
        Err(error) => {
            lookalike_test_support::print_skipped(&format!("python3 cannot be started: {error}"));
        }
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        }
    }
}
