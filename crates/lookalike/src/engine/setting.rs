//! Alternative settings of a run, and the number of documents that have a neighbour with each.

use lookalike_core::params::{Measure, Params, ShingleRule, Unit};

/// For containment, the minimum share of documents with a neighbour that also share a passage with
/// the neighbour.
const LEAST_WITH_PASSAGE: f64 = 0.9;
/// The minimum share of documents that have a neighbour with a better setting.
const LEAST_SHARE: f64 = 0.1;
/// The minimum number of documents that have a neighbour with a better setting.
const LEAST_NEIGHBOURS: u64 = 4;
/// The minimum factor by which a better setting increases the number of documents with a neighbour.
const CLEARLY_MORE: f64 = 2.0;

/// The job of a setting, as described in `docs/guides/choosing.md`.
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
    /// The job as a phrase, such as `drafts and versions`.
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

/// A rule that determines which pairs are similar.
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

    /// Returns the options that change another setting to this one.
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

/// The options in which one setting differs from another. An option is `None` if it is equal in
/// both.
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

/// The numbers of documents and pairs that a setting finds in a sample.
#[derive(Debug, Clone)]
pub struct SettingProfile {
    /// The setting.
    pub setting: Setting,
    /// Documents with a token in the current setting, all compared with each other. With another
    /// setting, such as one without stop words, some may have no shingle and so no neighbour.
    pub documents: u64,
    /// Documents in a pair that reaches the threshold. For containment, a pair counts only if the
    /// smaller set has at least 10 shingles.
    pub with_neighbour: u64,
    /// Pairs that reach the threshold.
    pub pairs: u64,
    /// Documents that share a passage with a neighbour. A passage is three shingles of five words
    /// that at most a fifth of the documents have.
    pub with_passage: u64,
    /// The similarity that 99 of 100 pairs do not exceed.
    pub background: f64,
}

impl SettingProfile {
    /// Whether its pairs are clearly more similar than unrelated documents.
    pub fn is_above_background(&self) -> bool {
        match self.setting.measure {
            Measure::Jaccard => self.background <= self.setting.threshold / 2.0,
            Measure::Containment => {
                self.with_passage as f64 >= LEAST_WITH_PASSAGE * self.with_neighbour as f64
            }
        }
    }

    /// Whether it finds clearly more neighbours than `used`, and its pairs are above the
    /// background.
    pub(crate) fn is_better_than(&self, used: &Self) -> bool {
        let with_neighbour = self.with_neighbour as f64;
        self.is_above_background()
            && self.with_neighbour >= LEAST_NEIGHBOURS
            && with_neighbour >= LEAST_SHARE * self.documents as f64
            && with_neighbour >= CLEARLY_MORE * used.with_neighbour as f64
    }
}
