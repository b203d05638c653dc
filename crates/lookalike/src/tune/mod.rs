//! What a collection says about the choice of parameters: a sample in, measurements and advice out.
//!
//! ```text
//! collection  sample → 2,000 documents  measure(rule) → Profile { similarities, vocabulary, … }
//!   profiles  advise → which shingle, and why        similarities  plan → bands, rows, cost
//! ```
//!
//! Most pairs of a large collection are unrelated. What a rule makes of them decides two things:
//! how many become candidates, which is time, and whether "similar" means anything. A text of `l`
//! characters holds almost any shingle of `k` unless the number of possible shingles, cᵏ for an
//! alphabet of c letters that are really used (about 20 in English), is far greater than `l`. Here
//! nothing is assumed about alphabets: the pairs of the sample are compared. Two documents count as
//! unrelated where they have no [`RELATED_WORDS`] words in a row in common.

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
