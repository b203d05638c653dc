//! Finds the near-duplicates among the files of a folder.
//!
//! ```text
//! cargo run --example folder_to_groups [FOLDER]
//! ```

use lookalike::{FindOptions, Params, ParamsBuilder, find};
use std::error::Error;
use std::io::Write;
use std::path::Path;

/// Prints each kept document, and below it its duplicates with their similarities.
pub(crate) fn run(folder: &Path, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let params = Params::new(&ParamsBuilder { threshold: 0.7, ..ParamsBuilder::default() })?;
    let findings = find(&[folder.to_owned()], &FindOptions::new(params))?;
    for group in findings.groups.iter() {
        let group = group?;
        writeln!(out, "{}", group.keeper.id)?;
        for duplicate in &group.duplicates {
            writeln!(out, "  {} {}", duplicate.overlap.six_decimals(), duplicate.id)?;
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "fixtures/sample".to_owned());
    run(Path::new(&folder), &mut std::io::stdout())
}
