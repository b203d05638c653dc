//! Flags that decide what is similar: shingles, threshold and recall, measure, signatures.

use crate::cmd::CommandError;
use clap::Args;
use lookalike::core::error::ParamsError;
use lookalike::core::parameter::Parameter;
use lookalike::core::params::{
    Case, DEFAULT_SEED, Measure, ParamsBuilder, Scheme, ShingleRule, TokenRule,
};
use lookalike::read::{Normalization, refuse_streams};
use lookalike::stop_words::stop_words;
use std::path::PathBuf;
use std::str::FromStr;

/// Options for splitting texts into words and comparing these.
#[derive(Debug, Args)]
#[command(next_help_heading = "Comparison")]
pub(crate) struct WordArgs {
    /// `words`: runs of letters and digits; single characters in scripts without spaces.
    /// `word-runs`: runs in every script. `whitespace`: split at white space only
    /// [default: words; word-runs with segment:dictionary]
    #[arg(long, value_name = "RULE")]
    tokens: Option<TokenRule>,

    /// `fold` ignores case, `keep` distinguishes it
    #[arg(long, value_name = "CASE", default_value = "fold")]
    case: Case,
}

impl WordArgs {
    /// How words are cut and compared.
    pub(crate) fn rule(&self) -> (TokenRule, Case) {
        (self.tokens.unwrap_or(TokenRule::Words), self.case)
    }
}

/// Options for the shingles of a document.
#[derive(Debug, Args)]
#[command(next_help_heading = "Comparison")]
pub(crate) struct ShingleArgs {
    /// Shingles: words:N, chars:N or bytes:N with N from 1 to 256, or bag (single words)
    #[arg(long, value_name = "UNIT:N", default_value = "words:5")]
    shingle: ShingleRule,

    #[command(flatten)]
    words: WordArgs,

    /// Count repeats: the second occurrence of a shingle is a different shingle
    #[arg(long)]
    frequencies: bool,

    /// Leave out the stop words of a language before forming shingles: en, de, fr, zh, …
    #[arg(long, value_name = "LANG")]
    stop_words: Option<String>,
}

impl ShingleArgs {
    /// Returns the shingle rule that the options describe.
    pub(crate) fn rule(&self, normalization: Normalization) -> Result<ShingleRule, ParamsError> {
        let list = self.stop_words.as_deref().map(stop_words).transpose()?;
        let tokens = if normalization.segment { TokenRule::WordRuns } else { TokenRule::Words };
        Ok(self
            .shingle
            .clone()
            .with_tokens(self.words.tokens.unwrap_or(tokens))
            .with_case(self.words.case)
            .with_frequencies(self.frequencies)
            .with_stop_words(list))
    }
}

/// How alike documents must be, and how surely they are found.
#[derive(Debug, Args)]
#[command(next_help_heading = "Similarity and recall")]
pub(crate) struct AimArgs {
    /// Report pairs with similarity J or more; J is above 0 and at most 1
    #[arg(long, short, value_name = "J", default_value = "0.8", value_parser = threshold)]
    #[arg(allow_negative_numbers = true)]
    threshold: f64,

    /// Minimum share of the pairs at the threshold that are predicted to be found; above 0, below 1
    #[arg(long, value_name = "SHARE", default_value = "0.99", value_parser = recall)]
    #[arg(allow_negative_numbers = true)]
    recall: f64,
}

/// Options for the similarity measure and the exact search.
#[derive(Debug, Args)]
#[command(next_help_heading = "Similarity and recall")]
pub(crate) struct MeasureArgs {
    /// `jaccard`, or `containment`, which finds excerpts in longer texts. `jaccard` divides the
    /// shared shingles by all shingles of both documents, `containment` by the shingles of the
    /// shorter one
    #[arg(long, value_name = "WHAT", default_value = "jaccard")]
    pub(crate) measure: Measure,

    /// Find every pair (slower, with more memory). Compares documents that share rare shingles
    /// instead of documents that share bands
    #[arg(long)]
    pub(crate) exact: bool,
}

/// Options for signatures and their bands.
#[derive(Debug, Args)]
#[command(next_help_heading = "Similarity and recall")]
pub(crate) struct SignatureArgs {
    /// Values in a signature, 1 to 8192 [default: chosen for threshold and recall]
    #[arg(long, value_name = "N")]
    num_hashes: Option<usize>,

    /// Bands of a signature [default: chosen for threshold and recall]. For `find`, `dedup` and
    /// `tune`, the value `auto` chooses the numbers of values, bands and rows that are expected to
    /// be fastest for a sample of 2,000 documents. The run then reads all documents twice
    #[arg(long, value_name = "N")]
    bands: Option<BandsArg>,

    /// Rows of a band; bands × rows is at most the signature's length [default: chosen]
    #[arg(long, value_name = "N")]
    rows: Option<usize>,

    /// Signatures: fss, or classic MinHash by multiply-shift, mod-prime, xor or xor-multiply
    #[arg(long, value_name = "SCHEME", default_value = "fss")]
    scheme: Scheme,

    /// Random seed of the hash functions; equal seeds mean equal functions in every version
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED, value_parser = seed)]
    #[arg(allow_negative_numbers = true)]
    seed: u64,
}

/// The value of `--bands`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BandsArg {
    Auto,
    Number(usize),
}

impl FromStr for BandsArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            number => {
                let number = number.parse().map(Self::Number);
                number.map_err(|_| "expected a whole number from 1 on, or auto".to_owned())
            }
        }
    }
}

impl SignatureArgs {
    /// Whether the command measures a sample of the documents to choose bands and rows.
    ///
    /// # Errors
    /// `--rows` is set together with `--bands auto`.
    pub(crate) fn bands_auto(&self) -> Result<bool, CommandError> {
        let auto = self.bands == Some(BandsArg::Auto);
        if auto && self.rows.is_some() {
            return Err(ParamsError::AutoBandsWithRows.into());
        }
        Ok(auto)
    }

    /// Refuses `--bands auto`. `why` continues the message and contains the remedy.
    pub(crate) fn refuse_auto(&self, why: &str) -> Result<(), CommandError> {
        if self.bands == Some(BandsArg::Auto) {
            let message = format!("--bands auto is for `find`, `dedup` and `tune`: {why}");
            return Err(CommandError::Usage(message));
        }
        Ok(())
    }

    /// Returns a builder of parameters for Jaccard similarity.
    pub(crate) fn builder(&self, shingle: ShingleRule, aim: &AimArgs) -> ParamsBuilder {
        ParamsBuilder {
            shingle,
            threshold: aim.threshold,
            measure: Measure::Jaccard,
            exact: false,
            recall: aim.recall,
            num_hashes: self.num_hashes,
            bands: match self.bands {
                Some(BandsArg::Number(bands)) => Some(bands),
                Some(BandsArg::Auto) | None => None,
            },
            rows: self.rows,
            scheme: self.scheme,
            seed: self.seed,
        }
    }
}

/// Options for similarity and for the search for candidates.
#[derive(Debug, Args)]
pub(crate) struct ParameterArgs {
    #[command(flatten)]
    aim: AimArgs,

    #[command(flatten)]
    measure: MeasureArgs,

    #[command(flatten)]
    signature: SignatureArgs,
}

impl ParameterArgs {
    /// Whether the command measures a sample of the documents to choose bands and rows.
    ///
    /// # Errors
    /// Options that leave nothing to choose, and inputs that cannot be read twice.
    pub(crate) fn bands_auto<'a>(
        &self,
        inputs: impl Iterator<Item = &'a PathBuf>,
    ) -> Result<bool, CommandError> {
        let auto = self.signature.bands_auto()?;
        if auto && (self.measure.exact || self.measure.measure == Measure::Containment) {
            return Err(ParamsError::AutoBandsUnused.into());
        }
        if auto {
            refuse_streams(inputs, "--bands auto")?;
        }
        Ok(auto)
    }

    /// As [`SignatureArgs::refuse_auto`].
    pub(crate) fn refuse_auto(&self, why: &str) -> Result<(), CommandError> {
        self.signature.refuse_auto(why)
    }

    /// Returns the builder of [`Params`](lookalike::core::params::Params).
    pub(crate) fn builder(&self, shingle: ShingleRule) -> ParamsBuilder {
        let MeasureArgs { measure, exact } = self.measure;
        ParamsBuilder { measure, exact, ..self.signature.builder(shingle, &self.aim) }
    }
}

/// Parses a similarity. `Params` checks its range, as it checks all ranges.
pub(crate) fn threshold(text: &str) -> Result<f64, ParamsError> {
    number(text, Parameter::Threshold, "a number above 0 and at most 1, such as 0.8")
}

fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}

pub(crate) fn recall(text: &str) -> Result<f64, ParamsError> {
    number(text, Parameter::Recall, "a number above 0 and below 1, such as 0.99")
}

fn number(text: &str, parameter: Parameter, expected: &'static str) -> Result<f64, ParamsError> {
    let refused = |_| ParamsError::Parse { parameter, got: text.to_owned(), expected };
    text.trim().parse().map_err(refused)
}
