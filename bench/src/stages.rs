//! `stages`: every stage alone, in this thread, on the same bytes; CPU seconds and what a byte
//! costs. A stage is a line of [`stages`] and a function that takes the input and gives a number
//! which depends on all its work, so that none of it can be left out by the compiler.

use crate::Collection;
use crate::measure;
use crate::options::{Options, Problem};
use crate::table::Table;
use std::hint::black_box;

/// What a stage gets.
pub(crate) struct Input {
    /// The file as it is.
    pub(crate) bytes: Vec<u8>,
}

/// A stage's name and its work.
type Stage = (&'static str, fn(&Input) -> u64);

/// The stages in the order of a document's way, floors first.
const STAGES: [Stage; 2] = [("sum bytes (floor)", sum_bytes), ("count words (floor)", count_words)];

/// Measures and prints. Options: `--runs N` (5; the median counts).
pub(crate) fn stages(collection: &Collection, mut options: Options) -> Result<(), Problem> {
    let runs: usize = options.number("runs", 5)?;
    options.finish()?;
    let file = &collection.documents;
    let bytes = std::fs::read(file).map_err(|error| Problem::new(file.display(), error))?;
    let input = Input { bytes };
    let mut table = Table::new(&["stage", "CPU s", "MB per CPU s", "ns per byte"]);
    for (name, work) in STAGES {
        let mut seconds = Vec::new();
        for _ in 0..runs.max(1) {
            let (spent, number) = measure::thread_cpu(|| work(black_box(&input)))?;
            black_box(number);
            seconds.push(spent);
        }
        let seconds = measure::median(seconds);
        table.row(&[
            name.to_owned(),
            format!("{seconds:.3}"),
            format!("{:.0}", input.bytes.len() as f64 / 1e6 / seconds),
            format!("{:.3}", seconds * 1e9 / input.bytes.len() as f64),
        ]);
    }
    println!("{} ({:.1} MB), median of {runs}\n", file.display(), input.bytes.len() as f64 / 1e6);
    println!("{table}");
    Ok(())
}

fn sum_bytes(input: &Input) -> u64 {
    input.bytes.iter().map(|&byte| u64::from(byte)).sum()
}

fn count_words(input: &Input) -> u64 {
    input.bytes.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count() as u64
}
