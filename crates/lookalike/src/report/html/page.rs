//! What a page is made of: plain values, so that the page knows nothing of how they were found.

use lookalike_core::params::{RecallCaveat, ShingleRule};
use std::io;

/// All of a page but what is streamed into it: groups and what was skipped.
#[derive(Debug, Clone)]
pub struct Page<'a> {
    /// The heading, such as `Near-duplicates in letters/`.
    pub title: &'a str,
    /// The version of the program.
    pub version: &'a str,
    /// The parameters of the run, in the order of display.
    pub parameters: &'a [PageParameter<'a>],
    /// What was counted.
    pub counts: PageCounts,
    /// What else is to be known of the texts, each a sentence without its full stop.
    pub notes: &'a [String],
    /// The similarity's name in a sentence: `Jaccard similarity` or `containment`.
    pub measure: &'a str,
    /// Least similarity of a verified pair, 0 to 1.
    pub threshold: f64,
    /// How documents were cut, for the words of the samples.
    pub shingle: &'a ShingleRule,
    /// How many of the similar pairs are found.
    pub recall: Recall,
    /// The documents of the largest group and its share of the pairs, 0 to 1, where the recall of
    /// the run depends on that group ([`Clustering`](crate::find::Clustering)).
    pub concentrated: Option<(u64, f64)>,
    /// What an audit measured.
    pub audit: Option<&'a PageAudit>,
    /// Where documents came from.
    pub sources: &'a [PageSource],
    /// Why a keeper is preferred to a duplicate, each a clause such as `it is the longer text`;
    /// [`PageDuplicate::reason`] is a place among them.
    pub reasons: &'a [&'a str],
    /// Whether chains were followed (`--group components`), so that a duplicate may be less similar
    /// to its keeper than the threshold.
    pub chains: bool,
    /// Pairs of a keeper and a duplicate whose texts are shown side by side.
    pub samples: &'a [PageSample],
    /// Wall-clock time by stage, in seconds; the only part that differs from run to run.
    pub times: &'a [(&'a str, f64)],
}

/// One choice of a run.
#[derive(Debug, Clone, Copy)]
pub struct PageParameter<'a> {
    /// As on the command line, `--threshold`.
    pub name: &'a str,
    /// Its value.
    pub value: &'a str,
    /// What it does, a sentence without its full stop.
    pub meaning: &'a str,
}

/// Numbers of a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct PageCounts {
    /// Documents that were read, empty ones included.
    pub documents: u64,
    /// Bytes of their texts; 0 where it is not known.
    pub bytes: u64,
    /// Documents without a token, which resemble nothing.
    pub empty: u64,
    /// Files and records that were not read.
    pub skipped: u64,
    /// Documents with the shingles of an earlier one.
    pub copies: u64,
    /// Pairs that were compared exactly.
    pub verified: u64,
    /// Groups.
    pub groups: u64,
    /// Documents that have a keeper.
    pub duplicates: u64,
    /// Bytes of their texts.
    pub duplicate_bytes: u64,
}

/// Where the recall of a run comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Recall {
    /// Every pair at or above the threshold was compared.
    Exact,
    /// By bands and rows, which find a pair with the probability of
    /// [`candidate_probability`](lookalike_core::curve::candidate_probability).
    Banding {
        /// Bands per signature.
        bands: usize,
        /// Rows per band.
        rows: usize,
        /// The share of the pairs at the threshold that was asked for, 0 to 1.
        asked: f64,
        /// Why that probability may not be reached.
        caveat: Option<RecallCaveat>,
    },
}

/// What an audit measured.
#[derive(Debug, Clone)]
pub struct PageAudit {
    /// What was looked for, in the plural: `similar documents`.
    pub what: String,
    /// The share found; of no meaning where no document had a neighbour.
    pub recall: PageInterval,
    /// Whether all documents were drawn, so that shares without an interval are known.
    pub complete: bool,
    /// The confidence of every interval here, 0 to 1.
    pub confidence: f64,
    /// Documents that were drawn.
    pub sampled: u64,
    /// Of these, those with at least one true neighbour.
    pub with_neighbours: u64,
    /// The same by similarity, ascending.
    pub bins: Vec<AuditBin>,
}

/// An estimate with its bounds, each 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PageInterval {
    /// What was measured.
    pub value: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

/// What an audit measured at some similarity.
#[derive(Debug, Clone)]
pub struct AuditBin {
    /// Least similarity, 0 to 1.
    pub from: f64,
    /// Similarity below which they lie; `from` 1 means equal sets.
    pub to: f64,
    /// True neighbours of that similarity which were looked for.
    pub checked: u64,
    /// Those that the run had found.
    pub found: u64,
    /// The share found; of no meaning where nothing was looked for.
    pub recall: PageInterval,
}

/// Where documents came from, and how many of them would go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageSource {
    /// An input file, a folder, or the value of a field.
    pub name: String,
    /// Documents read from it.
    pub documents: u64,
    /// Bytes of their texts.
    pub bytes: u64,
    /// Those that have a keeper.
    pub duplicates: u64,
    /// Bytes of these.
    pub duplicate_bytes: u64,
    /// Whether it belongs to the reference, of which nothing goes.
    pub reference: bool,
}

/// A file or record that was not read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageSkipped {
    /// The file, `stdin`, or nothing.
    pub source: String,
    /// The line it begins on, from 1.
    pub line: Option<u64>,
    /// Its id, where it could be read.
    pub id: Option<String>,
    /// Why. They are counted by what is before the first colon, comma, semicolon, parenthesis
    /// or ` at `, whatever numbers it holds.
    pub reason: String,
}

/// What people recognise a document by, where it was read again for the page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    /// Its title or subject, else its first words.
    pub heading: String,
    /// Where it was read from; nothing where its id says so.
    pub source: String,
    /// Its date, or nothing.
    pub date: String,
}

/// A keeper and its duplicates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageGroup {
    /// The id of the document that stays.
    pub keeper: String,
    /// What it is recognised by.
    pub about: Option<About>,
    /// Bytes of its text.
    pub bytes: u64,
    /// Whether it belongs to the reference.
    pub reference: bool,
    /// At least one, in the order to show.
    pub duplicates: Vec<PageDuplicate>,
}

/// A document that would go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageDuplicate {
    /// Its id.
    pub id: String,
    /// What it is recognised by.
    pub about: Option<About>,
    /// Its similarity with the keeper in millionths, 0 to 1,000,000; see [`millionths`].
    pub similarity: u32,
    /// Bytes of its text.
    pub bytes: u64,
    /// Why the keeper is preferred: a place in [`Page::reasons`]. Without one there, none is shown.
    pub reason: usize,
}

/// A keeper and a duplicate with their texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageSample {
    /// The id of the keeper.
    pub keeper: String,
    /// The id of the duplicate.
    pub duplicate: String,
    /// Their similarity in millionths, 0 to 1,000,000.
    pub similarity: u32,
    /// The text of the keeper.
    pub keeper_text: String,
    /// The text of the duplicate.
    pub duplicate_text: String,
}

/// What is streamed into a page, each once and from first to last.
pub struct Streams<'a> {
    /// Groups, largest first.
    pub groups: &'a mut dyn Iterator<Item = io::Result<PageGroup>>,
    /// What was not read, and empty documents.
    pub skipped: &'a mut dyn Iterator<Item = io::Result<PageSkipped>>,
}

impl std::fmt::Debug for Streams<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Streams")
    }
}

/// The six decimals of a report (`0.912345`) as millionths; nothing for any other text.
///
/// ```
/// use lookalike::report::html::millionths;
/// assert_eq!(millionths("0.912345"), Some(912_345));
/// assert_eq!(millionths("1.000000"), Some(1_000_000));
/// assert_eq!(millionths("0.9"), None);
/// ```
pub fn millionths(six_decimals: &str) -> Option<u32> {
    let (whole, part) = six_decimals.split_once('.')?;
    let digits = part.len() == 6 && part.bytes().all(|byte| byte.is_ascii_digit());
    match (whole, digits) {
        ("0", true) => part.parse().ok(),
        ("1", true) if part == "000000" => Some(1_000_000),
        _ => None,
    }
}
