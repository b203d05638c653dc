//! Times the inner loops with every instruction set of this processor.
//!
//! ```text
//! cargo run --release --package lookalike-datasketch --example instruction_sets
//! ```

#![expect(clippy::print_stdout, reason = "a table of times")]

use lookalike_datasketch::instruction_set::InstructionSet;
use lookalike_datasketch::scheme::{PermutationScheme, Permutations};
use lookalike_datasketch::sha1;
use std::error::Error;
use std::time::Instant;

const TOKENS: usize = 10_000;
const ROUNDS: usize = 40;

/// Nanoseconds that `work` takes for each token, the least of all rounds.
fn least(mut work: impl FnMut()) -> f64 {
    let times = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e9 / TOKENS as f64
    });
    times.fold(f64::INFINITY, f64::min)
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = (0..TOKENS).map(|k| format!("token {}", k * 7919)).collect();
    let tokens: Vec<&[u8]> = words.iter().map(String::as_bytes).collect();
    let schemes =
        [PermutationScheme::Affine32, PermutationScheme::Affine64, PermutationScheme::Legacy];
    println!("| ns a token | SHA-1 | affine32 | affine64 | legacy |\n|---|---|---|---|---|");
    for instructions in InstructionSet::available() {
        let mut hashes = Vec::new();
        let sha1 = least(|| {
            hashes.clear();
            sha1::hash_all(instructions, &tokens, &mut hashes);
        });
        print!("| {} | {sha1:.1} |", instructions.name());
        for scheme in schemes {
            let permutations = Permutations::drawn(scheme, 1, 128)?;
            let mut values = scheme.empty_values(128)?;
            let mut hashes: Vec<u64> = hashes.iter().map(|hash| hash & 0xffff_ffff).collect();
            let time = least(|| permutations.lower(instructions, scheme, &mut hashes, &mut values));
            print!(" {time:.1} |");
        }
        println!();
    }
    Ok(())
}
