//! A real browser, controlled over two pipes by its own protocol (CDP). Commands and events are
//! JSON, and a NUL byte ends each. Needs only Chromium and a shell.

use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The maximum time to wait for an answer. A page of a hundred megabytes takes seconds.
const PATIENCE: Duration = Duration::from_secs(120);

/// A browser with one page.
pub(crate) struct Browser {
    child: Child,
    commands: ChildStdin,
    answers: Receiver<Value>,
    session: String,
    last: u64,
    events: Vec<Value>,
    _profile: TempDir,
}

impl Browser {
    /// Starts a browser. If none is installed, prints a line and returns `None`.
    pub(crate) fn start() -> Option<Self> {
        let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
        let runs = |name: &&str| {
            let version = Command::new(name).arg("--version").stderr(Stdio::null()).output();
            version.is_ok_and(|output| output.status.success())
        };
        let Some(name) = names.into_iter().find(|name| runs(name)) else {
            let line = "the report page was not opened: no chromium is installed";
            lookalike_test_support::print_skipped(line);
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        // The protocol reads descriptor 3 and writes descriptor 4.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null", name])
            .args(["--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu"])
            .args(["--no-first-run", "--disable-background-networking", "--disable-quic"])
            .args(["--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let commands = child.stdin.take().unwrap();
        let (sender, answers) = channel();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            let mut line = Vec::new();
            while lines.read_until(0, &mut line).is_ok_and(|read| read > 0) {
                line.pop();
                let Ok(message) = serde_json::from_slice(&line) else { break };
                if sender.send(message).is_err() {
                    break;
                }
                line.clear();
            }
        });
        let mut browser = Self {
            child,
            commands,
            answers,
            session: String::new(),
            last: 0,
            events: Vec::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", &attach);
        attached["sessionId"].as_str().unwrap().clone_into(&mut browser.session);
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        Some(browser)
    }

    /// Sends a command and returns its result.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.as_str().into();
        }
        self.commands.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let mut answer = self.answers.recv_timeout(PATIENCE).unwrap();
            if answer["id"] == self.last {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].take();
            }
            self.events.push(answer);
        }
    }

    /// Opens a file and waits until it is loaded.
    pub(crate) fn open(&mut self, path: &Path) {
        self.events.clear();
        let url = format!("file://{}", path.display());
        self.call("Page.navigate", &json!({ "url": url }));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.answers.recv_timeout(PATIENCE).unwrap();
            self.events.push(event);
        }
    }

    /// Returns the value of an expression on the page. Waits for promises.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let ask = json!({
            "expression": expression, "returnByValue": true, "awaitPromise": true,
        });
        let mut reply = self.call("Runtime.evaluate", &ask);
        assert!(reply["exceptionDetails"].is_null(), "{expression}: {reply}");
        reply["result"]["value"].take()
    }

    /// Waits until an expression is true.
    pub(crate) fn wait_for(&mut self, expression: &str) {
        let start = Instant::now();
        while self.evaluate(expression) != true {
            assert!(start.elapsed() < PATIENCE, "never true: {expression}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Presses a key, such as `Tab`, or types a character.
    pub(crate) fn press(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            _ => 0,
        };
        let text = if key == "Enter" { "\r" } else { "" };
        let down = json!({
            "type": "keyDown", "key": key, "windowsVirtualKeyCode": code, "text": text,
        });
        self.call("Input.dispatchKeyEvent", &down);
        self.call("Input.dispatchKeyEvent", &json!({ "type": "keyUp", "key": key }));
    }

    /// Shows the page with a width of `width` pixels, light or dark.
    pub(crate) fn view(&mut self, width: u32, scheme: &str) {
        let metrics = json!({
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false,
        });
        self.call("Emulation.setDeviceMetricsOverride", &metrics);
        let feature = json!({ "name": "prefers-color-scheme", "value": scheme });
        self.call("Emulation.setEmulatedMedia", &json!({ "media": "", "features": [feature] }));
    }

    /// Saves a picture of the page, at most `height` pixels of it.
    pub(crate) fn picture(&mut self, path: &Path, height: u32) {
        let size = self.evaluate("[innerWidth, document.documentElement.scrollHeight]");
        let height = size[1].as_u64().unwrap().min(u64::from(height));
        let clip = json!({ "x": 0, "y": 0, "width": size[0], "height": height, "scale": 1 });
        let ask = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let picture = self.call("Page.captureScreenshot", &ask);
        File::create(path).unwrap().write_all(&base64(picture["data"].as_str().unwrap())).unwrap();
    }

    /// Returns the errors, warnings and requests since the page was opened, except the request of
    /// the page.
    pub(crate) fn complaints(&mut self) -> Vec<String> {
        // An answer arrives after all earlier events.
        self.evaluate("new Promise(done => setTimeout(done, 50))");
        let wrong = |event: &&Value| match event["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded" => true,
            "Network.requestWillBeSent" => event["params"]["type"] != "Document",
            _ => false,
        };
        self.events.iter().filter(wrong).map(ToString::to_string).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let close = json!({ "id": self.last + 1, "method": "Browser.close" });
        let _ = self.commands.write_all(format!("{close}\0").as_bytes());
        for _ in 0..100 {
            if self.child.try_wait().is_ok_and(|ended| ended.is_some()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Decodes base 64.
fn base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut out = Vec::new();
    for four in text.trim_end_matches('=').as_bytes().chunks(4) {
        let bits = four.iter().fold(0u32, |bits, byte| bits << 6 | u32::from(digit(*byte)));
        let bits = bits << (6 * (4 - four.len()));
        out.extend_from_slice(&bits.to_be_bytes()[1..four.len()]);
    }
    out
}
