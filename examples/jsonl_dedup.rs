//! Copies a JSONL file without its near-duplicates.
//!
//! ```text
//! cargo run --example jsonl_dedup [INPUT [OUTPUT]]
//! ```

use lookalike::dedup::{Destination, Survivors, apply};
use lookalike::find::in_collection;
use lookalike::{Collection, FindOptions, NoProgress, Params, ParamsBuilder, ReadOptions};
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Returns the numbers of records read and of records written.
pub(crate) fn run(input: &Path, output: &Path) -> Result<(u64, u64), Box<dyn Error>> {
    let inputs = [input.to_owned()];
    let options = FindOptions::new(Params::new(&ParamsBuilder::default())?);
    let collection = Collection::open(&inputs, &ReadOptions::default())?;
    let findings = in_collection(&collection, &options, &NoProgress)?;
    let destination = Destination::new(output, &inputs, &[], &collection, None)?;
    let survivors = Survivors::create(destination, None)?;
    let written = apply(&findings, &collection, &options, survivors, None, &NoProgress)?;
    Ok((findings.counts.documents, written.kept))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let input = arguments.next().unwrap_or_else(|| "examples/records.jsonl".into());
    let output = arguments.next().unwrap_or_else(|| "kept.jsonl".into());
    let (read, written) = run(&input, &output)?;
    writeln!(std::io::stdout(), "{written} of {read} records are in {}", output.display())?;
    Ok(())
}
