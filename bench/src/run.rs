//! `run`: measures the program `lookalike` as users start it, and for comparison `wc -w` on the
//! same file. Compares the found pairs with the truth.

use crate::collection::BenchCollection;
use crate::measure::{self, ProcessCost};
use crate::options::{BenchError, BenchOptions};
use crate::score::{FoundScore, score};
use crate::table::TextTable;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Measures the runs and prints the results. Options: `--binary FILE` (default: `lookalike` next to
/// this program), `--threshold T` (default: 0.8), `--runs N` (default: 3; the median counts),
/// `--pairs FILE` (keeps the pairs). The number of pairs grows with the square of a cluster's size,
/// so `find` writes them only if the collection has a truth.
pub(crate) fn run(
    collection: &BenchCollection,
    mut options: BenchOptions,
) -> Result<(), BenchError> {
    let binary = options.path("binary").map_or_else(sibling_binary, Ok)?;
    let threshold: f64 = options.number("threshold", 0.8)?;
    let runs: usize = options.number("runs", 3)?;
    let results = measure::results_folder()?;
    let pairs = options.path("pairs").unwrap_or_else(|| results.path().join("pairs.csv"));
    options.finish()?;
    if !binary.exists() {
        return Err(BenchError(format!(
            "{} is not there; build it first: cargo build --release -p lookalike-cli",
            binary.display()
        )));
    }
    let file = &collection.documents;
    let bytes =
        std::fs::metadata(file).map_err(|error| BenchError::new(file.display(), error))?.len();

    let count_words = [OsString::from("-w"), file.into()];
    let floor = measure::median_run(runs, || measure::child(Path::new("wc"), &count_words))?;
    let mut measured = vec![("wc -w", floor)];
    let groups = results.path().join("groups.jsonl");
    let find = find_arguments(file, threshold, "--output", &groups);
    let spent = measure::median_run(runs, || measure::child(&binary, &find))?;
    measured.push(("find, groups", spent));
    if collection.truth.is_some() {
        let find = find_arguments(file, threshold, "--pairs", &pairs);
        let spent = measure::median_run(runs, || measure::child(&binary, &find))?;
        measured.push(("find, table and pairs", spent));
    }

    println!("{} ({:.1} MB), median of {runs}\n", file.display(), bytes as f64 / 1e6);
    println!("{}", table(bytes, &measured));
    if let Some(truth) = &collection.truth {
        let score = score(&pairs, truth, "jaccard", (threshold * 1e6).round() as u32)?;
        println!("{}", score_text(&score));
    }
    Ok(())
}

/// Options of `find` for the shingles of the truth: five words, split at white
/// space, with their case.
pub(crate) const FIND_BY_THE_TRUTH: [&str; 7] =
    ["--format", "jsonl", "--tokens", "whitespace", "--case", "keep", "--quiet"];

/// Returns the arguments of `find`. `option` is the output option, and `result` is
/// the file of the output.
fn find_arguments(file: &Path, threshold: f64, option: &str, result: &Path) -> Vec<OsString> {
    let threshold = threshold.to_string();
    let mut arguments = vec![OsString::from("find"), file.into()];
    arguments.extend(FIND_BY_THE_TRUTH.map(OsString::from));
    arguments.extend(["--threshold", &threshold].map(OsString::from));
    arguments.extend([OsString::from(option), result.into()]);
    arguments
}

fn table(bytes: u64, measured: &[(&str, ProcessCost)]) -> TextTable {
    let floor = measured.first().map_or(1.0, |(_, spent)| spent.cpu_seconds);
    let mut table =
        TextTable::new(&["program", "CPU s", "wall s", "MB per CPU s", "peak MB", "× wc -w"]);
    for (name, spent) in measured {
        table.row(&[
            (*name).to_owned(),
            format!("{:.2}", spent.cpu_seconds),
            format!("{:.2}", spent.wall_seconds),
            format!("{:.0}", bytes as f64 / 1e6 / spent.cpu_seconds),
            format!("{:.0}", spent.peak_bytes as f64 / 1e6),
            format!("{:.2}", spent.cpu_seconds / floor),
        ]);
    }
    table
}

/// Formats a score as a line.
pub(crate) fn score_text(score: &FoundScore) -> String {
    format!(
        "recall {:.5} ({} of {}), precision {:.5} ({} of {}), similarities that differ: {}",
        score.recall(),
        score.found,
        score.expected,
        score.precision(),
        score.found,
        score.reported,
        score.differing
    )
}

/// Returns the path of `lookalike` in the folder of this program. A release
/// build creates both there.
pub(crate) fn sibling_binary() -> Result<PathBuf, BenchError> {
    let this = std::env::current_exe();
    let this = this.map_err(|error| BenchError::new("the folder of this program", error))?;
    Ok(this.with_file_name(format!("lookalike{}", std::env::consts::EXE_SUFFIX)))
}
