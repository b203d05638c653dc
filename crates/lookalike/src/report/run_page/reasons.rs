//! A keep policy in, the reasons for keeping a document out.

use crate::engine::Keeper;
use lookalike_core::keep::{KeepPolicy, KeepRule};

/// A clause for each rule, then one for ids, one for a reference collection, and where there are
/// decisions one for these.
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

    /// The place of the clause about a keeper and a duplicate.
    pub(super) fn place(&self, keeper: &Keeper, decided_by: Option<u32>) -> usize {
        if keeper.reference {
            self.by_reference
        } else if keeper.by_decision {
            self.by_reference + 1
        } else {
            decided_by.map_or(self.by_reference - 1, |rule| rule as usize)
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
        KeepRule::Field { name, ascending: false } => format!("its {name:?} is higher"),
        KeepRule::Field { name, ascending: true } => format!("its {name:?} is lower"),
        KeepRule::Path { glob } => format!("its path matches {glob}"),
        rule => format!("{rule} prefers it"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::DocumentNumber;

    #[test]
    fn every_rule_has_its_clause() {
        let rules = ["path:a/*", "field:date:asc", "newest", "first"];
        let rules = rules.map(|rule| rule.parse().unwrap());
        let reasons = Reasons::new(&KeepPolicy::new(rules.to_vec()), true);
        let keeper = |reference, by_decision| Keeper {
            id: String::new(),
            document: DocumentNumber::default(),
            bytes: 0,
            reference,
            by_decision,
            unit: None,
        };
        let text = |reference, decided_by| {
            reasons.texts()[reasons.place(&keeper(reference, false), decided_by)].as_str()
        };
        assert_eq!(text(false, Some(0)), "its path matches a/*");
        assert_eq!(text(false, Some(1)), "its \"date\" is lower");
        assert_eq!(text(false, Some(3)), "it comes first in the input");
        assert_eq!(text(false, None), "its id is first in byte order");
        assert_eq!(text(true, None), "it is in the reference");
        let place = reasons.place(&keeper(false, true), Some(0));
        assert_eq!(reasons.texts()[place], "it is kept by a decision");
    }
}
