//! Phrases of summaries, notes and pages.

use crate::engine::{Setting, SettingChanges};
use crate::progress::ExcessCandidates;
use lookalike_core::curve::Choice;
use std::borrow::Cow;

/// Formats a count of things: `1 group`, `2 groups`.
pub fn count(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", thousands(number), if number == 1 { "" } else { "s" })
}

/// Returns the options by which a setting differs from the current one.
pub fn setting_options(setting: &Setting, used: &Setting) -> String {
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

/// How a front end spells the remedies of [`excess_candidates`].
#[derive(Debug, Clone, Copy)]
pub struct RemedySpelling {
    /// Formats hash values, bands and rows as arguments.
    pub setting: fn(&Choice) -> String,
    /// The argument that chooses bands for the documents.
    pub auto: &'static str,
    /// The command or function that tunes.
    pub tune: &'static str,
}

/// Returns a warning about candidates that are not similar, with faster alternatives. `is_of_index`
/// states whether the candidates are in an index, whose parameters are fixed.
pub fn excess_candidates(
    excess: &ExcessCandidates,
    spelling: &RemedySpelling,
    is_of_index: bool,
) -> String {
    let ExcessCandidates { documents, pairs, mean, better } = excess;
    let documents = thousands(*documents as u64);
    let pairs = thousands(*pairs);
    let RemedySpelling { auto, tune, .. } = spelling;
    let remedy = match better.as_ref().map(spelling.setting) {
        Some(setting) if is_of_index => format!(
            "an index created with {setting} takes less time; so does one of larger shingles \
             ({tune} tells which)"
        ),
        None if is_of_index => {
            format!("an index of larger shingles takes less time ({tune} tells which)")
        }
        Some(setting) => format!(
            "{setting}, or {auto}, takes less time; so do larger shingles ({tune} tells which)"
        ),
        None => format!("larger shingles take less time ({tune} tells which)"),
    };
    format!(
        "{documents} documents look alike without being similar (mean similarity {mean:.2}): up \
         to {pairs} pairs of them are looked at. The result is right; {remedy}"
    )
}

/// Formats a number with commas between thousands.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Escapes line breaks and tabs, for names in lines and tables. Other control characters remain.
pub fn one_line(text: &str) -> Cow<'_, str> {
    let ends_line =
        |c| matches!(c, '\t'..='\r' | '\u{1C}'..='\u{1E}' | '\u{85}' | '\u{2028}' | '\u{2029}');
    escaped(text, ends_line)
}

/// Whether a character is invisible and can change the appearance of others: control characters,
/// line and paragraph separators, bidirectional controls, and blanks without width. Joiners are not
/// included, because scripts and pictographs need them.
pub fn is_hidden(c: char) -> bool {
    let direction = matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}')
        || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    let invisible = matches!(c, '\u{00AD}' | '\u{200B}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}');
    c.is_control() || direction || invisible || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Escapes some characters of a text.
pub fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut escaped_text = String::new();
    for c in text.chars() {
        if is_escaped(c) {
            escaped_text.extend(c.escape_default());
        } else {
            escaped_text.push(c);
        }
    }
    Cow::Owned(escaped_text)
}
