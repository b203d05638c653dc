//! Tests of the web page in a real browser. The Node modules in `page/` drive the browser over the
//! `WebDriver` protocol. If Node, chromedriver or Chromium is missing, the tests print that they
//! are skipped.
//!
//! `cargo test -p lookalike-server --test all page::` writes pictures of every view to the folder
//! for the files of tests (`tmp` in the target folder).
//!
//! `cargo x page` serves the page with the mock data of `page/`. It needs only Node.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::serve::client::Client;
use lookalike::core::params::{Params, ParamsBuilder};
use lookalike::read::Normalization;
use lookalike::store::Index;
use lookalike::store::memory::MemoryBackend;
use lookalike::store::settings::{IndexSettings, StoredContent};
use lookalike_server::{ClientToken, Config, Right, Server, StopHandle, Tokens};
use serde_json::json;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};

const READ_TOKEN: &str = "read-only-token-of-the-page-test";
const WRITE_TOKEN: &str = "writing-token-of-the-page-test";

fn runs(name: &str) -> bool {
    let version = Command::new(name).arg("--version").stderr(Stdio::null()).output();
    version.is_ok_and(|output| output.status.success())
}

/// Returns true if all programs for a browser test are installed. Otherwise prints the missing one.
fn is_possible() -> bool {
    let missing = ["node", "chromedriver"].iter().find(|name| !runs(name));
    let browsers = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    let missing = missing.or((!browsers.iter().any(|name| runs(name))).then_some(&"chromium"));
    if let Some(missing) = missing {
        let line = format!("the web page was not opened: no {missing} is installed");
        lookalike_test_support::print_skipped(&line);
    }
    missing.is_none()
}

/// Runs cases. If one fails, shows their output.
fn run(cases: &str, more: &[&str]) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/page/run.mjs");
    let mut node = Command::new("node");
    node.arg(script).arg(cases).arg(env!("CARGO_TARGET_TMPDIR")).args(more);
    let output = node.output().unwrap();
    let reported = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", reported(&output.stdout), reported(&output.stderr));
}

fn token(right: Right, value: &str) -> ClientToken {
    ClientToken::new(right, None, value).unwrap()
}

/// A server that stops when this value is dropped.
struct Running {
    url: String,
    stop: StopHandle,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn start(store: StoredContent, tokens: Tokens) -> Self {
        let params = Params::new(&ParamsBuilder::default()).unwrap();
        let settings =
            IndexSettings::new(&params, &Normalization::default().to_string(), store).unwrap();
        let index = Index::new(Box::new(MemoryBackend::new(settings))).unwrap();
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server = Server::bind(index, Config { listen, tokens, ..Config::default() }).unwrap();
        let (url, stop) = (format!("http://{}/", server.address()), StopHandle::new());
        let reported = stop.clone();
        let thread = thread::spawn(move || {
            server.run(&reported, false).unwrap();
        });
        Self { url, stop, thread: Some(thread) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The browser has ended, so the second call stops the server at once.
        self.stop.stop();
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[test]
fn page_works_in_every_server_state() {
    if is_possible() {
        run("mocked", &[]);
    }
}

#[test]
fn it_is_usable_by_everybody() {
    if is_possible() {
        run("looks", &[]);
    }
}

#[test]
fn page_passes_axe_checks() {
    let axe = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/page/node_modules/axe-core");
    if !axe.exists() {
        let line = "the web page was not held to axe-core: `cargo x lint` installs it";
        lookalike_test_support::print_skipped(line);
    } else if is_possible() {
        run("axe", &[]);
    }
}

/// The server of `cargo x page`, which stops when this value is dropped.
struct Mock {
    node: Child,
    client: Client,
}

impl Mock {
    /// Serves the page of a folder. Returns `None` if Node is not installed.
    fn start(folder: &Path) -> Option<Self> {
        if !runs("node") {
            let line = "the web page was not served with mock data: node is not installed";
            lookalike_test_support::print_skipped(line);
            return None;
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/page/serve.mjs");
        let mut node = Command::new("node");
        let node = node.arg(script).arg("0").arg(folder).stdout(Stdio::piped());
        let mut node = node.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(node.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (_, address) = line.split_once("http://").unwrap();
        let address = address.trim_end().trim_end_matches('/').parse().unwrap();
        Some(Self { node, client: Client { address, token: None } })
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        let _ = self.node.kill();
        let _ = self.node.wait();
    }
}

fn page_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/page")
}

#[test]
fn mock_shows_edits_on_reload() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["files.rs", "index.html", "app.js"] {
        fs::copy(page_folder().join(name), folder.path().join(name)).unwrap();
    }
    let Some(Mock { client, .. }) = &Mock::start(folder.path()) else { return };
    let text = |path: &str| String::from_utf8(client.get(path).body).unwrap();
    assert!(text("/").starts_with("<!doctype html>"));
    assert_eq!(text("/app.js"), fs::read_to_string(page_folder().join("app.js")).unwrap());
    fs::write(folder.path().join("app.js"), "// edited").unwrap();
    assert_eq!(text("/app.js"), "// edited");
}

/// [`Client`] compares each answer with the API description.
#[test]
fn mock_answers_follow_the_description() {
    let Some(Mock { client, .. }) = &Mock::start(&page_folder()) else { return };
    for name in ["agreement", "categories", "decisions", "documents", "documents/a"] {
        client.get(&format!("/v1/{name}")).ok(200);
    }
    // The first page has a group of 5,000 documents.
    for name in ["groups?after=50", "indexes", "settings", "stats"] {
        client.get(&format!("/v1/{name}")).ok(200);
    }
    client.post("/v1/query", &json!({ "text": "a text" })).ok(200);
    client.post("/v1/passages", &json!({ "text": "a text" })).ok(200);
    client.post("/v1/compare", &json!({ "a": { "id": "a" }, "b": { "id": "b" } })).ok(200);
    let decision = json!({ "decision": "keep", "documents": ["a"] });
    client.post("/v1/decisions", &json!({ "decisions": [decision] })).ok(200);
    client.put("/v1/documents/a", &json!({ "text": "a text" })).ok(201);
    assert_eq!(client.delete("/v1/documents/a").status, 204);
}

#[test]
fn it_works_with_this_server() {
    if !is_possible() {
        return;
    }
    let open = Running::start(StoredContent::Originals, Tokens::default());
    let tokens =
        Tokens::new(vec![token(Right::Read, READ_TOKEN), token(Right::Write, WRITE_TOKEN)]);
    let guarded = Running::start(StoredContent::Signatures, tokens);
    run("real", &[&open.url, &guarded.url, READ_TOKEN, WRITE_TOKEN]);
}
