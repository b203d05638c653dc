//! Settings that a run could have, and how many documents have a neighbour by each.

use lookalike_core::params::{Measure, Params, ShingleRule, Unit};

/// Least share of the documents with a neighbour by containment that share a passage with one.
const LEAST_WITH_PASSAGE: f64 = 0.9;
/// Least share of the documents that have a neighbour by a better setting.
const LEAST_SHARE: f64 = 0.1;
/// Least number of documents that have a neighbour by a better setting.
const LEAST_NEIGHBOURS: u64 = 4;
/// A better setting finds neighbours of at least this many times as many documents.
const CLEARLY_MORE: f64 = 2.0;

/// The job that a setting is for, as `docs/choosing.md` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingJob {
    /// The job of the run; the setting is the one in use.
    InUse,
    /// Drafts and versions of a document.
    Versions,
    /// Documents that are part of longer ones.
    Parts,
    /// Copies with some words changed.
    Revised,
    /// Copies with many words changed, among texts on other subjects.
    Rewritten,
    /// Short records that differ in a word.
    ShortRecords,
}

impl SettingJob {
    /// A phrase, such as `drafts and versions`.
    pub fn name(self) -> &'static str {
        match self {
            Self::InUse => "in use",
            Self::Versions => "drafts and versions",
            Self::Parts => "documents that are part of longer ones",
            Self::Revised => "copies with some words changed",
            Self::Rewritten => "copies with many words changed",
            Self::ShortRecords => "short records the same up to a word",
        }
    }
}

/// A rule for which pairs are similar.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The job it suits.
    pub job: SettingJob,
    /// Jaccard or containment.
    pub measure: Measure,
    /// The shingles.
    pub rule: ShingleRule,
    /// The least similarity of a pair.
    pub threshold: f64,
}

impl Setting {
    /// The setting of a run.
    pub fn in_use(params: &Params) -> Self {
        Self {
            job: SettingJob::InUse,
            measure: params.measure(),
            rule: params.shingle().clone(),
            threshold: params.threshold(),
        }
    }

    /// The options that lead from another setting to this one.
    pub fn changes_from(&self, used: &Self) -> SettingChanges {
        let length = |setting: &Self| (setting.rule.unit(), setting.rule.size());
        let shingle = match length(self) {
            same if same == length(used) => None,
            (Unit::Words, 1) => Some("bag".to_owned()),
            // The rest of a rule is the same in both.
            _ => self.rule.to_string().split(' ').next().map(str::to_owned),
        };
        let stop_words = self.rule.stop_words().filter(|_| used.rule.stop_words().is_none());
        let is_same_threshold = self.threshold.to_bits() == used.threshold.to_bits();
        SettingChanges {
            measure: (self.measure != used.measure).then_some(self.measure),
            shingle,
            stop_words: stop_words.map(|list| list.name().to_owned()),
            threshold: (!is_same_threshold).then_some(self.threshold),
        }
    }

    /// Whether it finds every pair that `other` finds.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        self.measure == other.measure
            && self.rule.to_string() == other.rule.to_string()
            && self.threshold <= other.threshold
    }
}

/// Options of one setting that differ from another; `None` where they are the same.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingChanges {
    /// Jaccard or containment.
    pub measure: Option<Measure>,
    /// Unit and length of shingles, such as `words:2`, or `bag`.
    pub shingle: Option<String>,
    /// The language whose stop words are left out.
    pub stop_words: Option<String>,
    /// The least similarity of a pair.
    pub threshold: Option<f64>,
}

/// How many documents of a sample have a neighbour by a setting.
#[derive(Debug, Clone)]
pub struct SettingProfile {
    /// The setting.
    pub setting: Setting,
    /// Documents with a token by the setting in use, each compared with each. Some of them may have
    /// no shingle by another setting, such as one without stop words, and so no neighbour.
    pub documents: u64,
    /// How many of them are in a pair at the threshold or above. By containment, a pair counts
    /// where the smaller set has 10 shingles or more.
    pub with_neighbour: u64,
    /// Pairs at the threshold or above.
    pub pairs: u64,
    /// How many of those with a neighbour share a passage with one: three shingles of five words
    /// that at most a fifth of the documents have.
    pub with_passage: u64,
    /// The similarity that 99 of 100 pairs do not exceed.
    pub background: f64,
}

impl SettingProfile {
    /// Whether its pairs are well above the similarity of unrelated documents.
    pub fn is_above_background(&self) -> bool {
        match self.setting.measure {
            Measure::Jaccard => self.background <= self.setting.threshold / 2.0,
            Measure::Containment => {
                self.with_passage as f64 >= LEAST_WITH_PASSAGE * self.with_neighbour as f64
            }
        }
    }

    /// Whether it finds clearly more than `used`, well above the background.
    pub(crate) fn is_better_than(&self, used: &Self) -> bool {
        let with_neighbour = self.with_neighbour as f64;
        self.is_above_background()
            && self.with_neighbour >= LEAST_NEIGHBOURS
            && with_neighbour >= LEAST_SHARE * self.documents as f64
            && with_neighbour >= CLEARLY_MORE * used.with_neighbour as f64
    }
}
