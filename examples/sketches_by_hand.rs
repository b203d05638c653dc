//! Runs the first stages for two texts by hand: shingle sets, exact similarity, signatures,
//! estimated similarity.
//!
//! ```text
//! cargo run --example sketches_by_hand
//! ```

use lookalike::core::params::{ShingleRule, Unit};
use lookalike::core::shingle::Shingler;
use lookalike::core::signature::Signer;
use lookalike::core::verify;
use lookalike::{Params, ParamsBuilder};
use std::error::Error;
use std::io::Write;

const TEXTS: [&str; 2] = [
    "The quick brown fox jumps over the lazy dog and runs away into the dark wood",
    "The quick brown fox jumps over the lazy cat and runs away into the dark wood",
];

/// Prints the numbers of shingles, the exact similarity and its estimate.
pub(crate) fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let shingle = ShingleRule::new(Unit::Words, 2)?;
    let params =
        Params::new(&ParamsBuilder { shingle, threshold: 0.7, ..ParamsBuilder::default() })?;
    let mut shingler = Shingler::new(params.shingle());
    let mut signer = Signer::new(params.scheme(), params.num_hashes(), params.seed());

    let (mut sets, mut signatures) = (Vec::new(), Vec::new());
    for text in TEXTS {
        let mut set = Vec::new();
        shingler.set(text, &mut set);
        sets.push(set);
        signatures.push(signer.sign(shingler.shingle(text).hashes).to_vec());
    }
    let overlap = verify::overlap(&sets[0], &sets[1]);
    writeln!(out, "shingles: {} and {}", sets[0].len(), sets[1].len())?;
    writeln!(out, "exact similarity: {}", overlap.six_decimals())?;
    writeln!(out, "estimate: {:.3}", verify::estimate(&signatures[0], &signatures[1]))?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout())
}
