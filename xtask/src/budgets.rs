//! Budgets for known defects of the sources. The number of defects may only fall.
//!
//! [`FILE`] has a section `[TITLE]` for each measurement, with lines `NUMBER NAME`. A name without
//! a line has the budget 0.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

/// The file with the budgets.
const FILE: &str = "xtask/budgets.txt";
/// The first lines of [`FILE`].
const HEADER: &str = "\
# How many defects `cargo x tidy` accepts. A number may only fall: `cargo x tidy --lower` writes the
# lower numbers, and moves the number of a renamed file. A missing section is created with
# the current numbers.
";

/// Numbers of defects by the names of files, folders or types. Omits names without defects.
pub(crate) type Counts = BTreeMap<String, usize>;

/// The counted defects of one kind.
pub(crate) struct Measurement {
    /// The title of the section with the budgets.
    pub(crate) title: &'static str,
    /// How to remove a defect.
    pub(crate) remedy: &'static str,
    /// The defects.
    pub(crate) counts: Counts,
}

/// The budgets of each section.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Budgets(BTreeMap<String, Counts>);

impl Budgets {
    /// Reads the budgets.
    ///
    /// # Errors
    /// If the file cannot be read, or a line has no number.
    pub(crate) fn read(root: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(root.join(FILE));
        Self::parse(&text.map_err(|error| format!("cannot read {FILE}: {error}"))?)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut sections = BTreeMap::new();
        let mut title = "";
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(heading) = line.strip_prefix('[') {
                title = heading.trim_end_matches(']');
                sections.entry(title.to_owned()).or_insert_with(Counts::new);
                continue;
            }
            let entry = line.split_once(' ');
            let entry = entry.and_then(|(number, name)| Some((name, number.parse().ok()?)));
            let (name, number) =
                entry.ok_or_else(|| format!("{FILE}: expected NUMBER NAME, found `{line}`"))?;
            sections.entry(title.to_owned()).or_default().insert(name.to_owned(), number);
        }
        Ok(Self(sections))
    }

    /// Reports numbers that differ from their budgets.
    pub(crate) fn check(&self, measurement: &Measurement, findings: &mut Vec<String>) {
        let Measurement { title, remedy, counts } = measurement;
        let no_counts = Counts::new();
        let budgets = self.0.get(*title).unwrap_or(&no_counts);
        let names: BTreeSet<&String> = budgets.keys().chain(counts.keys()).collect();
        for name in names {
            let count = counts.get(name).copied().unwrap_or(0);
            let budget = budgets.get(name).copied().unwrap_or(0);
            if count > budget {
                findings.push(format!("{name}: {title}: {count}, at most {budget}; {remedy}"));
            } else if count < budget {
                findings.push(format!(
                    "{name}: {title}: {count}, and {FILE} still has {budget}; run `cargo x tidy \
                     --lower`"
                ));
            }
        }
    }

    /// Lowers the budgets to the current numbers. New files share the budgets of files that no
    /// longer exist. A missing section receives the current numbers.
    pub(crate) fn lower(&mut self, root: &Path, measurement: &Measurement) {
        let Measurement { title, counts, .. } = measurement;
        let Some(budgets) = self.0.get_mut(*title) else {
            self.0.insert((*title).to_owned(), counts.clone());
            return;
        };
        let is_gone = |name: &str| name.contains('/') && !root.join(name).exists();
        let removed = budgets.iter().filter(|(name, _)| is_gone(name));
        let mut moved: usize = removed.map(|(_, budget)| budget).sum();
        let mut lowered = Counts::new();
        for (name, count) in counts {
            let budget = match budgets.get(name) {
                Some(budget) => *count.min(budget),
                None => *count.min(&moved),
            };
            if !budgets.contains_key(name) {
                moved -= budget;
            }
            if budget > 0 {
                lowered.insert(name.clone(), budget);
            }
        }
        *budgets = lowered;
    }

    /// Writes the budgets.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn write(&self, root: &Path) -> Result<(), String> {
        std::fs::write(root.join(FILE), self.to_text())
            .map_err(|error| format!("cannot write {FILE}: {error}"))
    }

    fn to_text(&self) -> String {
        let mut text = HEADER.to_owned();
        for (title, budgets) in &self.0 {
            let _ = write!(text, "\n[{title}]\n");
            for (name, budget) in budgets {
                let _ = writeln!(text, "{budget} {name}");
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(counts: &[(&str, usize)]) -> Measurement {
        let counts = counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        Measurement { title: "lines", remedy: "divide it", counts }
    }

    #[test]
    fn measurements_are_checked_against_budgets() {
        let budgets = Budgets::parse("# Why.\n[lines]\n3 a\n2 b\n1 c\n").expect("budgets");
        let mut findings = Vec::new();
        budgets.check(&measured(&[("a", 4), ("b", 2), ("d", 1)]), &mut findings);
        assert_eq!(
            findings,
            [
                "a: lines: 4, at most 3; divide it",
                "c: lines: 0, and xtask/budgets.txt still has 1; run `cargo x tidy --lower`",
                "d: lines: 1, at most 0; divide it",
            ]
        );
        assert!(Budgets::parse("[lines]\nx a\n").is_err());
    }

    #[test]
    fn budgets_are_only_lowered() {
        let mut budgets = Budgets::parse("[lines]\n3 a\n2 b\n5 old/c\n").expect("budgets");
        let counts = measured(&[("a", 4), ("b", 1), ("new/c", 4), ("new/d", 2)]);
        budgets.lower(Path::new("/nonexistent"), &counts);
        let text = budgets.to_text();
        assert!(text.ends_with("\n[lines]\n3 a\n1 b\n4 new/c\n1 new/d\n"), "{text}");
        assert_eq!(Budgets::parse(&text), Ok(budgets));
    }

    #[test]
    fn a_new_section_has_the_numbers() {
        let mut budgets = Budgets::parse("").expect("budgets");
        budgets.lower(Path::new("/nonexistent"), &measured(&[("a", 4)]));
        assert!(budgets.to_text().ends_with("\n[lines]\n4 a\n"));
    }
}
