//! Tokens and certificates of `lookalike serve`: creation, reloading and withdrawal.

#![cfg(all(feature = "serve", unix))]
#![expect(clippy::unwrap_used, reason = "helpers of tests, too")]

use crate::command::Place;
use crate::serve::{Served, ask_with, place};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Returns the status of a request with a token.
fn status(served: &Served, method: &str, path: &str, token: &str) -> u16 {
    let field = format!("authorization: Bearer {}\r\n", token.trim());
    ask_with(&served.address, method, path, &field, "{\"text\":\"a b c\"}").unwrap().0
}

/// Sends SIGHUP, and returns the log line that reports its result.
fn hang_up(served: &mut Served) -> String {
    served.signal("-HUP");
    let log = served.child.stderr.as_mut().unwrap();
    let mut line = String::new();
    BufReader::with_capacity(1, log).read_line(&mut line).unwrap();
    assert!(line.contains("SIGHUP"), "{line}");
    line
}

#[test]
fn tokens_are_created_used_and_revoked() {
    let place = place();
    let make =
        |args: &[&str]| place.run(&[&["token"], args, &["--token-file", "tokens"]].concat()).ok();
    let read = make(&[]);
    let write = make(&["write", "--name", "Ann Lee", "--expires", "30d"]);
    let short = make(&["write", "--expires", "1ms"]);
    let mode = std::fs::metadata(place.path("tokens")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let file = std::fs::read_to_string(place.path("tokens")).unwrap();
    assert_eq!(file.lines().count(), 3, "{file}");
    assert!(!file.contains("lookalike_") && file.contains("write Ann Lee expires=2"), "{file}");
    let mut served = Served::start(&place, &["--token-file", "tokens", "--log", "off"]);
    assert_eq!(status(&served, "PUT", "/v1/documents/a", &read), 403);
    assert_eq!(status(&served, "PUT", "/v1/documents/a", &write), 201);
    assert_eq!(status(&served, "GET", "/v1/documents/a", &read), 200);
    assert_eq!(status(&served, "GET", "/v1/documents/a", &short), 401);
    // A token is invalid once its line is removed and the file is loaded again.
    std::fs::write(place.path("tokens"), file.lines().next().unwrap()).unwrap();
    assert!(hang_up(&mut served).contains("read again"));
    assert_eq!(status(&served, "GET", "/v1/documents/a", &write), 401);
    assert_eq!(status(&served, "GET", "/v1/documents/a", &read), 200);
    // An invalid token file changes nothing.
    std::fs::write(place.path("tokens"), "write\n").unwrap();
    let line = hang_up(&mut served);
    assert!(line.contains("stay in effect") && line.contains("tokens:1"), "{line}");
    assert_eq!(status(&served, "GET", "/v1/documents/a", &read), 200);
    served.signal("-TERM");
    assert_eq!(served.end().0, Some(0));
}

#[test]
fn invalid_token_arguments_are_errors() {
    let place = Place::new();
    let created = place.run(&["token", "decide", "--name", "bob"]);
    assert!(created.err.starts_with("decide bob sha256:"), "{}", created.err);
    assert!(created.ok().starts_with("lookalike_"));
    place.run(&["token", "admin"]).fails(2);
    let message = place.run(&["token", "--name", "a\nb"]).fails(2);
    assert!(message.contains("line end"), "{message}");
    place.file("tokens", "something else");
    let message = place.run(&["token", "--token-file", "tokens"]).fails(2);
    assert!(message.contains("tokens:1: expected `read TOKEN`"), "{message}");
    assert_eq!(std::fs::read_to_string(place.path("tokens")).unwrap(), "something else");
}

/// Creates a certificate of `localhost` and its key. Returns false if `openssl` is not installed.
fn certificate(place: &Place, name: &str) -> bool {
    let output = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .args(["-nodes", "-days", "2", "-subj", &format!("/CN={name}")])
        .args(["-addext", "subjectAltName=DNS:localhost"])
        .args(["-keyout", &format!("{name}.key"), "-out", &format!("{name}.pem")])
        .current_dir(place.path("."))
        .output();
    let Ok(output) = output else {
        lookalike_test_support::print_skipped("openssl is not installed, so TLS was not tried");
        return false;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    true
}

/// Returns the name in the certificate that the server presents.
fn shown_name(served: &Served) -> String {
    let output = Command::new("openssl")
        .args(["s_client", "-connect", &served.address, "-servername", "localhost"])
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let output_text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = output_text.lines().find(|line| line.starts_with("subject="));
    line.unwrap_or_else(|| panic!("{output_text}")).rsplit('=').next().unwrap().trim().to_owned()
}

#[test]
fn a_certificate_is_read_again() {
    let place = place();
    if !["one", "two"].iter().all(|name| certificate(&place, name)) {
        return;
    }
    let args = ["--tls-cert", "one.pem", "--tls-key", "one.key", "--log", "off"];
    let mut served = Served::start(&place, &args);
    assert_eq!(shown_name(&served), "one");
    std::fs::copy(place.path("two.pem"), place.path("one.pem")).unwrap();
    let line = hang_up(&mut served);
    assert!(line.contains("stay in effect") && line.contains("one.key"), "{line}");
    assert_eq!(shown_name(&served), "one");
    std::fs::copy(place.path("two.key"), place.path("one.key")).unwrap();
    assert!(hang_up(&mut served).contains("read again"));
    assert_eq!(shown_name(&served), "two");
    served.signal("-TERM");
    assert_eq!(served.end().0, Some(0));
}

#[test]
fn a_certificate_needs_its_key() {
    let place = place();
    let message = place.run(&["serve", "docs", "--tls-cert", "a.pem"]).fails(2);
    assert!(message.contains("tls-key: expected the file of the key"), "{message}");
    let args = ["serve", "docs", "--tls-cert", "a.pem", "--tls-key", "a.key"];
    let message = place.run(&args).fails(2);
    assert!(message.contains("a.pem") && message.contains("BEGIN CERTIFICATE"), "{message}");
}
