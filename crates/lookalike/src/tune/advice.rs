//! Recommends a shingle rule.

use super::profile::Profile;

/// The reason for a recommended shingle rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdviceReason {
    /// The current rule has no defect.
    Fits,
    /// Unrelated documents are similar by the current rule, and are not by the recommended one.
    Saturated,
    /// Many documents are shorter than a shingle of the current rule.
    TooLong,
    /// Every measured rule is saturated or too long. The recommended one has the smallest defect.
    NoneFits,
}

/// The recommended rule and the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advice {
    /// The index of the recommended rule among the profiles.
    pub advised: usize,
    /// The index of the current rule among the profiles.
    pub current: usize,
    /// The reason.
    pub reason: AdviceReason,
}

/// Recommends a rule. Keeps the current one, at index `current`, unless unrelated documents are
/// similar by it or many documents are shorter than its shingles. In that case, recommends the
/// nearest length of the same unit without these defects, otherwise the nearest length of another
/// unit. Returns `None` if no two documents could be compared, or if `current` is out of range.
pub fn advise(profiles: &[Profile], current: usize, threshold: f64) -> Option<Advice> {
    let used = profiles.get(current).filter(|profile| profile.similarities.pairs() > 0)?;
    let fits = |profile: &Profile| !profile.is_saturated(threshold) && !profile.is_too_long();
    let advice = |advised, reason| Some(Advice { advised, current, reason });
    if fits(used) {
        return advice(current, AdviceReason::Fits);
    }
    let distance = |profile: &Profile| {
        let other_unit = profile.rule.unit() != used.rule.unit();
        (other_unit, profile.rule.size().abs_diff(used.rule.size()))
    };
    let mut places: Vec<usize> = (0..profiles.len()).collect();
    places.sort_by_key(|&place| distance(&profiles[place]));
    let reason =
        if used.is_saturated(threshold) { AdviceReason::Saturated } else { AdviceReason::TooLong };
    if let Some(&place) = places.iter().find(|&&place| fits(&profiles[place])) {
        return advice(place, reason);
    }
    let open: Vec<usize> =
        places.iter().copied().filter(|&place| !profiles[place].is_saturated(threshold)).collect();
    let short = |place: &usize| (profiles[*place].short_share() * 1e6) as u64;
    let mean = |place: &usize| (profiles[*place].similarities.unrelated_mean() * 1e6) as u64;
    let least = open.iter().min_by_key(|p| short(p)).or(places.iter().min_by_key(|p| mean(p)));
    advice(*least?, AdviceReason::NoneFits)
}

#[cfg(test)]
mod tests {
    use super::super::profile::measure;
    use super::*;
    use crate::progress::NoProgress;
    use lookalike_core::hash;
    use lookalike_core::params::{ShingleRule, Unit};

    fn words(size: usize) -> ShingleRule {
        ShingleRule::new(Unit::Words, size).unwrap()
    }

    /// Documents of `length` words drawn from `vocabulary` words.
    fn texts(documents: u64, length: usize, vocabulary: u64) -> Vec<String> {
        let mut random = hash::SplitMix64::new(1);
        let mut word = || format!("w{}", random.below(vocabulary));
        (0..documents).map(|_| (0..length).map(|_| word()).collect::<Vec<_>>().join(" ")).collect()
    }

    fn advised(texts: &[String], sizes: &[usize], current: usize) -> (usize, AdviceReason) {
        let rules: Vec<ShingleRule> = sizes.iter().map(|&size| words(size)).collect();
        let profiles = measure(texts, &rules, &NoProgress).unwrap();
        let advice = advise(&profiles, current, 0.8).unwrap();
        (sizes[advice.advised], advice.reason)
    }

    #[test]
    fn advice_has_its_reason() {
        // 40 words, 300 tokens per document: shingles of one or two words occur everywhere.
        let same = texts(60, 300, 40);
        assert_eq!(advised(&same, &[1, 2, 3, 5], 3), (5, AdviceReason::Fits));
        assert_eq!(advised(&same, &[1, 2, 3, 5], 0), (3, AdviceReason::Saturated));
        assert_eq!(advised(&same, &[1], 0), (1, AdviceReason::NoneFits));
        // Four words each: shorter than a shingle of five.
        let short = texts(60, 4, 5_000);
        assert_eq!(advised(&short, &[1, 2, 3, 5], 3), (3, AdviceReason::TooLong));
        assert_eq!(advise(&[], 0, 0.8), None);
        assert_eq!(advise(&measure(&short[..1], &[words(5)], &NoProgress).unwrap(), 0, 0.8), None);
    }
}
