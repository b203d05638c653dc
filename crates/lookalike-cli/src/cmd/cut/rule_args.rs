//! The options that choose the words that `cut` removes.

use crate::cmd::CommandError;
use lookalike::passages::{CutOptions, CutRule, DEFAULT_WORDS};
use lookalike::read::TextUnit;
use std::str::FromStr;

/// The options of the rule that selects the words to cut.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Repeated passages")]
pub(super) struct CutRuleArgs {
    /// Words of the shortest passage, 2 or more
    #[arg(long, value_name = "N", default_value_t = DEFAULT_WORDS)]
    pub(super) min_words: usize,

    /// Cut single words, or only whole units whose words are all repeated: word, line, paragraph,
    /// sentence
    #[arg(long, value_name = "UNIT", default_value = "word")]
    at: CutLimit,

    /// Leave out documents that lose words and keep fewer than N
    #[arg(long, value_name = "N", default_value_t = 1)]
    min_left: u64,

    /// Boilerplate: cut passages that N or more documents contain, and keep no copy
    #[arg(long, value_name = "N")]
    min_documents: Option<u64>,

    /// Boilerplate: cut passages that this share of the documents contains, and keep no copy
    #[arg(long, value_name = "SHARE", value_parser = share)]
    min_share: Option<f64>,

    /// Boilerplate: count the documents of each source separately (--source-field)
    #[arg(long)]
    per_source: bool,
}

/// The unit of cuts; `None` for single words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CutLimit(Option<TextUnit>);

impl FromStr for CutLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "word" => Ok(Self(None)),
            "line" => Ok(Self(Some(TextUnit::Line))),
            "paragraph" => Ok(Self(Some(TextUnit::Paragraph))),
            "sentence" if TextUnit::Sentence.is_supported() => Ok(Self(Some(TextUnit::Sentence))),
            "sentence" => Err("this build does not support sentences; expected word, line or \
                               paragraph"
                .to_owned()),
            _ => Err("expected word, line, paragraph or sentence".to_owned()),
        }
    }
}

fn share(text: &str) -> Result<f64, String> {
    let share: Option<f64> = text.parse().ok();
    share
        .filter(|share| *share > 0.0 && *share <= 1.0)
        .ok_or_else(|| "expected a number above 0 and at most 1, such as 0.3".to_owned())
}

impl CutRuleArgs {
    /// The rule by which words are cut.
    pub(super) fn options(&self) -> Result<CutOptions, CommandError> {
        let is_boilerplate = self.min_documents.is_some() || self.min_share.is_some();
        if self.per_source && !is_boilerplate {
            let message = "--per-source is for boilerplate only: add --min-documents N or \
                           --min-share SHARE";
            return Err(CommandError::Usage(message.to_owned()));
        }
        if self.min_documents.is_some_and(|least| least < 2) {
            let message = "--min-documents: expected 2 or more, because a repeated passage is in \
                           at least 2 documents";
            return Err(CommandError::Usage(message.to_owned()));
        }
        let rule = if is_boilerplate {
            CutRule::Boilerplate {
                min_documents: self.min_documents.unwrap_or(2),
                min_share: self.min_share.unwrap_or(0.0),
                per_source: self.per_source,
            }
        } else {
            CutRule::Copies
        };
        Ok(CutOptions { rule, unit: self.at.0, min_left: self.min_left })
    }
}
