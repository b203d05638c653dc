//! The commands of the documentation run and print the output that the pages show.
//!
//! Each page has a folder with `letters` (a copy of `fixtures/sample`), `corpus.jsonl`, and the
//! folders `fixtures`, `examples` and `deploy` of the repository. Bash runs the lines after the
//! prompts of its `console` blocks, in order. The lines that a page shows below a command must be
//! the output of the command; `…` stands for any text in a line, or for any lines. Output that a
//! page does not show is not compared. Hidden comments prepare a page (`<!-- setup: COMMANDS -->`)
//! or exclude the next block (`<!-- not run: REASON -->`). Blocks of `sh` and `bash` need such a
//! reason.

#![cfg(all(feature = "serve", feature = "sqlite", target_os = "linux"))]
#![expect(clippy::unwrap_used, reason = "helpers of tests, too")]

use crate::command::{Place, root};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Precedes the number of a command in the output of a page's script.
const MARK: char = '\u{1f}';

/// Units of figures that differ between runs.
const MEASURED: &[&str] = &["s", "ms", "µs", "MB/s", "GB/s", "documents/s"];

/// A command of a page, with the output that the page shows.
struct Step {
    line: usize,
    command: String,
    displayed: Vec<String>,
}

/// The steps of a page, and the number of its blocks that are not run.
struct Page {
    name: String,
    steps: Vec<Step>,
    not_run: usize,
}

/// Returns the pages of the documentation, relative to the root.
fn page_names() -> BTreeSet<String> {
    let mut names = BTreeSet::from(["README.md".to_owned(), "python/README.md".to_owned()]);
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let name = format!("crates/{}/README.md", entry.unwrap().file_name().display());
        if root().join(&name).is_file() {
            names.insert(name);
        }
    }
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let path = folder.join(entry.unwrap().file_name());
            if root().join(&path).is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                names.insert(path.to_str().unwrap().to_owned());
            }
        }
    }
    names
}

/// Returns the fenced blocks of a text: the number of the first line, the language, the content,
/// and the line before the block.
fn blocks(text: &str) -> Vec<(usize, &str, Vec<&str>, &str)> {
    let mut blocks = Vec::new();
    let mut lines = (1..).zip(text.lines());
    let mut before = "";
    while let Some((number, line)) = lines.next() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            let indent = line.len() - line.trim_start().len();
            let content = lines.by_ref().map(|(_, line)| line);
            let content = content.take_while(|line| line.trim_start() != "```");
            let content = content.map(|line| line.get(indent..).unwrap_or_default()).collect();
            blocks.push((number + 1, language, content, before));
        }
        if !line.is_empty() {
            before = line;
        }
    }
    blocks
}

/// Parses a page: its commands and its hidden preparations, in order.
fn parse(name: &str) -> Page {
    let text = fs::read_to_string(root().join(name)).unwrap();
    let mut page = Page { name: name.to_owned(), steps: Vec::new(), not_run: 0 };
    for (at, _) in text.match_indices("<!-- setup:") {
        let command = text[at..].split_once("setup:").unwrap().1.split_once("-->").unwrap().0;
        let line = text[..at].lines().count() + 1;
        page.steps.push(Step { line, command: command.trim().to_owned(), displayed: Vec::new() });
    }
    for (line, language, content, before) in blocks(&text) {
        if !["console", "sh", "bash"].contains(&language) {
            continue;
        }
        if before.starts_with("<!-- not run: ") {
            page.not_run += 1;
            continue;
        }
        assert_eq!(language, "console", "{name}:{line}: say why the block is not run");
        let mut is_continued = false;
        for (line, text) in (line..).zip(content) {
            let command = text.strip_prefix("$ ");
            if let Some(command) = command {
                page.steps.push(Step { line, command: command.to_owned(), displayed: Vec::new() });
            } else {
                let step = page.steps.last_mut();
                let step = step.unwrap_or_else(|| panic!("{name}:{line}: no command before this"));
                if is_continued {
                    step.command = format!("{}\n{text}", step.command);
                } else {
                    step.displayed.push(text.to_owned());
                }
            }
            is_continued = (command.is_some() || is_continued) && text.ends_with('\\');
        }
    }
    page.steps.sort_by_key(|step| step.line);
    page
}

/// Returns true for commands that run until they are stopped.
fn is_service(command: &str) -> bool {
    let is_endless = |start| command.starts_with(start) && !command.contains("--once");
    ["lookalike serve ", "lookalike watch "].into_iter().any(is_endless)
}

/// Returns the script of a page. It marks the output of each command with its number and exit code.
fn script(page: &Page, port: &str) -> String {
    let mut script = "exec 2>&1\ntrap 'kill $(jobs -p) 2>/dev/null; wait' EXIT\n\
                      curl() { command curl --fail-with-body --silent --show-error \"$@\"; }\n"
        .to_owned();
    for (number, step) in page.steps.iter().enumerate() {
        let command = step.command.replace("8377", port);
        let command = command.replace("cargo run --release -- ", "lookalike ");
        writeln!(script, "printf '\\n{MARK}{number}\\n'").unwrap();
        if is_service(&command) {
            // A service is ready when it has printed as many lines as the page shows.
            let command = command.split(" #").next().unwrap().trim_end().trim_end_matches('&');
            let lines = step.displayed.len().max(1);
            writeln!(
                script,
                ": > service{number}.log; {command} >> service{number}.log 2>&1 & service=$!; \
                 for _ in $(seq 100); do \
                 [ $(wc -l < service{number}.log) -ge {lines} ] && break; sleep 0.1; done; \
                 cat service{number}.log; kill -0 $service"
            )
            .unwrap();
        } else {
            writeln!(script, "{command}").unwrap();
        }
        writeln!(script, "printf '\\n{MARK}%s\\n' $?").unwrap();
    }
    script
}

/// Runs the commands of a page. Returns the differences between its output and the page.
fn check(page: &Page) -> Vec<String> {
    let place = Place::new();
    for folder in ["fixtures", "examples", "deploy"] {
        symlink(root().join(folder), place.path(folder)).unwrap();
    }
    fs::copy(root().join("examples/records.jsonl"), place.path("corpus.jsonl")).unwrap();
    // Tutorials create this copy with their first command. Other pages start with it.
    if !page.steps.iter().any(|step| step.command.contains("fixtures/sample letters")) {
        let mut copy = Command::new("cp");
        copy.args(["-a", "fixtures/sample/.", "letters"]).current_dir(place.path(""));
        assert!(copy.status().unwrap().success());
    }
    // Tutorials call the clone `~/lookalike`.
    let home = Place::new();
    symlink(root(), home.path("lookalike")).unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port().to_string();
    drop(free);
    let programs = Path::new(env!("CARGO_BIN_EXE_lookalike")).parent().unwrap();
    let mut script_command = Command::new("timeout");
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"LOOKALIKE_") {
            script_command.env_remove(name);
        }
    }
    let output = script_command
        .args(["--kill-after=10", "120", "bash", "-c", &script(page, &port)])
        .current_dir(place.path(""))
        .env("HOME", home.path(""))
        .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display()))
        .env("LOOKALIKE_LISTEN", format!("127.0.0.1:{port}"))
        .env("LC_ALL", "C.UTF-8")
        .env_remove("COLUMNS")
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&output.stdout).replace(&format!(":{port}"), ":8377");
    let output = output.replace(&format!("{}/", place.path("").display()), "");
    let mark = format!("\n{MARK}");
    let mut parts = output.split(&mark).skip(1);
    let mut differences = Vec::new();
    for step in &page.steps {
        let (printed, code) = (parts.next(), parts.next());
        let Some((_, printed)) = printed.and_then(|part| part.split_once('\n')) else {
            differences.push(format!("{}:{}: the script ended before", page.name, step.line));
            break;
        };
        let code = code.map_or("no exit code", |code| code.trim());
        let fails = step.displayed.iter().any(|line| line.starts_with("error: "));
        let displayed: Vec<String> = step.displayed.iter().map(|line| normal(line)).collect();
        let lines: Vec<String> = printed.lines().map(normal).collect();
        let is_equal = displayed.is_empty() || matches_lines(&displayed, &lines);
        if !is_equal || (code == "0") == fails {
            differences.push(format!(
                "{}:{}: $ {}\nexit code {code}; the output is\n{printed}",
                page.name, step.line, step.command
            ));
        }
    }
    differences
}

/// Replaces the figures and times of a line that differ between runs.
fn normal(line: &str) -> String {
    let is_time =
        |word: &str| word.len() >= 20 && word[10..].starts_with('T') && word.ends_with('Z');
    let words: Vec<&str> = line.trim_end().split(' ').collect();
    let word = |(at, word): (usize, &&str)| {
        let unit = words.get(at + 1).map_or("", |unit| unit.trim_end_matches([',', '.', ';', ')']));
        let is_number =
            word.trim_start_matches('(').starts_with(|letter: char| letter.is_ascii_digit());
        match *word {
            _ if is_number && MEASURED.contains(&unit) => "0".to_owned(),
            word if word.is_ascii() && is_time(word) => "TIME".to_owned(),
            word => word.to_owned(),
        }
    };
    words.iter().enumerate().map(word).collect::<Vec<_>>().join(" ")
}

/// Returns true if the printed lines match the lines of a page, in which `…` stands for any lines.
fn matches_lines(displayed: &[String], printed: &[String]) -> bool {
    match displayed {
        [] => printed.is_empty(),
        [any, rest @ ..] if any.trim() == "…" => {
            (0..=printed.len()).any(|skipped| matches_lines(rest, &printed[skipped..]))
        }
        [first, rest @ ..] => {
            printed.first().is_some_and(|line| matches_text(first, line))
                && matches_lines(rest, &printed[1..])
        }
    }
}

/// Returns true if a printed line matches a line of a page, in which `…` stands for any text.
fn matches_text(displayed: &str, printed: &str) -> bool {
    let mut parts = displayed.split('…');
    let Some(mut rest) = printed.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    true
}

#[test]
fn pages_show_current_command_output() {
    let pages: Vec<Page> = page_names().iter().map(|name| parse(name)).collect();
    let differences: Vec<String> = std::thread::scope(|scope| {
        let parts = pages.chunks(pages.len().div_ceil(4));
        let check_all = |part: &[Page]| part.iter().flat_map(check).collect::<Vec<_>>();
        let threads: Vec<_> = parts.map(|part| scope.spawn(move || check_all(part))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let run: usize = pages.iter().map(|page| page.steps.len()).sum();
    let not_run: usize = pages.iter().map(|page| page.not_run).sum();
    println!("documentation: {run} commands run, {not_run} blocks not run");
    assert!(differences.is_empty(), "\n{}", differences.join("\n"));
    assert!(run > 100, "{run}");
}

#[test]
fn data_blocks_are_valid() {
    for name in page_names() {
        let text = fs::read_to_string(root().join(&name)).unwrap();
        for (line, language, content, _) in blocks(&text) {
            let content = content.join("\n");
            match language {
                "json" => {
                    let values = serde_json::Deserializer::from_str(&content);
                    let mut values = values.into_iter::<serde_json::Value>();
                    assert!(values.all(|value| value.is_ok()), "{name}:{line}");
                }
                "toml" => {
                    let _: toml::Table = content.parse().unwrap_or_else(|error| {
                        panic!("{name}:{line}: {error}");
                    });
                }
                "" => panic!("{name}:{line}: name the language of the block"),
                _ => {}
            }
        }
    }
}

#[test]
fn ellipses_stand_for_text() {
    let lines = |text: &str| -> Vec<String> { text.lines().map(normal).collect() };
    let printed = lines("one\ntwo\nread in 0.3 s, 2026-11-29T14:00:00Z\n");
    for (displayed, expected) in [
        ("one\n…\nread in 1.7 s, 2026-01-01T00:00:00Z", true),
        ("…", true),
        ("o…e\ntwo\nread…", true),
        ("one\ntwo", false),
        ("one\n…\ntwo", false),
    ] {
        assert_eq!(matches_lines(&lines(displayed), &printed), expected, "{displayed}");
    }
}
