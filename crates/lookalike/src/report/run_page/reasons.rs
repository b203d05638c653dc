//! A keep policy in, the clauses that say why a document stays out.

use lookalike_core::keep::{KeepPolicy, KeepRule};

/// A clause for each rule, then one for ids, then one for a reference collection.
pub(super) struct Reasons {
    texts: Vec<String>,
}

impl Reasons {
    pub(super) fn new(policy: &KeepPolicy) -> Self {
        let mut texts: Vec<String> = policy.rules().iter().map(clause).collect();
        texts.push("its id is first in byte order".to_owned());
        texts.push("it is in the reference".to_owned());
        Self { texts }
    }

    /// The clauses in order.
    pub(super) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Where the clause is that holds between a keeper and a duplicate.
    pub(super) fn place(&self, reference: bool, decided_by: Option<u8>) -> usize {
        let by_reference = self.texts.len() - 1;
        if reference {
            return by_reference;
        }
        decided_by.map_or(by_reference - 1, usize::from)
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

    #[test]
    fn every_rule_has_its_clause() {
        let rules = ["path:a/*", "field:date:asc", "newest", "first"];
        let rules = rules.map(|rule| rule.parse().unwrap());
        let reasons = Reasons::new(&KeepPolicy::new(rules.to_vec()));
        let text = |reference, decided_by| &reasons.texts()[reasons.place(reference, decided_by)];
        assert_eq!(text(false, Some(0)), "its path matches a/*");
        assert_eq!(text(false, Some(1)), "its \"date\" is lower");
        assert_eq!(text(false, Some(3)), "it comes first in the input");
        assert_eq!(text(false, None), "its id is first in byte order");
        assert_eq!(text(true, None), "it is in the reference");
    }
}
