//! Shingle rules to measure.

use lookalike_core::error::ParamsError;
use lookalike_core::params::{ShingleRule, Unit};

/// The default shingle lengths to measure.
pub const LENGTHS: [(Unit, usize); 10] = [
    (Unit::Words, 1),
    (Unit::Words, 2),
    (Unit::Words, 3),
    (Unit::Words, 4),
    (Unit::Words, 5),
    (Unit::Words, 7),
    (Unit::Words, 10),
    (Unit::Chars, 5),
    (Unit::Chars, 9),
    (Unit::Chars, 13),
];

/// Returns a rule for each of [`LENGTHS`] and for the length of `rule`. All have the settings of
/// `rule` for case, words, stop words and frequencies.
pub fn usual_rules(rule: &ShingleRule) -> Vec<ShingleRule> {
    let mut lengths = LENGTHS.to_vec();
    if !lengths.contains(&(rule.unit(), rule.size())) {
        lengths.push((rule.unit(), rule.size()));
    }
    rules(rule, &lengths).unwrap_or_default()
}

/// Like [`usual_rules`], for other lengths.
///
/// # Errors
/// [`ParamsError::ShingleSize`] for a length out of range.
pub fn rules(
    rule: &ShingleRule,
    lengths: &[(Unit, usize)],
) -> Result<Vec<ShingleRule>, ParamsError> {
    lengths
        .iter()
        .map(|&(unit, size)| Ok(settings_of(rule, ShingleRule::new(unit, size)?)))
        .collect()
}

/// Returns `other` with all settings of `rule`, except unit and size.
pub(super) fn settings_of(rule: &ShingleRule, other: ShingleRule) -> ShingleRule {
    other
        .with_tokens(rule.tokens())
        .with_case(rule.case())
        .with_frequencies(rule.frequencies())
        .with_stop_words(rule.stop_words().cloned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_keep_their_settings() {
        let rule = ShingleRule::new(Unit::Words, 6).unwrap().with_frequencies(true);
        let usual = usual_rules(&rule);
        assert_eq!(usual.len(), LENGTHS.len() + 1);
        assert!(usual.iter().all(ShingleRule::frequencies));
        assert!(rules(&rule, &[(Unit::Words, 0)]).is_err());
    }
}
