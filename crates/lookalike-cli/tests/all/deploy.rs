//! The systemd unit and the Dockerfile: the program accepts the commands that they run.

#![cfg(all(feature = "serve", feature = "sqlite", unix))]
#![expect(clippy::unwrap_used, reason = "helpers of tests, too")]

use crate::command::{Place, root};
use std::process::Command;

fn file(name: &str) -> String {
    std::fs::read_to_string(root().join("deploy").join(name)).unwrap()
}

/// Checks that the program accepts the arguments of the service. Files that the arguments name are
/// replaced by files in a folder of the test.
fn check_arguments(arguments: &[&str]) {
    let place = Place::new();
    place.run(&["token", "--token-file", "tokens"]).ok();
    place.file("serve.toml", "queue = 9\n");
    let arguments = arguments.iter().map(|argument| match *argument {
        path if path.ends_with("/tokens") => "tokens",
        path if path.ends_with("/serve.toml") => "serve.toml",
        other => other,
    });
    let arguments: Vec<&str> = arguments.chain(["--print-config"]).collect();
    assert_eq!(arguments[0], "serve");
    let printed = place.run(&arguments).ok();
    assert!(printed.contains("token-file = \"tokens\" # --token-file"), "{printed}");
}

#[test]
fn the_unit_runs_the_service() {
    let unit = file("lookalike.service");
    let line = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let words: Vec<&str> = line.split(' ').collect();
    assert_eq!(words[0], "/usr/local/bin/lookalike");
    check_arguments(&words[1..]);
    // `systemd-analyze` needs an existing program, so the unit names the tested one.
    let place = Place::new();
    let local_unit = unit.replace("/usr/local/bin/lookalike", env!("CARGO_BIN_EXE_lookalike"));
    place.file("lookalike.service", local_unit.replace("User=lookalike\n", ""));
    let run = |arguments: &[&str]| {
        let mut command = Command::new("systemd-analyze");
        command.args(arguments).arg("lookalike.service").current_dir(place.path("."));
        command.output().ok()
    };
    let Some(verified) = run(&["verify", "--man=no"]) else {
        let reason = "systemd-analyze is not installed, so the unit was not verified";
        lookalike_test_support::print_skipped(reason);
        return;
    };
    let message = String::from_utf8_lossy(&verified.stderr);
    assert!(!message.contains("lookalike.service:"), "{message}");
    // An exposure of at most 2.0 on the scale from 0 to 10; the option counts tenths.
    let rated = run(&["security", "--offline=true", "--threshold=20", "--no-pager"]).unwrap();
    assert!(rated.status.success(), "{}", String::from_utf8_lossy(&rated.stdout));
}

#[test]
fn the_image_runs_the_service() {
    let text = file("Dockerfile");
    let line = |start: &str| {
        let found = text.lines().find_map(|line| line.strip_prefix(start));
        found.unwrap_or_else(|| panic!("{start} is not there"))
    };
    let words = |line: &str| -> Vec<String> { serde_json::from_str(line).unwrap() };
    assert_eq!(words(line("ENTRYPOINT ")), ["lookalike"]);
    let arguments = words(line("CMD "));
    check_arguments(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    // The image builds with the Rust version of the workspace, and copies the built program.
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = ")).unwrap();
    let image = format!("FROM rust:{}-slim-", version.trim_matches('"'));
    assert!(text.contains(&image), "{image}");
    let build = line("RUN cargo build ");
    assert!(build.starts_with("--locked --profile dist --package lookalike-cli "), "{build}");
    assert!(manifest.contains("\n[profile.dist]\n"));
    assert!(build.ends_with("install -D target/dist/lookalike /out/lookalike"), "{build}");
    assert_eq!(line("COPY --from=build "), "/out/lookalike /usr/local/bin/lookalike");
    assert!(file("Dockerfile.dockerignore").contains("**/target"));
}
