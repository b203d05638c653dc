//! Flags that several commands share, and what they mean.

use clap::Args;
use lookalike::core::error::ParamsError;
use lookalike::core::params::{
    Case, DEFAULT_SEED, Measure, Scheme, ShingleRule, TokenRule, Wishes,
};
use lookalike::read::{Format, ReadOptions};
use lookalike::stop_words::stop_words;

/// What a shingle is.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is compared")]
pub(crate) struct ShingleArgs {
    /// Shingles: words:N, chars:N or bytes:N with N from 1 to 256, or bag (single words)
    #[arg(long, value_name = "UNIT:N", default_value = "words:5")]
    shingle: ShingleRule,

    /// Words: `words` are runs of letters and digits, and single characters where a script has no
    /// spaces; `word-runs` leaves those as runs; `whitespace` splits at white space only
    #[arg(long, value_name = "RULE", default_value = "words")]
    tokens: TokenRule,

    /// `fold` reads upper case as lower case, `keep` tells them apart
    #[arg(long, value_name = "CASE", default_value = "fold")]
    case: Case,

    /// Let repeats count: the second use of a shingle is another one
    #[arg(long)]
    frequencies: bool,

    /// Leave out the stop words of a language before forming shingles: en, de, fr, zh, …
    #[arg(long, value_name = "LANG")]
    stop_words: Option<String>,
}

impl ShingleArgs {
    /// The rule they describe.
    pub(crate) fn rule(&self) -> Result<ShingleRule, ParamsError> {
        let list = self.stop_words.as_deref().map(stop_words).transpose()?;
        Ok(self
            .shingle
            .clone()
            .with_tokens(self.tokens)
            .with_case(self.case)
            .with_frequencies(self.frequencies)
            .with_stop_words(list))
    }
}

/// What is similar, and how candidates are found.
#[derive(Debug, Args)]
#[command(next_help_heading = "How alike, and how surely found")]
pub(crate) struct ParameterArgs {
    /// Least exact Jaccard similarity of a reported pair: above 0, at most 1
    #[arg(long, short, value_name = "J", default_value = "0.8", value_parser = threshold)]
    #[arg(allow_negative_numbers = true)]
    threshold: f64,

    /// Least predicted share of the pairs at the threshold that are found: above 0, below 1
    #[arg(long, value_name = "SHARE", default_value = "0.99", value_parser = recall)]
    #[arg(allow_negative_numbers = true)]
    recall: f64,

    /// Values in a signature, 1 to 8192 [default: chosen for threshold and recall]
    #[arg(long, value_name = "N")]
    num_hashes: Option<usize>,

    /// Bands of a signature [default: chosen]
    #[arg(long, value_name = "N")]
    bands: Option<usize>,

    /// Rows of a band; bands × rows is at most the signature's length [default: chosen]
    #[arg(long, value_name = "N")]
    rows: Option<usize>,

    /// Signatures: fss, or classic MinHash by multiply-shift, mod-prime, xor or xor-multiply
    #[arg(long, value_name = "SCHEME", default_value = "fss")]
    scheme: Scheme,

    /// Draws the hash functions; the same number gives the same results for ever
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED, value_parser = seed)]
    #[arg(allow_negative_numbers = true)]
    seed: u64,
}

impl ParameterArgs {
    /// What [`Params`](lookalike::core::params::Params) start from.
    pub(crate) fn wishes(&self, shingle: ShingleRule) -> Wishes {
        Wishes {
            shingle,
            measure: Measure::Jaccard,
            threshold: self.threshold,
            exact: false,
            recall: self.recall,
            num_hashes: self.num_hashes,
            bands: self.bands,
            rows: self.rows,
            scheme: self.scheme,
            seed: self.seed,
        }
    }
}

/// A similarity as it is typed. Its range is checked where all ranges are, by `Params`.
pub(crate) fn threshold(text: &str) -> Result<f64, ParamsError> {
    number(text, "--threshold", "a number above 0 and at most 1, such as 0.8")
}

fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}

fn recall(text: &str) -> Result<f64, ParamsError> {
    number(text, "--recall", "a number above 0 and below 1, such as 0.99")
}

fn number(text: &str, option: &'static str, expected: &'static str) -> Result<f64, ParamsError> {
    text.trim().parse().map_err(|_| ParamsError::Parse { option, got: text.to_owned(), expected })
}

/// How inputs are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "How inputs are read")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct ReadArgs {
    /// Format of all inputs: text, lines (id, blank, text), jsonl, csv or tsv, each also .gz or
    /// .zst [default: by name and first byte]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,

    /// Field or column with the id; in JSONL `meta.id` is a field inside a field
    #[arg(long, value_name = "NAME", default_value = "id")]
    id_field: String,

    /// Field or column with the text
    #[arg(long, value_name = "NAME", default_value = "text")]
    text_field: String,

    #[arg(long, help = "Ids are FILE:LINE, whatever the record says")]
    line_ids: bool,

    /// Leave out bad records and repeated ids, count them and go on
    #[arg(long)]
    skip_bad: bool,

    /// Folders: read what begins with a dot, too
    #[arg(long)]
    hidden: bool,

    /// Folders: read what .gitignore and .ignore leave out, too
    #[arg(long)]
    no_ignore: bool,

    /// Folders: follow symbolic links
    #[arg(long)]
    follow: bool,

    #[arg(long, value_name = "LABEL")]
    #[arg(help = "Encoding of all files: windows-1252, shift_jis, … [default: found for each]")]
    encoding: Option<String>,
}

impl ReadArgs {
    /// What the readers take.
    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions {
            format: self.format,
            id_field: self.id_field.clone(),
            text_field: self.text_field.clone(),
            line_ids: self.line_ids,
            skip_bad: self.skip_bad,
            hidden: self.hidden,
            ignore_files: !self.no_ignore,
            follow_links: self.follow,
            leave_out: Vec::new(),
            encoding: self.encoding.clone(),
        }
    }

    /// Whether bad records are left out rather than an error.
    pub(crate) fn skip_bad(&self) -> bool {
        self.skip_bad
    }
}
