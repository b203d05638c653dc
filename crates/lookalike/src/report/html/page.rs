//! The data of a page.

use crate::audit::Audit;
use crate::engine::{GroupConcentration, RunCounts, SourceCounts};
use crate::progress::Stage;
use crate::read::SkippedItem;
use crate::report::option_name;
use lookalike_core::parameter::NamesParameters;
use lookalike_core::params::Params;
use std::io;
use std::time::Duration;

/// The data of a page except groups and skipped items, which are streamed.
#[derive(Debug, Clone)]
pub struct Page<'a> {
    /// The heading, such as `Near-duplicates in letters/`.
    pub title: &'a str,
    /// The parameters of the run, in the order of display.
    pub parameters: &'a [PageParameter],
    /// The counts of the run.
    pub counts: RunCounts,
    /// Notes about the texts, each a sentence without its full stop.
    pub notes: &'a [String],
    /// The definition of similarity, and the settings that find candidates.
    pub params: &'a Params,
    /// The distribution of the pairs over the groups.
    pub concentration: GroupConcentration,
    /// The measured recall.
    pub audit: Option<&'a Audit>,
    /// The sources of the documents.
    pub sources: &'a [SourceCounts],
    /// The reasons why a keeper is preferred to a duplicate, each a clause such as
    /// `it is the longer text`. [`PageDuplicate::reason`] is an index into this list.
    pub reasons: &'a [String],
    /// Whether chains were followed (`--group components`), so that a duplicate may be less similar
    /// to its keeper than the threshold.
    pub chains: bool,
    /// Pairs of a keeper and a duplicate whose texts are shown side by side.
    pub samples: &'a [PageSample],
    /// Wall-clock time by stage; the only part that differs from run to run.
    pub times: &'a [(Stage, Duration)],
}

/// A parameter of a run.
#[derive(Debug, Clone)]
pub struct PageParameter {
    /// Its name on the command line, such as `--threshold`.
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// Its effect, a sentence without its full stop.
    pub meaning: String,
}

impl From<SkippedItem> for PageSkipped {
    fn from(item: SkippedItem) -> Self {
        let SkippedItem { source, line, id, reason } = item;
        Self { source, line, id, reason: reason.spelled(option_name) }
    }
}

/// A file or record that was not read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageSkipped {
    /// The file, `stdin`, or nothing.
    pub source: String,
    /// The line it begins on, from 1.
    pub line: Option<u64>,
    /// Its id, if it could be read.
    pub id: Option<String>,
    /// The reason. The page counts reasons by their text before the first colon, comma, semicolon,
    /// parenthesis or ` at `. All numbers in this text count as equal.
    pub reason: String,
}

/// A description by which people recognise a document, read again for the page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    /// Its title or subject, else its first words.
    pub heading: String,
    /// The place from which it was read; empty if the id contains the place.
    pub source: String,
    /// Its date, or nothing.
    pub date: String,
    /// The address of its file relative to the page, percent-encoded. Empty if the document is not
    /// a file.
    pub file: String,
}

/// A keeper and its duplicates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageGroup {
    /// The id of the keeper.
    pub keeper: String,
    /// Its description.
    pub about: Option<About>,
    /// Bytes of its text.
    pub bytes: u64,
    /// Whether it belongs to the reference.
    pub reference: bool,
    /// The duplicates, at least one, in the order to show.
    pub duplicates: Vec<PageDuplicate>,
    /// The keeper and one of the duplicates with their texts, shown on demand.
    pub sample: Option<PageSample>,
}

/// A duplicate, which deduplication would remove.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageDuplicate {
    /// Its id.
    pub id: String,
    /// Its description.
    pub about: Option<About>,
    /// Its similarity with the keeper in millionths, 0 to 1,000,000; see [`millionths`].
    pub similarity: u32,
    /// Bytes of its text.
    pub bytes: u64,
    /// Why the keeper is preferred: an index into [`Page::reasons`]. If the index is out of range,
    /// no reason is shown.
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

/// The streamed data of a page. Each stream is read once, from first to last.
pub struct Streams<'a> {
    /// Groups, largest first.
    pub groups: &'a mut dyn Iterator<Item = io::Result<PageGroup>>,
    /// Skipped files and records, then empty documents.
    pub skipped: &'a mut dyn Iterator<Item = io::Result<PageSkipped>>,
}

impl std::fmt::Debug for Streams<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Streams")
    }
}

/// Parses the six decimals of a report (`0.912345`) as millionths; `None` for any other text.
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
