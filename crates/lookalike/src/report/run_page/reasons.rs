//! A keep policy → the clauses that say why a keeper is kept.

use crate::outcome::KeepReason;
use lookalike_core::keep::{KeepPolicy, KeepRule};

/// A clause for each rule, then one for ids and one for a reference collection. If the run has
/// decisions, a clause for decisions follows.
pub(super) struct Reasons {
    texts: Vec<String>,
    by_reference: usize,
}

impl Reasons {
    pub(super) fn new(policy: &KeepPolicy, has_decisions: bool) -> Self {
        let mut texts: Vec<String> = policy.rules().iter().map(clause).collect();
        texts.push("its id is first in byte order".to_owned());
        let by_reference = texts.len();
        texts.push("it is in the reference".to_owned());
        texts.extend(has_decisions.then(|| "it is kept by a decision".to_owned()));
        Self { texts, by_reference }
    }

    /// The clauses in order.
    pub(super) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// The position of the clause of a reason.
    pub(super) fn place(&self, reason: KeepReason) -> usize {
        match reason {
            KeepReason::Rule(rule) => rule,
            KeepReason::Id => self.by_reference - 1,
            KeepReason::Reference => self.by_reference,
            KeepReason::Decision => self.by_reference + 1,
        }
    }
}

fn clause(rule: &KeepRule) -> String {
    match rule {
        KeepRule::Longest => "it is the longer text".to_owned(),
        KeepRule::Shortest => "it is the shorter text".to_owned(),
        KeepRule::First => "it comes first in the input".to_owned(),
        KeepRule::Last => "it comes last in the input".to_owned(),
        KeepRule::Newest => "its file is newer".to_owned(),
        KeepRule::Oldest => "its file is older".to_owned(),
        KeepRule::Name => "the name of its file states a later version".to_owned(),
        KeepRule::Field { name, ascending: false } => format!("its {name:?} is higher"),
        KeepRule::Field { name, ascending: true } => format!("its {name:?} is lower"),
        KeepRule::Path { glob } => format!("its path matches {glob}"),
        rule => format!("{rule} prefers it"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_its_clause() {
        let rules = ["path:a/*", "field:date:asc", "newest", "first", "name"];
        let rules = rules.map(|rule| rule.parse().unwrap());
        let reasons = Reasons::new(&KeepPolicy::new(rules.to_vec()), true);
        let text = |reason| reasons.texts()[reasons.place(reason)].as_str();
        assert_eq!(text(KeepReason::Rule(0)), "its path matches a/*");
        assert_eq!(text(KeepReason::Rule(1)), "its \"date\" is lower");
        assert_eq!(text(KeepReason::Rule(3)), "it comes first in the input");
        assert_eq!(text(KeepReason::Rule(4)), "the name of its file states a later version");
        assert_eq!(text(KeepReason::Id), "its id is first in byte order");
        assert_eq!(text(KeepReason::Reference), "it is in the reference");
        assert_eq!(text(KeepReason::Decision), "it is kept by a decision");
    }
}
