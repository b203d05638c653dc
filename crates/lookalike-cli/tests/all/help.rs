//! `-h` and `--help` of every command.
#![allow(clippy::unwrap_used, reason = "tests may stop at anything unexpected")]

use crate::command::{Place, root};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Returns the help of a command at 80 columns.
fn help(command: &[String], flag: &str) -> String {
    help_at(command, flag, "80")
}

fn help_at(command: &[String], flag: &str, columns: &str) -> String {
    let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
    arguments.push(flag);
    Place::new().run_with(&arguments, &[("COLUMNS", columns)]).ok()
}

/// Returns all commands and subcommands as words, starting with the program itself.
fn commands() -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    let mut next = 0;
    while let Some(command) = all.get(next).cloned() {
        let text = help(&command, "--help");
        let listed = text.lines().skip_while(|line| *line != "Commands:").skip(1);
        for line in listed.take_while(|line| !line.is_empty()) {
            // Continued descriptions have a larger indent.
            let name = line.strip_prefix("  ").filter(|line| !line.starts_with(' '));
            let Some(name) = name.and_then(|line| line.split(' ').next()) else { continue };
            if name != "help" {
                all.push([command.clone(), vec![name.to_owned()]].concat());
            }
        }
        next += 1;
    }
    all
}

/// Returns the long options that begin a line of a help text.
fn options(text: &str) -> BTreeSet<String> {
    let name = |line: &str| {
        let line = line.trim_start();
        let (short, line) = line.split_once("--")?;
        let is_option = short.is_empty() || short.len() == 4 && short.starts_with('-');
        Some(format!("--{}", line.split([' ', '[', '=']).next()?)).filter(|_| is_option)
    };
    text.lines().filter(|line| line.starts_with("  ")).filter_map(name).collect()
}

#[test]
fn short_help_fits_a_screen() {
    for command in commands() {
        let text = help(&command, "-h");
        let lines = text.lines().count();
        assert!(lines <= 40, "{command:?} has {lines} lines:\n{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let name = command.iter().fold(String::new(), |name, word| name + word + " ");
        let last = format!("`lookalike {name}--help` lists all options.");
        assert_eq!(text.lines().last(), Some(last.as_str()));
        // All commands share `--help` and `--color`, which do not count.
        assert!(options(&help(&command, "--help")).len() <= 60 + 2, "{command:?}");
        assert!(options(&text).len() <= 18, "{command:?}: {text}");
        assert!(options(&text).is_subset(&options(&help(&command, "--help"))), "{text}");
    }
}

#[test]
fn long_help_lists_all_options() {
    for command in commands() {
        let listed = options(&help(&command, "--help"));
        let mut arguments = vec!["man"];
        arguments.extend(command.iter().map(String::as_str));
        let page = Place::new().run(&arguments).ok();
        for option in page.split("\\fB\\-\\-").skip(1) {
            let name = option.split("\\fR").next().unwrap().replace("\\-", "-");
            assert!(listed.contains(&format!("--{name}")), "{command:?}: {name}");
        }
    }
}

#[test]
fn paragraphs_break_at_the_margin() {
    for command in commands() {
        let text = help(&command, "--help");
        let lines: Vec<&str> = text.lines().collect();
        for pair in lines.windows(2) {
            let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ');
            let Some(word) = pair[1].split(' ').next() else { continue };
            let width = pair[0].chars().count() + 1 + word.chars().count();
            assert!(!pair.iter().all(|line| is_prose(line)) || width > 80, "{command:?}: {pair:?}");
        }
        // Clap would wrap longer example lines.
        let wide = help_at(&command, "--help", "100");
        for line in wide.lines().skip_while(|line| !line.starts_with("Example")).skip(1) {
            assert!(!line.starts_with(' ') || line.chars().count() <= 80, "{command:?}: {line}");
        }
    }
}

#[test]
fn headings_describe_their_options() {
    let resources = ["--memory", "--temp-dir", "--threads", "--resume"];
    let files = ["--html", "--quotes", "--mail-signatures", "--attachments", "--max"];
    for command in commands() {
        let text = help(&command, "--help");
        for (heading, allowed) in
            [("Resources", &resources[..]), ("Web pages, mail, PDF and office files", &files)]
        {
            let Some((_, section)) = text.split_once(&format!("\n{heading}:\n")) else { continue };
            let section = section.split("\n\n").next().unwrap();
            let found = options(section);
            assert!(
                found.iter().all(|name| allowed.contains(&name.as_str())),
                "{command:?}: {found:?}"
            );
        }
    }
}

#[test]
fn short_help_omits_rare_options() {
    let rare = ["--num-hashes", "--bands", "--rows", "--scheme", "--seed", "--frequencies"];
    let rare = rare.into_iter().chain(["--audit-seed", "--confidence", "--estimates", "--max"]);
    let rare: Vec<&str> = rare.chain(["--kernel"]).collect();
    for command in commands() {
        let text = help(&command, "-h");
        for option in &rare {
            assert!(!text.contains(option), "{command:?}: {option}");
        }
    }
    let all = help(&["find".to_owned()], "--help");
    for option in rare.into_iter().filter(|option| *option != "--kernel") {
        assert!(all.contains(option), "{option}");
    }
}

#[test]
fn help_of_other_spellings() {
    let place = Place::new();
    let long = place.run(&["find", "--help"]).ok();
    assert_eq!(place.run(&["help", "find"]).ok(), long);
    assert_eq!(place.run(&["find", "--help", "-h"]).ok(), long);
    let short = place.run(&["find", "-h"]).ok();
    assert_eq!(place.run(&["find", "letters/", "-qh"]).ok(), short);
    assert_ne!(short, long);
}

#[test]
fn version_as_json_names_the_build() {
    let printed = Place::new().run(&["--version", "--json"]).ok();
    let version: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(version["version"], env!("CARGO_PKG_VERSION"));
    let features = version["features"].as_array().unwrap();
    assert_eq!(features.iter().any(|name| name == "parquet"), cfg!(feature = "parquet"));
    assert_eq!(features.iter().any(|name| name == "postgres"), cfg!(feature = "postgres"));
    assert_eq!(version["kernels"].as_array().unwrap().last().unwrap(), "scalar");
    // A build without a repository, such as one from a source archive, has no commit.
    let is_commit = |text: &str| text.len() == 40 && text.bytes().all(|b| b.is_ascii_hexdigit());
    assert!(version["commit"].as_str().is_none_or(is_commit), "{version}");
}

/// Compares the command pages of the documentation with the help texts. If a page differs, the test
/// writes the new page and fails.
#[test]
#[cfg(all(feature = "serve", feature = "sqlite", feature = "postgres"))]
fn reference_pages_show_the_help() {
    let all = commands();
    let mut changed = Vec::new();
    for name in all.iter().filter(|command| command.len() == 1).map(|command| &command[0]) {
        let mut page = format!("# `lookalike {name}`\n");
        for command in all.iter().filter(|command| command.first() == Some(name)) {
            if command.len() > 1 {
                writeln!(page, "\n## `lookalike {}`", command.join(" ")).unwrap();
            }
            write!(page, "\n```text\n{}```\n", help(command, "--help")).unwrap();
        }
        let path = format!("docs/reference/commands/{name}.md");
        if std::fs::read_to_string(root().join(&path)).ok().as_ref() != Some(&page) {
            std::fs::create_dir_all(root().join("docs/reference/commands")).unwrap();
            std::fs::write(root().join(&path), page).unwrap();
            changed.push(path);
        }
    }
    assert!(changed.is_empty(), "out of date, and written again: {changed:?}");
}
