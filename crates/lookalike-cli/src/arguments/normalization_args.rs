//! The changes to every text before it is cut into words.

use clap::Args;
use clap::builder::PossibleValuesParser;
use lookalike::read::Normalization;

/// The parts of a [`Normalization`]: normal form, language, words of scripts without spaces.
const PARTS: [&str; 6] = ["nfc", "nfkc", "fold", "unaccent", "language:auto", "segment:dictionary"];

/// The option `--normalize`.
#[derive(Debug, Args)]
#[command(next_help_heading = "How inputs are read")]
pub(crate) struct NormalizationArgs {
    /// Changes to texts, with commas between them [default: none]. `nfc`: Unicode canonical
    /// composition; `nfkc`: compatibility composition (full-width letters, ligatures); `fold`: also
    /// removes vowel marks of Arabic and Hebrew, unifies variants of letters and separates Hangul
    /// syllables; `unaccent`: also removes the marks of Latin letters. `language:auto` detects the
    /// language of each document in its first 2 KiB and leaves out its stop words.
    /// `segment:dictionary` finds words of Chinese, Japanese, Thai, Khmer, Lao and Burmese by
    /// dictionaries; --tokens is then word-runs
    #[arg(long, value_name = "LIST", value_delimiter = ',', hide_possible_values = true)]
    #[arg(value_parser = PossibleValuesParser::new(PARTS))]
    normalize: Vec<String>,
}

impl NormalizationArgs {
    /// The changes for the readers.
    pub(crate) fn normalization(&self) -> Normalization {
        // Every value is one of `PARTS`, which the library can parse.
        self.normalize.join(", ").parse().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_read() {
        for part in PARTS {
            let args = NormalizationArgs { normalize: vec![part.to_owned()] };
            assert_eq!(args.normalization().to_string(), part);
        }
        let args = NormalizationArgs { normalize: Vec::new() };
        assert_eq!(args.normalization(), Normalization::default());
    }
}
