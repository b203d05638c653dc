//! The language of code and documents: words that have a plainer one, and names of types.

use crate::source::SourceCrate;
use std::collections::{BTreeMap, BTreeSet};

/// Words that have a plainer one, which CONTRIBUTING.md (Language) names.
const REJECTED: &[&str] = &[
    "anew",
    "beside",
    "borne",
    "broken off",
    "so many",
    "sought",
    "stands for",
    "stands in",
    "told",
    "whoever",
];
/// Files whose language is checked.
const EXTENSIONS: &[&str] = &[".rs", ".md", ".py", ".pyi", ".js", ".mjs", ".css", ".html", ".toml"];
/// Files that hold the words as data.
const EXEMPT: &[&str] = &["fixtures/", "xtask/src/language.rs"];
/// Parts of lines that hold a word as data: texts of tests and classes of pages.
const EXEMPT_LINES: &[&str] = &[
    "Rejected words: ",
    "being laid anew",
    "Whoever walks along the river",
    "which stands outside of all links",
    "class=\\\"beside\\\"",
    "class: \"beside\"",
    ".beside{",
    "\"beside\"",
];

/// Past participles that do not end in `ed`.
const PARTICIPLES: &[&str] = &[
    "Borne", "Bound", "Bought", "Broken", "Built", "Chosen", "Cut", "Done", "Drawn", "Found",
    "Given", "Held", "Hidden", "Kept", "Known", "Left", "Lost", "Made", "Meant", "Met", "Put",
    "Said", "Seen", "Sent", "Shown", "Sought", "Spent", "Split", "Spread", "Spun", "Taken", "Told",
    "Torn", "Won", "Written",
];
/// Nouns that end in `ed`.
const NOUNS: &[&str] = &["Embed", "Feed", "Need", "Seed", "Speed"];

/// Reports the words of [`REJECTED`] in a file.
pub(crate) fn check_words(name: &str, text: &str, findings: &mut Vec<String>) {
    let is_checked = EXTENSIONS.iter().any(|extension| name.ends_with(extension));
    if !is_checked || EXEMPT.iter().any(|prefix| name.starts_with(prefix)) {
        return;
    }
    for (number, line) in text.lines().enumerate() {
        if EXEMPT_LINES.iter().any(|part| line.contains(part)) {
            continue;
        }
        let line = line.to_lowercase();
        for word in REJECTED.iter().filter(|word| contains_word(&line, word)) {
            findings.push(format!(
                "{name}:{}: `{word}` has a plainer word; see Language in CONTRIBUTING.md",
                number + 1
            ));
        }
    }
}

/// Reports names of types that are defined more than once, or that are a participle.
pub(crate) fn check_names(crates: &[SourceCrate], findings: &mut Vec<String>) {
    // A file may define a type once for each value of a condition.
    let files = crates.iter().flat_map(|source| &source.files);
    let names = files.flat_map(|file| file.types.iter().collect::<BTreeSet<_>>());
    let names: Vec<&str> = names.map(String::as_str).collect();
    for (name, count) in repeated(&names) {
        findings.push(format!("{name}: {count} types have this name; give each its own"));
    }
    for name in names.iter().filter(|name| is_participle(name)) {
        findings.push(format!("{name}: a type is named by a noun, this is a participle"));
    }
}

/// Whether a name is one word, and that a past participle.
pub(crate) fn is_participle(name: &str) -> bool {
    let is_word = name.chars().skip(1).all(char::is_lowercase);
    let participle = name.ends_with("ed") && !NOUNS.contains(&name) || PARTICIPLES.contains(&name);
    is_word && participle
}

/// Names that occur more than once with their numbers, most frequent first.
pub(crate) fn repeated<'a>(names: &[&'a str]) -> Vec<(&'a str, usize)> {
    let mut counts = BTreeMap::new();
    for name in names {
        *counts.entry(*name).or_insert(0) += 1;
    }
    let mut repeated: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 1).collect();
    repeated.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    repeated
}

/// Whether a line has a word, or words, that no letter, digit or underscore continues.
fn contains_word(line: &str, word: &str) -> bool {
    let continues = |character: Option<char>| {
        character.is_some_and(|character| character.is_alphanumeric() || character == '_')
    };
    line.match_indices(word).any(|(at, _)| {
        !continues(line[..at].chars().next_back())
            && !continues(line[at + word.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, text: &str) -> usize {
        let mut findings = Vec::new();
        check_words(name, text, &mut findings);
        findings.len()
    }

    #[test]
    fn words_are_found_whole() {
        let word = REJECTED[0];
        assert_eq!(found("a.rs", &format!("// made {word}.\nlet {word}est = 1;")), 1);
        assert_eq!(found("a.md", &format!("Made {}", word.to_uppercase())), 1);
        assert_eq!(found("a.mjs", word) + found("a.css", word) + found("Cargo.toml", word), 3);
        assert_eq!(found("a.csv", word) + found("fixtures/a.md", word), 0);
    }

    #[test]
    fn participles() {
        let names = ["Told", "Asked", "Seed", "AskedFor", "Found", "Finding"];
        assert_eq!(names.map(is_participle), [true, true, false, false, true, false]);
    }

    #[test]
    fn repeated_names() {
        assert_eq!(repeated(&["A", "B", "A", "C", "B", "A"]), [("A", 3), ("B", 2)]);
    }
}
