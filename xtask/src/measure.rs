//! Sizes and structure of the source: lines, lengths of functions and files, import cycles, names.

use crate::language::{is_participle, repeated};
use crate::source::{self, SourceCrate};
use std::path::Path;

/// Functions above this length are counted.
const LONG_FUNCTION: usize = 70;

/// Prints the measurements of all crates.
///
/// # Errors
/// Files cannot be listed, read or parsed.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let crates = source::crates(root, &crate::tidy::files(root)?)?;
    crate::commands::say(&report(&crates));
    Ok(())
}

fn report(crates: &[SourceCrate]) -> String {
    [counts(crates), lengths(crates), names(crates), cycles(crates)].concat().join("\n")
}

/// A table of files, lines and functions, a row for each crate.
fn counts(crates: &[SourceCrate]) -> Vec<String> {
    let row = |name: &str, [files, lines, code, functions]: [usize; 4]| {
        format!("{name:<28} {files:>5} {lines:>7} {code:>7} {functions:>9}")
    };
    let mut table = vec![format!(
        "{:<28} {:>5} {:>7} {:>7} {:>9}",
        "crate", "files", "lines", "code", "functions"
    )];
    let mut total = [0; 4];
    for source in crates {
        let files = &source.files;
        let counts = [
            files.len(),
            files.iter().map(|file| file.lines).sum(),
            files.iter().map(|file| file.code_lines).sum(),
            files.iter().map(|file| file.functions.len()).sum(),
        ];
        table.push(row(&source.folder, counts));
        for (total, count) in total.iter_mut().zip(counts) {
            *total += count;
        }
    }
    table.push(row("total", total));
    table
}

fn lengths(crates: &[SourceCrate]) -> Vec<String> {
    let files = || crates.iter().flat_map(|source| &source.files);
    let functions = files().flat_map(|file| file.functions.iter().map(|(_, lines)| *lines));
    let functions: Vec<usize> = functions.collect();
    let long = functions.iter().filter(|lines| **lines > LONG_FUNCTION).count();
    vec![
        String::new(),
        format!("lines of a function: {}, {long} above {LONG_FUNCTION}", quantiles(functions)),
        format!("lines of a file: {}", quantiles(files().map(|file| file.lines).collect())),
    ]
}

fn names(crates: &[SourceCrate]) -> Vec<String> {
    let files = crates.iter().flat_map(|source| &source.files);
    let names: Vec<&str> = files.flat_map(|file| &file.types).map(String::as_str).collect();
    let participles: Vec<&str> = names.iter().copied().filter(|name| is_participle(name)).collect();
    let repeated = repeated(&names);
    let distinct = names.len() - repeated.iter().map(|(_, count)| count - 1).sum::<usize>();
    let list = repeated.iter().map(|(name, count)| format!("{name} {count}"));
    let list = list.collect::<Vec<_>>().join(", ");
    vec![
        String::new(),
        format!("{distinct} names of types"),
        format!("{} defined more than once: {list}", repeated.len()),
        format!("{} participles: {}", participles.len(), participles.join(", ")),
    ]
}

fn cycles(crates: &[SourceCrate]) -> Vec<String> {
    let cycles: Vec<Vec<&str>> = crates.iter().flat_map(source::cycles).collect();
    let head = [String::new(), format!("{} import cycles", cycles.len())];
    let lines = cycles.iter().map(|cycle| format!("  {} files: {}", cycle.len(), cycle.join(" ")));
    head.into_iter().chain(lines).collect()
}

/// Median, 99th percentile and maximum.
fn quantiles(mut values: Vec<usize>) -> String {
    values.sort_unstable();
    let at = |share: usize| {
        let place = (values.len() * share).div_ceil(100).saturating_sub(1);
        values.get(place).copied().unwrap_or(0)
    };
    format!("median {}, p99 {}, maximum {}", at(50), at(99), at(100))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_few_values() {
        assert_eq!(quantiles(vec![3, 1, 2]), "median 2, p99 3, maximum 3");
        assert_eq!(quantiles(Vec::new()), "median 0, p99 0, maximum 0");
        assert_eq!(quantiles((1..=200).collect()), "median 100, p99 198, maximum 200");
    }
}
