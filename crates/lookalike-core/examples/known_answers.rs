//! Prints the known answers of `docs/reference/signature.md` as this library computes them: the
//! file
//! `fixtures/signature_v1.txt`, which a new version of signatures would need again.
//!
//! ```text
//! cargo run -p lookalike-core --example known_answers
//! ```
//!
//! `tests/all/vectors.rs` checks the stored file with the same [`answer`].
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program for developers")]

use lookalike_core::hash::token_hash;
use lookalike_core::kernel::Kernel;
use lookalike_core::params::{Case, Scheme, ShingleRule, TokenRule, Unit};
use lookalike_core::shingle::Shingler;
use lookalike_core::signature::Signer;
use lookalike_core::{band, params};
use std::fmt::Write as _;

fn main() {
    println!(
        "# Known answers of docs/reference/signature.md, version {}.",
        lookalike_core::hash::SIGNATURE_VERSION
    );
    println!(
        "# token BYTES | set|signature|keys UNIT SIZE TOKENS CASE FREQUENCIES TEXT \
         SCHEME K SEED BANDS ROWS; hexadecimal"
    );
    let print = |question: String| {
        println!("{question}\t{}", answer(&question, Kernel::named("scalar").unwrap()));
    };
    let long = "0123456789abcdef";
    for n in [0, 1, 2, 7, 8, 9, 15, 16] {
        print(format!("token {}", to_hex(&long.as_bytes()[..n])));
    }
    for token in
        ["a\0", "0123456789abcdefg", "0123456789abcdef0123456789abcdef", "naïve", "\u{1f600}"]
    {
        print(format!("token {}", to_hex(token.as_bytes())));
    }
    let many: Vec<String> = (0..400).map(|i| format!("word{}", i * i % 331)).collect();
    let texts = [
        "The quick brown fox jumps over the lazy dog.",
        "one",
        "A rose is a rose is a rose is a rose, is a rose.",
        "Crème brûlée — ΟΔΥΣΣΕΥΣ, straße\tand\n\nŁódź",
        &many.join(" "),
    ];
    for text in texts {
        let hex = to_hex(text.as_bytes());
        for options in [
            "words 5 words fold no",
            "words 1 words fold yes",
            "words 2 whitespace keep no",
            "chars 5 words fold no",
            "chars 3 words keep yes",
            "bytes 5 words keep no",
        ] {
            if text.len() < 100 {
                print(format!("set {options} {hex}"));
            }
        }
        for scheme in ["fss", "multiply-shift", "mod-prime", "xor", "xor-multiply"] {
            for (k, seed) in [(16, 1), (100, 42)] {
                let case = format!("words 5 words fold no {hex} {scheme} {k} {seed}");
                print(format!("signature {case}"));
                print(format!("keys {case} 5 {}", k / 5));
            }
        }
        let default = format!("words 5 words fold no {hex} fss 128 {}", params::DEFAULT_SEED);
        print(format!("signature {default}"));
        print(format!("keys {default} 21 6"));
    }
}

fn from_hex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, b| {
        write!(hex, "{b:02x}").unwrap();
        hex
    })
}

fn join(values: impl Iterator<Item = String>) -> String {
    values.collect::<Vec<_>>().join(" ")
}

fn rule(args: &[&str]) -> ShingleRule {
    let unit = match args[0] {
        "words" => Unit::Words,
        "chars" => Unit::Chars,
        _ => Unit::Bytes,
    };
    ShingleRule::new(unit, args[1].parse().unwrap())
        .unwrap()
        .with_tokens(args[2].parse::<TokenRule>().unwrap())
        .with_case(args[3].parse::<Case>().unwrap())
        .with_frequencies(args[4] == "yes")
}

/// The answer to a question of the file.
pub(crate) fn answer(question: &str, kernel: Kernel) -> String {
    let words: Vec<&str> = question.split(' ').collect();
    let (kind, args) = (words[0], &words[1..]);
    if kind == "token" {
        return format!("{:016x}", token_hash(&from_hex(args[0])));
    }
    let text = String::from_utf8(from_hex(args[5])).unwrap();
    let mut shingler = Shingler::with_kernel(&rule(args), kernel);
    if kind == "set" {
        let mut set = Vec::new();
        shingler.set(&text, &mut set);
        return join(set.iter().map(|h| format!("{h:016x}")));
    }
    let scheme: Scheme = args[6].parse().unwrap();
    let (num_hashes, seed) = (args[7].parse().unwrap(), args[8].parse().unwrap());
    let mut signer = Signer::with_kernel(scheme, num_hashes, seed, kernel);
    let signature = signer.sign(shingler.shingle(&text).hashes);
    if kind == "signature" {
        return join(signature.iter().map(|v| format!("{v:08x}")));
    }
    assert_eq!(kind, "keys");
    let mut keys = vec![0; args[9].parse().unwrap()];
    band::bucket_keys(signature, args[10].parse().unwrap(), &mut keys);
    join(keys.iter().map(|k| format!("{k:016x}")))
}
