//! Phrases of summaries and notes.

use crate::difference::thousands;
use lookalike::tune::{Setting, SettingChanges};

/// `1 group`, `2 groups`.
pub(crate) fn count(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", thousands(number), if number == 1 { "" } else { "s" })
}

/// The options by which a setting differs from the one in use.
pub(crate) fn setting_options(setting: &Setting, used: &Setting) -> String {
    let SettingChanges { measure, shingle, stop_words, threshold } = setting.changes_from(used);
    let options = [
        measure.map(|measure| format!("--measure {measure}")),
        shingle.map(|shingle| format!("--shingle {shingle}")),
        stop_words.map(|list| format!("--stop-words {list}")),
        threshold.map(|threshold| format!("--threshold {threshold}")),
    ];
    let options: Vec<String> = options.into_iter().flatten().collect();
    options.join(" ")
}
