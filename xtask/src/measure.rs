//! Sizes and structure of the source: lines, lengths of functions and files, import cycles, names.

use crate::language::{is_participle, repeated};
use crate::source::{self, SourceCrate};
use std::path::Path;

/// Functions above this length are counted.
const LONG_FUNCTION: usize = 70;

/// The Python package; its tests are elsewhere.
const PYTHON: &str = "python/lookalike/";

/// Prints the measurements of all crates.
///
/// # Errors
/// Files cannot be listed, read or parsed.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let files = crate::tidy::files(root)?;
    let crates = source::crates(root, &files)?;
    let package = python(root, &files)?;
    let report = [counts(&crates, package), lengths(&crates), names(&crates), cycles(&crates)];
    crate::commands::say(&report.concat().join("\n"));
    Ok(())
}

/// Files, lines, lines that are neither blank nor a comment, and functions of the Python package.
fn python(root: &Path, files: &[String]) -> Result<[usize; 4], String> {
    let mut counts = [0; 4];
    let is_package = |name: &&String| name.starts_with(PYTHON) && name.contains(".py");
    for name in files.iter().filter(is_package) {
        let text = std::fs::read_to_string(root.join(name));
        let text = text.map_err(|error| format!("cannot read {name}: {error}"))?;
        counts[0] += 1;
        for line in text.lines().map(str::trim) {
            counts[1] += 1;
            counts[2] += usize::from(!line.is_empty() && !line.starts_with('#'));
            counts[3] += usize::from(line.starts_with("def ") || line.starts_with("async def "));
        }
    }
    Ok(counts)
}

/// A table of files, lines and functions, a row for each crate and one for the Python package.
fn counts(crates: &[SourceCrate], package: [usize; 4]) -> Vec<String> {
    let row = |name: &str, [files, lines, code, functions]: [usize; 4]| {
        format!("{name:<28} {files:>5} {lines:>7} {code:>7} {functions:>9}")
    };
    let mut table = vec![format!(
        "{:<28} {:>5} {:>7} {:>7} {:>9}",
        "crate", "files", "lines", "code", "functions"
    )];
    let mut total = [0; 4];
    let of_crate = |source: &SourceCrate| {
        let files = &source.files;
        [
            files.len(),
            files.iter().map(|file| file.lines).sum(),
            files.iter().map(|file| file.code_lines).sum(),
            files.iter().map(|file| file.functions.len()).sum(),
        ]
    };
    let rows = crates.iter().map(|source| (source.folder.as_str(), of_crate(source)));
    for (name, counts) in rows.chain([(PYTHON, package)]) {
        table.push(row(name, counts));
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
