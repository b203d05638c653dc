//! Measures a sample of a collection to recommend parameters.
//!
//! ```text
//! collection  sample → 2,000 documents  measure(rule) → Profile { similarities, vocabulary, … }
//!   profiles  advise → which shingle, and why        similarities  plan → bands, rows, cost
//! ```
//!
//! Most pairs of a large collection are unrelated. Their similarity by a rule decides two things:
//! how many become candidates, which costs time, and whether "similar" has a meaning. A text of `l`
//! characters contains almost any shingle of `k` characters, unless the number of possible shingles
//! is far greater than `l`. That number is cᵏ for an alphabet of c letters in use (about 20 in
//! English). This module makes no assumption about alphabets, but compares the pairs of the sample.
//! Two documents count as unrelated if they have no [`RELATED_WORDS`] words in a row in common.

mod advice;
mod auto;
mod document_sample;
mod plan;
mod profile;
mod rules;
mod settings;
mod shared_shingles;
mod similarities;

pub use crate::engine::{Setting, SettingChanges, SettingJob, SettingProfile};
pub use advice::{Advice, AdviceReason, advise};
pub use auto::{ChosenBands, choose_bands};
pub use document_sample::{SAMPLE_DOCUMENTS, TextSample, sample};
pub use plan::{BandPlan, MeasuredSample, plan, rules_to_try};
pub use profile::{Profile, measure};
pub use rules::{LENGTHS, rules, usual_rules};
pub use settings::{SettingTexts, better_setting, measure_settings, settings_to_compare};
pub use similarities::{RELATED_WORDS, SampleSimilarities};
