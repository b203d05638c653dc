//! Measures the size and structure of the sources: lines, lengths of functions and files, import
//! cycles, packed tuples.

use crate::source::{self, SourceCrate};
use std::path::Path;

/// Functions of more than this number of lines are counted as long.
const LONG_FUNCTION: usize = 100;

/// Prints the measurements of all crates.
///
/// # Errors
/// If files cannot be listed, read or parsed.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let files = crate::tidy::files(root)?;
    let crates = source::crates(root, &files)?;
    let report = [counts(&crates), lengths(&crates), cycles(&crates), packed_tuples(&crates)];
    crate::commands::say(&report.concat().join("\n"));
    Ok(())
}

/// Returns a table of files, lines and functions: a row for each crate, for the Python package and
/// for other languages.
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
    // Only the Rust parser finds the ends of functions.
    let rust = || crates.iter().filter(|source| source.is_rust());
    let files = || rust().flat_map(|source| &source.files);
    let functions: Vec<usize> = files().flat_map(|file| file.functions.iter().copied()).collect();
    let long = functions.iter().filter(|lines| **lines > LONG_FUNCTION).count();
    vec![
        String::new(),
        format!("lines of a function: {}, {long} above {LONG_FUNCTION}", quantiles(functions)),
        format!("lines of a file: {}", quantiles(files().map(|file| file.lines).collect())),
    ]
}

/// Lists the lines of packed tuples.
fn packed_tuples(crates: &[SourceCrate]) -> Vec<String> {
    let files = crates.iter().flat_map(|source| &source.files);
    let places = files.flat_map(|file| {
        file.packed_tuples.iter().map(move |line| format!("  {}:{line}", file.name))
    });
    let places: Vec<String> = places.collect();
    let head = [String::new(), format!("{} packed tuples", places.len())];
    head.into_iter().chain(places).collect()
}

fn cycles(crates: &[SourceCrate]) -> Vec<String> {
    let cycles: Vec<Vec<&str>> = crates.iter().flat_map(source::cycles).collect();
    let head = [String::new(), format!("{} import cycles", cycles.len())];
    let lines = cycles.iter().map(|cycle| format!("  {} files: {}", cycle.len(), cycle.join(" ")));
    head.into_iter().chain(lines).collect()
}

/// Formats the median, the 99th percentile and the maximum.
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
