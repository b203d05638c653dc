//! Checks the names of types: each must be a noun, and belong to only one type.

use crate::budgets::{Counts, Measurement};
use crate::source::SourceCrate;
use std::collections::{BTreeMap, BTreeSet};

/// Past participles that do not end in `ed`.
const PARTICIPLES: &[&str] = &[
    "Borne", "Bound", "Bought", "Broken", "Built", "Chosen", "Cut", "Done", "Drawn", "Found",
    "Given", "Held", "Hidden", "Kept", "Known", "Left", "Lost", "Made", "Meant", "Met", "Put",
    "Said", "Seen", "Sent", "Shown", "Sought", "Spent", "Split", "Spread", "Spun", "Taken", "Told",
    "Torn", "Won", "Written",
];
/// Nouns that end in `ed`.
const NOUNS: &[&str] = &["Embed", "Feed", "Need", "Seed", "Speed"];

/// Reports names that several Rust types have. A Python class may have the name of a Rust type.
pub(crate) fn check(crates: &[SourceCrate], findings: &mut Vec<String>) {
    let files = crates.iter().filter(|source| source.is_rust());
    let files = files.flat_map(|source| &source.files);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    // A file may define a type several times, under different `cfg` conditions.
    for name in files.flat_map(|file| file.types.iter().collect::<BTreeSet<_>>()) {
        *counts.entry(name).or_default() += 1;
    }
    for (name, count) in counts.into_iter().filter(|(_, count)| *count > 1) {
        findings.push(format!("{name}: {count} types have this name; rename all but one"));
    }
}

/// Counts types and classes whose name ends in a past participle.
pub(crate) fn participles(crates: &[SourceCrate]) -> Measurement {
    let files = crates.iter().flat_map(|source| &source.files);
    let mut counts = Counts::new();
    for name in files.flat_map(|file| &file.types).filter(|name| is_participle(name)) {
        *counts.entry(name.clone()).or_default() += 1;
    }
    Measurement { title: "types named by a participle", remedy: "name the type by a noun", counts }
}

/// Returns true if a name ends in a past participle, such as `Given`, `_Tuned` or `RayFound`.
fn is_participle(name: &str) -> bool {
    let start = name.rfind(char::is_uppercase).unwrap_or(0);
    let word = &name[start..];
    word.ends_with("ed") && !NOUNS.contains(&word) || PARTICIPLES.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailing_participles_are_detected() {
        let names = ["Told", "_Asked", "RayFound", "Seed", "AskedFor", "Finding", "JsonFeed"];
        assert_eq!(names.map(is_participle), [true, true, true, false, false, false, false]);
    }
}
