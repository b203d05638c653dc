//! What the user wants, checked once: [`ShingleRule`] says what a document's shingles are,
//! [`Params`] everything that decides a result. Built values are valid; no stage checks again.

use crate::curve;
use crate::error::ParamsError;
use crate::hash;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The longest shingle, in tokens.
pub const MAX_SHINGLE_SIZE: usize = 256;
/// The longest signature, in values of 4 bytes.
pub const MAX_NUM_HASHES: usize = 8192;
/// The seed of the hash functions when the user names none.
pub const DEFAULT_SEED: u64 = 1;

/// What one token of a shingle is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unit {
    /// A word, as [`TokenRule`] cuts it.
    Words,
    /// A Unicode code point; a run of white space counts as one blank, and none stands at the ends.
    Chars,
    /// A byte of the UTF-8 text as it is (after lower-casing, where [`Case::Fold`] is chosen).
    Bytes,
}

/// Where words begin and end. Only [`Unit::Words`] looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenRule {
    /// Runs of letters, marks and numbers (`[\p{L}\p{M}\p{N}]+`); each character of a script
    /// written without spaces (Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar, …) is a token.
    Words,
    /// The same runs, with unspaced scripts left as runs.
    WordRuns,
    /// Split at Unicode white space; punctuation stays on its word.
    Whitespace,
}

/// Whether upper case is told from lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Case {
    /// Full Unicode lower-casing of the whole text, with the final-sigma rule.
    Fold,
    /// Text as it is.
    Keep,
}

/// A named list of words that are taken out before shingles are formed.
#[derive(Debug, Clone)]
pub struct StopWords {
    name: String,
    hashes: Arc<[u64]>,
}

impl StopWords {
    /// `words` as the token rule yields them (lower case where [`Case::Fold`] is chosen); a word
    /// that a document writes otherwise stays in. `name` goes into reports and fingerprints.
    pub fn new<'a>(name: impl Into<String>, words: impl IntoIterator<Item = &'a str>) -> Self {
        let mut hashes: Vec<u64> =
            words.into_iter().map(|w| hash::token_hash(w.as_bytes())).collect();
        hashes.sort_unstable();
        hashes.dedup();
        Self { name: name.into(), hashes: hashes.into() }
    }

    /// The name given, such as a language's code.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether a token with this hash is on the list. O(log n).
    pub fn contains(&self, token: u64) -> bool {
        self.hashes.binary_search(&token).is_ok()
    }

    /// The hashes of the words, ascending.
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }
}

/// What a document's shingles are: `size` consecutive tokens. A document of fewer tokens has one
/// shingle, the whole of it; a document without tokens is *empty* and matches nothing.
#[derive(Debug, Clone)]
pub struct ShingleRule {
    unit: Unit,
    size: usize,
    tokens: TokenRule,
    case: Case,
    frequencies: bool,
    stop_words: Option<StopWords>,
}

impl Default for ShingleRule {
    /// Five lower-cased words.
    fn default() -> Self {
        Self {
            unit: Unit::Words,
            size: 5,
            tokens: TokenRule::Words,
            case: Case::Fold,
            frequencies: false,
            stop_words: None,
        }
    }
}

impl ShingleRule {
    /// Shingles of `size` tokens, 1 to [`MAX_SHINGLE_SIZE`]. Words are lower-cased runs, case is
    /// folded, repeats do not count; the `with_` functions change that.
    ///
    /// # Errors
    /// [`ParamsError::ShingleSize`] outside that range.
    pub fn new(unit: Unit, size: usize) -> Result<Self, ParamsError> {
        if size == 0 || size > MAX_SHINGLE_SIZE {
            return Err(ParamsError::ShingleSize { got: size });
        }
        Ok(Self { unit, size, ..Self::default() })
    }

    /// The same with another rule for words.
    #[must_use]
    pub fn with_tokens(self, tokens: TokenRule) -> Self {
        Self { tokens, ..self }
    }

    /// The same with case folded or kept.
    #[must_use]
    pub fn with_case(self, case: Case) -> Self {
        Self { case, ..self }
    }

    /// The same with frequencies respected: the c-th repeat of a shingle is another element, so
    /// that the Jaccard similarity becomes Σmin/Σmax of the counts.
    #[must_use]
    pub fn with_frequencies(self, frequencies: bool) -> Self {
        Self { frequencies, ..self }
    }

    /// The same without these words. Only [`Unit::Words`] looks at them.
    #[must_use]
    pub fn with_stop_words(self, stop_words: Option<StopWords>) -> Self {
        Self { stop_words, ..self }
    }

    /// What a token is.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// Tokens per shingle.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Where words begin and end.
    pub fn tokens(&self) -> TokenRule {
        self.tokens
    }

    /// Folded or kept.
    pub fn case(&self) -> Case {
        self.case
    }

    /// Whether repeats count.
    pub fn frequencies(&self) -> bool {
        self.frequencies
    }

    /// The words taken out, if any.
    pub fn stop_words(&self) -> Option<&StopWords> {
        self.stop_words.as_ref()
    }
}

impl fmt::Display for ShingleRule {
    /// `words:5`, with what differs from the default behind it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            Unit::Words => "words",
            Unit::Chars => "chars",
            Unit::Bytes => "bytes",
        };
        write!(f, "{unit}:{}", self.size)?;
        if self.unit == Unit::Words && self.tokens != TokenRule::Words {
            write!(f, " tokens:{}", self.tokens)?;
        }
        if self.case == Case::Keep {
            write!(f, " case:keep")?;
        }
        if self.frequencies {
            write!(f, " frequencies")?;
        }
        if let Some(list) = &self.stop_words {
            write!(f, " stop-words:{}", list.name())?;
        }
        Ok(())
    }
}

impl FromStr for ShingleRule {
    type Err = ParamsError;

    /// `words:5`, `chars:5`, `bytes:5`, or `bag` for the bag of words (`words:1`).
    fn from_str(text: &str) -> Result<Self, ParamsError> {
        let parse = || ParamsError::Parse {
            option: "--shingle",
            got: text.to_owned(),
            expected: "words:N, chars:N or bytes:N with N from 1 to 256, or bag",
        };
        if text == "bag" {
            return Self::new(Unit::Words, 1);
        }
        let (unit, size) = text.split_once(':').ok_or_else(parse)?;
        let unit = match unit {
            "words" => Unit::Words,
            "chars" => Unit::Chars,
            "bytes" => Unit::Bytes,
            _ => return Err(parse()),
        };
        Self::new(unit, size.parse().map_err(|_| parse())?)
    }
}

/// Declares the texts of a closed choice once, for reading and for writing.
macro_rules! named {
    ($type:ident, $option:literal, $expected:literal,
     $($variant:ident = $name:literal),+ $(,)?) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$variant => $name),+ })
            }
        }
        impl FromStr for $type {
            type Err = ParamsError;
            fn from_str(text: &str) -> Result<Self, ParamsError> {
                match text {
                    $($name => Ok(Self::$variant),)+
                    _ => Err(ParamsError::Parse {
                        option: $option,
                        got: text.to_owned(),
                        expected: $expected,
                    }),
                }
            }
        }
    };
}

named!(
    TokenRule,
    "--tokens",
    "words, word-runs or whitespace",
    Words = "words",
    WordRuns = "word-runs",
    Whitespace = "whitespace"
);
named!(Case, "--case", "fold or keep", Fold = "fold", Keep = "keep");
named!(
    Scheme,
    "--scheme",
    "fss, multiply-shift, mod-prime, xor or xor-multiply",
    FastSimilarity = "fss",
    MultiplyShift = "multiply-shift",
    ModPrime = "mod-prime",
    Xor = "xor",
    XorMultiply = "xor-multiply"
);

/// How a signature is computed; `docs/signature.md` defines each to the bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Truncated Fast Similarity Sketching (Dahlgaard, Knudsen, Thorup, FOCS 2017): two binning
    /// rounds, then a classic minimum for every value still empty. The default.
    FastSimilarity,
    /// Classic MinHash with `a·x + b mod 2³²`, `a` odd (Dietzfelbinger et al. 1997).
    MultiplyShift,
    /// Classic MinHash with `(a·x + b) mod 4294967311`, the prime just above 2³².
    ModPrime,
    /// Classic MinHash with `x ⊕ b`. Its error on small sets is up to 2.5 times the ideal.
    Xor,
    /// Classic MinHash with `(x ⊕ b)·a mod 2³²`, `a` odd: the best of the classic families here.
    XorMultiply,
}

/// What [`Params::new`] starts from. `Default` is threshold 0.8, recall 0.99, five words, the
/// default scheme and seed, and everything else chosen.
#[derive(Debug, Clone)]
pub struct Wishes {
    /// What a shingle is.
    pub shingle: ShingleRule,
    /// Report pairs with at least this exact Jaccard similarity; above 0, at most 1.
    pub threshold: f64,
    /// The least predicted probability that a pair at the threshold becomes a candidate.
    pub recall: f64,
    /// Values per signature, or chosen.
    pub num_hashes: Option<usize>,
    /// Bands, or chosen.
    pub bands: Option<usize>,
    /// Rows per band, or chosen.
    pub rows: Option<usize>,
    /// How signatures are computed.
    pub scheme: Scheme,
    /// Draws the hash functions; the same seed gives the same functions for ever.
    pub seed: u64,
}

impl Default for Wishes {
    fn default() -> Self {
        Self {
            shingle: ShingleRule::default(),
            threshold: 0.8,
            recall: 0.99,
            num_hashes: None,
            bands: None,
            rows: None,
            scheme: Scheme::FastSimilarity,
            seed: DEFAULT_SEED,
        }
    }
}

/// Everything that decides a result: the same documents and the same `Params` give the same bytes.
#[derive(Debug, Clone)]
pub struct Params {
    shingle: ShingleRule,
    threshold: f64,
    recall: f64,
    num_hashes: usize,
    bands: usize,
    rows: usize,
    scheme: Scheme,
    seed: u64,
}

impl Params {
    /// Checks the wishes and chooses what they leave open, see [`curve::choose`]. Bands and rows
    /// given by hand are taken as they are, whatever recall they have.
    ///
    /// # Errors
    /// A [`ParamsError`] that names the value and what is possible.
    pub fn new(wishes: &Wishes) -> Result<Self, ParamsError> {
        let Wishes { threshold, recall, num_hashes, bands, rows, scheme, seed, .. } = *wishes;
        if !(threshold > 0.0 && threshold <= 1.0) {
            return Err(ParamsError::Threshold { got: threshold });
        }
        if !(recall > 0.0 && recall < 1.0) {
            return Err(ParamsError::Recall { got: recall });
        }
        if let Some(got) = num_hashes.filter(|n| !(1..=MAX_NUM_HASHES).contains(n)) {
            return Err(ParamsError::NumHashes { got });
        }
        let choice = curve::choose(threshold, recall, num_hashes, bands, rows)?;
        Ok(Self {
            shingle: wishes.shingle.clone(),
            threshold,
            recall,
            num_hashes: choice.num_hashes,
            bands: choice.bands,
            rows: choice.rows,
            scheme,
            seed,
        })
    }

    /// What a shingle is.
    pub fn shingle(&self) -> &ShingleRule {
        &self.shingle
    }

    /// The least exact Jaccard similarity of a reported pair.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// The recall asked for.
    pub fn recall(&self) -> f64 {
        self.recall
    }

    /// The probability that a pair exactly at the threshold becomes a candidate.
    pub fn predicted_recall(&self) -> f64 {
        curve::candidate_probability(self.threshold, self.bands, self.rows)
    }

    /// Values per signature.
    pub fn num_hashes(&self) -> usize {
        self.num_hashes
    }

    /// Bands per signature.
    pub fn bands(&self) -> usize {
        self.bands
    }

    /// Rows per band.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How signatures are computed.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The seed of the hash functions.
    pub fn seed(&self) -> u64 {
        self.seed
    }
}

impl fmt::Display for Params {
    /// One line that says it all, in a fixed order.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} threshold:{} recall:{} scheme:{} num-hashes:{} bands:{} rows:{} seed:{}",
            self.shingle,
            self.threshold,
            self.recall,
            self.scheme,
            self.num_hashes,
            self.bands,
            self.rows,
            self.seed
        )
    }
}
