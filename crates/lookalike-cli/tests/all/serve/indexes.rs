//! Tests of `lookalike serve` with several indexes, and of the commands that use it.

#![cfg(all(feature = "serve", feature = "sqlite", unix))]
#![expect(clippy::unwrap_used, reason = "helpers of tests, too")]

use crate::command::{Place, Run};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A service with the indexes `news` and `mail`, which is killed at the end of the test.
struct TwoIndexes {
    child: Child,
    /// The lines that the service printed.
    printed_lines: Vec<String>,
}

impl TwoIndexes {
    fn start(place: &Place, args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lookalike"))
            .args(["serve", "--listen", "127.0.0.1:0", "--log", "off"])
            .args(["--index", "news=folder/a", "--index", "mail=b"])
            .args(args)
            .current_dir(place.path("."))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let printed_lines = lines.take(2).map(Result::unwrap).collect();
        Self { child, printed_lines }
    }

    /// Returns the address of an index.
    fn address(&self, name: &str) -> String {
        let end = format!("/v1/indexes/{name}");
        let line = self.printed_lines.iter().find(|line| line.ends_with(&end)).unwrap();
        line.split_once(" is served at ").unwrap().1.to_owned()
    }
}

impl Drop for TwoIndexes {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn place() -> Place {
    let place = Place::new();
    std::fs::create_dir(place.path("folder")).unwrap();
    for index in ["folder/a", "b"] {
        place.run(&["index", "create", index, "--store", "texts"]).ok();
    }
    place.file("one.jsonl", "{\"id\":\"d1\",\"text\":\"some words of a first document\"}\n");
    place
}

#[test]
fn commands_use_the_named_index() {
    let place = place();
    let served = TwoIndexes::start(&place, &[]);
    assert!(served.printed_lines[0].starts_with("folder/a is served at http://127.0.0.1:"));
    let (news, mail) = (served.address("news"), served.address("mail"));
    place.run(&["index", "add", &mail, "one.jsonl"]).ok();
    assert!(place.run(&["index", "export", &mail]).ok().contains("\"d1\""));
    assert_eq!(place.run(&["index", "export", &news]).ok(), "");
    place.run(&["index", "check", &mail]).ok();
    place.run(&["index", "compact", &news]).ok();
    // The error for an index that a service has open names the address of the service.
    let message = place.run(&["index", "add", "b", "one.jsonl"]).fails(1);
    assert!(message.contains(&format!("the service at {mail} writes to b")), "{message}");
    place.run(&["index", "remove", &mail, "d1"]).ok();
    assert_eq!(place.run(&["index", "export", &mail]).ok(), "");
    // An address without an index name means the first index.
    let server = news.split("/v1/").next().unwrap();
    place.run(&["index", "add", server, "one.jsonl"]).ok();
    assert!(place.run(&["index", "export", &format!("{news}/")]).ok().contains("\"d1\""));
    let unknown = place.run(&["index", "export", &format!("{server}/v1/indexes/nobody")]).fails(1);
    assert!(unknown.contains("index \"nobody\" does not exist for this token"), "{unknown}");
    for wrong in ["/v1", "/v1/indexes/", "/v1/indexes/a/b", "/x"] {
        let message =
            place.run(&["index", "export", &format!("http://127.0.0.1:1{wrong}")]).fails(2);
        assert!(message.contains("expected the address of a service"), "{wrong}: {message}");
    }
}

#[test]
fn each_index_has_a_backup_folder() {
    let place = place();
    std::fs::create_dir(place.path("backups")).unwrap();
    let served = TwoIndexes::start(&place, &["--backup-dir", "backups"]);
    for name in ["news", "mail"] {
        place.run(&["index", "backup", &served.address(name), "monday"]).ok();
        assert!(place.path(&format!("backups/{name}/monday")).is_dir());
    }
}

#[test]
fn invalid_index_options_are_errors() {
    let place = place();
    let fails = |args: &[&str], code: i32| -> String {
        let run: Run = place.run(&[&["serve", "--listen", "127.0.0.1:0"], args].concat());
        run.fails(code)
    };
    for (args, why) in [
        (&[][..], "expected an index"),
        (&["--index", "b"], "expected NAME=PLACE"),
        (&["--index", "a=b", "--index", "a=folder/a"], "two indexes have the name a"),
        (&["--index", "a=b", "--index", "c=b"], "at the same place"),
        (&["b", "--index", "a=folder/a"], "cannot be used with"),
        (&["--index", "../a=b"], "the name of an index is"),
    ] {
        let message = fails(args, 2);
        assert!(message.contains(why), "{args:?}: {message}");
    }
    fails(&["--index", "a=b", "--index", "c=nothing"], 1);
    // Two names of one folder are the same index, which is already open.
    let message = fails(&["--wait", "100ms", "--index", "a=b", "--index", "c=./b"], 1);
    assert!(message.contains("./b"), "{message}");
}

#[test]
fn index_names_configure_servers_and_tokens() {
    let place = place();
    place.file("serve.toml", "index = [\"news=folder/a\", \"mail=b\"]\n");
    let printed = place.run(&["serve", "--config", "serve.toml", "--print-config"]).ok();
    assert!(printed.contains("# index = \"2 of them\" # serve.toml\n"), "{printed}");
    let args =
        ["token", "decide", "--name", "Ann Lee", "--index", "news", "--token-file", "tokens"];
    place.run(&[&args[..], &["--index", "mail"]].concat()).ok();
    let line = place.read("tokens");
    assert!(line.starts_with("decide Ann Lee indexes=news,mail sha256:"), "{line}");
    let message = place.run(&["token", "--index", "a/b"]).fails(2);
    assert!(message.contains("the name of an index is \"a/b\""), "{message}");
}
