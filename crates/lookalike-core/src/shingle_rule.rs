//! The definition of shingles: the parameters of [`shingle`](crate::shingle), and their textual
//! form.

use crate::error::ParamsError;
use crate::hash;
use crate::named::named;
use crate::parameter::{MAX_SHINGLE_SIZE, Parameter};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The unit of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unit {
    /// A word, divided by [`TokenRule`].
    Words,
    /// A Unicode code point. A run of white space counts as one blank; blanks at the ends are
    /// removed.
    Chars,
    /// A byte of the UTF-8 text (after lower-casing, if [`Case::Fold`] is chosen).
    Bytes,
}

/// The rule that divides text into words. Only used with [`Unit::Words`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenRule {
    /// Runs of letters, marks and numbers (`[\p{L}\p{M}\p{N}]+`); each character of a script
    /// written without spaces (Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar, …) is a token.
    Words,
    /// Like [`Words`](Self::Words), with runs of unspaced scripts as single tokens.
    WordRuns,
    /// Split at Unicode white space; punctuation belongs to its word.
    Whitespace,
}

/// Whether upper case and lower case differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Case {
    /// Full Unicode lower-casing of the whole text, with the final-sigma rule.
    Fold,
    /// Unchanged text.
    Keep,
}

/// A named list of words that are removed before shingles are formed.
#[derive(Debug, Clone)]
pub struct StopWords {
    name: String,
    hashes: Arc<[u64]>,
}

impl StopWords {
    /// Creates a list of words in the form in which the token rule returns them (lower case if
    /// [`Case::Fold`] is chosen). Other forms of a word are not removed. `name` appears in reports
    /// and fingerprints.
    pub fn new<'a>(name: impl Into<String>, words: impl IntoIterator<Item = &'a str>) -> Self {
        let mut hashes: Vec<u64> =
            words.into_iter().map(|w| hash::token_hash(w.as_bytes())).collect();
        hashes.sort_unstable();
        hashes.dedup();
        Self { name: name.into(), hashes: hashes.into() }
    }

    /// Restores a stored list from the token hashes of [`hashes`](Self::hashes).
    pub fn from_hashes(name: impl Into<String>, mut hashes: Vec<u64>) -> Self {
        hashes.sort_unstable();
        hashes.dedup();
        Self { name: name.into(), hashes: hashes.into() }
    }

    /// The name of the list, such as a language's code.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns true if the list contains a token with this hash. O(log n).
    pub fn contains(&self, token: u64) -> bool {
        self.hashes.binary_search(&token).is_ok()
    }

    /// The hashes of the words, ascending.
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }
}

/// The definition of a document's shingles: `size` consecutive tokens. A document of fewer tokens
/// has a single shingle, the whole document. A document without tokens is *empty* and matches
/// nothing.
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
    /// Shingles of five lower-cased words.
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
    /// Shingles of `size` tokens, 1 to [`MAX_SHINGLE_SIZE`]. By default, [`TokenRule::Words`]
    /// divides text, case is folded, and repeats do not count. The `with_` functions change these
    /// settings.
    ///
    /// # Errors
    /// [`ParamsError::ShingleSize`] outside that range.
    pub fn new(unit: Unit, size: usize) -> Result<Self, ParamsError> {
        if size == 0 || size > MAX_SHINGLE_SIZE {
            return Err(ParamsError::ShingleSize { got: size });
        }
        Ok(Self { unit, size, ..Self::default() })
    }

    /// Sets the rule for words.
    #[must_use]
    pub fn with_tokens(self, tokens: TokenRule) -> Self {
        Self { tokens, ..self }
    }

    /// Sets whether case is folded or kept.
    #[must_use]
    pub fn with_case(self, case: Case) -> Self {
        Self { case, ..self }
    }

    /// Sets whether frequencies count. If they do, the c-th repeat of a shingle is a different
    /// element, so that the Jaccard similarity becomes Σmin/Σmax of the counts.
    #[must_use]
    pub fn with_frequencies(self, frequencies: bool) -> Self {
        Self { frequencies, ..self }
    }

    /// Sets the words to remove. Only used with [`Unit::Words`].
    #[must_use]
    pub fn with_stop_words(self, stop_words: Option<StopWords>) -> Self {
        Self { stop_words, ..self }
    }

    /// The unit of a token.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// Tokens per shingle.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The rule that divides text into words.
    pub fn tokens(&self) -> TokenRule {
        self.tokens
    }

    /// Whether case is folded or kept.
    pub fn case(&self) -> Case {
        self.case
    }

    /// Whether repeats count.
    pub fn frequencies(&self) -> bool {
        self.frequencies
    }

    /// The removed words, if any.
    pub fn stop_words(&self) -> Option<&StopWords> {
        self.stop_words.as_ref()
    }
}

impl fmt::Display for ShingleRule {
    /// Writes `words:5`, followed by the settings that differ from the default.
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

    /// Parses `words:5`, `chars:5`, `bytes:5`, or `bag` for the bag of words (`words:1`).
    fn from_str(text: &str) -> Result<Self, ParamsError> {
        let parse = || ParamsError::Parse {
            parameter: Parameter::Shingle,
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

named!(
    TokenRule,
    Tokens,
    "words, word-runs or whitespace",
    Words = "words",
    WordRuns = "word-runs",
    Whitespace = "whitespace"
);
named!(Case, Case, "fold or keep", Fold = "fold", Keep = "keep");
